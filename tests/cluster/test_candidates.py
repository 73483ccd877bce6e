"""COBRA over a sparse matrix of distances: the stored pairs are the candidates."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_matrix
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

from likewise import COBRA, LabelOracle
from likewise.core.candidates import Candidates
from likewise.errors import InputError, SessionFileError
from likewise.rows.candidates import joined

X, Y = load_iris(return_X_y=True)
X, Y = X[::3].copy(), Y[::3]
X[7] = X[3]


def sparse(pairs, n=4):
    """Return a symmetric matrix from ``{(i, j): distance}``."""
    i, j = np.array(list(pairs), dtype=int).reshape(-1, 2).T
    d = np.array(list(pairs.values()), dtype=float)
    places = np.concatenate([i, j]), np.concatenate([j, i])
    return coo_array((np.concatenate([d, d]), places), shape=(n, n)).tocsr()


def test_all_pairs_in_a_sparse_matrix_are_asked_as_in_a_dense_one():
    distances = cdist(X, X)
    dense = COBRA(len(X), metric="precomputed").fit(distances, oracle=LabelOracle(Y))
    places = np.nonzero(~np.eye(len(X), dtype=bool))  # two rows are equal: stored zeros count
    stored = coo_array((distances[places], places))
    model = COBRA(metric="precomputed").fit(stored, oracle=LabelOracle(Y))
    assert (distances[places] == 0).any()
    assert model.queries_ == dense.queries_
    assert model.labels_.tolist() == dense.labels_.tolist()


def test_what_is_not_stored_is_never_asked():
    places = np.nonzero((cdist(X, X) < 0.6) & ~np.eye(len(X), dtype=bool))
    stored: Any = coo_array((cdist(X, X)[places], places))
    model = COBRA(metric="precomputed").fit(stored, oracle=LabelOracle(Y))
    assert 0 < model.n_queries_ < len(stored.data) / 2
    pairs = set(zip(*places, strict=True))
    assert all((left, right) in pairs for left, right, _ in model.queries_)
    for label in range(model.n_clusters_):
        assert len(set(Y[model.labels_ == label])) == 1
    with pytest.raises(InputError, match="labels_ has the groups of all rows of the fit"):
        model.predict(stored)


def test_without_an_oracle_nothing_is_joined():
    assert COBRA(metric="precomputed").fit(sparse({(0, 1): 0.0})).labels_.tolist() == [0, 1, 2, 3]


def test_only_rows_that_may_be_asked_about_are():
    model = COBRA(metric="precomputed").fit(
        sparse({(0, 1): 0.1, (1, 2): 0.2, (2, 3): 0.3}),
        oracle=LabelOracle([0, 0, 0, 0]),
        train_indices=[1, 2, 3],
    )
    assert [query[:2] for query in model.queries_] == [(1, 2), (2, 3)]


def test_a_fit_goes_on_from_its_checkpoint_and_refuses_other_candidates(tmp_path):
    file, stored = tmp_path / "answers.jsonl", sparse({(0, 1): 0.1, (1, 2): 0.2, (2, 3): 0.3})
    first = COBRA(metric="precomputed", max_queries=1)
    first.fit(stored, oracle=LabelOracle([0, 0, 1, 1]), checkpoint=file)
    second = COBRA(metric="precomputed")
    second.fit(stored, oracle=LabelOracle([0, 0, 1, 1]), checkpoint=file)
    assert second.queries_[:1] == first.queries_
    assert second.labels_.tolist() == [0, 0, 1, 1]
    with pytest.raises(SessionFileError, match="other data"):
        second.fit(sparse({(0, 1): 0.1}), oracle=LabelOracle([0] * 4), checkpoint=file)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (csr_matrix(([1.0], ([0], [1])), shape=(2, 2)), r"X\[0, 1\] is stored, X\[1, 0\] is not"),
        (csr_matrix([[0, 1.0], [2.0, 0]]), r"X\[0, 1\] is 1.0, but X\[1, 0\] is 2.0"),
        (sparse({(0, 2): -1.0}), r"X\[0, 2\] is -1.0; a distance is a finite number from 0"),
        (sparse({(1, 2): np.nan}), r"X\[1, 2\] is nan"),
        (sparse({(1, 2): np.inf}), r"X\[1, 2\] is inf"),
        (csr_matrix([[3.0, 1.0], [1.0, 0]]), r"X\[0, 0\] is 3.0; a row has no distance to itself"),
        (csr_matrix(np.ones((2, 3))), "all rows by all rows"),
    ],
)
def test_bad_sparse_distances_are_refused(matrix, words):
    with pytest.raises(InputError, match=words):
        COBRA(metric="precomputed").fit(matrix)


def test_rows_of_certain_pairs_are_joined_and_the_closest_of_their_pairs_stays():
    listed = Candidates.sorted(
        6,
        np.array([0, 1, 2, 0, 3]),
        np.array([1, 2, 3, 3, 4]),
        [0.01, 0.02, 0.3, 0.4, 0.5],
    )
    others, partition = joined(listed, listed.distances < 0.1)
    assert partition.representatives.tolist() == [1, 3, 4, 5]  # row 1 has two certain pairs
    assert partition.assignment.tolist() == [0, 0, 0, 1, 2, 3]
    pairs = zip(others.left.tolist(), others.right.tolist(), others.distances, strict=True)
    assert list(pairs) == [(1, 3, 0.3), (3, 4, 0.5)]
