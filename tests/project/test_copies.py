"""Copies of a session file, also of one that is in use."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from likewise.cli import main
from likewise.errors import SessionFileError
from likewise.project.checking import check_file, repair_file
from likewise.project.store import AT_MOST_AHEAD, FOLDED_AFTER, REST, Store


@pytest.fixture
def path(tmp_path):
    return tmp_path / "photos.likewise"


def put(path, data, log=None):
    for suffix in ("-wal", "-shm", "-journal"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    path.write_bytes(data)
    if log is not None:
        Path(f"{path}-wal").write_bytes(log)
    return path


class Patience:
    """Timers that fire when the test says so."""

    def __init__(self):
        self.waiting = []

    def __call__(self, seconds, call):
        self.seconds, self.call = seconds, call
        return self

    def start(self):
        self.waiting.append(self.call)

    def cancel(self):
        self.waiting.pop()


@pytest.fixture
def timer(monkeypatch):
    timer = Patience()
    monkeypatch.setattr(Store, "timer", timer)
    return timer


def n_in_copy(path, copy):
    """Return how many entries a plain copy of a file has, and what it says about itself."""
    put(copy, path.read_bytes())
    with Store.open(copy) as store:
        return len(store.read()), store.notes


def test_a_plain_copy_at_any_moment_lacks_at_most_ten_answers_and_says_so(path, tmp_path, timer):
    with Store.create(path) as store:
        for n in range(1, 35):
            store.append({"do": "tell", "n": n}, after=n - 1)
            has, notes = n_in_copy(path, tmp_path / "copy.likewise")
            assert n - AT_MOST_AHEAD < has <= n
            assert has == n // FOLDED_AFTER * FOLDED_AFTER
            assert "copied while it was in use" in notes[0]
            assert f"ends at entry {has}; up to 10 answers after it may be missing" in notes[0]
    assert n_in_copy(path, tmp_path / "copy.likewise") == (34, ())


def test_after_two_seconds_of_rest_everything_is_in_the_one_file(path, tmp_path, timer):
    with Store.create(path) as store:
        for n in range(1, 4):
            store.append({"do": "tell", "n": n}, after=n - 1)
        assert timer.seconds == REST == 2
        (rest,) = timer.waiting
        rest()
        assert n_in_copy(path, tmp_path / "copy.likewise")[0] == 3
        assert timer.waiting == []


def test_what_a_copy_lacks_is_told_until_it_is_written_to(path, tmp_path, timer):
    copy = tmp_path / "copy.likewise"
    with Store.create(path) as store:
        store.append({"do": "tell"}, after=0)
        put(copy, path.read_bytes())
    for _ in range(2):
        with Store.open(copy) as again:
            assert len(again.notes) == 1
    with Store.open(copy) as again:
        again.append({"do": "tell"}, after=0)
    with Store.open(copy) as again:
        assert again.notes == ()


def test_a_file_that_another_process_has_open_is_no_copy(path, timer):
    with Store.create(path) as store:
        store.append({"do": "tell"}, after=0)
        with Store.open(path) as other:
            assert other.notes == ()
            assert other.last == 1


def test_a_copy_torn_by_a_checkpoint_opens_or_is_refused_and_repaired(path, tmp_path, timer):
    """A checkpoint writes its pages in order; a copy may have some of them new and others old."""
    page = 4096
    n_in_torn: dict[str, list[tuple[int, int]]] = {"opened": [], "repaired": []}
    with Store.create(path, items={str(k): "h" for k in range(50)}) as store:
        for n in range(1, 201):
            before = path.read_bytes()
            store.append({"do": "tell", "links": [[n, n + 1, "same"]], "by": "me"}, after=n - 1)
            after = path.read_bytes()
            size = max(len(before), len(after))
            old, new = before.ljust(size, b"\0"), after.ljust(size, b"\0")
            changed = [k for k in range(0, size, page) if old[k : k + page] != new[k : k + page]]
            for cut in changed[1:]:
                torn = put(tmp_path / "torn.likewise", new[:cut] + old[cut:])
                try:
                    with Store.open(torn) as copy:
                        n_in_torn["opened"].append((n, len(copy.read())))
                        assert copy.notes
                except SessionFileError:
                    target, n_entries, _ = repair_file(torn)
                    target.unlink()
                    n_in_torn["repaired"].append((n, n_entries))
    assert all(has >= n - AT_MOST_AHEAD for n, has in n_in_torn["opened"])
    # When the log outgrows its first page, the content of that page moves: once in a session.
    moved = {n for n, has in n_in_torn["repaired"] if has < n - AT_MOST_AHEAD}
    assert len(moved) <= 1
    assert len(n_in_torn["opened"]) > 5
    assert len(n_in_torn["repaired"]) > 5


def test_backup_copies_a_file_in_use_and_replaces_nothing(path, tmp_path, timer):
    copy = tmp_path / "copy.likewise"
    with Store.create(path) as store:
        for n in range(7):
            store.append({"do": "tell"}, after=n)
        result = CliRunner().invoke(main, ["backup", str(path), str(copy)])
        assert result.exit_code == 0, result.output
        assert "has 7 entries of the log" in result.output
        assert check_file(path).n_entries == 7
        store.append({"do": "tell"}, after=7)
    with Store.open(copy) as again:
        assert (again.last, again.notes) == (7, ())
    result = CliRunner().invoke(main, ["backup", str(path), str(copy)])
    assert result.exit_code == 1
    assert "exists already" in result.output
