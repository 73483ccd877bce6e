"""How fine to cut the data into regions next, where the number of questions is known."""

from __future__ import annotations

PLANNED = 0.78
"""The regions are planned for this share of the questions. The rest is for checks of answers and
for rows that the learner is in doubt about. Mean adjusted Rand index on test rows, 100 choices with
one in ten wrong, six practice tasks: .58 with 0.95, .67 with 0.85, .70 with 0.78. About 40 pairs,
none wrong, 33 practice sets in two folds: .461 with 0.5, .485 with 0.6, .481 with 0.78, .470 with
1."""

N_CUTS = 3
"""How many times the data are cut into regions if the number of questions is known. Mean adjusted
Rand index of 50 pairs on ten small tasks of the paper, two seeds: .706; with 2 cuts .692, with 6
.706."""

SECOND_CUT = 0.7
"""The second of three cuts plans for this share of what is left, the last for all of it. The index
as above: with 0.35 .702, with 1 .692."""


def first_cut(budget: int) -> int:
    """Return into how many regions to cut the data first, for a planned number of questions.

    A small budget is mostly used for these. Most of a large one is kept until the cost of a new row
    is known: several questions with many groups, about one with two groups.

    Examples
    --------
    >>> [first_cut(n) for n in (0, 10, 30, 60, 120, 500)]
    [6, 7, 21, 32, 44, 120]
    """
    return max(6, round(min(0.7 * budget, 20 + 0.2 * budget)))


def next_cut(
    budget: int, *, n_cuts: int, n_asked: int, n_met: int, n_components: int, n_proofs: int
) -> int | None:
    """Return into how many regions to cut the data next, or None if that is not worth a cut.

    A new row costs the question that joins it to its group, and the questions answered *different*
    before that, estimated from those so far. Questions that show that two groups differ are needed
    once.

    Parameters
    ----------
    budget : int
        How many questions there are in all.
    n_cuts : int
        How many cuts there were; 0 asks for the first one.
    n_asked : int
        How many questions were asked.
    n_met : int
        How many representatives they were about.
    n_components : int
        How many groups these form, counting undecided ones as different.
    n_proofs : int
        How many answers said that two groups differ.

    Examples
    --------
    >>> next_cut(100, n_cuts=1, n_asked=40, n_met=40, n_components=2, n_proofs=1)
    80
    >>> next_cut(100, n_cuts=2, n_asked=80, n_met=79, n_components=2, n_proofs=1)
    98
    >>> next_cut(100, n_cuts=3, n_asked=98, n_met=97, n_components=2, n_proofs=1) is None
    True
    """
    if n_cuts == 0:
        return first_cut(budget)
    if n_cuts == N_CUTS:
        return None
    n_joined = n_met - n_components
    n_in_vain = max(0, n_asked - n_joined - n_proofs)
    n_left = (budget - n_asked) / (1.0 + n_in_vain / max(1, n_met))
    n_planned = int(n_left if n_cuts == N_CUTS - 1 else SECOND_CUT * n_left)
    return n_met + n_planned if n_planned > 1 else None
