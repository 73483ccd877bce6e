"""What a log becomes when an earlier answer changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from likewise.core.answers import Answer, Gesture, Link
from likewise.core.journal import Revised
from likewise.core.links import LinkGraph
from likewise.core.reports import Revision
from likewise.core.strategy import Strategy


def revised(gestures: Sequence[Gesture], entry: Revised, strategy: Strategy) -> Revision:
    """Return the gestures that still count when one of them says something else.

    A later gesture is dropped if all that it says follows from others now, or if they contradict
    it. Where a strategy weighs answers, each answer is evidence and is kept. Then only links given
    beforehand, which are certain, are dropped if they contradict other such links.
    """
    changed = list(gestures)
    changed[entry.number - 1] = _instead(gestures, entry)
    known = LinkGraph(strategy.n_rows)
    kept: list[Gesture] = []
    dropped: list[Gesture] = []
    for gesture in changed:
        is_earlier = gesture.number < entry.number
        if strategy.weighs_answers and gesture.source == "asked":
            is_kept = True
        else:
            is_kept = _added(gesture, known, is_evidence=is_earlier or strategy.weighs_answers)
        if is_kept:
            kept.append(replace(gesture, number=len(kept) + 1))
        else:
            dropped.append(gesture)
    return Revision(tuple(kept), tuple(dropped))


def check_fits(gestures: Sequence[Gesture], entry: Revised, strategy: Strategy) -> None:
    """Raise `ContradictionError` if what is said instead contradicts itself or earlier answers.

    Where answers are weighed they may.
    """
    if strategy.weighs_answers:
        return
    graph = LinkGraph(strategy.n_rows)
    for gesture in (*gestures[: entry.number - 1], _instead(gestures, entry)):
        for link in gesture.links:
            if link.answer.is_link:
                graph.add(link.left, link.right, link.answer)


def _instead(gestures: Sequence[Gesture], entry: Revised) -> Gesture:
    """Return the gesture that is revised, as it says now."""
    old = gestures[entry.number - 1]
    if isinstance(entry.said, Answer):
        links = tuple(replace(link, answer=entry.said) for link in old.links)
    else:
        links = entry.said
    return replace(old, links=links, by=entry.by, at=entry.at)


def mended(
    gestures: Sequence[Gesture], gesture: Gesture, strategy: Strategy
) -> tuple[Gesture, ...]:
    """Return the gestures that count when a new one overrules what contradicts it.

    Earlier gestures lose the links that contradict it, alone or together with other earlier links.
    Gestures without any link left are dropped. Where a strategy weighs answers, all answers are
    kept.
    """
    graph = LinkGraph(strategy.n_rows)
    for link in gesture.links:
        graph.add(link.left, link.right, link.answer)
    kept: list[Gesture] = []
    for earlier in gestures:
        links = earlier.links
        if not strategy.weighs_answers or earlier.source != "asked":
            links = tuple(link for link in links if _fits(link, graph))
        if links:
            kept.append(replace(earlier, number=len(kept) + 1, links=links))
    return (*kept, replace(gesture, number=len(kept) + 1))


def _fits(link: Link, graph: LinkGraph) -> bool:
    """Add a link to a graph; return whether that was possible."""
    if not link.answer.is_link:
        return True
    if graph.implied(link.left, link.right) not in (None, link.answer):
        return False
    graph.add(link.left, link.right, link.answer)
    return True


def _added(gesture: Gesture, known: LinkGraph, *, is_evidence: bool = False) -> bool:
    """Add a gesture to what is known if it still counts, and return whether it does.

    Where answers are evidence, one that says nothing new also counts.
    """
    n_added = 0
    counts = is_evidence
    for link in gesture.links:
        already = known.implied(link.left, link.right)
        counts |= already is None
        if link.answer.is_link:
            if already not in (None, link.answer):
                counts = False
                break
            known.add(link.left, link.right, link.answer)
            n_added += 1
    if not counts:
        for _ in range(n_added):
            known.pop()
    return counts
