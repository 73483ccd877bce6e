"""Damaged and forged session files: each is refused by name, repaired, or as it was."""

import importlib
import itertools
import os
import random
import re
import sqlite3
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from likewise.cli import main
from likewise.errors import LikewiseError
from likewise.project.checking import check_file
from likewise.store import Store
from likewise.store.database import begin

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
damage = importlib.import_module("damage")
PAGE = damage.PAGE
forge, make_session, mutated_bytes, ours_only, outcome, put, repaired = (
    damage.forge, damage.make_session, damage.mutated_bytes, damage.ours_only, damage.outcome,
    damage.put, damage.repaired,
)  # fmt: skip


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


@pytest.mark.parametrize("table", ["log", "photos"])
def test_a_database_of_another_program_is_not_repaired(path, table):
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"CREATE TABLE {table} (seq INTEGER)")
    with pytest.raises(LikewiseError, match="cannot be repaired: it has no tables of a session"):
        damage.repair_file(path)
    assert [p.name for p in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("begin", damage.BEGINNINGS, ids=["COBRA", "given"])
def test_a_torn_copy_is_as_before_or_after_the_write_or_refused(tmp_path, path, begin):
    """A copy in the moment of a write has some pages of before, and some of after."""
    rng, states, outcomes = random.Random(0), [], Counter[str]()
    append = Store.append

    def kept(store, *args, **options):
        number = append(store, *args, **options)
        states.append((tmp_path / "rows.csv.likewise").read_bytes())
        return number

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "append", kept)
        opened, labels = make_session(tmp_path, begin=begin)
    opened.project.close()
    for n, (before, after) in enumerate(itertools.pairwise(states), 1):
        old, new = ([s[k : k + PAGE] for k in range(0, len(s), PAGE)] for s in (before, after))
        cut = rng.randrange(1, len(old))
        some = [rng.choice(pair) for pair in zip(old, new, strict=False)] + new[len(old) :]
        for pages in (old[:cut] + new[cut:], new[:cut] + old[cut:], some):
            finding = check_file(put(path, b"".join(pages)))
            assert not finding.is_good or finding.n_entries in (n, n + 1)
            outcomes[outcome(path, labels)] += 1
    assert outcomes["opened"] > 10
    assert outcomes["refused"] > 10


def test_two_hundred_ways_of_damage_raise_no_other_error_and_change_nothing_silently():
    outcomes = damage.run(200)
    assert sum(outcomes.values()) == 200
    assert sum(n for (_, found), n in outcomes.items() if found == "refused") > 100
