import errno
import os
import stat
import sys
import tempfile
from pathlib import Path

import pytest

from likewise.errors import InputError, LikewiseError, WriteError
from likewise.files import LEFT_OVER, cache_folder, whole_file, whole_path, write_whole

posix = pytest.mark.skipif(os.name != "posix", reason="file modes are those of POSIX")


def full_disk(*_args, **_kwargs):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def write(path, content=b"new", **options):
    with whole_file(path, **options) as file:
        file.write(content)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "file.csv"


@pytest.fixture
def old(path):
    path.parent.mkdir()
    path.write_bytes(b"old")
    return path


def test_it_has_its_name_only_when_it_is_whole(old):
    with whole_file(old) as file:
        file.write(b"new")
        file.flush()
        assert old.read_bytes() == b"old"
    assert old.read_bytes() == b"new"
    assert os.listdir(old.parent) == ["file.csv"]


def test_folders_on_the_way_are_made(path):
    write(path)
    assert path.read_bytes() == b"new"
    write(path.parent / "deep" / "er" / "file.csv")


@pytest.mark.parametrize("moment", ["chmod", "fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_and_nothing_else(old, moment, monkeypatch):
    monkeypatch.setattr(f"likewise.files.os.{moment}", full_disk)
    with pytest.raises(WriteError, match=r"file\.csv cannot be written: No space left.*free some"):
        write(old)
    assert old.read_bytes() == b"old"
    assert os.listdir(old.parent) == ["file.csv"]


def test_a_disk_that_fills_while_it_is_written_is_named_too(old):
    with (
        pytest.raises(WriteError, match=r"file\.csv cannot be written: No space left"),
        whole_file(old),
    ):
        full_disk()
    assert os.listdir(old.parent) == ["file.csv"]


def test_the_error_is_ours_and_the_systems():
    assert issubclass(WriteError, LikewiseError)
    assert issubclass(WriteError, OSError)


def test_errors_of_the_block_are_left_alone(old, tmp_path):
    with pytest.raises(FileNotFoundError, match="missing"), whole_file(old):
        open(tmp_path / "missing", "rb").close()
    with pytest.raises(KeyboardInterrupt), whole_file(old):
        raise KeyboardInterrupt
    assert old.read_bytes() == b"old"
    assert os.listdir(old.parent) == ["file.csv"]


def test_a_folder_that_is_a_file_is_named(old):
    with pytest.raises(WriteError, match="choose a folder that can be written"):
        write(old / "below.csv")


def test_without_replace_an_existing_file_is_kept(old):
    with pytest.raises(InputError, match="exists already"), whole_path(old, replace=False) as new:
        new.write_bytes(b"new")
    assert old.read_bytes() == b"old"
    assert os.listdir(old.parent) == ["file.csv"]


@pytest.mark.parametrize("has_links", [True, False])
def test_without_replace_a_new_file_appears(path, has_links, monkeypatch):
    if not has_links:
        monkeypatch.setattr("likewise.files.os.link", full_disk)
    with whole_path(path, replace=False) as new:
        new.write_bytes(b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(path.parent) == ["file.csv"]
    with pytest.raises(InputError, match="exists already"), whole_path(path, replace=False):
        pass


@posix
def test_file_and_folder_are_on_disk(path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_ino))
    write(path)
    assert synced == [path.stat().st_ino, path.parent.stat().st_ino]


@posix
def test_the_umask_decides_unless_it_is_private(path):
    before = os.umask(0o027)
    try:
        write(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        os.umask(0)
        write(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o666
        with whole_path(path) as new:
            new.write_bytes(b"new")
        assert stat.S_IMODE(path.stat().st_mode) == 0o666
        write(path, private=True)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(before)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/full is Linux's")
def test_a_really_full_device_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("likewise.files.tempfile.mkstemp", lambda **_: (os.dup(1), "/dev/full"))
    monkeypatch.setattr("likewise.files.Path.unlink", lambda *_, **__: None)
    with pytest.raises(WriteError, match="No space left"):
        write(tmp_path / "x", b"x" * 2**20)


def test_tests_keep_away_from_the_cache_of_the_user():
    assert cache_folder().parent.name.startswith("likewise-cache-")
    assert cache_folder().parent.parent == Path(tempfile.gettempdir())


def test_the_cache_is_where_it_always_was(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "likewise"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr("likewise.files.Path.home", lambda: tmp_path)
    assert cache_folder() == tmp_path / ".cache" / "likewise"


def test_a_text_is_written_as_a_whole_or_not_at_all(old, monkeypatch):
    write_whole(old, "größer")
    assert old.read_text("utf-8") == "größer"
    monkeypatch.setattr("likewise.files.os.fsync", full_disk)
    with pytest.raises(WriteError, match=r"file\.csv"):
        write_whole(old, "lost")
    assert old.read_text("utf-8") == "größer"
    assert os.listdir(old.parent) == [old.name]


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
def test_what_a_killed_process_left_is_swept_by_the_next_write(old, suffix):
    ours = old.parent / f".photos.likewise.ab12cd_9.likewise.tmp{suffix}"
    young = old.parent / f".file.csv.zz12cd_9.likewise.tmp{suffix}"
    others = [old.parent / name for name in (".x.tmp", "a.tmp", ".a.abcdefgh.tmp", ".likewise.tmp")]
    for file in (ours, young, *others):
        file.write_bytes(b"half")
        os.utime(file, (1e9, 1e9))
    os.utime(young)
    write(old)
    assert not ours.exists()
    assert all(file.exists() for file in (young, *others))


def test_what_cannot_be_swept_is_left(old, monkeypatch):
    left = old.parent / ".file.csv.ab12cd_9.likewise.tmp"
    left.mkdir()  # which unlink refuses
    os.utime(left, (1e9, 1e9))
    write(old)
    assert old.read_bytes() == b"new"
    assert left.exists()


def test_a_temporary_file_has_a_name_that_is_swept(path):
    with whole_path(path) as new:
        assert LEFT_OVER.fullmatch(new.name)
