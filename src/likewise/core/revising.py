"""What becomes of a log when an earlier answer is another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from likewise.core.answers import Answer, Gesture
from likewise.core.journal import Revised
from likewise.core.links import LinkGraph
from likewise.core.reports import Revision
from likewise.core.strategy import Strategy


def revised(gestures: Sequence[Gesture], entry: Revised, strategy: Strategy) -> Revision:
    """Return the gestures that still count when one of them says something else.

    A later gesture is dropped if all that it says follows from others now, or if they contradict
    it. Where answers are weighed all are kept, since each is further evidence.
    """
    changed = list(gestures)
    old = changed[entry.number - 1]
    if isinstance(entry.said, Answer):
        links = tuple(replace(link, answer=entry.said) for link in old.links)
    else:
        links = entry.said
    changed[entry.number - 1] = replace(old, links=links, by=entry.by, at=entry.at)
    if strategy.weighs_answers:
        return Revision(tuple(changed), ())
    graph = LinkGraph(strategy.n_rows)
    kept: list[Gesture] = []
    dropped: list[Gesture] = []
    for gesture in changed:
        if not _says_something(gesture, graph):
            dropped.append(gesture)
            continue
        for link in gesture.links:
            if link.answer.is_link:
                graph.add(link.left, link.right, link.answer)
        kept.append(replace(gesture, number=len(kept) + 1))
    return Revision(tuple(kept), tuple(dropped))


def _says_something(gesture: Gesture, graph: LinkGraph) -> bool:
    """Return whether a gesture says something new, and nothing that is known to be otherwise."""
    is_news = False
    for link in gesture.links:
        known = graph.implied(link.left, link.right)
        is_news |= known is None
        if known is not None and link.answer.is_link and known is not link.answer:
            return False
    return is_news
