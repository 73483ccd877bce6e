"""nCOBRAS (Soenen et al. 2020): COBRAS that expects wrong answers and checks what it builds on.

It takes answers that contradict each other, which a session refuses. So it is no strategy of a
session but has a loop of its own (`likewise.lab.experiments.noisy_methods`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from likewise.core.answers import Answer, ordered
from likewise.core.links import LinkGraph
from likewise.errors import ContradictionError
from likewise.lab.peers.cobras import SplitAndMerge
from likewise.lab.peers.procedure import Questions
from likewise.lab.peers.rows import Ints

ERROR_RATE = 0.10
"""The share of wrong answers that is expected, the authors' default."""
SURE = 0.95
"""Checks end when the most likely reading of the answers has this probability, as published."""
MAX_WORLDS = 20
"""How many readings are kept, the most likely first; only many contradictions at once need more."""

World = frozenset[int]
"""A reading of the answers: which of them are wrong."""
Log = Sequence[tuple[int, int, Answer]]


class CheckedSplitAndMerge(SplitAndMerge):
    """COBRAS on the most likely reading of the answers, with checks after every phase.

    Each answer is wrong with the same probability. A reading says which answers are wrong, and must
    leave no contradiction; fewer wrong answers are more likely. After a phase, pairs about which
    other readings disagree with the most likely one are asked, until it is likely enough. Of
    readings with several wrong answers, only those that follow from a contradiction are considered.
    """

    def _prepare(self) -> None:
        super()._prepare()
        self._worlds: list[World] = [frozenset()]

    def _record(self, left: int, right: int, answer: Answer) -> None:
        """Take in an answer about two rows, also one that contradicts others."""
        log = [*self._log, (left, right, answer)]
        worlds = readings(self.n_rows, log, self._worlds)
        if worlds[0] != self._worlds[0]:
            self._running = None
        self._log, self._worlds = log, worlds
        # The method reverses wrong answers; for the labels they say nothing.
        believed = set(range(len(log))) - worlds[0]
        self.links = graph_of(self.n_rows, log, frozenset(), only=believed)
        self._unsure = {ordered(*entry[:2]) for entry in log if not entry[2].is_link}
        self._go_on()

    def _answers(self) -> Log:
        return read(self._log, self._worlds[0])

    def _advance(self) -> tuple[int, int] | None:
        pair = super()._advance()
        if pair is None or not self._is_merging:
            return self._check() or pair
        return pair

    def _questions(self) -> Questions:
        self._is_merging = False
        return super()._questions()

    def _merge(self, parts: list[Ints]) -> Questions:
        self._is_merging = True
        yield from super()._merge(parts)
        self._is_merging = False

    def _check(self) -> tuple[int, int] | None:
        """Return the pair about which likely readings disagree most, or None if one is certain."""
        likeliest = self._worlds[0]
        doubtful = [k for k, entry in enumerate(self._log) if entry[2].is_link]
        changed = [likeliest ^ {k} for k in doubtful]
        changed = [world for world in changed if fits(self.n_rows, self._log, world)]
        worlds = list(dict.fromkeys([*self._worlds, *changed]))
        odds = ERROR_RATE / (1 - ERROR_RATE)
        weights = np.array([odds ** (len(world) - len(likeliest)) for world in worlds])
        if weights[0] >= SURE * weights.sum():
            return None
        is_shown = set(self.train.tolist())
        rows = sorted({row for entry in self._log for row in entry[:2]} & is_shown)
        best, *others = [
            relations(graph_of(self.n_rows, self._log, world), rows) for world in worlds
        ]
        against = sum(
            weight * (best * other < 0) for weight, other in zip(weights[1:], others, strict=True)
        )
        against = np.triu(against, 1)
        for left, right, _ in self._log:
            if left in is_shown and right in is_shown:
                against[tuple(sorted((rows.index(left), rows.index(right))))] = 0
        a, b = divmod(int(np.argmax(against)), len(rows))
        return (rows[a], rows[b]) if against[a, b] > 0 else None


def readings(n_rows: int, log: Log, before: list[World]) -> list[World]:
    """Return the readings that fit a log with one more answer, the most likely first."""
    fit = [world for world in before if fits(n_rows, log, world)]
    if fit:
        return fit
    # The newest answer alone can be wrong, so there is always a reading.
    clashes = ((world, k) for world in before for k in clash(n_rows, log, world))
    changed = dict.fromkeys(world ^ {k} for world, k in clashes)
    worlds = [world for world in changed if fits(n_rows, log, world)]
    # Among equally likely readings, the one that calls the newest answer wrong comes first.
    return sorted(worlds, key=lambda world: (len(world), -max(world, default=0)))[:MAX_WORLDS]


def read(log: Log, world: World) -> Log:
    """Return the answers of a log; those that are wrong in a reading are reversed."""
    turned = {Answer.SAME: Answer.DIFFERENT, Answer.DIFFERENT: Answer.SAME}
    return [
        (left, right, turned.get(answer, answer) if k in world else answer)
        for k, (left, right, answer) in enumerate(log)
    ]


def graph_of(n_rows: int, log: Log, world: World, only: set[int] | None = None) -> LinkGraph:
    """Return what the answers imply in a reading; raise `ContradictionError` if it does not fit."""
    graph = LinkGraph(n_rows)
    for k, (left, right, answer) in enumerate(read(log, world)):
        if answer.is_link and (only is None or k in only):
            graph.add(left, right, answer)
    return graph


def fits(n_rows: int, log: Log, world: World) -> bool:
    """Return whether a reading leaves no contradiction."""
    try:
        graph_of(n_rows, log, world)
    except ContradictionError:
        return False
    return True


def clash(n_rows: int, log: Log, world: World) -> list[int]:
    """Return the places of the answers that cannot all be right in a reading, the newest first."""
    graph = LinkGraph(n_rows)
    for k, (left, right, answer) in enumerate(read(log, world)):
        if answer.is_link and graph.implied(left, right) not in (None, answer):
            pairs = {ordered(link.left, link.right) for link in graph.explain(left, right)}
            return [k, *(j for j in range(k - 1, -1, -1) if ordered(*log[j][:2]) in pairs)]
        if answer.is_link:
            graph.add(left, right, answer)
    return []


def relations(graph: LinkGraph, rows: list[int]) -> Ints:
    """Return 1 for every two rows that are the same, -1 for different ones, 0 for unknown."""
    roots = np.array([graph.find(row) for row in rows])
    names = {root: k for k, root in enumerate(dict.fromkeys(roots.tolist()))}
    apart = np.eye(len(names), dtype=np.intp)
    for root, k in names.items():
        for other in graph.differing(root):
            if other in names:
                apart[k, names[other]] = -1
    place = np.array([names[root] for root in roots.tolist()])
    return np.asarray(apart[place[:, None], place])
