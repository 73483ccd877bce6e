"""Wrong answers, on purpose: which of them are wrong depends on a seed and on nothing else."""

from __future__ import annotations

import numpy as np

from likewise.errors import InputError

PER = 100
"""The share of wrong answers is exact in every so many answers."""


class Slips:
    """Say which answers are wrong: every one with the same chance, and exactly as many as stated.

    In every hundred different pairs asked about, exactly ``100 * share`` are answered wrongly; at
    which places is drawn anew for every hundred. Who asks about a pair again gets the same answer.

    Parameters
    ----------
    share : float
        The share of wrong answers; a whole number of percent.
    seed : int

    Attributes
    ----------
    n_wrong : int
        How many pairs were answered wrongly.

    Examples
    --------
    >>> slips = Slips(0.05, seed=0)
    >>> sum(slips.is_wrong(0, row) for row in range(1, 101)), slips.n_wrong
    (5, 5)
    """

    def __init__(self, share: float, seed: int) -> None:
        self._n_per = round(share * PER)
        if not 0 <= share <= 1 or abs(self._n_per - share * PER) > 1e-9:
            raise InputError(f"the share of wrong answers must be whole percent, got {share}")
        self.seed = seed
        self._wrong: dict[tuple[int, int], bool] = {}
        self._places: frozenset[int] = frozenset()

    @property
    def n_wrong(self) -> int:
        """How many pairs were answered wrongly."""
        return sum(self._wrong.values())

    def is_wrong(self, left: int, right: int) -> bool:
        """Return whether the answer about a pair is to be turned around."""
        pair = (min(left, right), max(left, right))
        if pair not in self._wrong:
            block, place = divmod(len(self._wrong), PER)
            if place == 0:
                rng = np.random.default_rng([self.seed, block])
                drawn = rng.choice(PER, self._n_per, replace=False)
                self._places = frozenset(drawn.tolist())
            self._wrong[pair] = place in self._places
        return self._wrong[pair]
