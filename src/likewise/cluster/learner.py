"""Labels learned from rows whose group is known, for estimators.

Two learners that err in different places speak with equal weight: the kernel vote, which follows
smooth borders, and extremely randomized trees, which do not mind features that say nothing.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier

from likewise.core.links import LinkGraph
from likewise.strategies.learner import KernelVote, Views, learn, views_of
from likewise.strategies.respect import respecting_labels

N_TREES = 60


@dataclass(frozen=True, eq=False, slots=True)
class Learned:
    """A learner that was trained on known rows.

    Attributes
    ----------
    views : Views
        How it looks at rows.
    vote : KernelVote
        What the kernels learned.
    trees : ExtraTreesClassifier
        What the trees learned.
    rows : ndarray of int
        The known rows.
    groups : ndarray of int
        Their groups.
    """

    views: Views
    vote: KernelVote
    trees: Any
    rows: NDArray[np.intp]
    groups: NDArray[np.intp]

    def predict_proba(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Return how likely each row belongs to each group."""
        by_trees: NDArray[np.float64] = self.trees.predict_proba(X)
        return (self.vote.predict_proba(self.views(X)) + by_trees) / 2.0


def learn_from(
    X: NDArray[Any],
    known: NDArray[np.intp],
    labels: NDArray[np.intp],
    *,
    rows: NDArray[np.intp] | None = None,
) -> Learned:
    """Learn from the rows `known` of `X`, whose groups `labels` has.

    If `X` has only some of the data, `rows` says which rows of all data the known ones are.
    """
    groups = np.unique(labels[known], return_inverse=True)[1].astype(np.intp)
    views = views_of(X)
    with warnings.catch_warnings():
        # Early in a session most groups have one known row; that is no regression problem.
        warnings.filterwarnings("ignore", message="The number of unique classes is greater")
        trees = ExtraTreesClassifier(N_TREES, random_state=0).fit(X[known], groups)
    return Learned(
        views, learn(views(X[known]), groups), trees, known if rows is None else rows, groups
    )


def learned_labels(learned: Learned, X: NDArray[Any], links: LinkGraph) -> NDArray[np.intp]:
    """Return the group of every row: as answered, else the likeliest that no answer forbids."""
    chances = learned.predict_proba(X)
    # What a known row's group is was decided before; the learner does not overrule it.
    chances[learned.rows] = np.eye(learned.vote.n_groups)[learned.groups]
    decided = {
        links.find(int(row)): int(group)
        for row, group in zip(learned.rows, learned.groups, strict=True)
    }
    return respecting_labels(chances, links, decided)


def predict_learned(learned: Learned, X: NDArray[Any]) -> NDArray[np.intp]:
    """Return the likeliest group of new rows."""
    return np.asarray(np.argmax(learned.predict_proba(X), axis=1), dtype=np.intp)
