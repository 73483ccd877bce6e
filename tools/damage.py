"""Damage session files, and see what opening, checking and repairing them does.

``python tools/damage.py --tries 10000`` flips bits, cuts the file, swaps pages, moves bytes, and
edits what the file says, also with checksums that fit again, as an attacker would. This is allowed:
the file opens with groups that were there once, or an error of ours refuses it. Never: another
error, or other content without a word (unless the checksums were forged).
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sqlite3
import tempfile
import zlib
from collections import Counter
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from likewise import Answer
from likewise.core.arrays import deflated
from likewise.errors import LikewiseError
from likewise.project import open_project, open_session_file
from likewise.project.checking import check_file, repair_file
from likewise.project.mending import Mending
from likewise.store import schema

PAGE = 4096
BEGINNINGS = [{"n_super_instances": 8}, {"groups": "old"}]
"""Sessions of COBRA, and of Likewise with groups that were given."""


def make_session(folder, n_answers=28, begin=BEGINNINGS[0]):
    """Return a session file with every kind of entry, and the labels after each entry."""
    source = Path(folder, "rows.csv")
    old = [f",{'abcd'[k % 4]}" if "groups" in begin else "" for k in range(24)]
    rows = "".join(f"{k % 4 * 9 + k / 9},{k % 3}{old[k]}\n" for k in range(24))
    source.write_text(f"x,y{',old' if old[0] else ''}\n{rows}")
    opened = open_project(source, **begin, options={"cache": False})
    project = opened.project
    labels = [project.session.labels.tolist()]
    for k in range(n_answers):
        at = {"position": project.position}
        query = project.ask()
        if k % 8 == 5:
            project.undo(**at)
        elif k % 8 == 6:
            project.name(project.groups()[0].id, f"größe {k}", **at)
        elif k % 8 == 7:
            rows = [k % 24, (k + 5) % 24]
            project.mend(partial(Mending.move, rows=rows, to=None), **at)
        elif query is None:
            project.rebuild(**at)
        else:
            heads = [group[0] % 4 if group else None for group in query.groups]
            chosen = heads.index(query.row % 4) if query.row % 4 in heads else Answer.NONE
            project.choose(chosen, number=query.number, **at)
        labels.append(project.session.labels.tolist())
    return opened, labels


def outcome(path, labels, at_least=0):
    """Open a file: it has groups that were there once, or the error is ours. Return which."""
    try:
        with closing(open_session_file(path).project) as project:
            assert project.position >= at_least
            assert project.session.labels.tolist() == labels[project.position]
            return "opened"
    except LikewiseError:
        return "refused"


def repaired(path, labels):
    """Repair a file: what it has then are groups that were there once. Return how many entries."""
    finding = check_file(path)
    if finding.is_good:
        return None
    try:
        target, n_entries, _ = repair_file(path)
    except LikewiseError:
        return None
    assert check_file(target).is_good
    assert outcome(target, labels) == "opened"
    target.unlink()
    return n_entries


def mutated_bytes(data, rng):
    """Return bytes with a few things changed: bits, blocks, lengths."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        place = rng.randrange(len(data)) if data else 0
        way = rng.randrange(6)
        size = rng.choice([1, 4, 100, 4096])
        if way <= 1 and data:
            data[place] ^= 1 << rng.randrange(8)
        elif way == 2:
            data[place : place + size] = rng.randbytes(size)
        elif way == 3:
            data[place : place + size] = bytes(len(data[place : place + size]))
        elif way == 4:
            del data[place:]
        else:
            data[place:place] = rng.randbytes(rng.choice([1, 3, 64]))
    return bytes(data)


ODD: list[object] = [
    None, True, -1, 0, 1, 7, 2**31, 2**63, 10**30, 1e308, -0.5, "", "x", "same", "row-by-row",
    "\ud800", [], [[]], {}, {"do": "undo"}, [0, 1, "same"], "closest-first", "<f8", "|O",
    {"base64": "", "dtype": "<f8", "shape": [10**12]}, {"payload": "setup 0"}, ["x"] * 50,
    {"base64": "eJwDAAAAAAE=", "dtype": "V8", "shape": [-1]},
]  # fmt: skip


def mutated_json(value, rng):
    """Return a JSON value with one place in it changed, lost or doubled."""
    value = json.loads(json.dumps(value))
    for _ in range(rng.choice([1, 1, 2, 4])):
        spot = value
        while isinstance(spot, dict | list) and spot:
            key = rng.choice(list(spot)) if isinstance(spot, dict) else rng.randrange(len(spot))
            inner = spot[key]
            if not isinstance(inner, dict | list) or not inner or rng.random() < 0.3:
                way = rng.randrange(5)
                if way == 0:
                    del spot[key]
                elif way == 1 and isinstance(spot, list):
                    spot.insert(key, inner)
                elif way == 2 and type(inner) is int:
                    spot[key] = inner + rng.choice([-1, 1, 10, -(10**9), 10**9])
                elif way == 3 and isinstance(inner, str) and inner:
                    spot[key] = inner[: rng.randrange(len(inner))]
                else:
                    spot[key] = copy.deepcopy(rng.choice(ODD))
                break
            spot = inner
    return value


