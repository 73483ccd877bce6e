import gzip
import shutil
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

from likewise.errors import DatasetError, InputError
from likewise.lab.datasets import Dataset, load, task_names
from likewise.lab.datasets.catalog import TASKS, expectations
from likewise.lab.datasets.tables import Table, preprocess, read_table

# After preprocessing: features by the authors' rule, features by the paper's text, class sizes.
TABLES = {
    "iris": (4, 4, {"Iris-setosa": 48, "Iris-versicolor": 50, "Iris-virginica": 49}),
    "wine": (13, 13, {"1": 59, "2": 71, "3": 48}),
    "dermatology": (34, 34, {"1": 111, "2": 60, "3": 71, "4": 48, "5": 48, "6": 20}),
    "hepatitis": (18, 18, {"1": 19, "2": 93}),
    "glass": (9, 9, {"1": 69, "2": 76, "3": 17, "5": 13, "6": 9, "7": 29}),
    "ionosphere": (33, 33, {"b": 125, "g": 225}),
    "optdigits389": (62, 56, {"3": 389, "8": 380, "9": 382}),
    "ecoli": (
        7,
        7,
        {"cp": 143, "im": 77, "imL": 2, "imS": 2, "imU": 35, "om": 20, "omL": 5, "pp": 52},
    ),
    "breast-cancer-wisconsin": (9, 9, {"2": 213, "4": 236}),
    "segmentation": (
        18,
        18,
        {
            "BRICKFACE": 297,
            "CEMENT": 300,
            "FOLIAGE": 299,
            "GRASS": 300,
            "PATH": 292,
            "SKY": 300,
            "WINDOW": 298,
        },
    ),
    "column_2C": (6, 6, {"AB": 210, "NO": 100}),
    "parkinsons": (13, 22, {"0": 48, "1": 147}),
    "spambase": (57, 57, {"0": 2528, "1": 1679}),
    "sonar": (59, 60, {"M": 111, "R": 97}),
    "yeast": (
        8,
        8,
        {
            "CYT": 438,
            "ERL": 5,
            "EXC": 35,
            "ME1": 43,
            "ME2": 51,
            "ME3": 162,
            "MIT": 244,
            "NUC": 425,
            "POX": 20,
            "VAC": 30,
        },
    ),
}
REFERENCES = [name for name in TABLES if name != "spambase"]


def sizes(dataset: Dataset) -> dict[str, int]:
    return dict(Counter(dataset.target_names[code] for code in dataset.y))


def test_there_are_21_tasks_in_the_order_of_the_paper():
    assert task_names() == [
        *TABLES,
        "faces-identity",
        "faces-pose",
        "faces-expression",
        "faces-eyes",
        "newsgroups-diff3",
        "newsgroups-sim3",
    ]


@pytest.mark.parametrize("preprocessing", ["authors", "paper"])
@pytest.mark.parametrize("name", TABLES)
def test_rows_features_and_class_sizes_of_tables(name, preprocessing, data_home):
    dataset = load(name, data_home=data_home, preprocessing=preprocessing)
    authors, paper, classes = TABLES[name]
    assert dataset.X.shape == (
        sum(classes.values()),
        authors if preprocessing == "authors" else paper,
    )
    assert sizes(dataset) == classes
    assert dataset.n_classes == len(classes)
    assert dataset.X.dtype == np.float64
    assert dataset.y.dtype == np.int64
    assert len(dataset.ids) == len(dataset.y) == len(set(dataset.ids.tolist()))
    assert dataset.X.min() == 0
    assert dataset.X.max() == 1
    assert len(np.unique(dataset.X, axis=0)) == len(dataset.X)
    assert preprocessing in dataset.source
    assert "doi.org" in dataset.citation
    assert dataset.images is None
    assert dataset.texts is None


@pytest.mark.parametrize("name", TABLES)
def test_every_column_reaches_from_zero_to_one_in_the_papers_way(name, data_home):
    dataset = load(name, data_home=data_home, preprocessing="paper")
    assert (dataset.X.min(axis=0) == 0).all()
    assert (dataset.X.max(axis=0) == 1).all()


@pytest.mark.parametrize("name", REFERENCES)
def test_the_authors_way_equals_the_reference_copy(name, data_home):
    file = "optdigits389_full" if name == "optdigits389" else name
    with gzip.open(data_home / "cobras_paper_preprocessed" / f"{file}.data.gz", "rt") as lines:
        reference = np.loadtxt(lines, delimiter=",")
    dataset = load(name, data_home=data_home)
    values, labels = reference[:, 1:], reference[:, 0]
    if not np.allclose(dataset.X, values, rtol=0, atol=1e-9):
        # Some reference copies are sorted; values that differ by rounding must not change order.
        ours = np.lexsort(dataset.X.round(6).T)
        theirs = np.lexsort(values.round(6).T)
        np.testing.assert_allclose(dataset.X[ours], values[theirs], rtol=0, atol=1e-9)
        pairs = set(zip(dataset.y[ours].tolist(), labels[theirs].tolist(), strict=True))
    else:
        pairs = set(zip(dataset.y.tolist(), labels.tolist(), strict=True))
    assert len(pairs) == dataset.n_classes == len({b for _, b in pairs})


def test_ids_are_rows_of_the_table(data_home):
    dataset = load("iris", data_home=data_home)
    table = read_table(data_home / "iris.csv")
    assert len(table.labels) == 150
    assert [dataset.target_names[code] for code in dataset.y] == [
        table.labels[row] for row in dataset.ids
    ]
    lengths = table.values[dataset.ids, 0]
    np.testing.assert_allclose(dataset.X[:, 0], (lengths - 4.3) / (7.9 - 4.3), atol=1e-12)


