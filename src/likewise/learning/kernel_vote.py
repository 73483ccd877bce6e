"""Learn from a few rows whose group is known where all the others belong.

A kernel machine with everything in closed form: for every kernel and every strength of smoothing,
the predictions with one row left out cost no more than the fit. They say how far each choice can
be trusted, so all choices vote, weighted by how well they foretell the rows they have not seen.
No question is spent on choosing or calibrating, and a fit takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from likewise.rows.threads import one_thread_each

WIDTHS = (0.25, 1.0, 4.0)
"""Factors in the exponent of the Gaussian kernels; rows are scaled to a mean square norm of 1."""

SMOOTHINGS = 10.0 ** np.arange(-4, 2.1, 0.5)
SHARPNESSES = np.array([0.5, 1.0, 2.0, 3.0, 5.0, 8.0])

TRUST = 0.3
"""How fast votes fall with the loss on left-out rows. 1 would be the odds of a Bayesian; nearby
choices make the same errors, so less is better."""

MAX_TUNED = 300
"""Choices are compared on at most this many known rows; more do not change the verdict."""

MAX_VOTERS = 12
MAX_VOTERS_OF_MANY = 4
"""So many of the best choices vote; fewer where known rows are too many to compare choices on."""

ROWS_AT_ONCE = 1024
"""Rows are predicted in blocks of this many, so that where a batch begins changes no bit, as long
as it begins at a multiple."""


@dataclass(frozen=True, eq=False, slots=True)
class _Voter:
    view: int
    width: float | None
    smoothing: float
    sharpness: float
    weight: float
    coefficients: NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class KernelVote:
    """What was learned; made by `learn`.

    Attributes
    ----------
    n_groups : int
        Number of groups.
    seen : ndarray of shape (n_known, n_groups)
        For every known row, what the others say about it: probabilities without its own vote.
    """

    n_groups: int
    seen: NDArray[np.float64]
    _known: tuple[NDArray[np.float64], NDArray[np.float64]]
    _shares: NDArray[np.float64]
    _voters: tuple[_Voter, ...]

    def predict_proba(
        self, rows: tuple[NDArray[np.float64], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Return how likely each row of both views belongs to each group."""
        n_rows = len(rows[0])
        if self.n_groups == 1:
            return np.ones((n_rows, 1))
        found = np.empty((n_rows, self.n_groups))
        with one_thread_each():
            for start in range(0, n_rows, ROWS_AT_ONCE):
                block = tuple(view[start : start + ROWS_AT_ONCE] for view in rows)
                found[start : start + ROWS_AT_ONCE] = self._of_block(block)
        return found

    def _of_block(self, block: tuple[NDArray[np.float64], ...]) -> NDArray[np.float64]:
        mixed = np.zeros((len(block[0]), self.n_groups))
        kernels: dict[tuple[int, float | None], NDArray[np.float64]] = {}
        for voter in self._voters:
            key = voter.view, voter.width
            if key not in kernels:
                kernels[key] = _kernel(block[voter.view], self._known[voter.view], voter.width)
            scores = kernels[key] @ voter.coefficients + self._shares
            mixed += voter.weight * _softmax(voter.sharpness * scores)
        return mixed


