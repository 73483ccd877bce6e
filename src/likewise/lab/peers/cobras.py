"""COBRAS (Van Craenendonck et al. 2018): super-instances that are split when they are large."""

from __future__ import annotations

import warnings
from collections.abc import Generator
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from likewise.core.answers import Answer
from likewise.lab.peers.procedure import Procedure, Questions
from likewise.lab.peers.rows import Array, Ints
from likewise.rows.threads import one_thread_each

N_INIT = 10  # starts of K-means, as in the authors' code


class SplitAndMerge(Procedure):
    """Split the largest super-instance, find by asking into how many, and merge again.

    A super-instance is the array of its rows. The answers about their representatives decide which
    of them form a cluster. The labels are those of the last complete phase.
    """

    name: ClassVar[str] = "cobras"

    def _prepare(self) -> None:
        self._may_show = np.zeros(self.n_rows, dtype=bool)
        self._may_show[self.train] = True

    @cached_property
    def _known_splits(self) -> dict[tuple[bytes, int, int], list[Ints]]:
        return {}

    def _questions(self) -> Questions:
        self._labels: Ints = np.zeros(self.n_rows, dtype=np.intp)
        rng = np.random.default_rng(self.seed)
        parts = [np.arange(self.n_rows)]
        is_whole: set[bytes] = set()
        while True:
            splittable = [
                k
                for k, part in enumerate(parts)
                if self._may_show[part].sum() >= 2 and part.tobytes() not in is_whole
            ]
            if not splittable:
                return
            k = max(splittable, key=lambda k: len(parts[k]))
            n = yield from self._split_level(parts[k], rng)
            pieces = self._split(parts[k], n, rng)
            if len(pieces) == 1:
                is_whole.add(parts[k].tobytes())
                continue
            parts = parts[:k] + parts[k + 1 :] + pieces
            yield from self._merge(parts)

    def _method_labels(self) -> Ints:
        return self._labels

    def _split_level(
        self, part: Ints, rng: np.random.Generator
    ) -> Generator[tuple[int, int], Answer, int]:
        """Find the number of parts: halve the smaller half until two halves belong together."""
        n_different = 0
        current = part
        while True:
            halves = self._split(current, 2, rng)
            if len(halves) == 1:
                break
            answer = yield self._representative(halves[0]), self._representative(halves[1])
            if answer is not Answer.DIFFERENT:
                break
            n_different += 1
            large_enough = [half for half in halves if self._may_show[half].sum() >= 2]
            if not large_enough:
                break
            current = min(large_enough, key=len)
        return min(len(part), int(2 ** max(n_different, 1)))

    def _merge(self, parts: list[Ints]) -> Questions:
        """Ask about the closest undecided super-instances until all is decided."""
        reps = [self._representative(part) for part in parts]
        means = np.array([self.X[part].mean(axis=0) for part in parts])
        far = cdist(means, means)
        left, right = np.triu_indices(len(parts), 1)
        for k in np.argsort(far[left, right], kind="stable"):
            yield reps[int(left[k])], reps[int(right[k])]
        roots = np.array([self._seen.find(rep) for rep in reps])
        labels = np.empty(self.n_rows, dtype=np.intp)
        for part, name in zip(parts, np.unique(roots, return_inverse=True)[1], strict=True):
            labels[part] = name
        self._labels = labels

    def _split(self, part: Ints, n: int, rng: np.random.Generator) -> list[Ints]:
        """Return K-means parts; one without a row that may be shown joins the nearest that has."""
        n = min(n, len(np.unique(self.X[part], axis=0)))
        if n < 2:
            return [part]
        seed = int(rng.integers(2**31 - 1))
        # After an undo the method runs again and makes the same splits.
        key = (part.tobytes(), n, seed)
        if key not in self._known_splits:
            self._known_splits[key] = self._standing(part, kmeans(self.X[part], n, seed))
        return self._known_splits[key]

    def _standing(self, part: Ints, assignment: NDArray[np.intp]) -> list[Ints]:
        pieces = [part[assignment == k] for k in np.unique(assignment)]
        standing = [piece for piece in pieces if self._may_show[piece].any()]
        reps = [self._representative(piece) for piece in standing]
        for piece in pieces:
            if not self._may_show[piece].any():
                far = cdist(self.X[piece].mean(axis=0)[None, :], self.X[reps])[0]
                k = int(np.argmin(far))
                standing[k] = np.sort(np.concatenate([standing[k], piece]))
        return standing

    def _representative(self, part: Ints) -> int:
        allowed = part[self._may_show[part]]
        far = cdist(self.X[part].mean(axis=0)[None, :], self.X[allowed])[0]
        return int(allowed[np.argmin(far)])


def kmeans(X: Array, n_clusters: int, seed: int) -> NDArray[np.intp]:
    """Return the labels of K-means, the best of several starts."""
    model = KMeans(n_clusters, n_init=N_INIT, random_state=seed)
    with one_thread_each(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(model.fit(X).labels_, dtype=np.intp)
