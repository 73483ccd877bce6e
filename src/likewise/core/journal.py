"""The entries of a session's log, and sessions as plain dictionaries.

A saved session is its first strategy and the list of things done: gestures, revisions, other
strategies, names, marks, checks, growth, answerers set aside, aspects switched. Everything else
follows from replaying them. Every entry says who did it (`by`), when (`at`), and how many
`seconds` it took, or None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import SOURCES, Answer, Gesture, Link
from likewise.core.arrays import from_json
from likewise.errors import SessionFileError
from likewise.inputs import refuse_rows
from likewise.words import check_text

SCHEMA = 1
"""Version of the dictionaries written by this release."""

FORMAT = "likewise-session"


@dataclass(frozen=True, slots=True)
class Revised:
    """An earlier gesture gets new links; later ones that no longer apply are dropped."""

    number: int
    links: tuple[Link, ...]
    by: str | None = None
    at: str | None = None
    seconds: float | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """Another strategy takes over all answers."""

    strategy: Mapping[str, Any] = field(compare=False)
    by: str | None = None
    at: str | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """Groups were named, each by one of its rows; an empty name removes the name."""

    names: tuple[tuple[int, str], ...]
    by: str | None = None
    at: str | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """A check question was answered; that changes no group."""

    links: tuple[Link, ...]
    by: str | None = None
    at: str | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Repeated:
    """An earlier question was asked again; that changes no group. `before` is the first answer."""

    links: tuple[Link, ...]
    before: tuple[Link, ...]
    by: str | None = None
    at: str | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Marked:
    """A row was marked as a misfit, with a row of the group it is in."""

    row: int
    beside: int | None = None
    by: str | None = None
    at: str | None = None
    seconds: float | None = None


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
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Switched:
    """An aspect of the rows was switched off, so that nothing is learned from it, or on again."""

    aspect: str
    is_on: bool
    by: str | None = None
    at: str | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class SetAside:
    """What somebody answered does not count from here on."""

    answerer: str
    by: str | None = None
    at: str | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class TakenBack:
    """The answers of somebody that were set aside count again."""

    answerer: str
    by: str | None = None
    at: str | None = None
    seconds: float | None = None


Entry = (
    Gesture
    | Revised
    | Rebuilt
    | Named
    | Checked
    | Repeated
    | Marked
    | Grown
    | SetAside
    | TakenBack
    | Switched
)

KINDS: dict[str, type[Any]] = {
    "tell": Gesture,
    "revise": Revised,
    "rebuild": Rebuilt,
    "name": Named,
    "check": Checked,
    "repeat": Repeated,
    "mark": Marked,
    "grow": Grown,
    "set-aside": SetAside,
    "take-back": TakenBack,
    "switch": Switched,
}
"""What entries are called in files. A file has an entry's attributes by name, but no defaults."""
SIGNATURE = ("by", "at", "seconds")
"""What every entry of a file has, known or not."""


def entry_to_dict(entry: Entry) -> dict[str, Any]:
    """Return an entry as a dictionary: plain values, and arrays."""
    plain = {"do": next(name for name, kind in KINDS.items() if type(entry) is kind)}
    for each in fields(entry):
        value = getattr(entry, each.name)
        is_written = each.default is MISSING or value != each.default or each.name in SIGNATURE
        # The number of a gesture is its place among others.
        if is_written and (each.name != "number" or isinstance(entry, Revised)):
            plain[each.name] = _written(value)
    return plain


def entry_from_dict(plain: Mapping[str, Any]) -> Entry:
    """Return the entry that `entry_to_dict` wrote; a gesture gets its number in the log."""
    try:
        do = plain["do"]
        if do in KINDS:
            names = [each.name for each in fields(KINDS[do]) if plain.get(each.name) is not None]
            readers = _READERS | _OTHER_READERS.get(do, {})
            values = {name: readers[name](plain[name]) for name in names}
            if () in values.get("groups", ()) and not values.get("names"):
                raise ValueError("a group without rows has a name")
            entry: Entry = KINDS[do](**values | ({"number": 0} if do == "tell" else {}))
            return entry
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise SessionFileError(f"the log has an entry that cannot be read: {plain}") from error
    raise SessionFileError(
        f"the log has an entry {do!r} that this release does not know: "
        "pip install --upgrade likewise"
    )


