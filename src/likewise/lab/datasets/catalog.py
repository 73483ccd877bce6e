"""The 21 tasks of the paper: what they are, where they come from, what they must look like."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from likewise.errors import InputError
from likewise.words import did_you_mean


@dataclass(frozen=True)
class Task:
    """One of the paper's tasks; ``tasks.toml`` says what the fields mean."""

    name: str
    kind: Literal["table", "faces", "newsgroups"]
    file: str
    uci: int
    citation: str
    license: str = "CC BY 4.0"
    target: str = "target"
    groups: tuple[str, ...] = ()
    pick: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()

    @property
    def origin(self) -> str:
        """Where it comes from, in a few words."""
        return f"UCI {self.uci}" if self.uci else "20 newsgroups, bydate"

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, features and classes after preprocessing (for faces, with pixels as features)."""
        rows, features, classes = expectations()["tasks"][self.name]
        return rows, features, classes


@dataclass(frozen=True)
class Original:
    """How a table is laid out in UCI's archive, and where OpenML has the same values."""

    archive: str
    members: tuple[str, ...]
    label: int = -1
    drop: tuple[int, ...] = ()
    delimiter: str = ","
    openml: int = 0
    openml_labels: dict[str, str] = field(default_factory=dict)


def listed(kind: str) -> dict[str, dict[str, Any]]:
    """Return a part of ``tasks.toml``, which also says what each entry means."""
    text = files("likewise.lab.datasets").joinpath("tasks.toml").read_text(encoding="utf-8")
    return {
        name: {key: tuple(v) if isinstance(v, list) else v for key, v in entry.items()}
        for name, entry in tomllib.loads(text)[kind].items()
    }


TASKS = {name: Task(name, **entry) for name, entry in listed("tasks").items()}
ORIGINALS = {file: Original(**entry) for file, entry in listed("originals").items()}


def task_names() -> list[str]:
    """Return the names of the paper's 21 tasks, in the paper's order.

    Examples
    --------
    >>> from likewise.lab.datasets import task_names
    >>> len(task_names()), task_names()[:3]
    (21, ['iris', 'wine', 'dermatology'])
    """
    return list(TASKS)


def find_task(name: str) -> Task:
    """Return the task of that name, or raise with the names there are."""
    try:
        return TASKS[name]
    except (KeyError, TypeError):
        meant = did_you_mean(name, TASKS)
        names = ", ".join(TASKS)
        raise InputError(f"There is no task {name!r}.{meant} The tasks are: {names}.") from None


@cache
def expectations() -> dict[str, Any]:
    """Return what the files and the tasks must look like, as committed with the code."""
    text = files("likewise.lab.datasets").joinpath("expected.json").read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]
