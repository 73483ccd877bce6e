"""Which items the rows of a session stand for, now and when a project was last open.

Items are recognized by their ids, and by their content where files were renamed. An item with
another content is a new row under the same id, since the answers were about what it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from likewise.core.session import Session


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
    """Which items rows stand for.

    `had` and `held` have the ids of rows, then and now; `newcomers` are ids of items without a row.
    """

    had: Sequence[Sequence[str]]
    held: dict[int, list[str]]
    newcomers: list[str]
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
    newcomers, moved = [], set()
    for name, content in now.items():
        if name in stays:
            continue
        if lost.get(content):
            old = lost[content].pop(0)
            moved.add(old)
            held.setdefault(owner[old], []).append(name)
        else:
            newcomers.append(name)
    unmatched = {name for name, row in owner.items() if row not in removed} - stays - moved
    changes = Changes(
        added=tuple(name for name in newcomers if name not in unmatched),
        removed=tuple(name for name in owner if name in unmatched and name not in newcomers),
        changed=tuple(name for name in newcomers if name in unmatched),
        returned=tuple(name for row in removed & held.keys() for name in held[row]),
    )
    return Match(ids, held, newcomers, changes)