def test_the_variable_names_the_folder(data_home, monkeypatch, tmp_path):
    shutil.copy(data_home / "iris.csv", tmp_path)
    monkeypatch.setenv("LIKEWISE_DATA", str(tmp_path))
    assert load("iris").X.shape == (147, 4)


def test_data_home_comes_before_the_variable(data_home, monkeypatch):
    monkeypatch.setenv("LIKEWISE_DATA", "/nowhere")
    assert load("iris", data_home=data_home).X.shape == (147, 4)


def test_a_missing_file_is_named_with_what_to_do(tmp_path):
    with pytest.raises(DatasetError, match=r"wine\.csv.*likewise data fetch wine.*LIKEWISE_DATA"):
        load("wine", data_home=tmp_path, download=False)


def test_an_unknown_task_is_answered_with_the_names_there_are(tmp_path):
    with pytest.raises(InputError, match=r"no task 'Iris'.*iris, wine"):
        load("Iris", data_home=tmp_path)


def test_an_unknown_preprocessing_is_refused(tmp_path):
    with pytest.raises(InputError, match="preprocessing is 'none'"):
        load("iris", data_home=tmp_path, preprocessing="none")


def test_tables_have_no_choice_of_features(tmp_path):
    with pytest.raises(InputError, match="only the faces"):
        load("iris", data_home=tmp_path, features="pixels")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text.replace("5.1,3.5,1.4,0.2", "5.1,3.5,1.4,0.3", 1), "digest"),
        (lambda text: text.rsplit("\n", 2)[0] + "\n", "149 rows instead of 150"),
        (lambda text: text.replace("Iris-setosa", "setosa"), "class 'Iris-setosa' has 0 rows"),
        (lambda text: text[: len(text) // 2], r"line \d+: \d cells? instead of 5|rows instead of"),
        (lambda text: text.replace("5.1", "five", 1), "could not convert"),
        (lambda text: text.partition("\n")[2], "no header"),
        (lambda text: "", "no header"),
        (lambda text: text.partition("\n")[0] + "\n", "no rows"),
        (lambda text: text.replace("petal_width", "width", 1), "columns"),
    ],
    ids=["value", "row", "label", "cut", "word", "header", "empty", "none", "column"],
)
def test_a_changed_file_is_refused_with_what_differs(change, says, data_home, tmp_path):
    text = (data_home / "iris.csv").read_text()
    (tmp_path / "iris.csv").write_text(change(text))
    with pytest.raises(DatasetError, match=says):
        load("iris", data_home=tmp_path)


def test_another_number_of_features_is_told(data_home, tmp_path):
    lines = (data_home / "iris.csv").read_text().splitlines()
    shorter = [line.partition(",")[2] for line in lines]
    (tmp_path / "iris.csv").write_text("\n".join(shorter) + "\n")
    with pytest.raises(DatasetError, match="3 features instead of 4"):
        load("iris", data_home=tmp_path)


def test_scikit_learns_corrected_iris_is_not_taken_for_the_papers(tmp_path):
    from sklearn.datasets import load_iris

    iris = load_iris()
    header = "sepal_length,sepal_width,petal_length,petal_width,target"
    names = ["Iris-setosa", "Iris-versicolor", "Iris-virginica"]
    rows = [
        ",".join([*map(str, row), names[code]])
        for row, code in zip(iris.data, iris.target, strict=True)
    ]
    (tmp_path / "iris.csv").write_text("\n".join([header, *rows]) + "\n")
    with pytest.raises(DatasetError, match="values or row order"):
        load("iris", data_home=tmp_path)


def test_equal_values_written_differently_have_one_digest():
    plain = Table(("a",), np.array([[0.0], [np.nan]]), ("x", "y"))
    other = Table(("a",), np.array([[-0.0], [-np.nan]]), ("x", "y"))
    assert plain.facts() == other.facts()


def test_duplicates_ignore_the_label_and_the_first_stays():
    table = Table(("a", "b"), np.array([[0.0, 1], [0, 1], [2, 3], [1, 1]]), ("x", "y", "x", "y"))
    _, labels, rows = preprocess(table, authors=True)
    assert rows.tolist() == [0, 2, 3]
    assert labels == ("x", "x", "y")


def test_the_expected_table_knows_every_file_and_task():
    expected = expectations()
    assert set(expected["files"]) == {task.file for task in TASKS.values()}
    assert list(expected["tasks"]) == task_names()


@pytest.mark.parametrize("name", TABLES)
def test_the_expected_shape_is_the_loaded_shape(name, data_home):
    dataset = load(name, data_home=data_home)
    assert TASKS[name].shape == (*dataset.X.shape, dataset.n_classes)


@pytest.mark.slow
def test_tables_load_without_optional_packages(data_home):
    code = (
        "import sys\n"
        "optional = {'pandas', 'pooch', 'ucimlrepo', 'torch', 'PIL'}\n"
        "class Blocked:\n"
        "    def find_spec(name, path=None, target=None):\n"
        "        if name in optional: raise ImportError(name)\n"
        "sys.meta_path.insert(0, Blocked)\n"
        "from likewise.lab.datasets import load\n"
        f"print(load('wine', data_home={str(data_home)!r}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "178 rows" in done.stdout
