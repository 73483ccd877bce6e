"""The groups of a session as a person looks at them: size, typical members, a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.core.reports import Completeness
from likewise.core.session import Session
from likewise.errors import InputError
from likewise.strategies import Refine
from likewise.strategies.representatives import RepresentativeStrategy


@dataclass(frozen=True, slots=True)
class Group:
    """One group.

    Attributes
    ----------
    id : int
        The smallest row that stands for a part of it. It stays while the group grows.
    size : int
        How many items are in it.
    standing : tuple of int
        The rows that stand for its parts, those of large parts first; those that cannot be shown
        last.
    name : str
        What the person calls it, or nothing.
    """

    id: int
    size: int
    standing: tuple[int, ...]
    name: str


def completeness_line(found: Completeness) -> str:
    """Return how complete the groups are, in words."""
    if found.next_ten is None:
        return str(found)
    return f"{found}; ten more answers may move {100 * found.next_ten:.0f} %"


def strategy_of(session: Session) -> RepresentativeStrategy:
    """Return the strategy of a session that asks about representatives."""
    if not isinstance(session.strategy, RepresentativeStrategy):
        raise InputError(
            "page and terminal need a session about super-instances, as COBRA().start(X) makes "
            f"it; this one asks by {type(session.strategy).__name__}"
        )
    return session.strategy


def groups_of(session: Session, ids: Sequence[str], names: Mapping[str, str]) -> list[Group]:
    """Return all groups: those that answers have joined first, then by size.

    Parameters
    ----------
    session : Session
        The session.
    ids : sequence of str
        The id of every row.
    names : mapping
        Names by the id of the item they were attached to. Where groups that both had a name were
        joined, the new one has both until somebody names it anew.
    """
    strategy = strategy_of(session)
    reps = strategy.partition.representatives
    sizes = strategy.partition.sizes()
    group = np.unique(strategy.group_of_representatives(), return_inverse=True)[1]
    is_new = np.zeros(len(reps), dtype=bool)
    if isinstance(strategy, Refine):
        # Most parts were never asked about; those that were say more about the group.
        is_new = ~np.isin(reps, [row for event in session.events for row in event.pair])
    is_broken = ~np.isin(reps, strategy.askable())
    order = np.lexsort((reps, -sizes, is_new, is_broken, group))
    parts = np.split(order, np.cumsum(np.bincount(group))[:-1])
    position = {ids[row]: int(group[k]) for k, row in enumerate(reps.tolist())} if names else {}
    named: dict[int, list[str]] = {}
    for item, name in names.items():
        if item in position and name not in named.setdefault(position[item], []):
            named[position[item]].append(name)
    found = [
        Group(
            int(reps[part].min()),
            int(sizes[part].sum()),
            tuple(reps[part].tolist()),
            " / ".join(named.get(k, ())),
        )
        for k, part in enumerate(parts)
    ]
    return sorted(found, key=lambda g: (-(len(g.standing) > 1), -g.size, g.id))


def members_of(session: Session, group: Group) -> NDArray[np.intp]:
    """Return the rows of a group: those that stand for its parts first, then in their order."""
    partition = strategy_of(session).partition
    standing = np.array(group.standing, dtype=np.intp)
    inside = np.isin(partition.assignment, partition.assignment[standing])
    inside[standing] = False
    return np.concatenate([standing, np.flatnonzero(inside)])


def group_ids(session: Session) -> NDArray[np.intp]:
    """Return the id of the group of every row."""
    partition = strategy_of(session).partition
    groups = strategy_of(session).group_of_representatives()
    smallest = np.full(int(groups.max()) + 1, partition.n_rows, dtype=np.intp)
    np.minimum.at(smallest, groups, partition.representatives)
    return smallest[groups][partition.assignment]
