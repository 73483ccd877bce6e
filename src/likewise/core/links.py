"""What a set of answers implies.

*Same* is an equivalence: a=b and b=c give a=c. *Different* carries over it: a=b and b≠c give a≠c.
Two *different*s imply nothing, since the number of groups is unknown. `LinkGraph` keeps the
closure of the answers given so far under these two rules and can explain every part of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer, Link, ordered
from likewise.errors import ContradictionError, InputError


class LinkGraph:
    """Union-find over items, with cannot-links between its components.

    Parameters
    ----------
    n_items : int
        Items are the integers from 0 to ``n_items - 1``.

    Notes
    -----
    Union is by size, so finding takes O(log n) steps. Only items that some answer mentions take
    memory.

    Examples
    --------
    >>> from likewise.core.answers import Answer
    >>> from likewise.core.links import LinkGraph
    >>> links = LinkGraph(4)
    >>> links.add(0, 1, Answer.SAME)
    >>> links.add(1, 2, Answer.DIFFERENT)
    >>> links.implied(0, 2)
    <Answer.DIFFERENT: 'different'>
    >>> links.implied(0, 3) is None
    True
    >>> [(g.left, g.right, g.answer.value) for g in links.explain(0, 2)]
    [(0, 1, 'same'), (1, 2, 'different')]
    """

    def __init__(self, n_items: int) -> None:
        if n_items < 0:
            raise InputError(f"n_items must not be negative, got {n_items}")
        self.n_items = n_items
        # An item that is not in here is its own root.
        self._parent: dict[int, int] = {}
        self._size: dict[int, int] = {}
        self._different: dict[int, set[int]] = {}
        self._given: dict[tuple[int, int], Link] = {}
        self._neighbors: dict[int, dict[int, Answer]] = {}

    def __len__(self) -> int:
        """Return the number of answers that were added."""
        return len(self._given)

    def __iter__(self) -> Iterator[Link]:
        """Iterate over the answers in the order they were added."""
        return iter(self._given.values())

    @property
    def n_decided(self) -> int:
        """Number of pairs of items about which something is known."""
        sizes = {root: len(group) for root, group in self._members().items()}
        apart = sum(sizes[a] * sizes[b] for a in sizes for b in self._different.get(a, ()))
        return sum(size * (size - 1) // 2 for size in sizes.values()) + apart // 2

    @property
    def n_answered_components(self) -> int:
        """Number of components that some answer is about."""
        return len(self._members())

    def find(self, item: int) -> int:
        """Return the item that stands for the component of `item`."""
        parent = self._parent
        while (up := parent.get(item, item)) != item:
            item = up
        return item

    def mentioned(self) -> list[int]:
        """Return the items that answers are about, in the order they were first mentioned."""
        return list(self._neighbors)

    def size(self, item: int) -> int:
        """Return the number of items in the component of `item`."""
        return self._size.get(self.find(item), 1)

    def n_undecided(self, items: Collection[int]) -> int:
        """Return how many pairs of the components of some items are undecided."""
        roots = {self.find(item) for item in items}
        n_apart = sum(len(roots & self.differing(root)) for root in roots) // 2
        return len(roots) * (len(roots) - 1) // 2 - n_apart

    def same_as(self, item: int, n: int) -> list[int]:
        """Return up to `n` items that answers join to one, the shortest chains first."""
        joined = {item: None}
        queue = deque([item])
        while queue and len(joined) <= n:
            for neighbor, answer in self._neighbors.get(queue.popleft(), {}).items():
                if answer is Answer.SAME and neighbor not in joined:
                    joined[neighbor] = None
                    queue.append(neighbor)
        return list(joined)[1 : n + 1]

    def differing(self, item: int) -> frozenset[int]:
        """Return the roots of the components known to differ from that of `item`."""
        return frozenset(self._different.get(self.find(item), ()))

    def implied(self, left: int, right: int) -> Answer | None:
        """Return what the answers so far say about two items, or None if they say nothing."""
        a, b = self.find(left), self.find(right)
        if a == b:
            return Answer.SAME
        return Answer.DIFFERENT if b in self._different.get(a, ()) else None

    def add(self, left: int, right: int, answer: Answer) -> None:
        """Take in an answer.

        An answer that follows from earlier ones is kept as further evidence. *Unsure* says nothing
        about the groups and is refused.

        Raises
        ------
        ContradictionError
            If earlier answers imply the opposite. Nothing is changed then.
        """
        left, right = self._checked(left), self._checked(right)
        if not answer.is_link:
            raise InputError("an unsure answer is not a link; keep it in the log, not in the graph")
        if left == right:
            raise InputError(f"item {left} was paired with itself; a link needs two items")
        known = self.implied(left, right)
        if known is not None and known is not answer:
            raise ContradictionError(Link(left, right, answer), self.explain(left, right))
        if known is None:
            change = self._unite if answer is Answer.SAME else self._set_apart
            change(self.find(left), self.find(right))
        if ordered(left, right) not in self._given:
            self._given[ordered(left, right)] = Link(left, right, answer)
            self._neighbors.setdefault(left, {})[right] = answer
            self._neighbors.setdefault(right, {})[left] = answer

    def explain(self, left: int, right: int) -> tuple[Link, ...]:
        """Return the shortest chain of answers that implies what is known about a pair.

        The chain leads from `left` to `right`; it has no *different* in it if the two are the
        same, and exactly one if they differ. It is empty if nothing is known, or for an item and
        itself.
        """
        known = self.implied(left, right)
        if known is None or left == right:
            return ()
        # Breadth-first over (item, number of *different*s crossed), never crossing a second.
        goal = (right, int(known is Answer.DIFFERENT))
        came_from: dict[tuple[int, int], tuple[int, int]] = {(left, 0): (left, 0)}
        queue = deque([(left, 0)])
        while goal not in came_from:
            item, crossed = queue.popleft()
            for neighbor, answer in self._neighbors.get(item, {}).items():
                state = (neighbor, crossed + (answer is Answer.DIFFERENT))
                if state[1] <= goal[1] and state not in came_from:
                    came_from[state] = (item, crossed)
                    queue.append(state)
        chain = []
        state = goal
        while state != (left, 0):
            before = came_from[state]
            chain.append(Link(before[0], state[0], self._neighbors[before[0]][state[0]]))
            state = before
        return tuple(reversed(chain))

    def components(self) -> list[list[int]]:
        """Return the components of two or more items, each sorted, in order of first item."""
        return [group for group in self._members().values() if len(group) > 1]

    def closure(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Return every pair known to be the same and every pair known to differ, ``i < j``."""
        members = self._members()
        same = [pair for group in members.values() for pair in combinations(group, 2)]
        different = [
            ordered(i, j)
            for a, group in members.items()
            for b in self._different.get(a, ())
            if a < b
            for i in group
            for j in members[b]
        ]
        return sorted(same), sorted(different)

    def _members(self) -> dict[int, list[int]]:
        """Return the items that answers mention, increasing, by the root of their component."""
        members: dict[int, list[int]] = {}
        for item in sorted(self._neighbors):
            members.setdefault(self.find(item), []).append(item)
        return members

    def _checked(self, item: int) -> int:
        if not 0 <= item < self.n_items:
            raise InputError(f"item {item} is out of range: there are {self.n_items} items")
        return int(item)

    def _unite(self, a: int, b: int) -> None:
        # By size, then by index, so that the result does not depend on the order of the two items.
        kept, gone = sorted((a, b), key=lambda root: (-self._size.get(root, 1), root))
        self._parent[gone] = kept
        self._size[kept] = self._size.get(kept, 1) + self._size.get(gone, 1)
        for other in self._different.pop(gone, ()):
            self._different[other].remove(gone)
            self._set_apart(kept, other)

    def _set_apart(self, a: int, b: int) -> None:
        self._different.setdefault(a, set()).add(b)
        self._different.setdefault(b, set()).add(a)


