import json
import os
import random
import re
import shutil
import signal
import sqlite3
import threading
import traceback
import zlib
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from likewise import LabelOracle, Likewise
from likewise.errors import InputError, LikewiseError, SessionFileError, StaleQueryError
from likewise.project.checking import check_file, repair_file
from likewise.store import Store, schema
from likewise.store.database import new_file


def tell(number, answer="same"):
    return {"do": "tell", "number": number, "left": number, "right": 0, "answer": answer}


def append_for_ever(store, text, acknowledged):
    while True:
        acknowledged.append(store.append({"text": text}, after=len(acknowledged)))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "photos.likewise"


@pytest.fixture
def store(path):
    with Store.create(path, settings={"seed": 3}, items={"a": "1", "b": "2"}) as store:
        yield store


def test_what_does_not_shrink_is_stored_as_it_is(path):
    noise = random.Random(0).randbytes(400_000)
    with Store.create(path, payloads={"noise": noise}) as store:
        assert store.payload("noise") == noise
    with closing(sqlite3.connect(path)) as db:
        (stored,) = db.execute("SELECT data FROM payloads").fetchone()
    assert stored == zlib.compress(noise, 0)


def test_a_long_payload_is_stored_in_pieces_of_which_none_can_be_lost(path, tmp_path, monkeypatch):
    monkeypatch.setattr("likewise.store.store.PIECE", 1000)
    long, other = (random.Random(seed).randbytes(4500) for seed in (0, 1))
    with Store.create(path, payloads={"setup 0": long, "setup 00": b"short"}) as store:
        assert store.payload_names == ["setup 0", "setup 00"]
        assert store.payload("setup 0") == long
        store.copy_to(tmp_path / "copy.likewise")
        store.append({"do": "x"}, after=0, payloads={"setup 0": other[:1500]})
        assert store.payload("setup 0") == other[:1500]
        assert store.check_content() == 1
    with Store.open(tmp_path / "copy.likewise") as copy:
        assert copy.payload("setup 0") == long
    for statement in (
        "DELETE FROM payloads WHERE name = 'setup 0 / 3'",
        "UPDATE payloads SET data = x'00' WHERE name = 'setup 0 / 2'",
        "DELETE FROM sums WHERE name = 'payload setup 0 / 4'",
        "DELETE FROM sums WHERE name LIKE 'payload setup 0 / %'",
    ):
        damaged = tmp_path / "damaged.likewise"
        shutil.copy(tmp_path / "copy.likewise", damaged)
        with closing(sqlite3.connect(damaged)) as db, db:
            db.execute(statement)
        with Store.open(damaged) as store, pytest.raises(SessionFileError, match="payload 'setup"):
            store.check_content()


def test_everything_comes_back_after_closing(path):
    payload = bytes(range(256)) * 1000
    with Store.create(
        path,
        settings={"seed": 3, "columns": ["größe", "weight"], "nested": {"a": None}},
        items={"z": "1", "a": "2"},
        payloads={"assignment": payload},
    ) as store:
        assert store.append(tell(1), after=0) == 1
        assert store.append({"do": "undo", "at": "2020-02-02T00:00:00Z"}, after=1) == 2
    with Store.open(path) as store:
        assert store.settings == {"seed": 3, "columns": ["größe", "weight"], "nested": {"a": None}}
        assert list(store.items.items()) == [("z", "1"), ("a", "2")]
        assert store.payload("assignment") == payload
        assert store.payload_names == ["assignment"]
        assert [(e.seq, e.op) for e in store.read()] == [(1, tell(1)), (2, {"do": "undo"})]
        assert [e.seq for e in store.read(since=1)] == [2]
        assert store.last == 2
        assert store.read()[1].at == "2020-02-02T00:00:00Z"
    assert path.stat().st_size < len(payload)


def test_a_closed_project_is_one_file(path, store):
    store.append(tell(1), after=0)
    store.close()
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_write_is_in_the_file_itself_and_waits_for_the_disk(path, store):
    store.append(tell(1), after=0)
    assert store._db.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert store._db.execute("PRAGMA synchronous").fetchone() == (3,)
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_copy_is_whole_while_the_project_is_open(path, store, tmp_path):
    store.append(tell(1), after=0, payloads={"setup": b"x" * 1000})
    store.copy_to(tmp_path / "copy.likewise")
    store.append(tell(2), after=1)
    with Store.open(tmp_path / "copy.likewise") as copy:
        assert [e.op for e in copy.read()] == [tell(1)]
        assert copy.payload("setup") == b"x" * 1000
        assert copy.items == store.items
        assert copy.append({"do": "undo"}, after=1) == 2
    with pytest.raises(InputError, match="exists already"):
        store.copy_to(tmp_path / "copy.likewise")


