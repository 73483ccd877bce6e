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
    store = ResultStore(tmp_path / "new" / "r.csv")
    assert read_results(store.path) == []
    store.add(ROW)
    assert read_results(store.path) == [ROW]


def test_a_row_of_the_same_cell_replaces_the_other(tmp_path):
    store = ResultStore(tmp_path / "r.csv")
    store.add(ROW)
    newer = Row(**vars(ROW.cell), queries=27)
    store.add(newer)
    for again in (store, ResultStore(store.path)):
        assert list(again) == read_results(store.path) == [newer]
        assert again.get(ROW.cell) == newer
        assert again.get(Cell("main", "COBRA", "iris", 25, 1)) is None


@pytest.mark.parametrize("n_bytes", [1, 2, 60, 10_000])
def test_a_row_that_was_cut_is_left_out_and_made_again(tmp_path, n_bytes):
    store = ResultStore(tmp_path / "r.csv")
    store.add(ROW)
    whole = store.path.read_bytes()
    other = Row("main", "COBRA", "iris", 25, 1, rows_read=52, error="one line\nand another")
    store.add(other)
    cut = store.path.read_bytes()[:-n_bytes]
    store.path.write_bytes(max(cut, whole[:-1], key=len))
    kept = [ROW] if len(cut) > len(whole) else []
    assert read_results(store.path) == kept
    again = ResultStore(store.path)
    assert list(again) == kept
    again.add(other)
    assert read_results(store.path) == [*kept, other]


def test_two_stores_of_one_file_add_to_it(tmp_path):
    one, two = ResultStore(tmp_path / "r.csv"), ResultStore(tmp_path / "r.csv")
    rows = [Row("main", "COBRA", "iris", 25, fold) for fold in range(4)]
    for store, row in zip((one, two, one, two), rows, strict=True):
        store.add(row)
    assert read_results(tmp_path / "r.csv") == rows


@pytest.mark.parametrize("name", ["r.csv", "r.csv.gz"])
def test_csv_keeps_every_value(tmp_path, name):
    rows = [ROW, Row("anytime", "B", "wine", 50, 4, k_shift=-1, curve="[[0, 0.5]]")]
    write_results(rows, tmp_path / name)
    assert read_results(tmp_path / name) == sorted(rows, key=lambda row: row.cell)


def test_no_results_and_other_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="likewise bench run"):
        read_results(tmp_path / "none.csv")
    with pytest.raises(InputError, match=r"r\.sqlite does not end with \.csv.*bench export"):
        ResultStore(tmp_path / "r.sqlite")


@pytest.mark.parametrize("content", ["word", "a,b\n1,2", "experiment\n", ""])
def test_a_file_of_something_else_is_left_as_it_is(tmp_path, content):
    (tmp_path / "mine.csv").write_text(content)
    with pytest.raises(InputError, match=r"mine\.csv is not a file of results"):
        ResultStore(tmp_path / "mine.csv")
    assert (tmp_path / "mine.csv").read_text() == content


def test_rows_of_an_earlier_version_stay_readable_and_can_be_added_to(tmp_path):
    write_results([ROW], tmp_path / "r.csv")
    text = (tmp_path / "r.csv").read_text()
    text = text.replace(f",{','.join(LATER)}", "").replace(f"{',' * len(LATER)}\n", "\n")
    (tmp_path / "r.csv").write_text(text)
    assert read_results(tmp_path / "r.csv") == [ROW]
    newer = Row("main", "COBRA", "iris", 25, 1, rows_read=52)
    ResultStore(tmp_path / "r.csv").add(newer)
    assert read_results(tmp_path / "r.csv") == [ROW, newer]


def test_cells_are_printed_for_people():
    cell = Cell("wrong-k", "COSC-MinMax", "iris", 50, 1, k_shift=2)
    assert str(cell) == "wrong-k: COSC-MinMax on iris, fold 1, 50 super-instances K+2"


def test_a_store_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match=r"folder\.csv is a folder"):
        ResultStore(tmp_path / "folder.csv")


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