def add_links(graph: LinkGraph, links: Iterable[Link]) -> LinkGraph:
    """Add links to a graph and return it."""
    for link in links:
        graph.add(link.left, link.right, link.answer)
    return graph


def pairs_for_free(
    links: LinkGraph,
    rows: NDArray[np.intp],
    answered: set[tuple[int, int]],
    answer: Answer,
    n: int,
    rng: np.random.Generator,
) -> list[tuple[int, int]]:
    """Return up to `n` pairs of rows that have this answer by implication only."""
    roots = np.array([links.find(int(row)) for row in rows])
    implied: list[tuple[int, int]] = []
    # One pair for each row, then another round, as long as a round finds new pairs.
    order = list(rng.permutation(len(rows)))
    n_idle = 0
    while len(implied) < n and n_idle < len(order):
        i = order.pop(0)
        order.append(i)
        wanted = [roots[i]] if answer is Answer.SAME else list(links.differing(int(rows[i])))
        partners = rows[np.isin(roots, wanted) & (rows != rows[i])]
        pairs = [ordered(int(rows[i]), int(j)) for j in partners]
        fresh = [pair for pair in pairs if pair not in answered and pair not in implied]
        n_idle = 0 if fresh else n_idle + 1
        if fresh:
            implied.append(fresh[int(rng.integers(len(fresh)))])
    return implied
