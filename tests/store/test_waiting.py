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
from likewise.store.database import connect, copy_into

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals and locks of POSIX")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "photos.likewise"
    noise = os.urandom(1 << 20)
    Store.create(path, payloads={str(k): noise for k in range(8)}).close()
    return path


def test_others_write_between_the_steps_of_a_copy(path, tmp_path, monkeypatch):
    """No lock is held between steps: a write without any patience succeeds."""
    monkeypatch.setattr(database, "STEP", 100)
    (tmp_path / "copy").touch()
    n_steps = 0

    with Store.open(path) as writer, closing(connect(path)) as db:

        class Source:
            execute = db.execute

            def backup(self, target, *, pages, progress, sleep):
                def watch(*state):
                    nonlocal n_steps
                    n_steps += 1
                    monkeypatch.setattr(database, "BUSY_SECONDS", 0.0)
                    if n_steps % 7 == 0:
                        writer.append({"do": "tell"}, after=writer.last)
                    monkeypatch.setattr(database, "BUSY_SECONDS", 10.0)
                    progress(*state)

                db.backup(target, pages=pages, progress=watch if pages > 0 else None, sleep=sleep)

        with closing(connect(tmp_path / "copy")) as target:
            copy_into(Source(), target)
        n_written = writer.last
    # It began anew after every write, and was made in one step in the end.
    assert n_written > database.MOST_RESTARTS / 2
    with Store.open(tmp_path / "copy") as copy:
        assert copy.last == n_written
        assert len(copy.payload_names) == 8


def test_a_step_is_short():
    """What others wait for is one step: 4 MiB from the page cache, a few milliseconds."""
    assert database.STEP * 4096 <= 4 << 20


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
