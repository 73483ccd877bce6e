"""Items that joined, left or changed since a project was last open.

Items are known by their ids, and by their content where files were renamed. An item with another
content is a new row under the same id, since the answers were about what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from likewise.core.journal import entry_to_dict
from likewise.core.session import Session
from likewise.errors import CannotGrowError
from likewise.items import Features, Items
from likewise.items.features import OWN
from likewise.project.groups import DOUBTFUL
from likewise.project.project import Project
from likewise.store import Store
from likewise.store.packing import pack

ASPECTS = "aspects"
"""The payload with what features of new items need to know of the first ones."""
JOINED = "joined"
"""The setting with the ids of the items that joined when the project last grew."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What happened to the items since the last time, as ids."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    returned: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed or self.returned)

    def __str__(self) -> str:
        counts = {
            "new": self.added,
            "removed": self.removed,
            "changed": self.changed,
            "back": self.returned,
        }
        return ", ".join(f"{len(ids)} {word}" for word, ids in counts.items() if ids)


class Match(NamedTuple):
    """Which items rows stand for: the ids they had and have, those of no row, and what changed."""

    had: Sequence[Sequence[str]]
    held: dict[int, list[str]]
    unknown: list[str]
    changes: Changes

    def as_before(self) -> dict[int, list[str]]:
        """Return the ids of rows where nothing is taken in: a changed item stays with its row."""
        held = {row: list(names) for row, names in self.held.items()}
        for row, names in enumerate(self.had):
            if stays := [name for name in names if name in self.changes.changed]:
                held.setdefault(row, []).extend(stays)
        return held


def ids_of_rows(
    session: Session, settings: Mapping[str, Any], first: Sequence[str]
) -> list[list[str]]:
    """Return for every row the ids of its items when the project was last open, its own first."""
    names: Sequence[Any] = session.sample_ids or first
    renamed, copies = settings.get("renamed", {}), settings.get("copies", {})
    return [
        [str(renamed[str(row)] if str(row) in renamed else names[row]), *copies.get(str(row), ())]
        for row in range(session.strategy.n_rows)
    ]


def match_items(
    ids: Sequence[Sequence[str]],
    removed: frozenset[int],
    before: Mapping[str, str],
    now: Mapping[str, str],
) -> Match:
    """Match rows with the items there are now, by id and content hash, then by content alone."""
    owner = {name: row for row, names in enumerate(ids) for name in names}
    held: dict[int, list[str]] = {}
    lost: dict[str, list[str]] = {}
    for name, row in owner.items():
        if now.get(name) == before.get(name, ""):
            held.setdefault(row, []).append(name)
        elif before.get(name):
            lost.setdefault(before[name], []).append(name)
    stays = {name for names in held.values() for name in names}
    unknown, moved = [], set()
    for name, content in now.items():
        if name in stays:
            continue
        if lost.get(content):
            old = lost[content].pop(0)
            moved.add(old)
            held.setdefault(owner[old], []).append(name)
        else:
            unknown.append(name)
    there = {name for name, row in owner.items() if row not in removed} - stays - moved
    changes = Changes(
        added=tuple(name for name in unknown if name not in there),
        removed=tuple(name for name in owner if name in there and name not in unknown),
        changed=tuple(name for name in unknown if name in there),
        returned=tuple(name for row in removed & held.keys() for name in held[row]),
    )
    return Match(ids, held, unknown, changes)


def take_in(
    session: Session,
    store: Store,
    items: Items,
    match: Match,
    describe: Callable[[], Features],
    position: int,
) -> dict[int, list[str]]:
    """Let a session grow by what changed, in memory and in its file; return the ids of rows."""
    if session.row_numbers is not None:
        raise CannotGrowError(
            "with so many items only a sample is asked about, and it stays the same. Begin another "
            "session with --session FILE to ask about others"
        )
    # Before anything is described: not every strategy takes in further rows.
    session.strategy.grown(np.empty((0, 0)), frozenset(), session.removed)
    held = {row: list(names) for row, names in match.held.items()}
    place = {name: k for k, name in enumerate(items.ids)}
    n_rows, new, rows, asked = session.strategy.n_rows, list[int](), None, list[int]()
    if match.unknown:
        features = describe()
        if features.metric == "precomputed":
            raise CannotGrowError("there are only distances between items")
        contents = {_content(items, features, place[names[0]]): r for r, names in held.items()}
        for name in match.unknown:
            row = contents.setdefault(_content(items, features, place[name]), n_rows + len(new))
            if row == n_rows + len(new):
                new.append(place[name])
            held.setdefault(row, []).append(name)
        askable = set(features.askable.tolist())
        rows, asked = features.X[new], [k for k, i in enumerate(new) if i in askable]
    gone = [row for row in range(n_rows) if row not in held]
    added = session.grow(
        rows,
        sample_ids=None if session.sample_ids is None else _unused_ids(session, items, new, held),
        train_indices=asked,
        removed=[row for row in gone if row not in session.removed],
        returned=sorted(session.removed & held.keys()),
    )
    names = session.sample_ids or ()
    op, payload = entry_to_dict(session.log[-1]), f"rows {position + 1}"
    kept = store.items
    unshown = store.settings.get("unshown", [])
    unshown += [row for k, row in enumerate(added) if k not in asked]
    store.append(
        {**op, "rows": {"payload": payload}},
        after=position,
        payloads={payload: pack({"rows": op["rows"]})},
        settings={
            "copies": {row: names[1:] for row, names in held.items() if len(names) > 1},
            "renamed": {
                row: held[row][0]
                for row in sorted(held)
                if not names or str(names[row]) != held[row][0]
            },
            "unshown": unshown,
            JOINED: match.unknown,
        },
        items={
            **{name: kept[name] for row in gone if (name := match.had[row][0]) in kept},
            **items.content_hashes(),
        },
    )
    return held


def rows_in_doubt(project: Project) -> list[int]:
    """Return the rows that joined later, and whose group is neither said nor certain."""
    how, certainty = project.known()
    later = range(project.session.n_first_rows, len(project.ids))
    return [
        row
        for row in later
        if row not in project.unshown
        and (how[row] == "open" or (how[row] == "learned" and certainty[row] < DOUBTFUL))
    ]


def _content(items: Items, features: Features, i: int) -> tuple[str, bytes]:
    """Return what is the same for copies; features that were given may set them apart."""
    is_own = features.aspects[0].name == OWN
    return items.content(i), features.X[i].tobytes() if is_own else b""


def _unused_ids(
    session: Session, items: Items, new: Sequence[int], held: Mapping[int, Sequence[str]]
) -> list[str]:
    """Return ids for new rows; one that a row has that stands for another item now is changed."""
    assert session.sample_ids is not None
    taken = {str(session.sample_ids[row]) for row in held if row < len(session.sample_ids)}
    ids = []
    for i in new:
        name = items.ids[i]
        while name in taken:
            name += " (changed)"
        taken.add(name)
        ids.append(name)
    return ids
