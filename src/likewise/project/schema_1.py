"""Entries of project files as a session takes them, also those of the first schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from likewise.core.journal import upgraded_entry
from likewise.core.partition import SuperInstances
from likewise.core.strategy import Strategy
from likewise.errors import SessionFileError
from likewise.project.store import Stored

Load = Callable[[str], tuple[Any, Strategy]]


def understood(entries: Sequence[Stored], load: Load) -> Iterator[tuple[Stored, dict[str, Any]]]:
    """Yield the entries with what `Session.apply` takes.

    Parameters
    ----------
    entries : sequence of Stored
        Entries of the log, in order.
    load : callable
        Returns a payload by its name, and the strategy that the session has by then.
    """
    last_deed = max((e.seq for e in entries if e.is_old and e.op.get("do") != "check"), default=0)
    for entry in entries:
        try:
            if entry.is_old and entry.op["do"] == "check" and entry.seq < last_deed:
                continue  # what came after it made it void, and undoing passed it over
            yield entry, _understood(entry, load)
        except (KeyError, TypeError) as error:
            raise SessionFileError(
                f"the log has an entry that cannot be read: {entry.op}"
            ) from error


def _understood(entry: Stored, load: Load) -> dict[str, Any]:
    op = entry.op
    if op["do"] == "rebuild":
        return {**op, "strategy": load(op["strategy"]["payload"])[0]}
    if not entry.is_old:
        return op
    if op["do"] == "setup":
        payload, now = load(op["payload"])
        rebuilt = {"do": "rebuild", "why": op["why"], "ask": op.get("ask")}
        return {**rebuilt, "strategy": _strategy(payload["strategy"], now)}
    return upgraded_entry(op)


def _strategy(plain: dict[str, Any], now: Strategy) -> dict[str, Any]:
    """Return the strategy of an old entry.

    Where wrong answers are expected, the first release stored a strategy that takes every answer
    for true, and the file could not be opened again. What was meant is the same kind as before.
    """
    if not now.weighs_answers:
        return plain
    partition = SuperInstances.from_dict(plain["partition"])
    askable = partition.representatives[np.asarray(plain["askable"], dtype=np.intp)]
    meant = now.on(partition, askable=askable)
    return {"name": meant.name, **meant.to_dict()}
