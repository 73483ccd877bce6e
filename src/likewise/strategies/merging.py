"""Which groups may be one: those that the learner confuses and that nobody told apart.

Somebody who overlooks a group begins another one of the same kind. The known rows of the smaller
one then look like rows of the larger. So two groups may be one if, with each known row left out,
the rows of one are predicted to be in the other.

Kinds that are hard to tell apart look like that, too. But groups are shown in order, and whoever
chooses one has seen those before it, above all the likeliest, which are drawn large. So groups are
not suggested that somebody told apart: by putting a row of one behind the other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.core.answered import Answers
from likewise.core.answers import N_LARGE, Answer
from likewise.core.reports import Merge
from likewise.strategies.cells import KnownCells

CONFUSED = 0.5
"""Before any suggestion was refused, two groups are suggested as one from this probability."""

PATIENCE = 10
"""After n refused suggestions, the probability that a suggestion needs has moved n / (n + PATIENCE)
of its way to 1. `benchmarks.practice merges` counts how many are made and how many are right.
Without this, somebody who overlooks nothing would get many more."""

PER_GROUP = 2
"""Nothing is suggested before this many rows are known per group: of groups with one row each, no
row can be predicted by others."""

AT_LARGE, AT_SMALL = 2, 1
"""How much it counts against two groups being one that somebody passed over one of them for the
other: if it was drawn large, and if it was drawn small, where it is easier to overlook."""

FORGIVEN, PER_FIT = 1, 0.1
"""This much of that is forgiven, since small groups are overlooked now and then. Each row that was
put into one of two groups when the other came after it adds the second number: some people take
the first of two groups that fit."""


def merges(known: KnownCells, answers: Answers, rows: NDArray[np.intp]) -> list[Merge]:
    """Return the groups that may be one, by rows that stand for them, the likeliest first.

    Groups between which there is a certain link are never among them.
    """
    if known.learned is None or len(known.learned.known) < PER_GROUP * known.learned.n_groups:
        return []
    proba = confusion(known.learned.left_out, known.learned.groups)
    apart, least = _certainly_apart(answers), least_probability(_n_refused(answers))
    shown, find = known.shown_groups(), answers.links.find
    is_open = (proba >= least) & (_told_apart(known, answers, rows) <= FORGIVEN)
    heads = {g: int(rows[known.shown_cells(known.groups[g])[0]]) for g in shown}
    found = [
        Merge(heads[g], heads[h], float(proba[g, h]))
        for g in shown
        for h in shown
        if g < h and is_open[g, h] and frozenset((find(heads[g]), find(heads[h]))) not in apart
    ]
    return sorted(found, key=lambda merge: (-round(merge.proba, 9), merge.left, merge.right))


def least_probability(n_refused: int) -> float:
    """Return the least probability of a suggestion after this many refused ones."""
    return CONFUSED + (1.0 - CONFUSED) * n_refused / (n_refused + PATIENCE)


def _told_apart(known: KnownCells, answers: Answers, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return how strongly the answers say that two groups are not one."""
    groups = [rows[cells].tolist() for cells in known.groups]
    group_of = {row: g for g, members in enumerate(groups) for row in members}
    told = np.zeros((len(groups), len(groups)))
    for gesture in answers.gestures:
        own = group_of.get(gesture.left)
        is_evidence = gesture.answer is not Answer.UNSURE and not gesture.is_certain
        if own is None or not is_evidence:
            continue
        chosen = {link.right for link in gesture.links if link.answer is Answer.SAME}
        is_behind = False
        for place, members in enumerate(gesture.groups or ((gesture.right,),)):
            other = group_of.get(members[0], own) if members else own
            is_behind = is_behind or not chosen.isdisjoint(members)
            if other != own:
                passed = AT_LARGE if place < N_LARGE else AT_SMALL
                told[own, other] += -PER_FIT if is_behind else passed
    return told + told.T


def confusion(left_out: NDArray[np.float64], groups: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return how likely the rows of one group look like those of another, for every two groups.

    The rows are left out one by one, and the larger of the two directions counts.
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


def _n_refused(answers: Answers) -> int:
    """Return how many suggestions were refused."""
    return sum(
        gesture.source == "mended" and gesture.answer is Answer.DIFFERENT
        for gesture in answers.gestures
    )
