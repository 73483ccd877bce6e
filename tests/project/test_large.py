"""`likewise label` on many files: a sample is shown, the groups of all rows are exported."""

import json
import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from click.testing import CliRunner

from likewise import LabelOracle
from likewise.cli import main
from likewise.errors import InputError
from likewise.page.document import document
from likewise.page.shapes import progress
from likewise.project import open_project, open_session_file
from likewise.project.checking import check_file, repair_file
from likewise.project.large import ScaledRows, is_large
from likewise.rows.row_files import NpyRows, ParquetRows

parquet = pytest.importorskip("pyarrow.parquet", reason='pip install "likewise[tables]"')
pyarrow = pytest.importorskip("pyarrow", reason='pip install "likewise[tables]"')


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def small_sample(monkeypatch):
    monkeypatch.setattr("likewise.rows.sample.SAMPLE_ROWS", 300)
    monkeypatch.setattr("likewise.rows.blocks.BLOCK_ROWS", 700)


@pytest.fixture
def events(tmp_path):
    """Three well separated groups of 1000 events in three files, with a column of text."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "events"
    folder.mkdir()
    y = rng.integers(3, size=3000)
    a, b = 10.0 * y + rng.normal(size=3000), 1000 * (y == 1) + rng.normal(size=3000)
    for i in range(3):
        rows = slice(1000 * i, 1000 * (i + 1))
        names = [f"event of kind {k}" for k in y[rows]]
        table = pyarrow.table({"name": names, "a": a[rows], "b": b[rows]})
        parquet.write_table(table, folder / f"{i}.parquet")
    return folder, y


def invoke(*args, keys=""):
    return CliRunner().invoke(main, [str(arg) for arg in args], input=keys)


def begin(folder, y, n_answers=12, **options):
    """Begin a session and answer as a person would who sees the names; return its file."""
    columns = {"columns": ["a", "b"]}
    opened = open_project(folder, options=columns, **options)
    answer(opened.project, y, n_answers)
    opened.project.close()
    return opened.path


def answer(project, y, n_answers):
    oracle = LabelOracle({name: y[int(name)] for name in project.ids})
    for _ in range(n_answers):
        question = project.ask()
        if question is None:
            return
        chosen = question.place(oracle.answer(question))
        project.choose(chosen, number=question.number, position=project.position)


def labels_in(folder):
    tables = [parquet.read_table(folder / f"{i}.parquet") for i in range(3)]
    rows = np.concatenate([table["row"].to_numpy() for table in tables])
    assert np.array_equal(rows, np.arange(3000))
    labels = np.concatenate([table["label"].to_numpy() for table in tables])
    # Every label has one key, that of its group on the page.
    keys = np.concatenate([table["group"].to_numpy(zero_copy_only=False) for table in tables])
    assert len(set(zip(labels.tolist(), keys.tolist(), strict=True))) == len(set(labels.tolist()))
    assert set(keys) <= set("123456789")
    return labels


@pytest.mark.usefixtures("small_sample")
def test_a_sample_of_many_files_is_shown_and_asked_about(tmp_path, events):
    folder, _ = events
    files = sorted(folder.iterdir())
    options = ["--columns", "a,b", "--instruction", "the same kind?", "--terminal"]
    result = invoke("label", *files, *options, keys="q\n")
    assert result.exit_code == 0, result.output
    assert "300 rows of 3000 are asked about" in result.output
    assert "event of kind" in result.output
    assert "the same kind?" in result.output
    shutil.rmtree(folder)  # going on does not read the data
    with closing(open_session_file(tmp_path / "events.likewise").project) as project:
        assert len(project.ids) == 300
        assert project.ids == tuple(map(str, project.session.row_numbers))


@pytest.mark.usefixtures("small_sample")
@pytest.mark.parametrize("options", [{}, {"n_super_instances": 9}], ids=["Likewise", "COBRA"])
def test_the_groups_of_all_rows_are_written_to_a_folder(tmp_path, events, options):
    folder, y = events
    session = begin(folder, y, **options)
    out = tmp_path / "labels"
    result = invoke("export", session, "-o", out)
    assert result.exit_code == 0, result.output
    assert "3 groups" in result.output
    labels = labels_in(out)
    assert len(set(zip(y.tolist(), labels.tolist(), strict=True))) == 3
    manifest = json.loads((out / "_manifest.json").read_text())
    assert [part["file"] for part in manifest["parts"]] == [f"{i}.parquet" for i in range(3)]
    with closing(open_session_file(session).project) as project:
        numbers = project.session.row_numbers
        assert np.array_equal(labels[numbers], project.session.labels)
    assert invoke("export", session, "-o", out).exit_code != 0
    assert invoke("export", session, "-o", out, "--overwrite").exit_code == 0
    as_file = invoke("export", session, "-o", tmp_path / "labels.csv")
    assert "to a folder" in as_file.output
    as_file = invoke("export", session, "-o", tmp_path / "other", "--format", "csv")
    assert "--format is not for" in as_file.output


@pytest.mark.usefixtures("small_sample")
def test_items_that_are_moved_are_there_in_the_export(tmp_path, events):
    folder, y = events
    session = begin(folder, y)
    with closing(open_session_file(session).project) as project:
        asked = {row for e in project.session.events for x in e.links for row in (x.left, x.right)}
        moved = [row for row in range(300) if row not in asked][:2]
        project.mend(lambda mending: mending.move(moved, None), position=project.position)
        numbers = project.session.row_numbers[moved]
        expected = project.session.labels[moved]
    assert invoke("export", session, "-o", tmp_path / "labels").exit_code == 0
    labels = labels_in(tmp_path / "labels")
    assert labels[numbers].tolist() == expected.tolist()
    assert expected[0] == expected[1]


@pytest.mark.usefixtures("small_sample")
def test_data_that_changed_is_refused_and_no_answer_is_lost(tmp_path, events):
    folder, y = events
    session = begin(folder, y)
    table = parquet.read_table(folder / "1.parquet")
    parquet.write_table(table.slice(0, 999), folder / "1.parquet")
    result = invoke("export", session, "-o", tmp_path / "labels")
    assert result.exit_code != 0
    assert "the data has changed since the session was begun" in result.output
    assert not (tmp_path / "labels").exists()
    parquet.write_table(table, folder / "1.parquet")
    assert invoke("export", session, "-o", tmp_path / "labels").exit_code == 0


@pytest.mark.usefixtures("small_sample")
def test_a_value_that_is_no_number_is_named(tmp_path, events):
    folder, y = events
    session = begin(folder, y)
    with closing(open_session_file(session).project) as project:
        row = next(k for k in range(1100, 1500) if k not in project.session.row_numbers)
    table = parquet.read_table(folder / "1.parquet")
    a = table["a"].to_numpy().copy()
    a[row - 1000] = np.nan
    parquet.write_table(table.set_column(1, "a", pyarrow.array(a)), folder / "1.parquet")
    result = invoke("export", session, "-o", tmp_path / "labels")
    assert f"the data: row {row}, column 0 is nan" in result.output


@pytest.mark.usefixtures("small_sample")
def test_what_is_not_for_many_files_is_refused(tmp_path, events, monkeypatch):
    folder, y = events
    for option, value in (("--strategy", "cobras"), ("--groups", "name"), ("--known", __file__)):
        result = invoke("label", folder, option, value, "--terminal")
        assert f"{option} is not for" in result.output
    result = invoke("label", *sorted(folder.iterdir()), "--text", "name", "--terminal")
    assert "--text is not for" in result.output
    session = begin(folder, y)
    np.save(tmp_path / "x.npy", np.zeros((3, 2)))
    with monkeypatch.context() as without_memory:
        without_memory.setattr("likewise.items.limits.available_memory", lambda: 100)
        with pytest.raises(InputError, match="no names of columns"):
            open_project(tmp_path / "x.npy", options={"columns": ["a"]})
    result = invoke("label", folder, "--columns", "a", "--terminal", keys="q\n")
    assert "was begun with --columns" in result.output
    assert not list(tmp_path.glob("*-wal"))
    # A scheduler is given 10 seconds to answer, during which nothing more would be seen.
    client = pytest.importorskip("distributed", reason='pip install "likewise[dask]"').Client
    monkeypatch.setattr("distributed.Client", lambda address, **_: client(address, timeout="0.1s"))
    result = invoke("export", session, "-o", tmp_path / "x", "--cluster", "tcp://127.0.0.1:1")
    assert result.exit_code != 0


def test_a_file_is_sampled_from_disk_if_it_does_not_fit(tmp_path, events, monkeypatch):
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


@pytest.mark.usefixtures("small_sample")
def test_a_large_npy_file_is_labeled_too(tmp_path, monkeypatch):
    y = np.random.default_rng(0).integers(2, size=2000)
    np.save(tmp_path / "x.npy", (10 * y[:, None] + np.eye(2000, 3)).astype(np.float32))
    monkeypatch.setattr("likewise.items.limits.available_memory", lambda: 10_000)
    opened = open_project(tmp_path / "x.npy")
    answer(opened.project, y, 8)
    opened.project.close()
    result = invoke("export", opened.path, "-o", tmp_path / "labels")
    assert result.exit_code == 0, result.output
    labels = parquet.read_table(tmp_path / "labels" / "x.parquet")["label"].to_numpy()
    assert len(set(zip(y.tolist(), labels.tolist(), strict=True))) == 2


@pytest.mark.usefixtures("small_sample")
def test_a_session_about_a_sample_goes_on_when_there_is_more_memory(events, monkeypatch):
    path, columns = events[0] / "0.parquet", {"columns": ["a", "b"]}
    with monkeypatch.context() as without_memory:
        without_memory.setattr("likewise.items.limits.available_memory", lambda: 1000)
        with closing(open_project(path, options=columns).project) as project:
            ids = project.ids
    again = open_project(path)
    with closing(again.project) as project:
        assert (again.is_new, project.ids) == (False, ids)


@pytest.mark.usefixtures("small_sample")
def test_a_table_in_memory_is_sampled_too_and_exported_as_a_whole(tmp_path, events):
    folder, y = events
    table = pyarrow.concat_tables([parquet.read_table(folder / f"{i}.parquet") for i in range(3)])
    parquet.write_table(table, tmp_path / "all.parquet")
    opened = open_project(tmp_path / "all.parquet", options={"columns": ["a", "b"]})
    assert len(opened.project.ids) == 300
    answer(opened.project, y, 12)
    opened.project.close()
    with closing(open_project(tmp_path / "all.parquet").project) as project:
        assert len(project.ids) == 300
        numbers, labels = project.session.row_numbers, project.session.labels
        assert "a sample of 300 of 3000 rows" in document(project)
        # Where there is no room in the header, it is among what was left out.
        assert "a sample of 300 of 3000 rows" in progress(project)["seen"]["notes"]
    again = invoke("label", tmp_path / "all.parquet", "--terminal", keys="q\n")
    assert "a sample of 3000 rows is asked about" in again.output
    result = invoke("export", opened.path, "-o", tmp_path / "groups.parquet")
    assert result.exit_code == 0, result.output
    assert "3000 items in 3 groups" in result.output
    groups = parquet.read_table(tmp_path / "groups.parquet")
    found = groups["group"].to_numpy()
    assert len(set(zip(y.tolist(), found.tolist(), strict=True))) == 3
    assert len(set(zip(labels.tolist(), found[numbers].tolist(), strict=True))) == 3
    assert set(groups["how"].to_pylist()) == {"said", "learned"}
    parquet.write_table(table.slice(1), tmp_path / "all.parquet")
    changed = invoke("export", opened.path, "-o", tmp_path / "groups.parquet")
    assert "have changed since the session was begun" in changed.output


def test_a_large_session_is_checked_and_repaired_like_others(events, small_sample):
    folder, y = events
    path = begin(folder, y)
    finding = check_file(path)
    assert finding.is_good, finding.fault
    assert finding.n_entries == 12
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        (trigger,) = db.execute(
            "SELECT sql FROM sqlite_master WHERE name = 'log_keeps_content'"
        ).fetchone()
        db.execute("DROP TRIGGER log_keeps_content")
        db.execute("UPDATE log SET op = '{}' WHERE seq = 9")
        db.execute(trigger)
    target, n_entries, n_before = repair_file(path)
    assert (n_entries, n_before) == (8, 12)
    with closing(open_session_file(target).project) as project:
        assert project.position == 8


@pytest.mark.usefixtures("small_sample")
def test_rows_that_were_added_behind_the_others_are_predicted(tmp_path, events):
    folder, y = events
    session = begin(folder, y)
    assert invoke("export", session, "-o", tmp_path / "before").exit_code == 0
    first = parquet.read_table(folder / "0.parquet").slice(0, 50)
    parquet.write_table(first, folder / "9.parquet")
    result = invoke("export", session, "-o", tmp_path / "after")
    assert result.exit_code == 0, result.output
    before = labels_in(tmp_path / "before")
    assert np.array_equal(labels_in(tmp_path / "after"), before)
    added = parquet.read_table(tmp_path / "after" / "9.parquet")["label"].to_numpy()
    assert (added == before[:50]).mean() > 0.9


def test_rows_of_files_are_scaled_by_the_sample_that_is_taken(tmp_path):
    values = np.array([[0.0, 5.0], [10.0, 5.0], [40.0, 5.0]])
    columns = {"a": values[:, 0], "b": values[:, 1]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "x.parquet")
    data = ScaledRows(ParquetRows(tmp_path / "x.parquet"), "x")
    assert data.take(np.array([0, 1])).tolist() == [[0.0, 0.0], [1.0, 0.0]]
    assert data.scale == {"low": [0.0, 5.0], "high": [10.0, 5.0]}
    assert data.take(None).tolist() == [[0.0, 0.0], [0.25, 0.0], [1.0, 0.0]]
    np.save(tmp_path / "x.npy", values)
    own = ScaledRows(NpyRows(tmp_path / "x.npy"), "x")
    assert own.take(np.array([2])).tolist() == [[40.0, 5.0]]
    assert own.scale == {}
    np.save(tmp_path / "bad.npy", np.array([[np.nan, 1.0]]))
    with pytest.raises(InputError, match="row 0"):
        ScaledRows(NpyRows(tmp_path / "bad.npy"), "bad.npy").take(None)


def test_the_page_calls_a_sample_a_sample(events, small_sample):
    pytest.importorskip("PIL", reason='pip install "likewise[app]"')
    folder, _ = events
    with closing(open_project(folder, options={"columns": ["a", "b"]}).project) as project:
        assert "a sample of 300 of 3000 rows" in document(project)
