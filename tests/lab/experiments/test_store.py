import sqlite3
from contextlib import closing

import pytest

from likewise.errors import InputError
from likewise.lab.experiments.store import (
    LATER,
    Cell,
    ResultStore,
    Row,
    read_results,
    write_results,
)

ROW = Row("main", "COBRA", "iris", 25, 0, queries=26, ari_test=0.1 + 0.2, error='a "b", c\nd')


def test_a_row_is_on_disk_as_soon_as_it_is_added(tmp_path):
    store = ResultStore(tmp_path / "new" / "r.sqlite")
    store.add(ROW)
    with closing(sqlite3.connect(store.path)) as other:
        assert other.execute("SELECT queries FROM results").fetchall() == [(26,)]
    store.close()
    assert read_results(store.path) == [ROW]


def test_a_row_of_the_same_cell_replaces_the_other():
    store = ResultStore(":memory:")
    store.add(ROW)
    store.add(Row(**vars(ROW.cell), queries=27))
    assert len(list(store)) == 1
    assert store.get(ROW.cell).queries == 27
    assert store.get(Cell("main", "COBRA", "iris", 25, 1)) is None


@pytest.mark.parametrize("name", ["r.csv", "r.csv.gz"])
def test_csv_keeps_every_value(tmp_path, name):
    rows = [ROW, Row("anytime", "B", "wine", 50, 4, k_shift=-1, curve="[[0, 0.5]]")]
    write_results(rows, tmp_path / name)
    assert read_results(tmp_path / name) == sorted(rows, key=lambda row: row.cell)


def test_no_results_and_other_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="likewise bench run"):
        read_results(tmp_path / "none.sqlite")
    (tmp_path / "text").write_text("not a database at all")
    with pytest.raises(InputError, match="not a file of results"):
        ResultStore(tmp_path / "text")
    with closing(sqlite3.connect(tmp_path / "old.sqlite")) as db:
        db.execute("CREATE TABLE results (task)")
    with pytest.raises(InputError, match="another version"):
        ResultStore(tmp_path / "old.sqlite")


def test_rows_of_an_earlier_version_stay_readable(tmp_path):
    store = ResultStore(tmp_path / "r.sqlite")
    store.add(ROW)
    store.close()
    with closing(sqlite3.connect(store.path)) as db:
        for name in LATER:
            db.execute(f"ALTER TABLE results DROP COLUMN {name}")
    assert read_results(store.path) == [ROW]
    write_results([ROW], tmp_path / "r.csv")
    text = (tmp_path / "r.csv").read_text()
    text = text.replace(f",{','.join(LATER)}", "").replace(f"{',' * len(LATER)}\n", "\n")
    (tmp_path / "r.csv").write_text(text)
    assert read_results(tmp_path / "r.csv") == [ROW]


def test_cells_are_printed_for_people():
    cell = Cell("wrong-k", "COSC-MinMax", "iris", 50, 1, k_shift=2)
    assert str(cell) == "wrong-k: COSC-MinMax on iris, fold 1, 50 super-instances K+2"


def test_a_database_of_something_else_is_refused_and_left_as_it_is(tmp_path):
    path = tmp_path / "t.csv.likewise"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE answers (n INTEGER)")
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"of something else: it has the tables answers\. Choose"):
        read_results(path)
    with closing(sqlite3.connect(path)) as other:
        tables = other.execute("SELECT name FROM sqlite_master").fetchall()
    assert tables == [("answers",)]
    assert len(path.read_bytes()) == len(before)


def test_a_store_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "folder.sqlite").mkdir()
    with pytest.raises(InputError, match=r"folder\.sqlite cannot be opened: .*can be written"):
        ResultStore(tmp_path / "folder.sqlite")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.csv", b"a,b\n1,2\n"),
        ("r.csv", b"\xd9\xff"),
        ("r.csv", b"experiment,method,task,n_super_instances,fold\nmain,COBRA,iris,x,0\n"),
        ("r.csv.gz", b"junk"),
        ("r.csv.gz", b"\x1f\x8b\x08"),
    ],
)
def test_a_csv_of_something_else_is_named(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=f"{name} is not a file of results, or is damaged"):
        read_results(tmp_path / name)
