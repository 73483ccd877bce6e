"""A guess about groups whose relation is undecided, instead of keeping them apart.

The representatives are joined in a hierarchical tree, without questions. The height that fits the
answers best is the cut. What the tree joins below the cut, and no answer contradicts, is guessed to
be one group.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import cophenet, linkage

from likewise.core.answers import Answer
from likewise.core.links import LinkGraph


def merge_tree(distances: NDArray[np.float64], *, is_euclidean: bool) -> NDArray[np.float64]:
    """Return SciPy's linkage matrix: Ward's criterion if Euclidean, else average linkage."""
    if len(distances) == 0:
        return np.empty((0, 4))
    return np.asarray(linkage(distances, "ward" if is_euclidean else "average"))


def join_by_guess(
    tree: NDArray[np.float64], answers: Iterable[tuple[int, int, Answer]]
) -> NDArray[np.intp]:
    """Return the group of every leaf: as answered and, below the cut, as the tree joins them."""
    answers = list(answers)
    n_leaves = len(tree) + 1
    known = LinkGraph(n_leaves)
    for i, j, answer in answers:
        known.add(i, j, answer)
    line = _line(tree, answers)
    leaf_of = list(range(n_leaves))
    for left, right, height, _ in tree:
        i, j = leaf_of[int(left)], leaf_of[int(right)]
        leaf_of.append(i)
        # Two groups that both differ from some other group are taken to be complete, and not
        # joined.
        is_whole = known.differing(i) and known.differing(j)
        if height <= line and not is_whole and known.implied(i, j) is None:
            known.add(i, j, Answer.SAME)
    return np.array([known.find(i) for i in range(n_leaves)], dtype=np.intp)


def _line(tree: NDArray[np.float64], answers: list[tuple[int, int, Answer]]) -> float:
    """Return the height with the fewest answers on its wrong side, in the tree's upper half."""
    heights = tree[:, 2]
    met = np.array([], dtype=np.float64)
    if answers:
        i, j = np.sort([(left, right) for left, right, _ in answers]).T
        # Where the pair i < j lies among all pairs.
        met = cophenet(tree)[i * len(tree) - i * (i - 1) // 2 + j - i - 1]
    is_same = np.array([answer is Answer.SAME for _, _, answer in answers], dtype=bool)
    order = np.sort(heights)
    # Cut k joins the k lowest merges.
    edges = np.concatenate([[0.0], order, [order[-1] if len(order) else 0.0]])
    gaps = np.diff(edges)
    middles = edges[:-1] + gaps / 2
    middles[-1] = edges[-1]
    wrong = np.array(
        [np.sum(met[is_same] > m) + np.sum(met[~is_same] <= m) for m in middles], dtype=int
    )
    # Heights grow by factors, so the width of a gap is a ratio.
    ratios = np.diff(np.log(np.maximum(edges, 1e-12 * edges[-1] + np.finfo(float).tiny)))
    ratios[: len(order) // 2] = -1.0
    best = max(range(len(gaps)), key=lambda k: (-wrong[k], ratios[k]))
    return float(middles[best])
