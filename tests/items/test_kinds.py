"""Points, features of one's own, and options that do not fit."""

import io
import zipfile

import numpy as np
import pytest

from likewise.errors import InputError
from likewise.items import open_items
from likewise.project.large import open_rows


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(5, 3))


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("name,x\n" + "\n".join(f"n{k},{k}" for k in range(5)))
    return path


def test_an_array_is_points(tmp_path, X):
    np.save(tmp_path / "x.npy", X)
    items = open_items(tmp_path / "x.npy")
    assert (items.kind, items.n, items.ids[4]) == ("points", 5, "4")
    assert np.array_equal(items.features().X, X)
    assert items.view(0)["fields"][0] == ["feature 0", f"{X[0, 0]:.6g}"]
    assert len(set(items.content_hashes().values())) == 5


def test_an_archive_may_name_its_points(tmp_path, X):
    np.savez(tmp_path / "x.npz", X=X, names=list("abcde"))
    assert open_items(tmp_path / "x.npz").ids == tuple("abcde")


def test_many_features_are_shown_in_part(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((2, 1280), dtype=np.float32))
    items = open_items(tmp_path / "x.npy")
    assert items.view(0)["fields"][-1] == ["…", "1230 more"]
    assert items.features().X.dtype == np.float32


def test_features_in_the_order_of_the_items_are_used(tmp_path, table, X):
    np.save(tmp_path / "x.npy", X)
    for items in (
        open_items(table, features=tmp_path / "x.npy"),
        open_items(tmp_path / "x.npy", items=table),
    ):
        assert items.kind == "rows"
        assert np.array_equal(items.features().X, X)
        assert items.features().description == f"3 features from {tmp_path / 'x.npy'}"


def test_features_with_ids_are_matched_by_them(tmp_path, table, X):
    names = [f"n{k}" for k in range(5)]
    np.savez(tmp_path / "x.npz", embeddings=X[::-1], ids=names[::-1])
    (tmp_path / "x.csv").write_text(
        "id,a\n" + "\n".join(f"n{k},{k * 10}" for k in (3, 1, 4, 0, 2, 9))
    )
    given = open_items(table, id="name", features=tmp_path / "x.npz").features()
    assert np.array_equal(given.X, X)
    given = open_items(table, id="name", features=tmp_path / "x.csv").features()
    assert given.X.ravel().tolist() == [0, 10, 20, 30, 40]


def test_problems_of_the_items_stay_with_features_of_one_s_own(tmp_path):
    (tmp_path / "t.csv").write_text('text,n\nhello,1\n"",2\n')
    np.save(tmp_path / "x.npy", np.eye(2))
    features = open_items(tmp_path / "t.csv", text="text", features=tmp_path / "x.npy").features()
    assert features.askable.tolist() == [0]


def make(tmp_path, name, **arrays):
    np.savez(tmp_path / name, **arrays)
    return tmp_path / name


def test_features_that_do_not_fit_are_refused(tmp_path, table, X):
    bad = X.copy()
    bad[3, 1] = np.nan
    cases = [
        (make(tmp_path, "a.npz", X=X[:4]), "4 rows for 5 items"),
        (make(tmp_path, "b.npz", X=bad), "row 3, column 1 is nan"),
        (make(tmp_path, "c.npz", X=X[0]), "one row of features per item"),
        (make(tmp_path, "d.npz", X=np.array(["a"] * 5)), "must hold real numbers"),
        (make(tmp_path, "e.npz", p=X, q=X), "it has p, q"),
        (make(tmp_path, "f.npz", X=X, ids=list("abcde")), "no features for 5 of 5 items"),
        (make(tmp_path, "g.npz", X=X, ids=list("aacde")), "same id 'a'"),
        (tmp_path / "nowhere.npy", "no file of features"),
        (table, "column 'name' of .* is not numbers: features are"),
    ]
    for path, message in cases:
        with pytest.raises(InputError, match=message):
            open_items(table, id="name", features=path)


def test_pickled_objects_are_never_loaded(tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    np.save(tmp_path / "x.npy", np.array([Trap()], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="could run code"):
        open_items(tmp_path / "x.npy")
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"PK\x03\x04 not a zip", b"hello"])
def test_what_is_not_an_array_is_refused(tmp_path, content):
    for name in ("x.npy", "x.npz"):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match="cannot be read as a numpy array"):
            open_items(tmp_path / name)


