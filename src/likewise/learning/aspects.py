"""Aspects: named blocks of columns, such as the content and the layout of pictures.

People group by one aspect or another, and only their answers tell. Kernels compare all aspects side
by side, or one alone; those that predict left-out known rows best vote
(`likewise.learning.voters`). An aspect weighs as much as the kernels that see it; the weight of
kernels that see all aspects is divided among these. The distances of the rule, and other voters,
use the same weights. This module says which columns belong to which aspect;
`likewise.learning.views` says what rows look like by aspect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import is_whole
from likewise.errors import InputError
from likewise.words import check_text, did_you_mean

PREFIX = "prefix"
"""What stands for aspects that the names of columns say."""

Columns = NDArray[np.intp]


def find_columns(
    aspects: Any, n_columns: int, names: Sequence[str] | None = None
) -> dict[str, Columns]:
    """Return the columns of each aspect, as numbers.

    Parameters
    ----------
    aspects : mapping, "prefix" or None
        A slice, column numbers or column names for each aspect; empty ones are passed over. With
        "prefix" the names of columns say it, as in ``num__age``.
    n_columns : int
        How many columns there are.
    names : sequence of str, optional
        The names of the columns.
    """
    if aspects is None:
        return {}
    if aspects == PREFIX:
        aspects = _by_prefix(names)
    found = {}
    for name, wanted in aspects.items():
        if isinstance(wanted, slice):
            columns = np.arange(n_columns)[wanted]
        else:
            columns = np.asarray(_numbered(name, wanted, names), dtype=object)
            if columns.ndim != 1 or not all(is_whole(column) for column in columns):
                raise InputError(
                    f"the aspect {name!r} must have a slice, column numbers or column names, got "
                    f"{wanted!r}"
                )
        if len(columns):
            found[check_text(name, "the name of an aspect")] = columns.astype(np.intp)
    return checked_columns(found, n_columns)


def check_aspects(aspects: Any) -> None:
    """Refuse what does not name aspects."""
    if aspects is None or (isinstance(aspects, str) and aspects == PREFIX):
        return
    if not isinstance(aspects, Mapping) or not aspects:
        raise InputError(
            f"aspects must be None, {PREFIX!r}, or say which columns belong to each, as "
            f"{{'size': ['width', 'height'], 'color': slice(2, 5)}}, got {aspects!r}"
        )


def _by_prefix(names: Sequence[str] | None) -> dict[str, list[str]]:
    """Return the names of columns by what stands before two underscores."""
    if names is None:
        raise InputError(
            f"aspects={PREFIX!r} needs columns with names such as num__age: a ColumnTransformer "
            "gives them after set_output(transform='pandas')"
        )
    found: dict[str, list[str]] = {}
    for name in names:
        prefix, mark, _ = str(name).partition("__")
        if not mark:
            raise InputError(
                f"aspects={PREFIX!r} takes columns with names such as num__age, and there is "
                f"{name!r}: pass aspects={{...}} with the columns of each aspect"
            )
        found.setdefault(prefix, []).append(name)
    return found


def _numbered(aspect: str, wanted: Any, names: Sequence[str] | None) -> Any:
    """Return column numbers in place of column names."""
    wanted = [wanted] if isinstance(wanted, str) else wanted
    try:
        is_named = [isinstance(column, str) for column in wanted]
    except TypeError:
        return wanted
    if not any(is_named):
        return list(wanted)
    if names is None:
        raise InputError(
            f"the aspect {aspect!r} has names of columns, but the columns of X have none: pass a "
            "data frame, or column numbers"
        )
    places = {name: place for place, name in enumerate(names)}
    for column in wanted:
        if column not in places:
            hint = did_you_mean(str(column), map(str, places))
            raise InputError(
                f"the aspect {aspect!r} has {column!r}, which is no column of X.{hint}"
            )
    return [places[column] for column in wanted]


def checked_columns(aspects: Mapping[str, Any], n_columns: int) -> dict[str, Columns]:
    """Return the columns of aspects as numbers; refuse some that are in no aspect, or in two."""
    checked = {name: np.asarray(columns, dtype=np.intp) for name, columns in aspects.items()}
    if not checked:
        return {}
    owner: dict[int, str] = {}
    for name, columns in checked.items():
        if columns.ndim != 1 or not len(columns):
            raise InputError(f"the aspect {name!r} has no columns")
        for column in columns.tolist():
            if not 0 <= column < n_columns:
                raise InputError(
                    f"the aspect {name!r} has column {column}, but there are only columns 0 to "
                    f"{n_columns - 1}"
                )
            if column in owner:
                both = f"{owner[column]!r} and {name!r}"
                both = f"{name!r} twice" if owner[column] == name else f"the aspects {both}"
                raise InputError(f"column {column} is in {both}: name it once")
            owner[column] = name
    missing = [column for column in range(n_columns) if column not in owner]
    if missing:
        raise InputError(
            f"column {missing[0]} is in no aspect: add it to one, or leave it out of the rows"
        )
    return checked
