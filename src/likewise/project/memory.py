"""Where a project lives that has no file, and what a project needs of either place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from likewise.errors import InputError, StaleQueryError
from likewise.project.store import Entry


class Log(Protocol):
    """The part of a `Store` that a project uses."""

    @property
    def last(self) -> int:
        """The number of the latest operation, 0 for none."""

    def append(
        self, op: Mapping[str, Any], *, after: int, payloads: Mapping[str, bytes] | None = None
    ) -> int:
        """Add an operation after number `after`, or raise `StaleQueryError`."""

    def read(self, since: int = 0) -> list[Entry]:
        """Read the operations after number `since`."""

    def payload(self, name: str) -> bytes:
        """Return a payload as it was put."""

    @property
    def group_names(self) -> dict[str, str]:
        """The names given to groups, by key."""

    def name_group(self, key: str, name: str) -> None:
        """Name a group, or take its name away with an empty one."""

    def notes(self, kind: str) -> dict[str, Any]:
        """All notes of one kind, by item id."""

    def put_note(self, kind: str, item: str, value: Any = True) -> None:
        """Attach a note to an item; None takes it away."""

    def close(self) -> None:
        """Close the file, if there is one."""


class MemoryLog:
    """A log that ends with the process, for those who embed the page and keep the session."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._payloads: dict[str, bytes] = {}
        self._names: dict[str, str] = {}
        self._notes: dict[str, dict[str, Any]] = {}

    @property
    def last(self) -> int:
        """The number of the latest operation, 0 for none."""
        return len(self._entries)

    def append(
        self, op: Mapping[str, Any], *, after: int, payloads: Mapping[str, bytes] | None = None
    ) -> int:
        """Add an operation after number `after`, or raise `StaleQueryError`."""
        if after != self.last:
            raise StaleQueryError(
                f"nothing was saved: this came after operation {after} and the log is at "
                f"{self.last}. Somebody answered in another window; read what is new."
            )
        self._entries.append(Entry(after + 1, dict(op), ""))
        self._payloads.update(payloads or {})
        return after + 1

    def read(self, since: int = 0) -> list[Entry]:
        """Read the operations after number `since`."""
        return self._entries[since:]

    def payload(self, name: str) -> bytes:
        """Return a payload as it was put."""
        if name not in self._payloads:
            raise InputError(f"there is no payload {name!r}")
        return self._payloads[name]

    @property
    def group_names(self) -> dict[str, str]:
        """The names given to groups, by key."""
        return dict(self._names)

    def name_group(self, key: str, name: str) -> None:
        """Name a group, or take its name away with an empty one."""
        self._names.pop(key, None)
        if name:
            self._names[key] = name

    def notes(self, kind: str) -> dict[str, Any]:
        """All notes of one kind, by item id."""
        return dict(self._notes.get(kind, {}))

    def put_note(self, kind: str, item: str, value: Any = True) -> None:
        """Attach a note to an item; None takes it away."""
        found = self._notes.setdefault(kind, {})
        found.pop(item, None)
        if value is not None:
            found[item] = value

    def close(self) -> None:
        """Do nothing: there is no file."""
