"""What a request asks for, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from likewise.core.answers import Answer
from likewise.errors import InputError
from likewise.project import Project

MOST_AT_ONCE = 500

Json = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """What a request without a body says by its address."""

    path_params: Mapping[str, Any]
    query_params: Mapping[str, str]


def whole(body: Json, name: str) -> int:
    """Return a whole number of a request."""
    value = body.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > 2**53:
        raise InputError(f"the request needs a whole number {name!r}, got {value!r}")
    return value


def a_list(body: Json, name: str) -> list[Any]:
    """Return a list of a request."""
    value = body.get(name)
    if not isinstance(value, list) or len(value) > MOST_AT_ONCE:
        raise InputError(f"the request needs a list {name!r} of at most {MOST_AT_ONCE}")
    return value


def some_rows(project: Project, body: Json, name: str, least: int = 1) -> list[int]:
    """Return the items that a request lists, each once."""
    found = list(dict.fromkeys(whole({name: row}, name) for row in a_list(body, name)))
    if len(found) < least:
        raise InputError(f"the request names no items in {name!r}")
    for row in found:
        if not 0 <= row < len(project.ids):
            raise InputError(f"there is no item {row}, only 0 to {len(project.ids) - 1}")
    return found


def chosen(value: Any) -> Any:
    """Return what a request chose: a place, several, None, or "unsure"."""
    if value is None or value == Answer.UNSURE.value:
        return value
    return (
        [whole({"chosen": place}, "chosen") for place in value]
        if isinstance(value, list)
        else whole({"chosen": value}, "chosen")
    )


def one_row(project: Project, asked: Asked) -> int:
    """Return the item that an address names."""
    row: int = asked.path_params["row"]
    if row >= len(project.ids):
        raise InputError(f"there is no item {row}, only 0 to {len(project.ids) - 1}")
    return row


def page_of(asked: Asked, name: str, default: int, most: int = MOST_AT_ONCE) -> int:
    """Return a number that says which part of a list is wanted."""
    text = asked.query_params.get(name)
    if text is None:
        return default
    if not text.isdecimal() or len(text) > 15:
        raise InputError(f"{name} must be a whole number, got {text!r}")
    return min(int(text), most)
