"""Rows that join a session, leave it or come back, and the strategy afterwards."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likewise.core.answers import checked_rows
from likewise.core.journal import Grown, Rebuilt
from likewise.core.strategy import STRATEGIES, Strategy
from likewise.errors import InputError, SessionFileError
from likewise.inputs import index_ids, refuse_rows
from likewise.words import check_text, plural


def checked_growth(
    X_new: Any, ids: Any, train_indices: Any, n_rows: int, *, removed: Any, returned: Any, gone: Any
) -> Grown:
    """Return the log entry for rows that join `n_rows` others, leave or come back; check them."""
    rows = np.empty((0, 0)) if X_new is None else _matrix(X_new)
    ids = None if ids is None else _plain_ids(ids)
    is_all = train_indices is None
    asked = range(len(rows)) if is_all else _numbers(train_indices, "train_indices", len(rows))
    unasked = sorted(set(range(len(rows))).difference(asked))
    leaving = set(_numbers(removed, "removed", n_rows))
    back = set(_numbers(returned, "returned", n_rows))
    for row in leaving & gone:
        raise InputError(f"row {row} was removed before")
    for row in back - gone:
        raise InputError(f"row {row} cannot return: it was not removed")
    if len(gone) + len(leaving) - len(back) == n_rows + len(rows):
        raise InputError("no row would be left")
    new = tuple(n_rows + k for k in unasked)
    return Grown(rows, ids, new, tuple(sorted(leaving)), tuple(sorted(back)))


@dataclass(frozen=True)
class Shape:
    """What a session is about: its strategy, and the ids of its rows if they have any."""

    strategy: Strategy
    ids: tuple[Hashable, ...] | None

    def after(
        self, entry: Rebuilt | Grown, removed: frozenset[int], made: Strategy | None = None
    ) -> Shape:
        """Return the shape after growth or a change of the strategy; refuse what does not fit.

        Parameters
        ----------
        entry : Rebuilt or Grown
            The entry of the log.
        removed : frozenset of int
            The rows that are gone before it. Their ids may be used again.
        made : Strategy, optional
            The strategy that a `Rebuilt` writes down, where it is at hand.
        """
        if isinstance(entry, Grown):
            gone = (removed - set(entry.returned)) | set(entry.removed)
            return Shape(_grown_by(self.strategy, entry), self._ids_after(entry, gone))
        strategy = loaded_strategy(entry.strategy) if made is None else made
        if strategy.n_rows != self.strategy.n_rows:
            raise InputError(
                f"the strategy is about {plural(strategy.n_rows, 'row')}, but the session has "
                f"{self.strategy.n_rows}"
            )
        return Shape(strategy, self.ids)

    def _ids_after(self, entry: Grown, gone: frozenset[int]) -> tuple[Hashable, ...] | None:
        if self.ids is None:
            if entry.ids is not None:
                raise InputError("the rows of this session have no ids: leave out sample_ids")
            return None
        n_new = len(entry.rows)
        taken = {name for row, name in enumerate(self.ids) if row not in gone}
        new = checked_ids(entry.ids or (), n_new, f"{plural(n_new, 'row')} join", taken)
        return self.ids + new


def next_ids(ids: Sequence[Hashable], X_new: Any) -> Sequence[Hashable] | None:
    """Return ids for new rows: the next numbers, or those of their index."""
    if tuple(ids) == tuple(range(len(ids))):
        return range(len(ids), len(ids) + len(X_new))
    return index_ids(X_new)


def checked_ids(
    ids: Any, n_rows: int, why: str, taken: Collection[Hashable] = ()
) -> tuple[Hashable, ...]:
    """Return the ids of this many rows; refuse an id that occurs twice or is `taken`."""
    plain = _plain_ids(ids)
    if len(plain) != n_rows:
        raise InputError(
            f"sample_ids has {plural(len(plain), 'entry')}, but {why}: pass one id per row"
        )
    seen = set(taken)
    for i in plain:
        if isinstance(i, str):
            check_text(i, "an id", in_lines=True)
        try:
            is_twice = i in seen
        except TypeError:
            raise InputError(f"sample_ids must be numbers, texts or tuples, got {i!r}") from None
        if is_twice:
            raise InputError(f"sample_ids must be unique, but {i!r} occurs more than once")
        seen.add(i)
    return plain


def loaded_strategy(plain: Mapping[str, Any]) -> Strategy:
    """Return the strategy of a saved session, if it is known here."""
    name = plain["name"]
    if name not in STRATEGIES:
        raise SessionFileError(
            f"the session uses the strategy {name!r}, which is not known here; known are "
            f"{', '.join(sorted(STRATEGIES.names))}. If it is one of your own, import its module "
            "first; on the command line, use --strategy package.module:Class."
        )
    try:
        return STRATEGIES.known(name).load(plain)
    except SessionFileError:
        raise
    except KeyError as error:
        raise SessionFileError(f"the saved strategy {name!r} has no {error}") from error
    except (InputError, LookupError, TypeError, ValueError, ArithmeticError) as error:
        raise SessionFileError(f"the saved strategy {name!r} is damaged: {error}") from error


def _grown_by(strategy: Strategy, entry: Grown) -> Strategy:
    """Return a strategy with the rows of an entry."""
    points = strategy.partition.points
    n_features = None if points is None else points.shape[1]
    if len(entry.rows) and n_features not in (None, entry.rows.shape[1]):
        raise InputError(
            f"X_new has {plural(entry.rows.shape[1], 'column')}, but the rows of the session have "
            f"{n_features}. Make its features as those of the first rows were made."
        )
    return strategy.grown(entry.rows, frozenset(entry.unasked))


def _matrix(X: ArrayLike) -> NDArray[Any]:
    refuse_rows(X)
    try:
        rows = np.asarray(X)
        rows = rows if rows.dtype == np.float32 else rows.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"X_new must be rows of numbers: {error}") from error
    refuse_rows(rows)  # the values of a tensor, say, which were not looked at before
    if rows.ndim != 2:
        raise InputError(f"X_new must have rows and columns, got an array of shape {rows.shape}")
    return rows


def _plain_ids(ids: Any) -> tuple[Any, ...]:
    values = _listed(ids, "sample_ids must be a list of one id per row")
    return tuple(i.item() if isinstance(i, np.generic) else i for i in values)


def _numbers(rows: Any, name: str, n_rows: int) -> list[int]:
    listed = _listed(rows, f"{name} must be a list of row numbers")
    return checked_rows(listed, n_rows, f"{name}: ")


def _listed(values: Any, rule: str) -> list[Any]:
    try:
        return list(values)
    except TypeError:
        raise InputError(f"{rule}, got {values!r}") from None
