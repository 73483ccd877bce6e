"""Make rows again and compare them with what they were."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import asdict

from likewise.errors import InputError
from likewise.experiments.cells import run_cell
from likewise.experiments.protocol import NOISE
from likewise.experiments.store import NOT_REPRODUCIBLE, Row

TOLERANCE = 1e-9
"""Scores may differ by so much: machines add in different orders."""


def draw(
    rows: Iterable[Row],
    n: int,
    *,
    seed: int = 0,
    methods: Iterable[str] = (),
    tasks: Iterable[str] = (),
    max_seconds: float | None = None,
) -> list[Row]:
    """Return a random sample of the rows that ended well.

    Parameters
    ----------
    rows : iterable of Row
        Of a store.
    n : int
        How many to draw; all if there are fewer.
    seed : int
        Which ones.
    methods, tasks : iterable of str
        Only these; by default all.
    max_seconds : float, optional
        Only rows that took no longer on the processor.

    Examples
    --------
    >>> rows = [Row("main", "COBRA", "iris", 25, fold) for fold in range(5)]
    >>> len(draw(rows, 2))
    2
    """
    only_methods, only_tasks = set(methods), set(tasks)
    found = [
        row
        for row in sorted(rows, key=lambda row: row.cell)
        if row.status == "ok"
        and (not only_methods or row.method in only_methods)
        and (not only_tasks or row.task in only_tasks)
        and (max_seconds is None or row.cpu_seconds <= max_seconds)
    ]
    if not found:
        raise InputError("there is no such row to make again")
    return random.Random(seed).sample(found, min(n, len(found)))


def make_again(row: Row, *, data_home: str | None = None, tasks_from: str | None = None) -> Row:
    """Return the row of the same cell, made with the code of today and as many questions."""
    at_budgets = row.experiment in ("budgets", *NOISE)
    return run_cell(
        row.cell,
        allowed=row.allowed,
        budgets=[budget for budget, _, _ in json.loads(row.curve)] if at_budgets else (),
        data_home=data_home,
        tasks_from=tasks_from,
    )


def differences(old: Row, new: Row) -> dict[str, tuple[object, object]]:
    """Return the columns in which two rows differ, but for times and versions.

    Examples
    --------
    >>> one = Row("main", "COBRA", "iris", 25, 0, queries=26, seconds=1.0)
    >>> two = Row("main", "COBRA", "iris", 25, 0, queries=27, seconds=2.0)
    >>> differences(one, two)
    {'queries': (26, 27)}
    """
    before, after = asdict(old), asdict(new)
    return {
        name: (value, after[name])
        for name, value in before.items()
        if name not in NOT_REPRODUCIBLE and not _alike(name, value, after[name])
    }


def _alike(name: str, old: object, new: object) -> bool:
    if name == "curve" and old and new:
        flat = [[x for point in json.loads(str(text)) for x in point] for text in (old, new)]
        return len(flat[0]) == len(flat[1]) and all(map(_near, *flat))
    return _near(old, new)


def _near(old: object, new: object) -> bool:
    if isinstance(old, float) and isinstance(new, float):
        return abs(old - new) <= TOLERANCE
    return old == new
