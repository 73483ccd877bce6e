"""Copies of a session file, also of one that is in use."""

import pytest
from click.testing import CliRunner

from likewise.cli import main
from likewise.errors import SessionFileError
from likewise.project.checking import check_file, repair_file
from likewise.store import Store

PAGE = 4096


@pytest.fixture
def path(tmp_path):
    return tmp_path / "photos.likewise"


def test_a_plain_copy_of_a_file_in_use_has_every_answer(path, tmp_path):
    copy = tmp_path / "copy.likewise"
    with Store.create(path) as store:
        for n in range(1, 35):
            store.append({"do": "tell", "n": n}, after=n - 1)
            copy.write_bytes(path.read_bytes())
            with Store.open(copy) as again:
                assert [entry.op["n"] for entry in again.read()] == list(range(1, n + 1))


def test_a_copy_torn_by_a_write_opens_as_it_was_or_is_refused_and_repaired(path, tmp_path):
    """A write changes a few pages; a copy may have some of them new and others old."""
    torn = tmp_path / "torn.likewise"
    outcomes = []
    with Store.create(path, items={str(k): "h" for k in range(50)}) as store:
        for n in range(1, 101):
            before = path.read_bytes()
            store.append({"do": "tell", "links": [[n, n + 1, "same"]], "by": "me"}, after=n - 1)
            after = path.read_bytes()
            size = max(len(before), len(after))
            old, new = before.ljust(size, b"\0"), after.ljust(size, b"\0")
            pages = range(0, size, PAGE)
            changed = [k for k in pages if old[k : k + PAGE] != new[k : k + PAGE]]
            for cut in changed[1:]:
                for first, last in ((old, new), (new, old)):
                    torn.write_bytes(first[:cut] + last[cut:])
                    outcomes.append((n, *opened_or_repaired(torn)))
    assert all(has in (n - 1, n) for n, way, has in outcomes if way == "opened")
    # When the log outgrows its first page, the content of that page moves: once in a session.
    assert len({n for n, way, has in outcomes if way == "repaired" and has < n - 2}) <= 1
    assert sum(way == "repaired" for _, way, _ in outcomes) > 100


def opened_or_repaired(path):
    """Return how a file can be read, and how many entries it has then."""
    try:
        with Store.open(path) as store:
            n_entries = len(store.read())
            store.append({"do": "tell"}, after=n_entries)
            return "opened", n_entries
    except SessionFileError:
        target, n_entries, _ = repair_file(path)
        target.unlink()
        return "repaired", n_entries


def test_backup_copies_a_file_in_use_and_replaces_nothing(path, tmp_path):
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
        assert again.last == 7
    result = CliRunner().invoke(main, ["backup", str(path), str(copy)])
    assert result.exit_code == 1
    assert "exists already" in result.output
