"""Test a session file without changing it, and write what can be read of a damaged one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from likewise.errors import LikewiseError, SessionFileError
from likewise.project.large import FEATURES, SHOWN
from likewise.project.paths import SUFFIX
from likewise.project.record import session_in
from likewise.store import SETUP, Row, Store
from likewise.store.database import connect, copy_by_hand, snapshot, translated


@dataclass(frozen=True)
class Finding:
    """What a check of a session file found."""

    n_entries: int
    fault: str

    @property
    def is_good(self) -> bool:
        """Whether nothing is wrong."""
        return not self.fault


def check_file(path: str | os.PathLike[str]) -> Finding:
    """Check a session file, which may be in use: its pages, its checksums and every entry."""
    path = Path(path)
    n_entries, fault = 0, ""
    try:
        with _snapshot(path) as store:
            store.check(full=True)
            n_entries = sum(1 for _ in store.rows())
            n_entries = store.check_content()
            if SETUP in store.payload_names:
                session_in(store)
    except LikewiseError as error:
        fault = str(error)
    return Finding(n_entries, fault)


def repair_file(path: str | os.PathLike[str]) -> tuple[Path, int, int]:
    """Save the readable part of a file to a new one; return it, its entries, and all entries."""
    path = Path(path)
    base = path.name.removesuffix(SUFFIX)
    target = path.with_name(f"{base}.repaired{SUFFIX}")
    with _salvaged(path) as store:
        settings, items, names = store.settings, store.items, store.payload_names
        read = {name: _good_payload(store, name) for name in names}
        payloads = {name: data for name, data in read.items() if data is not None}
        lost = [name for name in names if name not in payloads]
        if needed := [name for name in (SETUP, FEATURES, SHOWN) if name in lost]:
            raise SessionFileError(
                f"{path} cannot be repaired: its payload {needed[0]!r} is damaged"
            )
        log = _good_entries(store, lost)
        n_before = len(log)
        with suppress(LikewiseError):
            n_before = max(n_before, store.n_noted())
        Store.create(target, settings=settings, items=items, payloads=payloads, log=log).close()
    finding = check_file(target)
    if not finding.is_good:
        try:
            target.unlink()
        except OSError as error:
            raise SessionFileError(
                f"{target} was written, but it could be neither tested nor removed "
                f"({error.strerror}): do not use it"
            ) from error
        raise SessionFileError(f"{path} cannot be repaired: {finding.fault}")
    return target, len(log), n_before


@contextmanager
def _snapshot(path: Path) -> Iterator[Store]:
    """Yield a copy of a file as it is at one moment; others may write to it meanwhile."""
    with translated(path), snapshot(path) as copy, Store(path, connect(copy)) as store:
        yield store


@contextmanager
def _salvaged(path: Path) -> Iterator[Store]:
    """Yield a copy of a damaged file; what is missing at its end is zeros."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        copy = Path(folder, "copy")
        try:
            copy_by_hand(path, copy)
            size, promised = copy.stat().st_size, _promised_size(copy)
            if size < promised < 2 * size + 2**20:
                os.truncate(copy, promised)
        except OSError as error:
            raise SessionFileError(f"cannot open {path}: {error.strerror}") from error
        except SessionFileError as error:
            raise SessionFileError(f"cannot open {path}: {error}") from error
        with translated(path):
            with closing(connect(copy)) as db:
                tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
            if not {"settings", "payloads", "log"} <= tables:
                raise SessionFileError(f"{path} cannot be repaired: it has no tables of a session")
            with Store(path, connect(copy)) as store:
                yield store


def _promised_size(path: Path) -> int:
    """Return how many bytes a file has by its header."""
    with path.open("rb") as file:
        header = file.read(100)
    # Two bytes cannot hold the largest page size, 65536, so it is written as 1.
    page = int.from_bytes(header[16:18]) if header[16:18] != b"\0\1" else 65536
    return page * int.from_bytes(header[28:32])


def _good_entries(store: Store, lost: Sequence[str]) -> list[Row]:
    """Return the log up to the first entry that is damaged or needs a lost payload."""
    entries = []
    with suppress(LikewiseError):
        for row in store.rows():
            if any(f'"{name}"' in row[1] for name in lost):
                break
            entries.append(row)
    return entries


def _good_payload(store: Store, name: str) -> bytes | None:
    """Return a payload, or None if it is damaged."""
    with suppress(LikewiseError):
        return store.payload(name)
    return None
