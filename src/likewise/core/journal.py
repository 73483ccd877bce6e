"""The entries of a session's log, and sessions as plain dictionaries.

A saved session is its first strategy and the list of things done: gestures, revisions, other
strategies, names, marks, checks, growth. Everything else follows from doing these again.
Dictionaries of older releases can always be read (`UPGRADES`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer, Gesture, Link
from likewise.core.arrays import from_json
from likewise.errors import SessionFileError

SCHEMA = 3
"""Version of the dictionaries written by this release."""

FORMAT = "likewise-session"


@dataclass(frozen=True, slots=True)
class Revised:
    """An earlier gesture gets new links; later ones that no longer apply are dropped."""

    number: int
    links: tuple[Link, ...]
    by: str | None = None
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """The session goes on with another strategy; `ask` is from earlier releases."""

    strategy: Mapping[str, Any] = field(compare=False)
    why: str = "go on"
    ask: tuple[int, int] | None = None
    by: str | None = None
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """Groups were named, each by one of its rows; an empty name removes the name."""

    names: tuple[tuple[int, str], ...]
    by: str | None = None
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """A check question was answered; that changes no group."""

    link: Link
    by: str | None = None
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Marked:
    """A row was marked as a misfit, with a row of the group it is in."""

    row: int
    beside: int | None = None
    by: str | None = None
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Grown:
    """Rows joined, left and came back; of those that joined, `unasked` are never asked about."""

    rows: NDArray[Any] = field(compare=False)
    ids: tuple[Any, ...] | None = None
    unasked: tuple[int, ...] = ()
    removed: tuple[int, ...] = ()
    returned: tuple[int, ...] = ()
    by: str | None = None
    at: str | None = None


Entry = Gesture | Revised | Rebuilt | Named | Checked | Marked | Grown


def entry_to_dict(entry: Entry) -> dict[str, Any]:
    """Return an entry as a dictionary: plain values, and arrays in a strategy."""
    plain: dict[str, Any]
    if isinstance(entry, Gesture):
        plain = _gesture_to_dict(entry)
    elif isinstance(entry, Revised):
        plain = {"do": "revise", "number": entry.number, "links": _links_to_list(entry.links)}
    elif isinstance(entry, Rebuilt):
        plain = {"do": "rebuild", "strategy": entry.strategy, "why": entry.why}
        if entry.ask is not None:
            plain["ask"] = list(entry.ask)
    elif isinstance(entry, Named):
        plain = {"do": "name", "names": [[row, name] for row, name in entry.names]}
    elif isinstance(entry, Checked):
        plain = {"do": "check", "links": _links_to_list((entry.link,))}
    elif isinstance(entry, Grown):
        ids = {} if entry.ids is None else {"ids": list(entry.ids)}
        rows = {name: list(getattr(entry, name)) for name in _ROWS_OF_GROWTH}
        plain = {"do": "grow", "rows": entry.rows, **ids, **{k: v for k, v in rows.items() if v}}
    else:
        plain = {"do": "mark", "row": entry.row}
        if entry.beside is not None:
            plain["beside"] = entry.beside
    return plain | _signature(entry)


def entry_from_dict(plain: Mapping[str, Any], number: int) -> Entry:
    """Return the entry that `entry_to_dict` wrote; `number` is for its gesture."""
    try:
        signature = {"by": plain.get("by"), "at": plain.get("at")}
        do = plain["do"]
        if do == "tell":
            groups = tuple(tuple(map(int, group)) for group in plain.get("groups", ()))
            links = _links_from_list(plain["links"])
            source, seconds = plain.get("source", "asked"), plain.get("seconds")
            return Gesture(number, links, source, groups, **signature, seconds=seconds)
        if do == "revise":
            return Revised(int(plain["number"]), _links_from_list(plain["links"]), **signature)
        if do == "rebuild":
            ask = plain.get("ask")
            pair = None if ask is None else (int(ask[0]), int(ask[1]))
            return Rebuilt(from_json(plain["strategy"]), str(plain["why"]), pair, **signature)
        if do == "name":
            return Named(tuple((int(r), str(name)) for r, name in plain["names"]), **signature)
        if do == "check":
            return Checked(_links_from_list(plain["links"])[0], **signature)
        if do in ("mark", "grow"):
            return (_marked if do == "mark" else _grown)(plain, signature)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise SessionFileError(f"the log has an entry that cannot be read: {plain}") from error
    raise SessionFileError(
        f"the log has an entry {do!r} that this release does not know: "
        "pip install --upgrade likewise"
    )


def rows_of(entry: Entry) -> tuple[int, ...]:
    """Return the rows that an entry names."""
    if isinstance(entry, Named):
        return tuple(row for row, _ in entry.names)
    if isinstance(entry, Marked):
        return (entry.row,) if entry.beside is None else (entry.row, entry.beside)
    if isinstance(entry, Gesture):
        return (*entry.rows, *(row for group in entry.groups for row in group))
    if isinstance(entry, Grown):
        return (*entry.removed, *entry.returned)
    links = (entry.link,) if isinstance(entry, Checked) else getattr(entry, "links", ())
    return tuple(row for link in links for row in (link.left, link.right))


def as_plain(value: Any) -> Any:
    """Return a value with every array in it as a list, so that JSON can hold it."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: as_plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(inner) for inner in value]
    return value