def learn(
    known: tuple[NDArray[np.float64], NDArray[np.float64]], groups: NDArray[np.intp]
) -> KernelVote:
    """Learn from rows whose group is known.

    Parameters
    ----------
    known : pair of ndarray
        Both views of the rows (see `likewise.learning.views.views_of`).
    groups : ndarray of shape (n_known,)
        Their groups, numbered from 0 without gaps.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.learning.views import views_of
    >>> X = np.array([[0.0], [0.2], [1.0], [4.0], [4.1], [5.0]])
    >>> views = views_of(X)
    >>> model = learn(views(X[[0, 2, 3, 5]]), np.array([0, 0, 1, 1]))
    >>> model.predict_proba(views(X)).argmax(axis=1).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    n_groups = int(groups.max()) + 1
    targets = np.eye(n_groups)[groups]
    shares = targets.mean(axis=0)
    if n_groups == 1:
        return KernelVote(1, np.ones((len(groups), 1)), known, shares, ())
    with one_thread_each():
        return _tuned_vote(known, groups, targets, shares)


def milestone(n: int) -> int:
    """Return the last number up to `n` at which the learner learns anew.

    Examples
    --------
    >>> [milestone(n) for n in (3, 16, 17, 18, 100, 110, 120)]
    [3, 16, 16, 18, 91, 102, 114]
    """
    last = n if n < 8 else 8
    while n >= 8 and last + last // 8 <= n:
        last += last // 8
    return last


def _tuned_vote(
    known: tuple[NDArray[np.float64], NDArray[np.float64]],
    groups: NDArray[np.intp],
    targets: NDArray[np.float64],
    shares: NDArray[np.float64],
) -> KernelVote:
    tuned = np.arange(0, len(groups), -(-len(groups) // MAX_TUNED))
    some = known[0][tuned], known[1][tuned]
    choices = list(_choices(some, groups[tuned], targets[tuned], shares))
    losses = np.array([loss for loss, *_ in choices])
    weights = np.exp(-TRUST * len(tuned) * (losses - losses.min()))
    n_voters = MAX_VOTERS if len(tuned) == len(groups) else MAX_VOTERS_OF_MANY
    best = np.sort(np.argsort(losses, kind="stable")[:n_voters])
    best = best[weights[best] > 1e-3]
    weights = weights[best] / weights[best].sum()
    seen = np.zeros_like(targets)
    voters = []
    for weight, k in zip(weights, best, strict=True):
        _, view, width, smoothing, sharpness = choices[k]
        inner = _kernel(known[view], known[view], width)
        inverse = np.linalg.inv(inner + smoothing * np.eye(len(inner)))
        coefficients = inverse @ (targets - shares)
        left_out = targets - coefficients / np.diag(inverse)[:, None]
        seen += weight * _softmax(sharpness * left_out)
        voters.append(_Voter(view, width, smoothing, sharpness, float(weight), coefficients))
    return KernelVote(len(shares), seen, known, shares, tuple(voters))


def _choices(
    known: tuple[NDArray[np.float64], NDArray[np.float64]],
    groups: NDArray[np.intp],
    targets: NDArray[np.float64],
    shares: NDArray[np.float64],
) -> Iterator[tuple[float, int, float | None, float, float]]:
    """Yield, for every kernel and smoothing, the loss on left-out rows at its best sharpness."""
    own = np.arange(len(groups)), groups
    for view in (0, 1):
        for width in (None, *WIDTHS):
            values, vectors = np.linalg.eigh(_kernel(known[view], known[view], width))
            turned = vectors.T @ (targets - shares)
            # All smoothings at once: one more axis in front.
            shrunk = 1.0 / (np.maximum(values, 0.0) + SMOOTHINGS[:, None])
            coefficients = vectors @ (shrunk[:, :, None] * turned)
            left_out = targets - coefficients / (shrunk @ (vectors**2).T)[:, :, None]
            losses = np.stack([_loss(s * left_out, own) for s in SHARPNESSES], axis=1)
            for smoothing, found in zip(SMOOTHINGS, losses, strict=True):
                k = int(np.argmin(found))
                yield float(found[k]), view, width, float(smoothing), float(SHARPNESSES[k])


def _loss(
    scores: NDArray[np.float64], own: tuple[NDArray[np.intp], NDArray[np.intp]]
) -> NDArray[np.float64]:
    """Return the mean logarithmic loss of softmax probabilities, for each of several matrices."""
    top = scores.max(axis=2)
    total = np.log(np.exp(scores - top[:, :, None]).sum(axis=2)) + top
    return np.asarray((total - scores[:, own[0], own[1]]).mean(axis=1))


def _kernel(
    rows: NDArray[np.float64], columns: NDArray[np.float64], width: float | None
) -> NDArray[np.float64]:
    if width is None:
        return rows @ columns.T
    return np.asarray(np.exp(-0.5 * width * cdist(rows, columns, "sqeuclidean")))


def _softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
