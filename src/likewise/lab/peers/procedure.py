"""Methods that ask in their own loop, turned into strategies."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from likewise.core.answered import Answers
from likewise.core.answers import Answer, ordered
from likewise.core.labels import respecting_groups
from likewise.core.links import LinkGraph
from likewise.lab.peers.rows import Ints, RowStrategy

Questions = Generator[tuple[int, int], Answer, None]
ROWS_PER_BLOCK = 512
"""How many rows of distances are computed at a time."""


class Procedure(RowStrategy):
    """Run a method on the answers so far, until it needs one that is not there.

    A subclass writes the method down in `_questions`: a generator that yields the pairs it wants
    to know about and is sent the answers. Pairs that earlier answers settle are answered at once
    and never asked.
    """

    @abstractmethod
    def _questions(self) -> Questions:
        """Ask: ``answer = yield left, right``. `_seen` has what is known at that moment."""

    @abstractmethod
    def _method_labels(self) -> Ints:
        """Return the labels of the method where it is now, with any names."""

    @classmethod
    def from_rows(
        cls,
        X: NDArray[Any],
        *,
        train_indices: NDArray[np.intp] | None = None,
        seed: int = 0,
        n_jobs: int | None = None,  # noqa: ARG003
    ) -> Self:
        """Return a new strategy for rows."""
        train = np.arange(len(X)) if train_indices is None else np.unique(train_indices)
        return cls(np.asarray(X, dtype=np.float64), train.astype(np.intp), seed=seed)

    def _labels_now(self) -> Ints:
        """Return the labels of the method, changed where they contradict an answer."""
        labels = self._labels_as_published()
        groups = respecting_groups(np.eye(int(labels.max()) + 1)[labels], self.links, {})
        return np.unique(groups, return_inverse=True)[1].astype(np.intp)

    def labels_as_published(self, answers: Answers) -> Ints:
        """Return the labels of the method, which may lag behind the last answers."""
        return self.run(answers)._labels_as_published()

    def _labels_as_published(self) -> Ints:
        self._advance()
        return np.unique(self._method_labels(), return_inverse=True)[1].astype(np.intp)

    @cached_property
    def _nearest(self) -> Ints:
        """The place in `train` of the nearest row that may be asked about, for every row."""
        X, train = self.X, self.train
        places = np.arange(len(train))
        if len(train) < len(X):
            blocks = [X[at : at + ROWS_PER_BLOCK] for at in range(0, len(X), ROWS_PER_BLOCK)]
            nearest = [cdist(block, X[train]).argmin(axis=1) for block in blocks]
            places = np.concatenate(nearest).astype(np.intp)
            places[train] = np.arange(len(train))
        return places

    def _advance(self) -> tuple[int, int] | None:
        if self._running is None:
            self._running = self._questions()
            self._seen, self._n_seen = LinkGraph(self.n_rows), 0
            self._not_sure: set[tuple[int, int]] = set()
            self._wanted = next(self._running, None)
            self._answer_what_is_known()
        # One by one: what was not sure at its time may be settled by a later answer.
        for left, right, answer in self._answers()[self._n_seen :]:
            if answer.is_link:
                self._seen.add(left, right, answer)
            else:
                self._not_sure.add(ordered(left, right))
            self._n_seen += 1
            self._answer_what_is_known()
        return self._wanted

    def _answer_what_is_known(self) -> None:
        assert self._running is not None
        while self._wanted is not None:
            left, right = sorted(self._wanted)
            known = Answer.SAME if left == right else self._known(left, right)
            if known is None:
                self._wanted = left, right
                return
            try:
                self._wanted = self._running.send(known)
            except StopIteration:
                self._wanted = None

    def _answers(self) -> Sequence[tuple[int, int, Answer]]:
        """Return the answers that the method runs on."""
        return self._log

    def _known(self, left: int, right: int) -> Answer | None:
        """Return what the answers so far say about two rows, the smaller one first."""
        is_unsure = (left, right) in self._not_sure
        return self._seen.implied(left, right) or (Answer.UNSURE if is_unsure else None)
