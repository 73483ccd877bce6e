"""NPU: first place the row that is most informative per question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier

from likewise.errors import InputError, SessionFileError
from likewise.lab import baselines
from likewise.lab.peers.rows import Array, Ints
from likewise.lab.selection.neighborhoods import Choice, NeighborhoodStrategy

N_TREES = 50
"""Trees of the random forest, as in public code of the method."""


class MostInformative(NeighborhoodStrategy):
    """Place the row with the largest uncertainty about its neighborhood per expected question."""

    name: ClassVar[str] = "npu"
    parameters = (*NeighborhoodStrategy.parameters, "clusterer")

    def __init__(
        self,
        X: Array,
        train: Ints,
        seed: int,
        *,
        n_clusters: int,
        infer_last: bool,
        clusterer: Any,
    ) -> None:
        self.clusterer = clusterer
        self._clustering: Ints | None = None
        self._leaves: Ints | None = None
        super().__init__(X, train, seed, n_clusters=n_clusters, infer_last=infer_last)

    @classmethod
    def load(cls, plain: Mapping[str, Any]) -> Self:
        """Return the strategy that `to_dict` wrote down."""
        name, params = plain["clusterer"]["name"], plain["clusterer"]["params"]
        if name not in baselines.__all__:
            raise SessionFileError(f"the session uses an unknown clusterer, {name!r}")
        return super().load({**plain, "clusterer": getattr(baselines, name)(**params)})

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain values, those of the clusterer included."""
        name = type(self.clusterer).__name__
        if name not in baselines.__all__:
            raise InputError(
                f"a session with the clusterer {name} cannot be saved; one with a clusterer of "
                "this package can"
            )
        params = self.clusterer.get_params(deep=False)
        plain = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in params.items()}
        return {**super().to_dict(), "clusterer": {"name": name, "params": plain}}

    def _opens_neighborhood(self) -> bool:
        return True

    def _bound(self) -> tuple[int, int]:
        free = self.free_rows().tolist()
        bound = self.links.n_undecided([*free, *self._seeds()])
        return bound, len(free) * (len(self._members) + 1) // 2

    def _choose(self) -> Choice | None:
        free = self.free_rows()
        if len(free) == 0:
            return None
        rng = self._rng()
        neighborhoods = self.neighborhoods
        if len(neighborhoods) == 1:
            # With one neighborhood there is no uncertainty about which.
            row = int(free[rng.integers(len(free))])
            return Choice(row, ((0, self._members[0]),))
        leaves = self._forest_leaves()
        chances = neighborhood_chances(leaves, free, neighborhoods)
        score = uncertainty_per_question(chances)
        best = np.flatnonzero(score == score.max())
        place = int(best[rng.integers(len(best))])
        return Choice(int(free[place]), self._ranking(leaves, int(free[place]), chances[place]))

    def _ranking(
        self, leaves: Ints, row: int, chances: Array
    ) -> tuple[tuple[int, tuple[int, ...]], ...]:
        ranking = []
        for place in np.argsort(-chances, kind="stable"):
            # Only members by answers can be asked: a link to an inferred one would prove nothing.
            rows = sorted(self._members[place])
            shared = (leaves[rows] == leaves[row]).sum(axis=1)
            order = np.argsort(-shared, kind="stable")
            ranking.append((int(place), tuple(rows[i] for i in order)))
        return tuple(ranking)

    def _forest_leaves(self) -> Ints:
        """Return the leaf that each row falls into, in each tree of a forest for the clusters."""
        must, cannot = self.known().closure()
        model = clone(self.clusterer).fit(self.X, must_link=must, cannot_link=cannot)
        clustering = np.asarray(model.labels_)
        # The forest's seed is fixed, so the same clusters would give the same forest.
        is_known = self._clustering is not None and np.array_equal(clustering, self._clustering)
        if self._leaves is None or not is_known:
            forest = RandomForestClassifier(N_TREES, random_state=self.seed)
            leaves = forest.fit(self.X, clustering).apply(self.X)
            # They are read tree by tree.
            self._leaves = np.asfortranarray(leaves)
            self._clustering = clustering
        return self._leaves


def neighborhood_chances(leaves: Ints, rows: Ints, neighborhoods: list[list[int]]) -> Array:
    """Return how likely each row belongs to each neighborhood, by the leaves they share."""
    members = np.concatenate([np.asarray(rows_) for rows_ in neighborhoods])
    sizes = np.array([len(rows_) for rows_ in neighborhoods])
    owner = np.repeat(np.arange(len(sizes)), sizes)
    similarity = shared_leaves(leaves, rows, members, owner, 1 / sizes)
    total = similarity.sum(axis=1, keepdims=True)
    uniform = np.full_like(similarity, 1 / len(sizes))
    return np.asarray(np.divide(similarity, total, out=uniform, where=total > 0))


def shared_leaves(leaves: Ints, rows: Ints, members: Ints, owner: Ints, share: Array) -> Array:
    """Return how many leaves each row shares with each neighborhood's mean member."""
    k, shares = len(share), share[owner]
    similarity = np.zeros((len(rows), k))
    for tree in leaves.T:
        in_leaf = np.bincount(tree[members] * k + owner, shares, (tree.max() + 1) * k)
        similarity += in_leaf.reshape(-1, k).take(tree[rows], axis=0)
    return similarity


def uncertainty_per_question(chances: Array) -> Array:
    """Return the entropy of each row's neighborhood over the expected number of questions."""
    # The i-th most likely neighborhood takes i questions.
    logs = np.log2(chances, out=np.zeros_like(chances), where=chances > 0)
    entropy = np.abs((chances * logs).sum(axis=1))
    descending = -np.sort(-chances, axis=1)
    n_questions = descending @ np.arange(1, chances.shape[1] + 1)
    return np.asarray(entropy / n_questions)
