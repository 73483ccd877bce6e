"""The files of the data folder: reading them and checking that they are what they should be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from likewise.lab.datasets.catalog import expectations
from likewise.lab.datasets.faces import Faces, read_faces
from likewise.lab.datasets.newsgroups import Message, message_facts, read_messages
from likewise.lab.datasets.tables import Table, check, read_table


def read_stored_table(path: Path) -> Table:
    """Read a table that is checked against the committed expectations."""
    table = read_table(path)
    check(str(path), table.facts(), expected(path.name))
    return table


def read_stored_faces(path: Path) -> Faces:
    """Read the pictures, checked against the committed expectations."""
    faces = read_faces(path)
    check(str(path), faces.facts(), expected(path.name))
    return faces


def read_stored_messages(path: Path) -> list[Message]:
    """Read the messages, checked against the committed expectations."""
    messages = read_messages(path)
    check(str(path), message_facts(messages), expected(path.name))
    return messages


def verify(path: Path) -> str:
    """Check a file of the data folder and say what was checked."""
    if path.suffix == ".csv":
        read_stored_table(path)
    elif path.suffix == ".npz":
        read_stored_faces(path)
    else:
        read_stored_messages(path)
    facts = expected(path.name)
    features = f", {facts['features']} features" if "features" in facts else ""
    return (
        f"{facts['rows']} rows{features}, {len(facts['classes'])} classes, "
        f"digest {facts['digest'][:12]}"
    )


def expected(file: str) -> dict[str, Any]:
    """Return what a file of the data folder must look like."""
    found: dict[str, Any] = expectations()["files"][file]
    return found