@pytest.mark.parametrize("name", ["a b#c?d=e&f%20.likewise", "'\";--.likewise", "жук🙂.likewise"])
def test_the_name_of_the_file_may_be_odd(tmp_path, name):
    with Store.create(tmp_path / name) as store:
        store.append(tell(1), after=0)
        store.copy_to(tmp_path / f"copy {name}")
    with Store.open(tmp_path / name) as store, Store.open(tmp_path / f"copy {name}") as copy:
        assert store.last == copy.last == 1
    assert {p.name for p in tmp_path.iterdir()} == {name, f"copy {name}"}


def test_a_stale_append_is_refused_and_changes_nothing(path, store):
    with Store.open(path) as other_tab:
        assert store.last == other_tab.last == 0
        store.append(tell(1), after=0)
        with pytest.raises(StaleQueryError, match="after entry 0 and the log is at 1"):
            other_tab.append(tell(1, "different"), after=0, payloads={"x": b"1"})
        with pytest.raises(StaleQueryError):
            other_tab.append(tell(1), after=7)
        assert [e.op for e in other_tab.read()] == [tell(1)]
        assert other_tab.payload_names == []
        other_tab.append(tell(2), after=1, payloads={"x": b"1"})
        assert store.last == 2
        assert store.payload("x") == b"1"


