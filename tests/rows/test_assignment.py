import numpy as np
import pytest
from scipy.spatial.distance import cdist

from likewise.core.partition import StreamedSuperInstances
from likewise.errors import MissingExtraError
from likewise.rows import assignment
from likewise.rows.assignment import assign, fastest_kernel

ROUNDING = 1e-5
"""Two kernels may choose different centers if their squared distances differ by less than this
part of the largest: a few hundred units in the last place of float32."""


def rows_and_centers(n=20_000, d=12, k=300, offset=0.0):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(n, d)) + offset).astype(np.float32)
    return X, X[rng.choice(n, k, replace=False)] + np.float32(0.01)


def excess(X, centers, found):
    """Return how much farther the found centers are than the nearest, as squared distances."""
    squares = cdist(X.astype(float), centers.astype(float), "sqeuclidean")
    own = squares[np.arange(len(X)), found]
    return (own - squares.min(axis=1)) / squares.max()


@pytest.mark.parametrize("kernel", ["numpy", "faiss"])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_the_center_found_is_the_nearest_but_for_rounding(kernel, offset):
    if kernel == "faiss":
        pytest.importorskip("faiss", reason="pip install likewise[fast]")
    X, centers = rows_and_centers(offset=offset)
    assert excess(X, centers, assign(X, centers, kernel=kernel)).max() < ROUNDING


def test_the_kernels_differ_on_next_to_no_rows():
    pytest.importorskip("faiss", reason="pip install likewise[fast]")
    X, centers = rows_and_centers(n=100_000)
    one, other = (assign(X, centers, kernel=kernel) for kernel in ("numpy", "faiss"))
    assert (one != other).mean() < 1e-4


def test_neither_threads_nor_what_comes_with_a_block_change_a_row():
    X, centers = rows_and_centers(n=100_000, k=40)
    whole = assign(X, centers)
    assert np.array_equal(assign(X, centers, n_jobs=3), whole)
    assert np.array_equal(assign(X[: 2**15], centers), whole[: 2**15])


def test_faiss_is_taken_where_it_is_faster_and_installed(monkeypatch):
    monkeypatch.setattr(assignment, "find_spec", lambda name: object())
    assert fastest_kernel(8, np.float32) == "faiss"
    assert fastest_kernel(32, np.float32) == "numpy"
    assert fastest_kernel(8, np.float64) == "numpy"
    monkeypatch.setattr(assignment, "find_spec", lambda name: None)
    assert fastest_kernel(8, np.float32) == "numpy"
    with pytest.raises(MissingExtraError, match=r"likewise\[fast\]"):
        assign(np.zeros((3, 2), np.float32), np.zeros((1, 2), np.float32), kernel="faiss")


def test_a_session_needs_the_kernel_it_was_made_with(tmp_path, monkeypatch):
    pytest.importorskip("faiss", reason="pip install likewise[fast]")
    from likewise import COBRA
    from likewise.scale import SourceSession, from_array

    X, _ = rows_and_centers(n=5000)
    session = COBRA(20, engine="sample", random_state=0).start(from_array(X))
    partition = session.strategy.partition
    assert isinstance(partition, StreamedSuperInstances)
    assert partition.kernel == "faiss"
    again = SourceSession.from_dict(session.to_dict(), X=from_array(X))
    assert np.array_equal(again.labels, session.labels)
    monkeypatch.setattr(assignment, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"likewise\[fast\]"):
        _ = again.labels
