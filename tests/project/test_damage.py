"""Damaged and forged session files: each is refused by name, repaired, or as it was."""

import copy
import json
import os
import random
import re
import sqlite3
import zlib
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from likewise import Answer
from likewise.cli import main
from likewise.core.arrays import deflated
from likewise.errors import LikewiseError
from likewise.project import open_project, open_session_file
from likewise.project.checking import check_file, repair_file
from likewise.project.mending import Mending
from likewise.store import Store, schema
from likewise.store.database import begin


def make_session(folder, n_answers=28):
    """Return a session file with every kind of entry, and the labels after each entry."""
    source = Path(folder, "rows.csv")
    source.write_text("x,y\n" + "".join(f"{k % 4 * 9 + k / 9},{k % 3}\n" for k in range(24)))
    opened = open_project(source, n_super_instances=8, options={"cache": False})
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
            heads = [group[0] % 4 for group in query.groups]
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


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A session as bytes, and the labels after each entry."""
    opened, labels = make_session(tmp_path_factory.mktemp("made"))
    opened.project.close()
    return opened.path.read_bytes(), labels


@pytest.fixture(scope="module")
def killed(made, tmp_path_factory):
    """The file and its journal, after a kill in the middle of a write."""
    path = put(tmp_path_factory.mktemp("killed") / "photos.likewise", made[0])
    pid = os.fork()
    if not pid:
        with Store.open(path) as store:
            store._db.execute("PRAGMA cache_size = 1")  # so that pages are written before the end
            begin(store._db)
            for k in range(100):
                values = (f"half {k}", random.Random(k).randbytes(3000))
                store._db.execute("INSERT INTO payloads VALUES (?, ?)", values)
            os._exit(0)
    os.waitpid(pid, 0)
    return path.read_bytes(), Path(f"{path}-journal").read_bytes()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "photos.likewise"


def put(path, data, journal=None):
    Path(f"{path}-journal").unlink(missing_ok=True)
    path.write_bytes(data)
    if journal is not None:
        Path(f"{path}-journal").write_bytes(journal)
    return path


def test_flipped_bits_are_refused_or_harmless(made, path):
    closed, labels = made
    rng = random.Random(0)
    # Pages of a small file are mostly empty. The last bit of a digit makes it another row.
    written = [place for place, byte in enumerate(closed) if byte]
    digits = [match.start() for match in re.finditer(rb"\d(?=[,\]])", closed)]
    outcomes = []
    for k in range(80):
        data = bytearray(closed)
        if k % 4:
            data[rng.choice(written)] ^= 1 << rng.randrange(8)
        else:
            data[rng.choice(digits)] ^= 1
        outcomes.append(outcome(put(path, data), labels, at_least=len(labels) - 1))
    assert outcomes.count("refused") > 60


def test_eighty_cuts_are_refused(made, path):
    closed, labels = made
    rng = random.Random(1)
    for _ in range(80):
        put(path, closed[: rng.randrange(len(closed))])
        assert outcome(path, labels) == "refused"


def test_flips_and_cuts_are_repaired_to_what_was_there(made, path):
    closed, labels = made
    rng = random.Random(2)
    n_repaired = []
    written = [place for place, byte in enumerate(closed) if byte]
    for k in range(30):
        data = bytearray(closed)
        if k % 3:
            data[rng.choice(written)] ^= 1 << rng.randrange(8)
        else:
            del data[rng.randrange(len(data) // 2, len(data)) :]
        n_repaired.append(repaired(put(path, data), labels))
    assert sum(n is not None for n in n_repaired) > 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
class TestKilled:
    def test_a_write_that_was_interrupted_is_taken_back(self, made, killed, path):
        closed, labels = made
        assert killed[0] != closed
        put(path, *killed)
        assert outcome(path, labels, at_least=len(labels) - 1) == "opened"
        with Store.open(path) as store:
            assert not [name for name in store.payload_names if name.startswith("half")]
        assert [file.name for file in path.parent.iterdir()] == [path.name]

    def test_it_is_taken_back_by_checking_the_file_too(self, killed, path):
        put(path, *killed)
        finding = check_file(path)
        assert (finding.is_good, finding.n_entries) == (True, 28)

    def test_a_damaged_journal_is_refused_or_the_file_is_as_it_was(self, made, killed, path):
        _, labels = made
        rng = random.Random(3)
        for k in range(40):
            journal = bytearray(killed[1])
            if k % 2:
                journal[rng.randrange(len(journal))] ^= 1 << rng.randrange(8)
            else:
                del journal[rng.randrange(len(journal)) :]
            put(path, killed[0], journal)
            if outcome(path, labels, at_least=len(labels) - 1) == "refused":
                put(path, killed[0], journal)
                repaired(path, labels)


def changed(path, *statements):
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for trigger in ("log_keeps_content", "log_keeps_entries"):
            (sql,) = db.execute(
                "SELECT sql FROM sqlite_master WHERE name = ?", (trigger,)
            ).fetchone()
            db.execute(f"DROP TRIGGER {trigger}")
            statements = (*statements, sql)
        for statement in statements:
            db.execute(statement)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE log SET op = replace(op, 'same', 'unsure')", "entry 4 of 28 is damaged; 3 can"),
        ("UPDATE log SET op = op || ' ' WHERE seq = 13", "entry 13 of 28 is damaged; 12 can"),
        ("UPDATE log SET at = '2020' WHERE seq = 9", "entry 9 of 28 is damaged; 8 can be read"),
        ("UPDATE log SET op = '{' WHERE seq = 28", "entry 28 of 28 is damaged; 27 can be read"),
        ("DELETE FROM log WHERE seq = 10", "entry 10 of 28 is missing; 9 can be read"),
        ("DELETE FROM log WHERE seq > 20", "entry 21 of 28 is missing; 20 can be read"),
        ("DELETE FROM log", "entry 1 of 28 is missing; 0 can be read"),
        ("UPDATE settings SET value = '7' WHERE name = 'seed'", "damaged: its settings"),
        ("UPDATE items SET hash = 'x' WHERE position = 3", "damaged: its list of items"),
        ("UPDATE payloads SET data = x'00'", "damaged: its payload 'aspects'"),
        ("DELETE FROM payloads", "its payload 'aspects' is missing"),
        ("DELETE FROM sums WHERE name = 'log'", "what it notes about the end of its log"),
    ],
)
def test_damage_is_named(made, path, statement, message):
    closed, _ = made
    changed(put(path, closed), statement)
    finding = check_file(path)
    assert not finding.is_good
    assert message in finding.fault


def test_check_and_repair_are_commands(made, path, tmp_path):
    closed, labels = made
    run = CliRunner().invoke
    put(path, closed)
    result = run(main, ["check", str(path)])
    assert (result.exit_code, result.output) == (0, f"{path} is good: 28 entries in its log\n")
    changed(path, "UPDATE log SET op = '{}' WHERE seq = 18")
    before = path.read_bytes()
    result = run(main, ["check", str(path)])
    assert result.exit_code == 1
    assert "entry 18 of 28 is damaged; 17 can be read" in result.output
    result = run(main, ["check", "--repair", str(path)])
    assert result.exit_code == 1
    target = tmp_path / "photos.repaired.likewise"
    assert f"{target} has 17 of 28 entries" in result.output
    assert path.read_bytes() == before
    assert outcome(target, labels, at_least=17) == "opened"
    result = run(main, ["check", "--repair", str(path)])
    assert f"{target} exists already" in result.output


@pytest.mark.parametrize("seed", range(60))
def test_a_forged_file_raises_only_errors_of_ours(made, path, seed, tmp_path):
    closed, _ = made
    put(path, closed)
    forge(path, random.Random(seed))
    ours_only(path)


@pytest.mark.parametrize("seed", range(40))
def test_a_mutated_file_opens_as_it_was_or_is_refused(made, path, seed):
    closed, labels = made
    outcome(put(path, mutated_bytes(closed, random.Random(seed))), labels)


def test_a_damaged_file_is_not_changed_by_opening_it(made, path):
    closed, _ = made
    refused = 0
    rng = random.Random(9)
    for _ in range(40):
        data = bytearray(closed)
        start = rng.randrange(100, len(data))
        data[start : start + 200] = b"\xff" * len(data[start : start + 200])
        put(path, data)
        try:
            Store.open(path).close()
        except LikewiseError:
            refused += 1
        assert path.read_bytes() == data
    assert refused > 2
