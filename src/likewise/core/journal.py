"""Sessions as plain dictionaries: what is written, its version, and how older versions are read.

A saved session is its strategy (the partition it asks about) and the list of things done: answers
told, answers given beforehand, answers revised. Everything else is derived by doing them again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from likewise.core.answers import Answer, Event
from likewise.errors import SessionFileError

SCHEMA = 1
"""Version of the dictionaries written by this release."""

FORMAT = "likewise-session"

UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""For every older version, the function that turns it into the next one."""


@dataclass(frozen=True, slots=True)
class Told:
    """An answer was added to the end of the log."""

    event: Event


@dataclass(frozen=True, slots=True)
class Revised:
    """An earlier answer was changed; later ones that no longer apply were dropped."""

    number: int
    answer: Answer


Deed = Told | Revised


def deed_to_dict(deed: Deed) -> dict[str, Any]:
    """Return a deed as a plain dictionary."""
    if isinstance(deed, Revised):
        return {"do": "revise", "number": deed.number, "answer": deed.answer.value}
    event = deed.event
    return {
        "do": "tell",
        "number": event.number,
        "left": event.left,
        "right": event.right,
        "answer": event.answer.value,
        "source": event.source,
    }


def deed_from_dict(plain: Mapping[str, Any]) -> Deed:
    """Return the deed that `deed_to_dict` wrote down."""
    answer = Answer(plain["answer"])
    if plain["do"] == "revise":
        return Revised(int(plain["number"]), answer)
    return Told(
        Event(
            int(plain["number"]), int(plain["left"]), int(plain["right"]), answer, plain["source"]
        )
    )


def current(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return a saved session in this release's schema.

    Raises
    ------
    SessionFileError
        If it is not a session, is cut, or was written by a newer release.
    """
    if plain.get("format") != FORMAT:
        raise SessionFileError(
            "this is not a saved likewise session: it has no "
            f'"format": "{FORMAT}". Pass the dictionary that Session.to_dict returned.'
        )
    data = dict(plain)
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
    missing = [name for name in ("strategy", "done", "undone") if name not in data]
    if missing:
        raise SessionFileError(f"the saved session is cut: {', '.join(missing)} missing")
    return data
