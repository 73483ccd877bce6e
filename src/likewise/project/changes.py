"""What has happened to the items since a project was made, item by item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Changes:
    """The difference between the items of a project and those there are now.

    Attributes
    ----------
    missing : tuple of str
        Ids that were there and are not any more.
    added : tuple of str
        Ids that were not there.
    changed : tuple of str
        Ids that are still there with other content.

    Examples
    --------
    >>> found = Changes.between({"a": "1", "b": "2"}, {"b": "9", "c": "3"})
    >>> found.missing, found.added, found.changed
    (('a',), ('c',), ('b',))
    >>> print(found)
    1 missing (a), 1 changed (b), 1 added (c)
    """

    missing: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    @classmethod
    def between(cls, before: Mapping[str, str], now: Mapping[str, str]) -> Changes:
        """Compare two mappings of id to content hash; the order of the ids does not matter."""
        return cls(
            missing=tuple(item for item in before if item not in now),
            added=tuple(item for item in now if item not in before),
            changed=tuple(item for item in before if now.get(item, before[item]) != before[item]),
        )

    def __bool__(self) -> bool:
        return bool(self.missing or self.added or self.changed)

    def __str__(self) -> str:
        parts = [("missing", self.missing), ("changed", self.changed), ("added", self.added)]
        return ", ".join(f"{len(ids)} {word} ({_some(ids)})" for word, ids in parts if ids)


def _some(ids: tuple[str, ...], at_most: int = 5) -> str:
    more = f" and {len(ids) - at_most} more" if len(ids) > at_most else ""
    return ", ".join(ids[:at_most]) + more
