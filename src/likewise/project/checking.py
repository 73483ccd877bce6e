"""Test a session file without changing it, and write what can be read of a damaged one."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from likewise.database import (
    IN_MEMORY,
    check_log,
    check_whole,
    connect,
    new_file,
    note_sum,
    promised_size,
    translated,
)
from likewise.errors import LikewiseError, SessionFileError
from likewise.project import schema
from likewise.project.large import FEATURES, SHOWN
from likewise.project.opening import SUFFIX
from likewise.project.project import ROWS, SETUP, session_in
from likewise.project.store import Store


@dataclass(frozen=True)
class Finding:
    """What a check of a session file found; files of 0.1.0 have no checksums."""

    n_entries: int
    has_sums: bool = True
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults


def check_file(path: str | os.PathLike[str]) -> Finding:
    """Check a session file, which may be in use: its pages, its checksums and every entry."""
    path = Path(path)
    faults: list[str] = []
    notes: list[str] = []
    n_entries, has_sums = 0, True
    try:
        header = check_whole(path)
        if header.has_log:
            check_log(path)
        with _snapshot(path) as store:
            store._may_lack_entries = header.is_in_use and not header.has_log
            store._check()
            has_sums = store._version >= schema.WITH_SUMS
            if store._may_lack_entries and has_sums:
                notes.append("it was copied while in use: up to ten answers may be missing")
            n_entries = sum(1 for _ in store.rows())
            n_entries = len(store.read())
            _ = store.items
            for name in store.payload_names:
                store.payload(name)
            if SETUP in store.payload_names:
                session_in(store)
    except LikewiseError as error:
        faults.append(str(error))
    return Finding(n_entries, has_sums, faults, notes)


def repair_file(path: str | os.PathLike[str]) -> tuple[Path, int, int]:
    """Save the readable part of a file to a new one; return it, its entries, and all entries."""
    path = Path(path)
    base = path.name.removesuffix(SUFFIX)
    target = path.with_name(f"{base}.repaired{SUFFIX}")
    with _salvaged(path) as db, new_file(target) as new, translated(path):
        n_entries, n_before = _copy_good(path, db, new)
    finding = check_file(target)
    if not finding.is_good:
        target.unlink()
        raise SessionFileError(f"{path} cannot be repaired: {finding.faults[0]}")
    return target, n_entries, n_before


@contextmanager
def _snapshot(path: Path) -> Iterator[Store]:
    """Yield a file as it is at one moment, in memory, while others may write to it."""
    with translated(path), closing(connect(IN_MEMORY, writes_ahead=False)) as copy:
        with closing(connect(path, mode="ro", writes_ahead=False)) as db:
            db.backup(copy)
        yield Store(path, copy)


@contextmanager
def _salvaged(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield a copy of a damaged file; what is missing at its end is zeros."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy")
        try:
            shutil.copyfile(path, copy)
            if Path(f"{path}-wal").exists():
                shutil.copyfile(f"{path}-wal", f"{copy}-wal")
            with copy.open("rb") as file:
                size = promised_size(file.read(100))
            if copy.stat().st_size < size < 2 * copy.stat().st_size + 2**20:
                os.truncate(copy, size)
        except OSError as error:
            raise SessionFileError(f"cannot open {path}: {error.strerror}") from error
        with translated(path), closing(connect(copy, writes_ahead=False)) as db:
            yield db


def _copy_good(path: Path, db: sqlite3.Connection, new: Path) -> tuple[int, int]:
    """Copy everything that is not damaged to a new file of the same schema."""
    store = Store(path, db)
    version = store._version
    if not 1 <= version <= len(schema.MIGRATIONS):
        raise SessionFileError(f"{path} cannot be repaired: it has no usable version")
    _, _ = store.settings, store.items  # without these there is no session
    payloads = {name: data for name in store.payload_names if (data := _good(store, name))}
    needed = [name for name in (SETUP, ROWS, FEATURES, SHOWN) if name in store.payload_names]
    if lost := [name for name in needed if name not in payloads]:
        raise SessionFileError(f"{path} cannot be repaired: its payload {lost[0]!r} is damaged")
    has_sums = version >= schema.WITH_SUMS
    with closing(connect(new, writes_ahead=False)) as target:
        target.execute("BEGIN IMMEDIATE")
        target.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        schema.migrate(target, up_to=version)
        for table in ("settings", "items", *(("group_names", "notes") if version == 1 else ())):
            for row in db.execute(f"SELECT * FROM {table} ORDER BY rowid"):
                target.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
        target.executemany("INSERT INTO payloads VALUES (?, ?)", payloads.items())
        rows = _good_rows(store, {name for name in store.payload_names if name not in payloads})
        columns = "seq, op, at, sum" if has_sums else "seq, op, at"
        for row in rows:
            values = row if has_sums else row[:3]
            marks = ", ".join("?" * len(values))
            target.execute(f"INSERT INTO log ({columns}) VALUES ({marks})", values)
        if has_sums:
            schema.sign_content(target)
            last = rows[-1][3] if rows else schema.FIRST
            note_sum(target, schema.LOG, f"{len(rows)} {last}")
        target.execute("COMMIT")
    n_before = len(rows)
    with suppress(LikewiseError):
        n_before = max(n_before, store.n_noted())
    return len(rows), n_before


def _good_rows(store: Store, lost: set[str]) -> list[tuple[int, str, str, str]]:
    """Return the log up to the first entry that is damaged, or needs a payload that is."""
    rows = []
    with suppress(LikewiseError):
        for row in store.rows():
            if any(f'"{name}"' in row[1] for name in lost):
                break
            rows.append(row)
    return rows


def _good(store: Store, name: str) -> bytes | None:
    """Return a payload as it stands in the file, or None if it is damaged."""
    try:
        store.payload(name)
    except LikewiseError:
        return None
    data: bytes = store._read("SELECT data FROM payloads WHERE name = ?", name)[0][0]
    return data
