"""A disk that fails at the n-th step, for every n: the state before or the state after."""

import errno
import os
import shutil
import signal
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest

from likewise.errors import LikewiseError
from likewise.files import whole_file
from likewise.project.checking import check_file
from likewise.store import Store


@pytest.fixture
def path(tmp_path):
    return tmp_path / "photos.likewise"


def state(path):
    """Return all that a file holds."""
    with Store.open(path) as store:
        ops = [entry.op for entry in store.read()]
        return store.settings, store.items, ops, [store.payload(n) for n in store.payload_names]


def test_a_session_whose_disk_takes_no_more_bytes_keeps_what_it_acknowledged(path):
    """Every limit on the size of files makes another write of SQLite fail."""
    resource = pytest.importorskip("resource", reason="needs a limit on the size of files")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    counts, messages = set(), []
    try:
        for limit in range(36_000, 76_000, 1_000):
            for suffix in ("", "-journal"):
                Path(f"{path}{suffix}").unlink(missing_ok=True)
            Store.create(path, items={"a": "1"}).close()
            n = 0
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
            try:
                with Store.open(path) as store:
                    while n < 40:
                        store.append({"do": "tell", "text": "x" * 700}, after=n)
                        n += 1
            except LikewiseError as error:
                messages.append(str(error))
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, before)
            assert len(state(path)[2]) == n
            assert check_file(path).is_good
            counts.add(n)
    finally:
        signal.signal(signal.SIGXFSZ, handler)
    assert len(counts) > 3
    assert all("the disk" in message or "opened" in message for message in messages)


STEPS = ("open", "fsync", "replace", "link", "chmod")


@pytest.mark.parametrize("step", [*STEPS, "write"])
def test_an_export_that_fails_at_any_step_leaves_the_old_file_or_the_new(tmp_path, step):
    data = b"id,group\n" + b"photo,1\n" * 100
    target = tmp_path / "out" / "groups.csv"
    target.parent.mkdir()
    real = getattr(os, step)
    n = 1
    while True:
        target.write_bytes(b"old")
        left = n
        with pytest.MonkeyPatch.context() as patch:

            def fail(*args, _real=real, **options):
                nonlocal left
                left -= 1
                if left == 0:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                return _real(*args, **options)

            patch.setattr(os, step, fail)
            try:
                with whole_file(target) as file:
                    if step == "write":
                        for start in range(0, len(data), 100):
                            os.write(file.fileno(), data[start : start + 100])
                    else:
                        file.write(data)
                has_failed = False
            except LikewiseError:
                has_failed = True
        assert target.read_bytes() in ((b"old",) if has_failed else (data,))
        assert os.listdir(target.parent) == ["groups.csv"]
        if left > 0:
            break
        n += 1


@pytest.mark.parametrize("step", STEPS)
def test_a_session_that_is_begun_on_a_failing_disk_is_there_or_not(tmp_path, step, monkeypatch):
    real = getattr(os, step)
    path = tmp_path / "new.likewise"
    n = 1
    while True:
        left = n

        def fail(*args, _real=real, **options):
            nonlocal left
            left -= 1
            if left == 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return _real(*args, **options)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, step, fail)
            with suppress(LikewiseError):
                Store.create(path, items={"a": "1"}).close()
        if path.exists():
            assert state(path)[1] == {"a": "1"}
            path.unlink()
        assert os.listdir(tmp_path) == []
        if left > 0:
            break
        n += 1


def test_a_full_disk_is_called_full_whatever_sqlite_calls_it(path, monkeypatch):
    """SQLite calls some writes failed that found no room."""

    def fail(*_args, **_options):
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR_WRITE
        raise error

    monkeypatch.setattr("likewise.store.store.connect", fail)
    usage = shutil.disk_usage(path.parent)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=4096))
    with pytest.raises(LikewiseError, match="the disk is full"):
        Store.create(path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=2**30))
    with pytest.raises(LikewiseError, match="the disk failed"):
        Store.create(path)