def _written(value: Any) -> Any:
    if isinstance(value, Link):
        return [value.left, value.right, value.answer.value]
    return list(map(_written, value)) if isinstance(value, tuple) else value


def _numbers(plain: Any) -> tuple[int, ...]:
    return tuple(map(int, plain))


def _truth(plain: Any) -> bool:
    if not isinstance(plain, bool):
        raise TypeError(f"neither true nor false: {plain!r}")
    return plain


def _several(values: Iterable[Any]) -> tuple[Any, ...]:
    several = tuple(values)
    if not several:
        raise ValueError("at least one link, and one row of a group, is needed")
    return several


def _rows(plain: Any) -> NDArray[Any]:
    rows = np.asarray(from_json(plain))
    if len(rows) and (rows.ndim != 2 or rows.dtype.kind not in "iuf"):
        raise ValueError("rows that joined must be rows of numbers")
    refuse_rows(rows)
    return rows if len(rows) else np.empty((0, 0))


def _links(plain: Any) -> tuple[Link, ...]:
    return _several(Link(int(a), int(b), Answer(answer)) for a, b, answer in plain)


_READERS: dict[str, Callable[[Any], Any]] = {
    "number": int,
    "links": _links,
    "before": _links,
    "source": lambda plain: SOURCES[SOURCES.index(plain)],
    "groups": lambda plain: tuple(map(_numbers, plain)),
    "name": partial(check_text, subject="a name"),
    "by": partial(check_text, subject="by"),
    "at": partial(check_text, subject="at"),
    "seconds": float,
    "strategy": from_json,
    "row": int,
    "beside": int,
    "rows": _rows,
    "ids": tuple,
    "unasked": _numbers,
    "removed": _numbers,
    "returned": _numbers,
    "answerer": partial(check_text, subject="who answered"),
    "aspect": partial(check_text, subject="an aspect"),
    "is_on": _truth,
}
"""How the attributes of entries are read from a file, which may be damaged."""

_OTHER_READERS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "tell": {
        "names": lambda plain: tuple(
            None if name is None else check_text(name, "a name") for name in plain
        )
    },
    "name": {
        "names": lambda plain: tuple((int(row), check_text(name, "a name")) for row, name in plain)
    },
}
"""Those that have another meaning in some entries."""


def rows_of(entry: Entry) -> tuple[int, ...]:
    """Return the rows that an entry names."""
    if isinstance(entry, Named):
        return tuple(row for row, _ in entry.names)
    if isinstance(entry, Marked):
        return (entry.row,) if entry.beside is None else (entry.row, entry.beside)
    if isinstance(entry, Grown):
        return (*entry.removed, *entry.returned)
    if isinstance(entry, Rebuilt | SetAside | TakenBack | Switched):
        return ()
    links = entry.links
    groups = entry.groups if isinstance(entry, Gesture) else ()
    before = entry.before if isinstance(entry, Repeated) else ()
    pairs = [(link.left, link.right) for link in (*links, *before)]
    return tuple(row for rows in (*pairs, *groups) for row in rows)


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
    data: dict[str, Any] = {**plain, "strategy": from_json(plain.get("strategy"))}
    version = data.get("schema")
    if not isinstance(version, int) or version < 1:
        raise SessionFileError(f"the saved session has no usable schema version, got {version!r}")
    if version > SCHEMA:
        raise SessionFileError(
            f"the session was saved by a newer release, or by an unpublished development version "
            f"(schema {version}; this release reads {SCHEMA}). Upgrade likewise to open it."
        )
    missing = [name for name in ("strategy", "log", "undone") if data.get(name) is None]
    if missing:
        raise SessionFileError(f"the saved session is truncated: {', '.join(missing)} missing")
    return data
