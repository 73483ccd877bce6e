"""Which answers count, where some may be wrong: those that fit together.

If an answer contradicts earlier ones, it is wrong or one of them is. There are few ways out:
overrule the new answer; move its row away from where other answers put it; join two groups; or cut
the chain of answers that makes two rows the same. The way that overrules the fewest answers is
taken. If two ways overrule as many, a single row moves where the new answer puts it, since it was
asked about again for a reason; but whole groups stay as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from likewise.core.answers import Answer
from likewise.core.links import LinkGraph

Said = tuple[int, int, Answer]
"""A link: the row in question, another row, and what was said."""

CERTAIN = 1000
"""A certain link weighs as much as this many answers."""


def links_of(log: Sequence[Said], places: Iterable[int], n_rows: int) -> LinkGraph:
    """Return what some links of a log imply, given by their places in it."""
    links = LinkGraph(n_rows)
    for place in places:
        if log[place][2].is_link:
            links.add(*log[place])
    return links


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
    Row 1 is the same as row 0, row 2 is not. Then row 1 is said to be the same as row 2: as much
    speaks for it as against it, so the last answer counts. A further one decides.

    >>> S, D = Answer.SAME, Answer.DIFFERENT
    >>> log = [(1, 0, S), (2, 0, D), (3, 0, S), (1, 2, S)]
    >>> sorted(overruled_after(log, frozenset(), (), 4))
    [0]
    >>> sorted(overruled_after([*log, (1, 3, S)], frozenset({0}), (), 4))
    [3]
    """
    new = len(log) - 1
    left, right, answer = log[new]
    if not answer.is_link:
        return before
    counted = [k for k in range(new) if k not in before and log[k][2].is_link]
    graph = links_of(log, counted, n_rows)
    if graph.implied(left, right) in (None, answer):
        return _restored(log, [*counted, new], n_rows)
    ways = [_restored(log, counted, n_rows)]
    can_move = all(log[k][1] != left for k in counted if log[k][2] is Answer.SAME)
    if can_move:
        # No other row was compared with this row, so it can move alone.
        gone = [{k for k in counted if left in log[k][:2]}]
    elif answer is Answer.SAME:
        sides = {graph.find(left), graph.find(right)}
        gone = [{k for k in counted if {graph.find(row) for row in log[k][:2]} == sides}]
    else:
        places = {frozenset(log[k][:2]): k for k in counted}
        chain = graph.explain(left, right)
        gone = [{places[frozenset((link.left, link.right))]} for link in chain]
    for some in gone:
        kept = [k for k in counted if k not in some]
        ways.append(_restored(log, [*sorted(certain), new, *kept], n_rows))
    if can_move:
        ways.reverse()
    return min(ways, key=lambda way: sum(CERTAIN if k in certain else 1 for k in way))


def _restored(log: Sequence[Said], order: Sequence[int], n_rows: int) -> frozenset[int]:
    """Return what is overruled if some answers are taken first, then all others that fit."""
    graph = LinkGraph(n_rows)
    taken: set[int] = set()
    for k in (*order, *range(len(log))):
        left, right, answer = log[k]
        if k not in taken and answer.is_link and graph.implied(left, right) in (None, answer):
            graph.add(left, right, answer)
            taken.add(k)
    return frozenset(k for k, said in enumerate(log) if said[2].is_link and k not in taken)
