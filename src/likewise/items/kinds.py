"""The kinds of items there are: those of this package, of others, and of anybody's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from likewise.errors import InputError
from likewise.items.items import Items
from likewise.registry import Registry

BUILT_IN = {
    "texts": "likewise.items.texts:TextItems",
    "rows": "likewise.items.rows:RowItems",
    "points": "likewise.items.points:PointItems",
    "series": "likewise.items.series:SeriesItems",
    "images": "likewise.items.images:ImageItems",
}
"""Asked in this order whether they recognize a source."""

KINDS: Registry[type[Items]] = Registry("kind of items", BUILT_IN, group="likewise.items")


def recognize(source: Any, options: Mapping[str, Any]) -> type[Items] | None:
    """Return the first kind that recognizes a source, or None; built-in kinds are asked first."""
    for name in _asked():
        kind = KINDS.find(name)
        if kind.recognizes(source, options):
            return kind
    return None


def _asked() -> Iterator[str]:
    yield from BUILT_IN
    # Only now, since looking for installed packages takes a while.
    yield from (name for name in KINDS.names if name not in BUILT_IN)


def check_options(kind: type[Items], source: Any, options: Mapping[str, Any]) -> None:
    """Refuse options that the kind does not have, and name the kinds that do."""
    for name in options:
        if name not in kind.options:
            flag = name.replace("_", "-")
            others = [one for one in KINDS.names if name in KINDS.find(one).options]
            what = f"--{flag} is for {' and '.join(others)}" if others else f"no kind has --{flag}"
            raise InputError(f"{what}; {source} is opened as {kind.kind}")
