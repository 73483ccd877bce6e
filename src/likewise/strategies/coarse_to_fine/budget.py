"""How far a session is, and how fine to cut the data into regions next."""

from __future__ import annotations

from typing import NamedTuple

from likewise.core.answers import Answer

N_CUTS = 3
"""So many times the data are cut into regions when the number of questions is known."""

SECOND_CUT = 0.7
"""The second of three cuts plans for this share of what is left, the last for all of it."""


class Stage(NamedTuple):
    """How far a session is.

    Attributes
    ----------
    sizes : tuple of int
        How many regions there were at every level so far.
    n_proofs : int
        How many answers about two groups were *different*.
    n_apart : int
        How many of these since the last answer that joined two groups.
    n_in_vain : int
        How many answers were *different* at the last level.
    n_earlier : int
        How many answers there were before the last level.
    """

    sizes: tuple[int, ...] = ()
    n_proofs: int = 0
    n_apart: int = 0
    n_in_vain: int = 0
    n_earlier: int = 0

    def after(
        self, sizes: tuple[int, ...], answer: Answer, n_asked: int, is_between: bool
    ) -> Stage:
        """Return the progress after one more answer, maybe one about two groups."""
        is_proof = is_between and answer is Answer.DIFFERENT
        has_joined = is_between and answer is Answer.SAME
        is_new_level = sizes != self.sizes
        return Stage(
            sizes,
            self.n_proofs + is_proof,
            0 if has_joined else self.n_apart + is_proof,
            (answer is Answer.DIFFERENT) + (0 if is_new_level else self.n_in_vain),
            n_asked - 1 if is_new_level else self.n_earlier,
        )


def first_cut(budget: int) -> int:
    """Return into how many regions to cut the data first, if there are so many questions.

    Enough for most of a small budget. Of a large one most is kept until it is seen what a newcomer
    costs: with many groups several questions, with two about one.

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

    A newcomer costs the question that joins it to its group, and those that are asked in vain, as
    many as so far. Showing that groups differ is paid for once.

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
        How many different things these are known to be, or not yet known not to be.
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
