"""What lies beside a session file can do no harm."""

import importlib
import os
import shutil
import sqlite3
import struct
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from likewise.cli import main
from likewise.errors import LikewiseError, SessionFileError
from likewise.project.checking import check_file, repair_file
from likewise.store import Store, beside
from likewise.store.beside import HEAD, MAGIC
from likewise.store.database import begin, is_open_here

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
journals = importlib.import_module("journals")

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, links and FIFOs")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "photos.likewise"
    with Store.create(path) as store:
        for n in range(3):
            store.append({"do": "tell", "n": n}, after=n)
    return path


@pytest.fixture
def journal(path):
    return Path(f"{path}-journal")


def leave_journal(path, n_pages=1):
    """Let a process end in the middle of a write."""
    pid = os.fork()
    if not pid:
        store = Store.open(path)
        store._db.execute("PRAGMA cache_size = 1")  # so that pages are written before the end
        begin(store._db)
        for k in range(n_pages):
            store._db.execute("INSERT INTO payloads VALUES (?, ?)", (f"{k}", os.urandom(3000)))
        store._db.execute("INSERT INTO settings VALUES ('x', 'y')")
        os._exit(0)
    os.waitpid(pid, 0)


def naming(path, victim):
    """Return 512 bytes of a journal without pages, and behind them the name of a file."""
    name = os.fsencode(victim)
    n_pages = path.stat().st_size // 4096
    head = HEAD.pack(MAGIC, 0, 7, n_pages, 512, 4096).ljust(512, b"\0")
    place = (0x40000000 // 4096 + 1).to_bytes(4)
    return head + place + name + struct.pack(">II", len(name), sum(name)) + MAGIC


USES = {
    "open": lambda path: Store.open(path).close(),
    "repair": repair_file,
    "check": lambda path: _raise(check_file(path).fault),
}
COMMANDS = [["check"], ["check", "--repair"], ["backup"], ["export"], ["label"]]


def _raise(fault):
    if fault:
        raise SessionFileError(fault)


def contents(folder):
    return {
        p.name: (p.lstat().st_mtime_ns, p.is_file() and p.read_bytes()) for p in folder.iterdir()
    }


@pytest.mark.parametrize("use", USES)
def test_a_journal_that_names_a_file_is_refused_and_the_file_is_there(path, journal, tmp_path, use):
    victim = tmp_path / "thesis.txt"
    victim.write_text("all my work")
    journal.write_bytes(naming(path, victim))
    before = contents(tmp_path)
    with pytest.raises(SessionFileError, match=r"photos.likewise-journal .* names another file"):
        USES[use](path)
    assert contents(tmp_path) == before
    # SQLite alone deletes it.
    with closing(sqlite3.connect(path)) as db:
        db.execute("SELECT count(*) FROM log").fetchone()
    assert not victim.exists()


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_command_lets_a_journal_delete_a_file(path, journal, tmp_path, command):
    victim = tmp_path / "thesis.txt"
    victim.write_text("all my work")
    journal.write_bytes(naming(path, victim))
    more = {"backup": [str(tmp_path / "copy")], "export": ["-o", str(tmp_path / "out.csv")]}
    result = CliRunner().invoke(main, [*command, str(path), *more.get(command[0], [])])
    assert result.exit_code != 0
    assert victim.read_text() == "all my work"


@pytest.mark.parametrize("start", [b"\xd9".ljust(8, b"\0"), MAGIC], ids=["part", "all"])
@pytest.mark.parametrize("use", USES)
def test_a_journal_of_28_bytes_names_no_file_of_the_current_folder(
    path, journal, tmp_path, use, start, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "todo").write_text("all my work")
    name = b"todo"
    journal.write_bytes(start + name + struct.pack(">II", len(name), sum(name)) + MAGIC)
    before = contents(tmp_path)
    with pytest.raises(SessionFileError, match="names another file"):
        USES[use](path)
    assert contents(tmp_path) == before
    # SQLite alone deletes it.
    with closing(sqlite3.connect(path)) as db:
        db.execute("SELECT count(*) FROM log").fetchone()
    assert not (tmp_path / "todo").exists()


@pytest.mark.parametrize("n_pages", [1, beside.ALL_PAGES])
@pytest.mark.parametrize("use", USES)
def test_a_journal_that_ends_within_its_first_sector_does_nothing(path, journal, n_pages, use):
    n_before = path.stat().st_size // 4096
    journal.write_bytes(HEAD.pack(MAGIC, n_pages, 7, n_before, 65_536, 4096).ljust(512, b"\0"))
    before = path.read_bytes()
    with suppress(SessionFileError):
        USES[use](path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("use", USES)
def test_pages_behind_a_part_without_any_are_refused(path, journal, use):
    before = path.read_bytes()
    n_before = len(before) // 4096
    head = HEAD.pack(MAGIC, 0, 0, n_before, 512, 4096).ljust(512, b"\0")
    page = before[4096:8192]
    own = sum(page[4096 - 200 : 0 : -200])
    more = HEAD.pack(MAGIC, 1, 0, n_before, 512, 4096).ljust(512, b"\0")
    journal.write_bytes(head + more + (2).to_bytes(4) + page + own.to_bytes(4))
    with pytest.raises(SessionFileError, match="was not written by likewise"):
        USES[use](path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(("sector", "page_size"), [(512, 0), (32, 4096), (256, 0), (1 << 17, 4096)])
@pytest.mark.parametrize("n_before", [1, 200_000])
@pytest.mark.parametrize("use", USES)
def test_a_journal_with_odd_sizes_is_refused(path, journal, sector, page_size, n_before, use):
    """SQLite takes small sectors, and pages of 0 bytes for those of the file."""
    journal.write_bytes(HEAD.pack(MAGIC, 0, 7, n_before, sector, page_size).ljust(512, b"\0"))
    before = path.read_bytes()
    message = f"sectors of {sector} and pages of {page_size} bytes"
    with pytest.raises(SessionFileError, match=message):
        USES[use](path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("start", [MAGIC, b"\xd9", b"\0"], ids=["all", "part", "none"])
@pytest.mark.parametrize("use", USES)
def test_a_journal_that_is_far_too_long_is_refused_unread(path, journal, start, use):
    with journal.open("wb") as file:
        file.write(start)
        file.truncate(1 << 40)  # it takes no room on the disk
    with pytest.raises(SessionFileError, match="is longer than any write"):
        USES[use](path)


@pytest.mark.parametrize("n_before", [0, 1, 200_000_000])
@pytest.mark.parametrize("sector", [512, 1024, 65_536])
@pytest.mark.parametrize("use", USES)
def test_a_journal_that_would_cut_or_grow_the_file_is_refused(path, journal, sector, n_before, use):
    """SQLite sets the length even where the journal ends within its first sector."""
    journal.write_bytes(HEAD.pack(MAGIC, 0, 7, n_before, sector, 4096).ljust(512, b"\0"))
    before = path.read_bytes()
    with pytest.raises(SessionFileError, match=f"says that the file has {n_before} pages"):
        USES[use](path)
    assert path.read_bytes() == before


def make_fifo(place):
    os.mkfifo(place)


def make_link(place):
    place.symlink_to("/dev/zero")


def make_loop(place):
    place.symlink_to(place)


@pytest.mark.parametrize("make", [make_fifo, make_link, make_loop, Path.mkdir])
@pytest.mark.parametrize("ending", ["-journal", "-wal", "-shm"])
@pytest.mark.parametrize("use", USES)
def test_what_is_not_a_regular_file_is_refused_by_name(path, make, ending, use):
    place = Path(f"{path}{ending}")
    make(place)
    before = path.read_bytes()
    with pytest.raises(SessionFileError, match=f"photos.likewise{ending} "):
        USES[use](path)
    assert path.read_bytes() == before
    assert os.path.lexists(place)


@pytest.mark.parametrize("ending", ["-wal", "-shm"])
@pytest.mark.parametrize("use", USES)
def test_files_that_likewise_does_not_write_are_refused_by_name(path, ending, use, tmp_path):
    Path(f"{path}{ending}").write_bytes(b"")
    before = contents(tmp_path)
    with pytest.raises(SessionFileError, match=f"{ending} lies beside the file"):
        USES[use](path)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("content", [b"", bytes(5000)])
def test_a_file_that_is_called_like_the_journal_too_is_not_written_to(
    path, journal, tmp_path, content
):
    victim = tmp_path / "disk.img"
    victim.write_bytes(content)
    os.link(victim, journal)
    with pytest.raises(SessionFileError, match="has another name, too"):
        Store.open(path)
    assert victim.read_bytes() == content
    journal.unlink()
    journal.write_bytes(content)  # as a power cut may leave it
    with Store.open(path) as store:
        store.append({"do": "tell"}, after=3)


def test_links_to_a_session_do_not_hide_its_journal(path, journal, tmp_path):
    victim = tmp_path / "thesis.txt"
    victim.write_text("all my work")
    journal.write_bytes(naming(path, victim))
    link = tmp_path / "elsewhere"
    link.symlink_to(path)
    with pytest.raises(SessionFileError, match="names another file"):
        Store.open(link)
    assert victim.exists()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
class TestLeftOver:
    @pytest.mark.parametrize("n_pages", [1, 60])
    def test_what_a_kill_left_is_taken_back(self, path, journal, n_pages):
        before = path.read_bytes()
        leave_journal(path, n_pages)
        assert journal.exists()
        with Store.open(path) as store:
            assert [e.op["n"] for e in store.read()] == [0, 1, 2]
        assert path.read_bytes() == before
        assert not journal.exists()

    def test_a_check_takes_it_back_in_a_copy(self, path, journal, tmp_path):
        leave_journal(path, 60)
        before = contents(tmp_path)
        finding = check_file(path)
        assert (finding.fault, finding.n_entries) == ("", 3)
        assert contents(tmp_path) == before

    @pytest.mark.parametrize("use", USES)
    def test_a_backup_beside_it_is_not_damaged(self, path, journal, tmp_path, use):
        backup = tmp_path / "backup"
        with Store.open(path) as store:
            store.copy_to(backup)
            store.append({"do": "tell", "n": 3}, after=3)
        leave_journal(path, 60)
        shutil.copy(backup, path)
        before = contents(tmp_path)
        with pytest.raises(SessionFileError, match=r"left over from another.*move it away"):
            USES[use](path)
        assert contents(tmp_path) == before
        journal.unlink()
        with Store.open(path) as store:
            assert [e.op["n"] for e in store.read()] == [0, 1, 2]

    def test_an_earlier_copy_of_the_same_file_beside_it_is_not_damaged(self, path, journal):
        earlier = path.read_bytes()
        with Store.open(path) as store:
            for n in range(3, 6):
                store.append({"do": "tell", "n": n}, after=n)
        leave_journal(path)
        path.write_bytes(earlier)
        with pytest.raises(SessionFileError, match="left over from another file, or from another"):
            Store.open(path)
        assert path.read_bytes() == earlier

    def test_another_session_beside_it_is_not_damaged(self, path, journal, tmp_path):
        other = tmp_path / "other.likewise"
        with Store.create(other) as store:
            for n in range(3):
                store.append({"do": "tell", "n": n}, after=n)
        leave_journal(path)
        shutil.copy(other, path)
        with pytest.raises(SessionFileError, match="left over from another file"):
            Store.open(path)
        assert path.read_bytes() == other.read_bytes()

    def test_a_journal_that_lost_a_page_is_refused_and_kept(self, path, journal):
        leave_journal(path, 60)
        damaged = bytearray(journal.read_bytes())
        damaged[512 + 8 + 4096 + 4 + 4096 - 200] ^= 1  # a byte that SQLite's checksum counts
        journal.write_bytes(damaged)
        before = path.read_bytes()
        with pytest.raises(SessionFileError, match="is cut or damaged"):
            Store.open(path)
        assert (path.read_bytes(), journal.read_bytes()) == (before, damaged)


def test_a_journal_that_another_process_is_writing_is_no_reason_to_refuse(
    path, journal, monkeypatch
):
    """It is looked at again while it changes."""
    real, looks = beside._why_not, []

    def changing(*args, **options):
        looks.append(real(*args, **options))
        journal.write_bytes(b"") if len(looks) == 3 else journal.write_bytes(bytes(len(looks)))
        return "seems odd" if len(looks) < 4 else ""

    journal.write_bytes(b"")
    monkeypatch.setattr(beside, "_why_not", changing)
    beside.look(path)
    assert len(looks) == 4


def test_a_process_that_writes_without_an_end_is_not_waited_for_for_ever(
    path, journal, monkeypatch
):
    counts = iter(range(10**6))

    def changing(*_args, **_options):
        journal.write_bytes(bytes(next(counts)))
        return "seems odd"

    journal.write_bytes(b"")
    monkeypatch.setattr(beside, "_why_not", changing)
    monkeypatch.setattr(beside, "PATIENCE", 0.0)
    with pytest.raises(LikewiseError, match="without a pause"):
        beside.look(path)


def test_a_process_knows_which_files_it_has_open(path, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(path)
    assert not is_open_here(path)
    with Store.open(link):
        assert is_open_here(path)
    assert not is_open_here(path)


@pytest.mark.parametrize("seed", range(4))
def test_no_journal_does_harm(seed):
    assert sum(journals.run(1000 * seed, 15).values()) == 15


@pytest.mark.slow
def test_no_journal_does_harm_in_many_cases():
    outcomes = journals.run(100_000, 300)
    assert outcomes["refused"] > 100
    assert outcomes["opened"] > 30
