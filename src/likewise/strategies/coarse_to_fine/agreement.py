"""Which answers count where some contradict others: as many of them as fit together.

An answer that contradicts earlier ones can be wrong itself, or one of them is. The ways out are
few: overrule the new answer; move its row away from where other answers put it; join two groups; or
cut the chain of answers that makes two rows the same. The way that overrules the fewest answers is
taken. Where two ways are equal the new answer counts, since a question that follows from earlier
answers is only asked if one of them is in doubt.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from likewise.core.answers import Answer
from likewise.core.links import LinkGraph

Said = tuple[int, int, Answer]

CERTAIN = 1000
"""What is certain weighs as much as this many answers."""


def overruled_after(
    log: Sequence[Said],
    before: frozenset[int],
    certain: Collection[int],
    n_rows: int,
) -> frozenset[int]:
    """Return which answers are overruled after the last one of a log, by their places in it.

    Parameters
    ----------
    log : sequence of (int, int, Answer)
        All answers.
    before : frozenset of int
        Those that were overruled before the last one.
    certain : collection of int
        Answers that are not overruled whatever others say; they fit together.
    n_rows : int
        Number of rows of the data.

    Examples
    --------
    Rows 0 and 1 are the same, row 2 is not. Then row 1 is said to be the same as row 2: as much
    speaks for it as against it, so the last answer counts. A further answer decides.

    >>> S, D = Answer.SAME, Answer.DIFFERENT
    >>> log = [(0, 1, S), (0, 2, D), (1, 2, S)]
    >>> sorted(overruled_after(log, frozenset(), (), 4))
    [0]
    >>> log = [(0, 1, S), (0, 3, S), (0, 2, D), (1, 2, S), (1, 3, S)]
    >>> sorted(overruled_after(log, frozenset({0}), (), 4))
    [3]
    """
    new = len(log) - 1
    left, right, answer = log[new]
    if not answer.is_link:
        return before
    counted = [k for k in range(new) if k not in before]
    graph = _graph(log, counted, n_rows)
    if graph.implied(left, right) in (None, answer):
        return _restored(log, [*counted, new], n_rows)
    ways = [
        _enforced(log, new, [k for k in counted if k not in gone], certain, n_rows)
        for gone in _ways(log, graph, counted, new)
    ]
    ways.append(_restored(log, counted, n_rows))
    return min(ways, key=lambda way: _weight(way, certain))


def _ways(
    log: Sequence[Said], graph: LinkGraph, counted: Sequence[int], place: int
) -> Iterator[set[int]]:
    """Yield sets of answers; without one of these sets an answer may count that does not now."""
    left, right, answer = log[place]
    counted = [k for k in counted if log[k][2].is_link]
    if all(log[k][1] != left for k in counted if log[k][2] is Answer.SAME):
        yield {k for k in counted if left in log[k][:2]}
    elif answer is Answer.SAME:
        a, b = graph.find(left), graph.find(right)
        yield {k for k in counted if {graph.find(row) for row in log[k][:2]} == {a, b}}
    if answer is Answer.DIFFERENT:
        places = {frozenset(log[k][:2]): k for k in counted}
        for link in graph.explain(left, right):
            yield {places[frozenset((link.left, link.right))]}


def _enforced(
    log: Sequence[Said], place: int, kept: Sequence[int], certain: Collection[int], n_rows: int
) -> frozenset[int]:
    """Return what is overruled if one answer counts, and as many others as fit to it."""
    return _restored(log, [*sorted(certain), place, *kept], n_rows)


def _restored(log: Sequence[Said], order: Sequence[int], n_rows: int) -> frozenset[int]:
    """Return what is overruled if answers are taken in an order, and then all others that fit."""
    graph = LinkGraph(n_rows)
    taken: set[int] = set()
    for k in (*order, *range(len(log))):
        left, right, answer = log[k]
        if k not in taken and answer.is_link and graph.implied(left, right) in (None, answer):
            graph.add(left, right, answer)
            taken.add(k)
    return frozenset(k for k, said in enumerate(log) if said[2].is_link and k not in taken)


def _graph(log: Sequence[Said], counted: Sequence[int], n_rows: int) -> LinkGraph:
    graph = LinkGraph(n_rows)
    for k in counted:
        if log[k][2].is_link:
            graph.add(*log[k])
    return graph


def _weight(overruled: frozenset[int], certain: Collection[int]) -> int:
    return sum(CERTAIN if k in certain else 1 for k in overruled)
