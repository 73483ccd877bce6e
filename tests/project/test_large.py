"""`likewise label` on many files: gone over, a few rows shown, groups written to a folder."""

import json
from contextlib import closing

import numpy as np
import pytest
from click.testing import CliRunner

from likewise.cli import main
from likewise.project.large import is_large, shown_part

parquet = pytest.importorskip("pyarrow.parquet", reason="pip install likewise[tables]")
pyarrow = pytest.importorskip("pyarrow", reason="pip install likewise[tables]")


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def streamed(monkeypatch):
    """Have small data gone over as if it were large."""
    monkeypatch.setattr("likewise.rows.blocks.BLOCK_BYTES", 1)
    monkeypatch.setattr("likewise.rows.build.FULL_LIMIT", 1000)
    monkeypatch.setattr("likewise.rows.kmeans.FULL_LIMIT", 1000)
    monkeypatch.setattr("likewise.rows.source.FULL_LIMIT", 1000)


@pytest.fixture
def events(tmp_path):
    """Three well separated groups of 3000 events in three files, with a column of text."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "events"
    folder.mkdir()
    y = rng.integers(3, size=9000)
    a, b = 10.0 * y + rng.normal(size=9000), 1000 * (y == 1) + rng.normal(size=9000)
    for i in range(3):
        rows = slice(3000 * i, 3000 * (i + 1))
        names = [f"event of kind {k}" for k in y[rows]]
        table = pyarrow.table({"name": names, "a": a[rows], "b": b[rows]})
        parquet.write_table(table, folder / f"{i}.parquet")
    return folder, y


def invoke(*args, keys=""):
    return CliRunner().invoke(main, [str(arg) for arg in args], input=keys)


def answer_all(folder, tmp_path, y):
    """Answer as a person would who sees the names; return the number of questions."""
    from likewise import Answer
    from likewise.project import open_large_project

    opened = open_large_project(sorted(folder.iterdir()), options={"columns": ["a", "b"]})
    project = opened.project
    while (query := project.ask()) is not None:
        same = y[int(project.ids[query.left])] == y[int(project.ids[query.right])]
        project.tell(
            Answer.SAME if same else Answer.DIFFERENT,
            number=query.number,
            position=project.position,
        )
    sizes = sorted(group.size for group in project.groups())
    project.close()
    return sizes


@pytest.mark.usefixtures("streamed")
def test_many_files_are_gone_over_and_only_some_rows_are_kept(tmp_path, events):
    folder, _ = events
    files = sorted(folder.iterdir())
    result = invoke(
        "label", *files, "--columns", "a,b", "--super-instances", 9, "--terminal", keys="q\n"
    )
    assert result.exit_code == 0, result.output
    assert "assign all rows, 9,000 rows" in result.output
    assert "event of kind" in result.output
    session = tmp_path / "events.likewise"
    assert session.stat().st_size < 300_000
    assert not list(tmp_path.glob(".*unfinished"))
    again = invoke("label", *files, "--terminal", keys="q\n")
    assert "goes on" in again.output
    assert "assign" not in again.output


@pytest.mark.slow
@pytest.mark.usefixtures("streamed")
def test_the_groups_of_all_rows_are_written_to_a_folder(tmp_path, events):
    folder, y = events
    assert answer_all(folder, tmp_path, y) == sorted(np.bincount(y).tolist())
    session = tmp_path / "events.likewise"
    result = invoke("export", session, "-o", tmp_path / "labels")
    assert result.exit_code == 0, result.output
    assert "3 groups" in result.output
    manifest = json.loads((tmp_path / "labels" / "_manifest.json").read_text())
    assert [part["file"] for part in manifest["parts"]] == [f"{i}.parquet" for i in range(3)]
    tables = [parquet.read_table(tmp_path / "labels" / f"{i}.parquet") for i in range(3)]
    labels = np.concatenate([table["label"].to_numpy() for table in tables])
    groups = {(int(k), int(label)) for k, label in zip(y, labels, strict=True)}
    assert len(groups) == 3
    refused = invoke("export", session, "-o", tmp_path / "labels")
    assert refused.exit_code != 0
    assert invoke("export", session, "-o", tmp_path / "labels", "--overwrite").exit_code == 0
    as_file = invoke("export", session, "-o", tmp_path / "labels.csv")
    assert as_file.exit_code != 0
    assert "to a folder" in as_file.output


@pytest.mark.slow
@pytest.mark.usefixtures("streamed")
def test_items_that_are_moved_count_in_their_new_group_on_the_page_and_on_disk(tmp_path, events):
    from likewise.project import open_session_file

    folder, y = events
    answer_all(folder, tmp_path, y)
    with closing(open_session_file(tmp_path / "events.likewise").project) as project:
        standing = project.partition.representatives
        moved = [row for row in range(len(project.ids)) if row not in standing][:2]
        project.mend(lambda mending: mending.move(moved, None), position=project.position)
        sizes = sorted(group.size for group in project.groups())
    assert sizes[0] == 2
    assert invoke("export", project.path, "-o", tmp_path / "labels").exit_code == 0
    tables = [parquet.read_table(tmp_path / "labels" / f"{i}.parquet") for i in range(3)]
    labels = np.concatenate([table["label"].to_numpy() for table in tables])
    assert sizes == sorted(np.bincount(labels).tolist())


@pytest.mark.usefixtures("streamed")
def test_what_cannot_be_done_without_all_rows_is_refused(tmp_path, events):
    from likewise.errors import InputError
    from likewise.project import open_large_project

    folder, _ = events
    paths = sorted(folder.iterdir())
    project = open_large_project(paths, options={"columns": ["a", "b"]}).project
    with pytest.raises(InputError, match="more --super-instances"):
        project.refine(position=project.position)
    project.close()
    np.save(tmp_path / "x.npy", np.zeros((3, 2)))
    with pytest.raises(InputError, match="no names of columns"):
        open_large_project([tmp_path / "x.npy"], options={"columns": ["a"]})
    with pytest.raises(InputError, match="--text is not for"):
        open_large_project(paths, options={"text": "name"})
    result = invoke("label", *paths, "--columns", "a", "--terminal", keys="q\n")
    assert result.exit_code != 0
    assert "was begun with --columns" in result.output
    # Nothing of the session that was refused is still open.
    assert not list(folder.parent.glob("*-wal"))


def test_a_file_is_gone_over_if_it_does_not_fit(tmp_path, events, monkeypatch):
    folder, _ = events
    np.save(tmp_path / "x.npy", np.zeros((1000, 10)))
    one = [folder / "0.parquet"]
    assert not is_large(one, {})
    assert not is_large([tmp_path / "x.npy"], {})
    assert is_large([folder], {})
    assert not is_large([folder], {"text": "name"})
    monkeypatch.setattr("likewise.items.limits.available_memory", lambda: 100_000)
    assert is_large(one, {})
    assert is_large([tmp_path / "x.npy"], {})
    (tmp_path / "x.csv").write_text("a\n1\n")
    assert not is_large([tmp_path / "x.csv"], {})


@pytest.mark.usefixtures("streamed")
def test_shown_rows_are_those_of_their_super_instance(events):
    from likewise import COBRA
    from likewise.scale import from_parquet

    source = from_parquet(events[0], ["a", "b"])
    partition = COBRA(9, random_state=0).start(source).strategy.partition
    rows, shown = shown_part(partition)
    assert np.array_equal(rows[shown.representatives], partition.representatives)
    assert np.array_equal(shown.assignment, partition.assignment[rows])
    assert np.array_equal(shown.sizes(), partition.sizes())
    assert len(rows) <= 9 * 13


def test_no_scheduler_at_the_address_is_told(tmp_path, events, monkeypatch):
    pytest.importorskip("distributed", reason="pip install likewise[dask]")
    from distributed import Client

    def refuse(self, *args, **kwargs):
        raise OSError("timed out")

    monkeypatch.setattr(Client, "__init__", refuse)
    monkeypatch.setattr(Client, "__del__", lambda self: None)
    result = invoke("label", events[0], "--columns", "a", "--cluster", "tcp://127.0.0.1:1")
    assert result.exit_code != 0
    assert "no Dask scheduler answers at tcp://127.0.0.1:1" in result.output


def test_the_bar_has_rows_and_remaining_time(monkeypatch):
    from likewise.cli.rowprogress import RowProgress

    monkeypatch.setattr("click._termui_impl.ProgressBar.render_progress", lambda bar: None)
    with RowProgress() as progress:
        progress("assign", 0, 1_000_000)
        progress("assign", 250_000, 1_000_000)
        bar = progress._bar
    assert bar.label == "assign all rows, 1,000,000 rows"
    assert bar.format_pos() == "250000/1000000"
    assert bar.show_eta
