"""Take in the items that joined, left or changed since a project was last open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from likewise.core.journal import entry_to_dict
from likewise.core.session import Session
from likewise.errors import CannotGrowError
from likewise.items import Features, Items
from likewise.items.features import OWN, Problem
from likewise.learning.reliability import SURE
from likewise.project.matching import Changes, Match, match_items
from likewise.project.project import Project
from likewise.store import Store, now
from likewise.store.packing import pack

JOINED = "joined"
"""The setting with the ids of the items that joined when the project last grew."""
REST = "rest"
"""The setting that says that further items are to be described, and to join; see `Rest`."""


@dataclass(frozen=True, slots=True)
class Present:
    """The current state.

    `held` has the ids of the items of every row that has some, `position` the number of the log's
    last entry. `changes` were taken in; `refused` says why changes were not, and `news` tells a
    person about either.
    """

    held: dict[int, list[str]]
    position: int
    changes: Changes = field(default_factory=Changes)
    refused: str = ""
    news: str = ""


def catch_up(
    session: Session,
    store: Store,
    items: Items,
    had: Sequence[Sequence[str]],
    describe: Callable[[], Features],
    position: int,
    refusal: str = "",
) -> Present:
    """Take in what changed since rows `had` their ids, unless there is a reason to refuse it."""
    before, now = store.items, items.content_hashes()
    waits = bool(store.settings.get(REST))
    if session.row_numbers is not None or waits:  # of the others, those that stayed are no news
        sample = {name for names in had for name in names}
        now = {k: v for k, v in now.items() if k in sample or before.get(k) != v}
    match = match_items(had, session.removed, before, now)
    if not match.changes:
        return Present(match.held, position)
    news = f"{match.changes} since last time"
    try:
        if refusal:
            raise CannotGrowError(refusal)
        # Where items wait for being described, those that are new wait, too.
        at_once = match._replace(newcomers=[]) if waits else match
        held = take_in(session, store, items, at_once, describe, position)
    except CannotGrowError as error:
        news = f"{news}, not taken in: {error}"
        return Present(match.as_before(), position, refused=str(error), news=news)
    return Present(held, position + 1, match.changes, news=news)


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
    session.strategy.grown(np.empty((0, 0)), frozenset())
    held = {row: list(names) for row, names in match.held.items()}
    place = {name: k for k, name in enumerate(items.ids)}
    n_rows, new, rows, asked = session.strategy.n_rows, list[int](), None, list[int]()
    if match.newcomers:
        features = describe()
        if features.metric == "precomputed":
            raise CannotGrowError("there are only distances between items")
        contents = {_content(items, features, place[names[0]]): r for r, names in held.items()}
        for name in match.newcomers:
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
            JOINED: match.newcomers,
        },
        items={
            **{name: kept[name] for row in gone if (name := match.had[row][0]) in kept},
            **items.content_hashes(),
        },
    )
    return held


def let_join(
    project: Project,
    places: Sequence[int],
    described: Sequence[Features],
    problems: Sequence[Problem],
) -> None:
    """Let items that waited join a session, as rows that no question is about; see `Rest`.

    Parameters
    ----------
    project : Project
        The project, locked by the caller.
    places : sequence of int
        Where the items are.
    described : sequence of Features
        Their features, in parts.
    problems : sequence of Problem
        Those that cannot be shown, by their number in `places`.
    """
    session, items, position = project.session, project.items, project.position
    first = session.strategy.n_rows
    rows = {items.content(p): row for row, p in enumerate(project.where) if p is not None}
    held = {row: [name] for row, name in enumerate(project.ids) if project.where[row] is not None}
    copies = {row: list(names) for row, names in project.copies.items()}
    new: list[int] = []
    for k, place in enumerate(places):
        row = rows.setdefault(items.content(place), first + len(new))
        if row == first + len(new):
            new.append(k)
        else:
            copies.setdefault(row, []).append(items.ids[place])
    broken = {problem.item for problem in problems}
    joined = [places[k] for k in new]
    settings = project.store.settings
    with session.transaction():
        names = None if session.sample_ids is None else _unused_ids(session, items, joined, held)
        X = np.concatenate([part.X for part in described])[new] if new else None
        session.grow(X, sample_ids=names, train_indices=[], at=now())
        op, payload = entry_to_dict(session.log[-1]), f"rows {position + 1}"
        own = enumerate(zip(names or (), joined, strict=names is not None))
        other = {first + k: items.ids[p] for k, (name, p) in own if name != items.ids[p]}
        unshown = [first + k for k, number in enumerate(new) if number in broken]
        project.store.append(
            {**op, "rows": {"payload": payload}},
            after=position,
            payloads={payload: pack({"rows": op["rows"]})},
            settings={
                "copies": copies,
                "unshown": [*settings.get("unshown", ()), *unshown],
                "renamed": {**settings.get("renamed", {}), **other},
                REST: False,
            },
        )
    project.follow_file(position + 1)


def rows_in_doubt(project: Project) -> list[int]:
    """Return the rows that joined later, and whose group is neither said nor certain."""
    how, certainty = project.how_known()
    askable = project.session.askable
    later = askable[askable >= project.session.n_first_rows].tolist()
    return [
        row
        for row in later
        if row not in project.unshown
        and (how[row] == "open" or (how[row] == "learned" and certainty[row] < SURE))
    ]


def _content(items: Items, features: Features, i: int) -> tuple[str, bytes]:
    """Return what copies have in common; features that a person brings may distinguish them."""
    is_own = features.aspects[0].name == OWN
    return items.content(i), features.X[i].tobytes() if is_own else b""


def _unused_ids(
    session: Session, items: Items, new: Sequence[int], held: Mapping[int, Sequence[str]]
) -> list[str]:
    """Return ids for new rows; an id that another row keeps gets a suffix."""
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