def test_threads_on_one_store_neither_lose_nor_double_an_answer(store):
    refused = []

    def answer(worker):
        done = 0
        while done < 20:
            try:
                store.append({"worker": worker, "n": done}, after=store.last)
                done += 1
            except StaleQueryError:
                refused.append(worker)

    threads = [threading.Thread(target=answer, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    entries = store.read()
    assert [e.seq for e in entries] == list(range(1, 81))
    assert {(e.op["worker"], e.op["n"]) for e in entries} == {
        (w, n) for w in range(4) for n in range(20)
    }


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_processes_on_one_file_neither_lose_nor_double_an_answer(path, store):
    store.close()  # SQLite must not be open across a fork
    gate, opener = os.pipe()
    workers = [fork_worker(path, worker, gate, opener) for worker in range(4)]
    os.close(gate)
    os.close(opener)  # the last one with the gate in hand lets it go: all start together
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in workers]
    assert codes == [0] * 4
    with Store.open(path) as again:
        entries = again.read()
    assert [e.seq for e in entries] == list(range(1, 121))
    assert {(e.op["worker"], e.op["n"]) for e in entries} == {
        (w, n) for w in range(4) for n in range(30)
    }


def fork_worker(path, worker, gate, opener):
    """Start a process that waits for the gate and then gives thirty answers."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.close(opener)
        with Store.open(path) as store:
            os.read(gate, 1)
            done = 0
            while done < 30:
                try:
                    store.append({"worker": worker, "n": done}, after=store.last)
                    done += 1
                except StaleQueryError:
                    pass
        code = 0
    except Exception:
        traceback.print_exc()
    finally:
        os._exit(code)


def test_nothing_but_sqlite_opens_a_session_file(path, store, monkeypatch):
    # Closing another handle would cancel SQLite's locks, and two processes could write at once.
    def watched(real):
        def opened(name, *args, **options):
            assert str(name) != str(path), "it was opened beside SQLite"
            return real(name, *args, **options)

        return opened

    monkeypatch.setattr(Path, "open", watched(Path.open))
    monkeypatch.setattr("builtins.open", watched(open))
    monkeypatch.setattr(os, "open", watched(os.open))
    with Store.open(path) as other:
        other.append(tell(1), after=0)
    assert check_file(path).is_good


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_file_that_one_process_opens_twice_stays_locked(path, store):
    """Another process must not write while this one does, whatever else was opened and closed."""
    store._db.execute("BEGIN IMMEDIATE")
    Store.open(path).close()
    assert check_file(path).is_good
    pid = os.fork()
    if not pid:
        code = 1
        try:
            db = sqlite3.connect(path, timeout=0, isolation_level=None)
            db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    store._db.execute("ROLLBACK")


def test_nobody_writes_between_two_looks_at_a_file(path, store, monkeypatch):
    """Else what came between them would be taken for damage."""
    refused: list[str] = []

    def write_before(method):
        def wrapped(self, *args):
            with pytest.raises(LikewiseError, match="another process writes to it"):
                impatient.append(tell(2), after=1)
            refused.append(method.__name__)
            return method(self, *args)

        monkeypatch.setattr(Store, method.__name__, wrapped)

    store.append(tell(1), after=0)
    monkeypatch.setattr("likewise.store.database.BUSY_SECONDS", 0.0)
    with Store.open(path) as impatient, Store.open(path) as other:
        for method in (Store._damage_after, Store._compare):
            write_before(method)
        assert [entry.op for entry in other.read()] == [tell(1)]
        assert other.settings == {"seed": 3}
    assert {"_damage_after", "_compare"} == set(refused)
    monkeypatch.undo()
    store.append(tell(2), after=1)
    assert store.last == 2


def test_the_log_cannot_be_rewritten(store):
    store.append(tell(1), after=0)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        store._db.execute("DELETE FROM log")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        store._db.execute("UPDATE log SET op = '{}'")
    assert store.read()[0].op == tell(1)


@pytest.mark.parametrize("op", [{"a": {1, 2}}, {"a": float("nan")}, {"a": b"x"}])
def test_an_operation_that_json_cannot_hold_is_refused(store, op):
    with pytest.raises(InputError, match="plain JSON"):
        store.append(op, after=0)
    assert store.last == 0


def test_an_unknown_payload_is_named_with_those_there_are(store):
    store.append(tell(1), after=0, payloads={"setup": b"1"})
    with pytest.raises(InputError, match=r"no payload 'set-up', only \['setup'\]"):
        store.payload("set-up")


def test_an_entry_comes_with_settings_and_items_or_not_at_all(path, store):
    before = store.items, store.settings
    with pytest.raises(StaleQueryError):
        store.append(tell(1), after=3, settings={"seed": 9}, items={"c": "3"})
    with pytest.raises(InputError, match="setting 'x' must be plain"):
        store.append(tell(1), after=0, settings={"x": {1}}, items={"c": "3"})
    assert (store.items, store.settings, store.last) == (*before, 0)
    store.append(tell(1), after=0, settings={"seed": 9}, items={"c": "3", "a": "1"})
    with Store.open(path) as again:
        assert (again.items, again.settings["seed"]) == ({"c": "3", "a": "1"}, 9)


def test_an_existing_file_is_never_overwritten(path):
    path.write_text("my thesis")
    with pytest.raises(InputError, match="exists already"):
        Store.create(path)
    assert path.read_text() == "my thesis"


def test_a_file_that_came_while_another_was_made_is_kept(path):
    with pytest.raises(InputError, match="exists already"), new_file(path):
        path.write_text("my thesis")
    assert path.read_text() == "my thesis"
    assert list(path.parent.iterdir()) == [path]


def test_a_failed_creation_leaves_nothing_behind(path):
    with pytest.raises(InputError, match="setting 'x' must be plain JSON"):
        Store.create(path, settings={"x": object()})
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("suffix", ["-journal", "-wal"])
def test_what_is_left_over_of_a_file_is_not_replayed_into_a_new_one(path, suffix):
    Path(f"{path}{suffix}").write_bytes(b"?")
    with pytest.raises(InputError, match="move it away"):
        Store.create(path)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(InputError, match="there is no folder"):
        Store.create(tmp_path / "nowhere" / "x.likewise")


@pytest.mark.parametrize("content", [b"", b"SQLite", b"a,b\n1,2\n", b"\x89PNG" + bytes(5000)])
def test_what_is_not_a_project_is_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(SessionFileError, match="not a likewise project file"):
        Store.open(path)
    assert path.read_bytes() == content


def test_a_missing_file_and_a_folder_are_refused_and_not_created(tmp_path):
    with pytest.raises(SessionFileError, match="no such file"):
        Store.open(tmp_path / "x.likewise")
    with pytest.raises(SessionFileError, match="it is not a regular file"):
        Store.open(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_database_of_another_program_is_refused(path):
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE log (seq INTEGER)")
    db.close()
    with pytest.raises(SessionFileError, match="not a likewise project file"):
        Store.open(path)


@pytest.mark.parametrize("content", ["notes", "other", "waiting"])
def test_a_file_that_is_not_ours_is_never_opened_for_writing(path, content, monkeypatch):
    """SQLite opens a file for writing; before that, we read its first bytes."""
    if content == "notes":
        path.write_text("my notes, without an end of line")
    else:
        with closing(sqlite3.connect(path)) as db, db:
            db.execute(f"PRAGMA journal_mode = {'WAL' if content == 'waiting' else 'DELETE'}")
            db.execute("CREATE TABLE photos (name TEXT)")
    before = path.read_bytes(), path.stat().st_mtime_ns
    address, opened = path.absolute().as_uri(), []
    connect = sqlite3.connect

    def watched(database, *args, **options):
        opened.append(database)
        return connect(database, *args, **options)

    monkeypatch.setattr(sqlite3, "connect", watched)
    with pytest.raises(SessionFileError, match=r"likewise project file|of another program"):
        Store.open(path)
    with pytest.raises(SessionFileError):
        repair_file(path)
    assert check_file(path).fault
    model, X = Likewise(5), np.arange(12.0).reshape(6, 2)
    with pytest.raises(SessionFileError):
        model.fit(X, oracle=LabelOracle([0] * 6), checkpoint=path)
    assert [a for a in opened if a.startswith(address) and not a.endswith("mode=ro")] == []
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert list(path.parent.iterdir()) == [path]


def test_a_cut_file_is_refused_wherever_it_was_cut(path, store):
    for n in range(100):
        store.append(tell(n), after=n)
    store.append(tell(100), after=100, payloads={"noise": os.urandom(20000)})
    store.close()
    whole = path.read_bytes()
    for size in (*range(0, len(whole), 1371), len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(SessionFileError):
            Store.open(path)


def test_a_file_with_overwritten_pages_is_refused(path, store):
    for n in range(100):
        store.append(tell(n), after=n)
    store.close()
    whole = bytearray(path.read_bytes())
    whole[4096:] = b"\xff" * (len(whole) - 4096)
    path.write_bytes(whole)
    with pytest.raises(SessionFileError):
        Store.open(path)


def test_damage_in_an_index_is_found_by_a_check(path):
    Store.create(path, items={"pear": "1", "plum": "2"}).close()
    data = path.read_bytes()
    places = [found.start() for found in re.finditer(b"pear", data)]
    assert len(places) == 2  # in the table and in its index
    for place in places:
        path.write_bytes(data[:place] + b"bear" + data[place + 4 :])
        assert not check_file(path).is_good


def test_a_newer_schema_is_refused_with_the_remedy(path, store):
    store._db.execute("PRAGMA user_version = 99")
    store.close()
    before = path.read_bytes()
    with pytest.raises(SessionFileError, match=r"newer version of likewise.*--upgrade"):
        Store.open(path)
    assert path.read_bytes() == before


def test_a_full_disk_is_said_and_loses_nothing(store):
    pages = store._db.execute("PRAGMA page_count").fetchone()[0]
    store._db.execute(f"PRAGMA max_page_count = {pages + 2}")
    saved: list[int] = []
    with pytest.raises(LikewiseError, match=r"nothing was saved.*the disk is full"):
        append_for_ever(store, "x" * 500, saved)
    assert len(saved) > 0
    assert [e.seq for e in store.read()] == saved
    store._db.execute(f"PRAGMA max_page_count = {pages + 1000}")
    assert store.append(tell(1), after=len(saved)) == len(saved) + 1


def test_a_disk_that_stops_taking_bytes_is_said_and_loses_nothing(path, store):
    """The limit on the size of files makes every write beyond it fail."""
    resource = pytest.importorskip("resource", reason="needs a limit on the size of files")
    saved = [store.append(tell(0), after=0)]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, before[1]))
        with pytest.raises(LikewiseError, match=r"the disk (is full|failed)"):
            append_for_ever(store, "x" * 1500, saved)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert len(saved) > 1
    with Store.open(path) as again:
        assert [e.seq for e in again.read()] == saved
    assert store.append(tell(1), after=len(saved)) == len(saved) + 1


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everything")
def test_a_file_that_may_not_be_written_is_said(path, store):
    store.close()
    path.chmod(0o400)
    with pytest.raises(LikewiseError, match="permission"), Store.open(path) as again:
        again.append(tell(1), after=0)


def test_another_process_that_never_finishes_is_said(path, store, monkeypatch):
    monkeypatch.setattr("likewise.store.database.BUSY_SECONDS", 0.0)
    with Store.open(path) as blocked:
        store._db.execute("BEGIN IMMEDIATE")
        with pytest.raises(LikewiseError, match="another process writes to it"):
            blocked.append(tell(1), after=0)
        store._db.execute("ROLLBACK")
        assert blocked.append(tell(1), after=0) == 1


def test_a_closed_store_says_so(store):
    store.close()
    with pytest.raises(LikewiseError, match="closed"):
        store.append(tell(1), after=0)


def test_a_store_in_memory_closes_itself_when_nobody_holds_it():
    store = Store.in_memory()
    db = store._db
    del store
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        db.execute("SELECT 1")


@pytest.mark.parametrize("page_size", [512, 4096, 65536])
def test_the_end_of_a_file_is_missed_whatever_its_pages(path, store, page_size):
    store.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(f"PRAGMA page_size = {page_size}")
        db.execute("VACUUM")
    Store.open(path).close()
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(SessionFileError, match=r"its end is missing|is cut or damaged"):
        Store.open(path)


# -- migrations, from a schema 0 that never was --------------------------------------------------


def zero(db):
    """Make the tables of today, and one that is gone today."""
    schema._first_tables(db)
    db.execute("CREATE TABLE colors (name TEXT)")
    db.execute("INSERT INTO colors VALUES ('red'), ('blue')")


def colors_as_a_setting(db):
    colors = [name for (name,) in db.execute("SELECT name FROM colors ORDER BY rowid")]
    db.execute("INSERT INTO settings VALUES ('colors', ?)", (json.dumps(colors),))
    db.execute("DROP TABLE colors")
    schema.sign(db, "settings")


ZERO = [("schema 0", zero)]
ONE = [*ZERO, ("colors as a setting", colors_as_a_setting)]


@pytest.fixture
def old(path, monkeypatch):
    """A file of schema 0 with two entries; schema 1 is known by now."""
    monkeypatch.setattr(schema, "MIGRATIONS", ZERO)
    with Store.create(path, settings={"seed": 3}) as store:
        store.append(tell(1), after=0)
        store.append(tell(2), after=1)
    monkeypatch.setattr(schema, "MIGRATIONS", ONE)
    return path


def test_an_old_file_is_read_without_a_change_and_migrated_by_the_first_write(old):
    before = old.read_bytes()
    with Store.open(old) as store:
        assert store.settings == {"seed": 3, "colors": ["red", "blue"]}
        assert [e.op for e in store.read()] == [tell(1), tell(2)]
        assert store.version == 1
        assert old.read_bytes() == before
        store.append(tell(3), after=2)
        assert store.version == 2
    for n in (3, 4):
        with Store.open(old) as store:
            assert store.settings == {"seed": 3, "colors": ["red", "blue"]}
            assert len(store.read()) == n
            store.append(tell(n + 1), after=n)
    assert check_file(old).is_good


def test_a_migrated_file_is_too_new_for_the_old_release(old, monkeypatch):
    with Store.open(old) as store:
        store.append(tell(3), after=2)
    monkeypatch.setattr(schema, "MIGRATIONS", ZERO)
    with pytest.raises(SessionFileError, match="newer version"):
        Store.open(old)


def test_a_migration_that_fails_at_any_moment_leaves_before_or_after(old):
    before, n = old.read_bytes(), 0
    while True:
        n += 1
        old.write_bytes(before)
        left = n

        def fails():
            nonlocal left
            left -= 1
            return left == 0

        with Store.open(old) as store:
            store._db.set_progress_handler(fails, 5)
            try:
                store.append(tell(3), after=2)
                break
            except LikewiseError:
                pass
            store._db.set_progress_handler(None, 0)
        with Store.open(old) as store:
            assert (store.version, store.last) == (1, 2)
    assert n > 10
    with Store.open(old) as store:
        assert (store.version, store.last) == (2, 3)


def test_a_file_of_a_development_version_is_refused_in_one_sentence(path, store):
    store._db.execute(f"PRAGMA application_id = {schema.UNPUBLISHED_ID}")
    store.close()
    with pytest.raises(SessionFileError, match=r"unpublished development version.*Begin a new ses"):
        Store.open(path)


def test_every_entry_says_who_did_it_when_and_how_long_it_took(store):
    signed = {"by": "Ann", "at": "2026-01-01T00:00:00.000Z", "seconds": 2}
    store.append({**tell(1), **signed}, after=0)
    store.append({"do": "undo"}, after=1)
    first, second = store.read()
    assert (first.op, first.by, first.at, first.seconds) == (tell(1), *signed.values())
    assert (second.op, second.by, second.seconds) == ({"do": "undo"}, None, None)
    assert second.at.endswith("Z")


def test_a_setting_is_read_again_only_when_the_file_has_changed(path, monkeypatch):
    with Store.create(path, settings={"seed": 0, "instruction": "alike?"}) as store:
        assert store.setting("instruction") == "alike?"
        store.set("instruction", "the same kind?")
        assert store.setting("instruction") == "the same kind?"
        with Store.open(path) as other:
            other.set("instruction", "the same color?")
        assert store.setting("instruction") == "the same color?"
        store.append({"do": "undo"}, after=0)
        monkeypatch.setattr(Store, "settings", None)
        assert store.setting("instruction") == "the same color?"
