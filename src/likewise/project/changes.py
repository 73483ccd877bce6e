"""What has happened to the items since a project was made, item by item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from likewise.items import Features, Problem


@dataclass(frozen=True, slots=True)
class Changes:
    """The difference between the items of a project and those there are now, as ids.

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


def aligned(features: Features, where: Sequence[int | None]) -> Features:
    """Return the features in the order of the session's rows; rows that are gone get the mean."""
    if list(where) == list(range(len(features.X))):
        return features
    here = np.array([k for k, place in enumerate(where) if place is not None], dtype=np.intp)
    places = np.array([place for place in where if place is not None], dtype=np.intp)
    gone = [k for k, place in enumerate(where) if place is None]
    if features.metric == "precomputed":
        X = np.full((len(where), len(where)), float(features.X.mean()))
        np.fill_diagonal(X, 0.0)
        X[np.ix_(here, here)] = features.X[np.ix_(places, places)]
    else:
        X = np.tile(features.X[places].mean(axis=0), (len(where), 1)).astype(features.X.dtype)
        X[here] = features.X[places]
    back = {place: k for k, place in enumerate(where) if place is not None}
    problems = [Problem(back[p.item], p.message) for p in features.problems if p.item in back]
    problems += [Problem(k, "it is not there any more") for k in gone]
    return Features(X, features.description, features.metric, features.notes, tuple(problems))
