"""The files of the data folder: reading them and checking that they are what they should be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from likewise.lab.datasets.catalog import expectations
from likewise.lab.datasets.faces import Faces, read_faces
from likewise.lab.datasets.newsgroups import message_facts, read_messages
from likewise.lab.datasets.tables import Table, check, read_table

READERS: dict[str, tuple[Any, Any]] = {
    ".csv": (read_table, Table.facts),
    ".npz": (read_faces, Faces.facts),
    ".gz": (read_messages, message_facts),
}
"""By suffix: what reads a file, and what describes its content."""


def read_stored(path: Path) -> Any:
    """Return a table, pictures or messages, checked against the committed expectations."""
    read, facts = READERS[path.suffix]
    content = read(path)
    check(str(path), facts(content), expected(path.name))
    return content


def verify(path: Path) -> str:
    """Check a file of the data folder and say what was checked."""
    read_stored(path)
    facts = expected(path.name)
    features = f", {facts['features']} features" if "features" in facts else ""
    return (
        f"{facts['rows']} rows{features}, {len(facts['classes'])} classes, "
        f"digest {facts['digest'][:12]}"
    )


def expected(file: str) -> dict[str, Any]:
    """Return what a file of the data folder must look like."""
    facts: dict[str, Any] = expectations()["files"][file]
    return facts