def current(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return a saved session in this release's schema, or raise `SessionFileError`."""
    if not isinstance(plain, Mapping) or plain.get("format") != FORMAT:
        raise SessionFileError(
            "this is not a saved likewise session: it has no "
            f'"format": "{FORMAT}". Pass the dictionary that Session.to_dict returned.'
        )
    with_arrays = {name: from_json(plain.get(name)) for name in ("strategy", "rows")}
    data: dict[str, Any] = {**plain, **with_arrays}
    version = data.get("schema")
    if not isinstance(version, int) or version < 1:
        raise SessionFileError(f"the saved session has no usable schema version, got {version!r}")
    if version > SCHEMA:
        raise SessionFileError(
            f"the session was saved by a newer release (schema {version}; this one reads up to "
            f"{SCHEMA}). Upgrade likewise to open it."
        )
    while version < SCHEMA:
        data = UPGRADES[version](data)
        version += 1
    missing = [name for name in ("strategy", "log", "undone") if data.get(name) is None]
    if missing:
        raise SessionFileError(f"the saved session is cut: {', '.join(missing)} missing")
    return data


def upgraded_entry(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry of schema 1 as one of schema 2: an answer is a list of links."""
    if plain.get("do") not in ("tell", "check") or "links" in plain:
        return dict(plain)
    kept = {name: plain[name] for name in ("do", "source") if name in plain}
    return {**kept, "links": [[plain["left"], plain["right"], plain["answer"]]]}


def _from_schema_1(data: dict[str, Any]) -> dict[str, Any]:
    upgraded = dict(data)
    for old, new in (("done", "log"), ("undone", "undone")):
        if old not in data:
            raise SessionFileError(f"the saved session is cut: {old} missing")
        upgraded[new] = [upgraded_entry(entry) for entry in data[old]]
    upgraded.pop("done")
    return upgraded


def _from_schema_2(data: dict[str, Any]) -> dict[str, Any]:
    """Return the session as it is: schema 3 adds a budget, and seconds to gestures."""
    return data


UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {
    1: _from_schema_1,
    2: _from_schema_2,
}
"""For every older version, the function that turns it into the next one."""


_ROWS_OF_GROWTH = ("unasked", "removed", "returned")


def _gesture_to_dict(gesture: Gesture) -> dict[str, Any]:
    plain: dict[str, Any] = {"do": "tell", "links": _links_to_list(gesture.links)}
    if gesture.source != "asked":
        plain["source"] = gesture.source
    if gesture.groups:
        plain["groups"] = [list(group) for group in gesture.groups]
    if gesture.seconds is not None:
        plain["seconds"] = gesture.seconds
    return plain


def _marked(plain: Mapping[str, Any], signature: Mapping[str, Any]) -> Marked:
    beside = plain.get("beside")
    return Marked(int(plain["row"]), None if beside is None else int(beside), **signature)


def _grown(plain: Mapping[str, Any], signature: Mapping[str, Any]) -> Grown:
    rows = np.asarray(from_json(plain["rows"]))
    if len(rows) and (rows.ndim != 2 or rows.dtype.kind not in "iuf"):
        raise ValueError("rows that joined must be rows of numbers")
    ids = None if plain.get("ids") is None else tuple(plain["ids"])
    numbers: Any = {name: tuple(map(int, plain.get(name, ()))) for name in _ROWS_OF_GROWTH}
    return Grown(rows if len(rows) else np.empty((0, 0)), ids, **numbers, **signature)


def _links_to_list(links: tuple[Link, ...]) -> list[list[Any]]:
    return [[link.left, link.right, link.answer.value] for link in links]


def _links_from_list(plain: Any) -> tuple[Link, ...]:
    return tuple(Link(int(left), int(right), Answer(answer)) for left, right, answer in plain)


def _signature(entry: Any) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in ("by", "at") if getattr(entry, name) is not None}
