"""Who reads a session file does not keep those waiting who write to it."""

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing

import pytest

from likewise.errors import LikewiseError
from likewise.project.checking import check_file
from likewise.store import Store, database
from likewise.store.store import PIECE

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals and locks of POSIX")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "photos.likewise"
    noise = os.urandom(1 << 20)
    Store.create(path, payloads={str(k): noise for k in range(8)}).close()
    return path


def test_a_check_that_others_interrupt_begins_anew_and_is_given_up(path, monkeypatch):
    """No lock is held between steps: writes without any patience succeed."""
    monkeypatch.setattr(database, "STEP", 100)
    real, n_steps = sqlite3.Connection.backup, 0

    with Store.open(path) as writer:

        def backup(self, target, *, progress, **options):
            def watch(*state):
                nonlocal n_steps
                n_steps += 1
                with monkeypatch.context() as patch:
                    patch.setattr(database, "BUSY_SECONDS", 0.0)
                    if n_steps % 7 == 0 and writer.last < n_writes:
                        writer.append({"do": "tell"}, after=writer.last)
                progress(*state)

            real(self, target, progress=watch, **options)

        monkeypatch.setattr(database.Connection, "backup", backup, raising=False)
        n_writes = database.MOST_RESTARTS - 1
        finding = check_file(path)
        assert (finding.fault, finding.n_entries) == ("", n_writes)
        n_writes *= 3
        assert "without a pause" in check_file(path).fault


def test_a_backup_has_one_state_though_others_write_meanwhile(path, tmp_path, monkeypatch):
    """Payloads are read one by one; what changes meanwhile is read again with the rest."""
    with Store.open(path) as store, Store.open(path) as writer:
        real, n_read = Store._read, 0

        def read(self, statement, *values):
            nonlocal n_read
            found = real(self, statement, *values)
            if self is store and statement.startswith("SELECT name, data"):
                n_read += 1
                with monkeypatch.context() as patch:
                    patch.setattr(database, "BUSY_SECONDS", 0.0)
                    payloads = {"0": f"new {n_read}".encode(), f"x{n_read}": b"more"}
                    writer.append({"do": "tell"}, after=writer.last, payloads=payloads)
            return found

        monkeypatch.setattr(Store, "_read", read)
        store.copy_to(tmp_path / "copy")
    monkeypatch.undo()
    assert n_read == 8
    finding = check_file(tmp_path / "copy")
    assert (finding.fault, finding.n_entries) == ("", 8)
    with Store.open(tmp_path / "copy") as copy:
        assert copy.payload("0") == b"new 8"
        assert copy.payload("x8") == b"more"
        assert len(copy.payload_names) == 16


def test_nobody_waits_while_a_backup_is_written(path, tmp_path, monkeypatch):
    """The disk can be busy for a while with what was copied before."""
    tables = []
    with Store.open(path) as store, Store.open(path) as writer:
        writer.append({"do": "tell"}, after=0, settings={"seed": 1}, items={"a": "h"})

        def executemany(self, statement, rows):
            with monkeypatch.context() as patch:
                patch.setattr(database, "BUSY_SECONDS", 0.0)
                writer.append({"do": "tell"}, after=writer.last)
            tables.append(statement.split()[4])
            return sqlite3.Connection.executemany(self, statement, rows)

        monkeypatch.setattr(database.Connection, "executemany", executemany, raising=False)
        store.copy_to(tmp_path / "copy")
    assert tables == ["settings", "items", "log", "sums"]
    monkeypatch.undo()
    assert check_file(tmp_path / "copy").is_good


def test_a_step_is_short():
    """What others wait for is one step: 4 MiB from the page cache, a few milliseconds.

    So is one piece of a payload. A payload of 320 MiB at once kept answers waiting for half a
    second.
    """
    assert database.STEP * 4096 <= 4 << 20
    assert PIECE <= 4 << 20


READER = """
import os, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN")
db.execute("SELECT count(*) FROM log").fetchone()
print("reading", flush=True)
os.kill(os.getpid(), __import__("signal").SIGSTOP)
"""


def test_a_stopped_reader_makes_answers_fail_with_a_reason_and_not_for_ever(path, monkeypatch):
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.2)
    with (
        Store.open(path) as store,
        subprocess.Popen(
            [sys.executable, "-c", READER, str(path)], stdout=subprocess.PIPE, text=True
        ) as reader,
    ):
        assert reader.stdout is not None
        assert reader.stdout.readline() == "reading\n"
        with pytest.raises(LikewiseError, match=r"nothing was saved.*was stopped in it"):
            store.append({"do": "tell"}, after=0)
        reader.send_signal(signal.SIGKILL)
        reader.wait()
        assert store.append({"do": "tell"}, after=0) == 1
    assert check_file(path).n_entries == 1


def test_a_stopped_writer_does_not_make_a_backup_or_a_check_wait_for_ever(
    path, monkeypatch, tmp_path
):
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.2)
    with Store.open(path) as store, closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(LikewiseError, match="another process writes to it"):
            store.copy_to(tmp_path / "copy")
        assert "another process writes to it" in check_file(path).fault
        other.execute("ROLLBACK")
        store.copy_to(tmp_path / "copy")
    assert check_file(tmp_path / "copy").is_good


WRITER = textwrap.dedent(
    """
    import sys
    from likewise.errors import StaleQueryError
    from likewise.store import Store
    with Store.open(sys.argv[1]) as store:
        print("open", flush=True)
        n = 0
        while n < 25:
            try:
                store.append({"do": "tell", "worker": sys.argv[2]}, after=store.last)
                n += 1
            except StaleQueryError:
                pass
    """
)


@pytest.mark.slow
def test_of_four_writers_without_a_pause_all_can_open_and_write(path):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(k)], stdout=subprocess.PIPE)
        for k in range(4)
    ]
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    assert check_file(path).n_entries == 100