def test_what_is_not_there_or_not_known_is_refused(tmp_path, table):
    with pytest.raises(InputError, match="no file or folder"):
        open_items(tmp_path / "nowhere")
    (tmp_path / "a.docx").write_text("x")
    with pytest.raises(InputError, match=r"a\.docx is not a folder of pictures or a file"):
        open_items(tmp_path / "a.docx")
    with pytest.raises(InputError, match="not a table"):
        open_items(tmp_path, kind="rows")


def test_a_column_of_names_that_is_not_named_is_asked_for(table):
    with pytest.raises(InputError, match=r"which column of .* --names is one of \['name', 'x'\]"):
        open_items(table, kind="names")


def test_options_without_effect_are_refused(tmp_path, table, X):
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(InputError, match=r"--text is for texts; .*x.npy is opened as points"):
        open_items(tmp_path / "x.npy", text="a")
    with pytest.raises(InputError, match=r"--columns is for rows and series; .* opened as texts"):
        open_items(table, text="name", columns=["x"])
    with pytest.raises(InputError, match="cannot both be the features"):
        open_items(tmp_path / "x.npy", items=table, features=tmp_path / "x.npy")


def test_a_second_start_finds_the_features_and_a_changed_item_does_not(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("text\n" + "\n".join(f"word{k % 3} other{k % 2} thing" for k in range(20)))
    first = open_items(path, text="text", encoder="words").features().X
    calls = []

    def watched(texts):
        calls.append(1)
        return np.ones((len(texts), 2)), {}

    monkeypatch.setattr("likewise.items.latent.fit_words", watched)
    assert np.array_equal(open_items(path, text="text", encoder="words").features().X, first)
    assert calls == []
    path.write_text(path.read_text() + "\nmore")
    open_items(path, text="text", encoder="words").features()
    assert calls == [1]
    open_items(path, text="text", encoder="words", cache=False).features()
    assert calls == [1, 1]


# -- files that lie about their size ---------------------------------------------------------------


def npy_header(shape, dtype="<f8"):
    """Return the first bytes of an .npy file that promises an array."""
    file = io.BytesIO()
    header = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue()


@pytest.mark.parametrize("shape", [(10**12,), (10**6, 10**6), (2**62, 2**62)])
def test_an_array_larger_than_its_file_is_refused_unread(tmp_path, shape):
    (tmp_path / "x.npy").write_bytes(npy_header(shape) + bytes(64))
    with pytest.raises(InputError, match=r"it is cut or damaged. Save it again"):
        open_items(tmp_path / "x.npy")


def test_an_array_larger_than_its_archive_is_refused_unread(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", npy_header((10**6, 10**6)) + bytes(64))
    with pytest.raises(InputError, match="it is cut or damaged"):
        open_items(tmp_path / "x.npz")


def test_an_archive_that_unpacks_to_more_than_memory_is_refused_unread(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "x.npz", X=np.zeros((1000, 100)))
    assert (tmp_path / "x.npz").stat().st_size < 10_000
    assert open_items(tmp_path / "x.npz").n == 1000
    monkeypatch.setattr("likewise.items.limits.available_memory", lambda: 1_000_000)
    monkeypatch.setattr("numpy.load", None)
    with pytest.raises(InputError, match=r"would take 0\.8 MiB of memory, and 1\.0 MiB are free"):
        open_items(tmp_path / "x.npz")


@pytest.mark.parametrize(
    "header", [b"(" * 3000, b"{'descr': '<f8'", b"{'shape': (1,), ((1,),): 0}", b"[1, 2", b"\xff"]
)
def test_an_array_whose_header_cannot_be_read_is_refused_with_a_reason(tmp_path, header):
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64)
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(InputError, match=r"cannot be read as a numpy array: .*save it again"):
        open_items(tmp_path / "x.npy")
    with pytest.raises(InputError, match=r"or is truncated: .*Write it again with numpy\.save"):
        open_rows({"paths": [str(tmp_path / "x.npy")]})


def test_as_many_ids_as_rows_are_needed(tmp_path):
    np.savez(tmp_path / "x.npz", X=np.eye(5), ids=np.array(["a", "b", "c"]))
    for kind in ("points", "series"):
        with pytest.raises(InputError, match="has 3 ids for 5 rows"):
            open_items(tmp_path / "x.npz", kind=kind)


def test_bounds_that_make_a_pair_both_are_refused_for_names_too(table):
    with pytest.raises(InputError, match="a pair would be both"):
        open_items(table, names="name", same_above=0.2, different_below=0.9)
