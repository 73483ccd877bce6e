"""Which groups may be one: those that the learner confuses.

Somebody who overlooks a group begins another one of the same kind. The known rows of the smaller
one then look like rows of the larger. So two groups may be one if, with each known row left out,
the rows of one are predicted to be in the other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.core.answered import Answers
from likewise.core.answers import Answer
from likewise.core.reports import Merge
from likewise.strategies.cells import KnownCells

CONFUSED = 0.5
"""Groups are suggested as one from this probability on."""

PER_GROUP = 2
"""Nothing is suggested before this many rows are known per group: of groups with one row each, no
row can be predicted by others."""


def merges(known: KnownCells, answers: Answers, rows: NDArray[np.intp]) -> list[Merge]:
    """Return the groups that may be one, by rows that stand for them, the likeliest first.

    Answers that they differ do not count, since somebody who overlooks a group says so; certain
    links do.
    """
    if known.learned is None or len(known.learned.known) < PER_GROUP * known.learned.n_groups:
        return []
    proba = confusion(known.learned.left_out, known.learned.groups)
    apart = _certainly_apart(answers)
    shown, find = known.shown_groups(), answers.links.find
    heads = {g: int(rows[known.shown_cells(known.groups[g])[0]]) for g in shown}
    found = [
        Merge(heads[g], heads[h], float(proba[g, h]))
        for g in shown
        for h in shown
        if g < h
        and proba[g, h] >= CONFUSED
        and frozenset((find(heads[g]), find(heads[h]))) not in apart
    ]
    return sorted(found, key=lambda merge: (-round(merge.proba, 9), merge.left, merge.right))


def confusion(left_out: NDArray[np.float64], groups: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return how likely rows of each group are in another one rather than their own.

    The rows are left out one by one, and the larger of both directions counts.
    """
    n_groups = left_out.shape[1]
    own = left_out[np.arange(len(groups)), groups]
    other = left_out / np.maximum(left_out + own[:, None], 1e-12)
    means = np.zeros((n_groups, n_groups))
    np.add.at(means, groups, other)
    means /= np.bincount(groups, minlength=n_groups)[:, None]
    return np.asarray(np.maximum(means, means.T))


def _certainly_apart(answers: Answers) -> set[frozenset[int]]:
    """Return the pairs of components between which there is a certain link."""
    find = answers.links.find
    return {
        frozenset((find(link.left), find(link.right)))
        for gesture in answers.gestures
        if gesture.is_certain
        for link in gesture.links
        if link.answer is Answer.DIFFERENT
    }
