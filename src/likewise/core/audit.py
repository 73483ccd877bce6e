"""Pairs that were settled without a question, to be asked about on purpose."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer, ordered
from likewise.core.links import LinkGraph
from likewise.core.reports import Check


def settled_for_free(
    links: LinkGraph, rows: NDArray[np.intp], answered: set[tuple[int, int]], n: int, seed: int
) -> list[Check]:
    """Return up to `n` pairs of rows decided by implication only, half *same* if possible."""
    rng = np.random.default_rng(seed)
    same = _implied_pairs(links, rows, answered, Answer.SAME, n, rng)
    different = _implied_pairs(links, rows, answered, Answer.DIFFERENT, n, rng)
    n_same = min(len(same), max((n + 1) // 2, n - len(different)))
    chosen = [(Answer.SAME, pair) for pair in same[:n_same]]
    chosen += [(Answer.DIFFERENT, pair) for pair in different[: n - n_same]]
    return [Check(*pair, expected, links.explain(*pair)) for expected, pair in chosen]


def _implied_pairs(
    links: LinkGraph,
    rows: NDArray[np.intp],
    answered: set[tuple[int, int]],
    answer: Answer,
    n: int,
    rng: np.random.Generator,
) -> list[tuple[int, int]]:
    roots = np.array([links.find(int(row)) for row in rows])
    implied: list[tuple[int, int]] = []
    # One pair for each row, then another round, as long as a round finds new pairs.
    order = list(rng.permutation(len(rows)))
    n_idle = 0
    while len(implied) < n and n_idle < len(order):
        i = order.pop(0)
        order.append(i)
        wanted = [roots[i]] if answer is Answer.SAME else list(links.differing(int(rows[i])))
        partners = rows[np.isin(roots, wanted) & (rows != rows[i])]
        pairs = [ordered(int(rows[i]), int(j)) for j in partners]
        fresh = [pair for pair in pairs if pair not in answered and pair not in implied]
        n_idle = 0 if fresh else n_idle + 1
        if fresh:
            implied.append(fresh[int(rng.integers(len(fresh)))])
    return implied
