import numpy as np
import pytest

from likewise.errors import InputError
from likewise.lab.experiments.tasks import check_task, dataset, in_order, tasks_in

X = np.arange(12.0).reshape(6, 2)
Y = ["b", "b", "a", "a", "c", "c"]


@pytest.fixture(autouse=True)
def fresh():
    dataset.cache_clear()


def test_a_folder_of_arrays_is_a_list_of_tasks(tmp_path):
    np.savez(tmp_path / "two.npz", X=X, y=Y)
    (tmp_path / "notes.txt").write_text("no task")
    assert tasks_in(tmp_path) == ["two.npz"]
    data = dataset("two.npz", None, str(tmp_path))
    assert (data.n_classes, data.target_names) == (3, ("a", "b", "c"))
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, [1, 1, 0, 0, 2, 2])
    assert data.source.startswith("two.npz, SHA-256 ")


def test_a_parquet_file_has_its_classes_in_a_column(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason='pip install "likewise[tables]"')
    from pyarrow import parquet

    table = pyarrow.table({"a": X[:, 0], "y": Y, "b": X[:, 1]})
    parquet.write_table(table, tmp_path / "t.parquet")
    data = dataset("t.parquet", None, str(tmp_path))
    np.testing.assert_array_equal(data.X, X)
    assert data.n_classes == 3


def test_data_of_scikit_learn_are_tasks_by_their_address():
    data = dataset("sklearn.datasets:load_wine")
    assert (data.X.shape, data.n_classes) == ((178, 13), 3)
    check_task("sklearn.datasets:load_wine")


def test_tasks_of_the_paper_come_first():
    assert in_order(["b.npz", "wine", "a.npz", "iris", "wine"]) == [
        "iris",
        "wine",
        "a.npz",
        "b.npz",
    ]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": X}, "no array 'y'"),
        ({"X": X, "y": Y[:3]}, "y has length 3"),
        ({"X": X * np.nan, "y": Y}, "finite"),
        ({"X": np.array([["a"]] * 6), "y": Y}, "not all numbers"),
    ],
)
def test_a_file_that_is_no_task_is_refused(tmp_path, arrays, message):
    np.savez(tmp_path / "t.npz", **arrays)
    with pytest.raises(InputError, match=message):
        dataset("t.npz", None, str(tmp_path))


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(InputError, match=r"no \.npz or \.parquet"):
        tasks_in(tmp_path)
    with pytest.raises(InputError, match="there is no task"):
        dataset("t.npz", None, str(tmp_path))
    with pytest.raises(InputError, match="--tasks-from"):
        dataset("t.npz")
    with pytest.raises(InputError, match="no task 'nowhere'"):
        check_task("nowhere")


def test_an_archive_that_is_broken_is_named_with_the_remedy(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, X=X, y=Y)
    content = path.read_bytes()
    objects = np.array([{}] * 6, dtype=object)
    damaged = content.replace(b"'descr'", b"(((((((")
    for broken in (b"", b"hello", content[:100], content[:-30], damaged):
        path.write_bytes(broken)
        with pytest.raises(InputError, match=r"t\.npz cannot be read: .*numpy\.savez"):
            dataset("t.npz", None, str(tmp_path))
    np.savez(path, X=X, y=objects)
    with pytest.raises(InputError, match="could run code"):
        dataset("t.npz", None, str(tmp_path))


def test_a_parquet_file_that_is_broken_is_named(tmp_path):
    pytest.importorskip("pyarrow", reason='pip install "likewise[tables]"')
    (tmp_path / "t.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(InputError, match=r"t\.parquet cannot be read as Parquet"):
        dataset("t.parquet", None, str(tmp_path))