def forge(path, rng):
    """Change something in a file and make all its checksums fit, as an attacker would."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        what = rng.choice(["log", "settings", "payloads"])
        if what == "log":
            db.execute("DROP TRIGGER log_keeps_content")
            (n,) = db.execute("SELECT count(*) FROM log").fetchone()
            seq = rng.randrange(1, n + 1)
            (op,) = db.execute("SELECT op FROM log WHERE seq = ?", (seq,)).fetchone()
            text = json.dumps(mutated_json(json.loads(op), rng))
            db.execute("UPDATE log SET op = ? WHERE seq = ?", (text, seq))
            schema.sign_log(db)
            db.execute(
                "CREATE TRIGGER log_keeps_content BEFORE UPDATE ON log"
                " BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END"
            )
        elif what == "settings":
            rows = db.execute("SELECT name, value FROM settings").fetchall()
            name, value = rng.choice([row for row in rows if row[0] != "path"])
            text = json.dumps(mutated_json([json.loads(value)], rng))
            db.execute("UPDATE settings SET value = ? WHERE name = ?", (text[1:-1] or "0", name))
        else:
            rows = db.execute("SELECT name, data FROM payloads").fetchall()
            name, data = rng.choice(rows)
            plain = json.loads(zlib.decompress(data))
            new = deflated(json.dumps(mutated_json(plain, rng)).encode())
            db.execute("UPDATE payloads SET data = ? WHERE name = ?", (new, name))
        schema.sign_content(db)


def ours_only(path):
    """Open a forged file and use it a little: only errors of ours."""
    try:
        with closing(open_session_file(path).project) as project:
            if (query := project.ask()) is not None:
                project.choose(0, number=query.number, position=project.position)
            project.groups()
    except LikewiseError:
        return "refused"
    return "opened"


def put(path, data, journal=None):
    """Write a file, and the journal beside it."""
    Path(f"{path}-journal").unlink(missing_ok=True)
    path.write_bytes(data)
    if journal is not None:
        Path(f"{path}-journal").write_bytes(journal)
    return path


def swapped(data, rng):
    """Return the bytes of a file with two of its pages in each other's place."""
    pages = [data[k : k + PAGE] for k in range(0, len(data), PAGE)]
    a, b = rng.sample(range(len(pages)), 2)
    pages[a], pages[b] = pages[b], pages[a]
    return b"".join(pages)


def edit(path, rng):
    """Change one value of a table, and leave the checksums as they are."""
    tables = {
        "settings": ("name", "value"),
        "items": ("id", "hash"),
        "log": ("op", "person", "at", "seconds", "sum"),
        "payloads": ("name", "data"),
        "sums": ("name", "sum"),
        "migrations": ("name",),
    }
    table = rng.choice(list(tables))
    column = rng.choice(tables[table])
    value = rng.choice(
        [None, 0, -1, 2**60, 0.5, "", "x", "[]", "{}", b"", b"\xff\xfe", "\x00", "9" * 400]
    )
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for trigger in ("log_keeps_content", "log_keeps_entries"):
            db.execute(f"DROP TRIGGER {trigger}")
        key = "rowid" if table != "sums" else "name"
        keys = [row[0] for row in db.execute(f"SELECT {key} FROM {table}")]
        try:
            if rng.random() < 0.2:
                db.execute(f"DELETE FROM {table} WHERE {key} = ?", (rng.choice(keys),))
            else:
                change = f"UPDATE {table} SET {column} = ? WHERE {key} = ?"
                db.execute(change, (value, rng.choice(keys)))
        except sqlite3.IntegrityError:
            pass
        for kind, when in (("entries", "DELETE"), ("content", "UPDATE")):
            db.execute(
                f"CREATE TRIGGER log_keeps_{kind} BEFORE {when} ON log"
                " BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END"
            )


def flipped(data, rng):
    """Return bytes with one bit changed where something is written."""
    written = [place for place, byte in enumerate(data) if byte]
    changed = bytearray(data)
    changed[rng.choice(written)] ^= 1 << rng.randrange(8)
    return bytes(changed)


def one_try(path, made, rng):
    """Damage a file in some way and use it in all ways; return what happened."""
    data, labels = made
    way = rng.choice(["flip", "flip", "cut", "swap", "mutate", "edit", "forge"])
    if way == "edit":
        edit(put(path, data), rng)
    elif way == "forge":
        forge(put(path, data), rng)
    elif way == "cut":
        put(path, data[: rng.randrange(len(data))])
    else:
        put(path, {"flip": flipped, "swap": swapped, "mutate": mutated_bytes}[way](data, rng))
    before = path.read_bytes()
    finding = check_file(path)
    assert path.read_bytes() == before, "a check changed the file"
    if way == "forge":
        repaired_to = path.with_name(f"{path.stem}.repaired.likewise")
        with suppress(LikewiseError):
            repair_file(path)
        repaired_to.unlink(missing_ok=True)
        return way, ours_only(path)
    found = outcome(path, labels)
    assert path.read_bytes() == before, "opening changed the file"
    assert found == "opened" or not finding.is_good, "a check missed something"
    if not finding.is_good:
        repaired(path, labels)
    return way, found


def run(tries, seed=0):
    """Damage a file so many times; return what happened how often."""
    outcomes: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        made = []
        for k, begin in enumerate(BEGINNINGS):
            Path(folder, str(k)).mkdir()
            opened, labels = make_session(Path(folder, str(k)), begin=begin)
            opened.project.close()
            made.append((opened.path, (opened.path.read_bytes(), labels)))
        for number in range(seed, seed + tries):
            try:
                outcomes[one_try(*made[number % 2], random.Random(number))] += 1
            except Exception as error:
                raise AssertionError(f"try {number}: {type(error).__name__}: {error}") from error
    return outcomes


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for (way, found), n in sorted(run(options.tries, options.seed).items()):
        print(f"{way:8} {found:8} {n}")
