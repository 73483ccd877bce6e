"""Which gestures of a log count: the one rule for answers that contradict each other.

Links that are certain (given, or said while mending) come first, then the newest gesture, then the
others in their order. A link that contradicts those before it does not count. Certain links differ
only in age: the newest wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from likewise.core.answers import Answer, Gesture, Link
from likewise.core.journal import Entry, Revised
from likewise.core.links import LinkGraph
from likewise.errors import ContradictionError


class Counted:
    """The gestures that count after some entries of a log, and what their links imply."""

    def __init__(self, n_rows: int, is_weighing: bool, log: Iterable[Entry] = ()) -> None:
        self.n_rows = n_rows
        self.is_weighing = is_weighing
        self.gestures: list[Gesture] = []
        self._graph = LinkGraph(n_rows)
        for entry in log:
            self.take(entry)

    def take(self, entry: Entry) -> list[Gesture]:
        """Follow one more entry of the log; return the gestures that no longer count."""
        if isinstance(entry, Gesture):
            gesture = replace(entry, number=len(self.gestures) + 1)
            if self._fits(gesture):
                self.gestures.append(gesture)
                return []
            return self._settle([*self.gestures, gesture], newest=gesture)
        if isinstance(entry, Revised):
            gestures = list(self.gestures)
            old = gestures[entry.number - 1]
            new = replace(old, links=entry.links, by=entry.by, at=entry.at)
            gestures[entry.number - 1] = new
            return self._settle(gestures, newest=new)
        return []

    def check(self, gesture: Gesture) -> None:
        """Raise `ContradictionError` if a gesture contradicts itself or those that count."""
        if not self._fits(gesture, keep=False):
            graph = _graph_of(self.n_rows, _links(self.gestures, self.is_weighing))
            for link in _links([gesture]):
                graph.add(link.left, link.right, link.answer)

    def _fits(self, gesture: Gesture, *, keep: bool = True) -> bool:
        """Return whether a gesture contradicts none that counts; then its links are kept."""
        links = _links([gesture], self.is_weighing)
        known = [self._graph.implied(link.left, link.right) for link in links]
        if any(k not in (None, link.answer) for k, link in zip(known, links, strict=True)):
            return False
        # Two links of one gesture may contradict each other by way of what is known.
        is_alone = len(links) == 1 or all(k is not None for k in known)
        if not is_alone and not _is_consistent(self._graph, links):
            return False
        for link in links if keep else ():
            self._graph.add(link.left, link.right, link.answer)
        return True

    def _settle(self, gestures: Sequence[Gesture], newest: Gesture) -> list[Gesture]:
        """Count the links that contradict none of higher rank; return gestures without any left."""

        def rank(gesture: Gesture) -> tuple[bool, bool]:
            return gesture.source == "asked", gesture is not newest

        graph = LinkGraph(self.n_rows)
        kept: dict[int, tuple[Link, ...]] = {}
        for gesture in sorted(gestures, key=rank):
            kept[gesture.number] = tuple(
                link for link in gesture.links if self._stays(link, gesture, graph)
            )
        counted = [replace(g, links=kept[g.number]) for g in gestures if kept[g.number]]
        self.gestures = [replace(g, number=k) for k, g in enumerate(counted, start=1)]
        self._graph = graph
        return [gesture for gesture in gestures if not kept[gesture.number]]

    def _stays(self, link: Link, gesture: Gesture, graph: LinkGraph) -> bool:
        if not _links([gesture], self.is_weighing) or not link.answer.is_link:
            return True
        if graph.implied(link.left, link.right) not in (None, link.answer):
            return False
        graph.add(link.left, link.right, link.answer)
        return True


def _links(gestures: Iterable[Gesture], is_weighing: bool = False) -> list[Link]:
    """Return the yes/no links that must not contradict each other."""
    return [
        link
        for gesture in gestures
        if not (is_weighing and gesture.source == "asked")
        for link in gesture.links
        if link.answer.is_link
    ]


def _graph_of(n_rows: int, links: Iterable[Link]) -> LinkGraph:
    graph = LinkGraph(n_rows)
    for link in links:
        graph.add(link.left, link.right, link.answer)
    return graph


def _is_consistent(graph: LinkGraph, links: Sequence[Link]) -> bool:
    """Return whether several links fit together with what a graph implies about their rows."""
    rows = sorted({graph.find(row) for link in links for row in (link.left, link.right)})
    place = {row: k for k, row in enumerate(rows)}
    small = LinkGraph(len(rows))
    try:
        for row in rows:
            for other in graph.differing(row) & place.keys():
                small.add(place[row], place[other], Answer.DIFFERENT)
        for link in links:
            left, right = place[graph.find(link.left)], place[graph.find(link.right)]
            if left != right:
                small.add(left, right, link.answer)
    except ContradictionError:
        return False
    return True
