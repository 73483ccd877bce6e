"""Candidate pairs with scores, as Splink, dedupe and other tools for record linkage write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.candidates import Candidates
from likewise.errors import InputError
from likewise.items.features import Features
from likewise.items.fields import as_text
from likewise.items.items import shorten
from likewise.items.points import opened_arrays
from likewise.items.tablefiles import PARQUET_SUFFIXES, parquet_columns, read_table
from likewise.rows.candidates import joined
from likewise.words import plural

RECOGNIZED = (
    ("unique_id_l", "unique_id_r", "match_probability"),
    ("left", "right", "score"),
    ("id_1", "id_2", "score"),
)
"""Columns of pairs that need not be named: those of Splink, our own, and those of others."""

AUTO = "auto"
"""Find the columns by their names."""


def read_candidates(
    path: Path,
    columns: Sequence[str] | str,
    ids: Sequence[str],
    same_above: float | None = None,
    different_below: float | None = None,
) -> Features:
    """Return the pairs in a file as candidates among items, the most similar first.

    A pair of an item and itself is left out. Of a pair that is listed several times the best score
    counts. Pairs with a score above `same_above` are joined, and those below
    `different_below` are left out.
    """
    left, right, scores = _read(path, columns)
    place = {name: k for k, name in enumerate(ids)}
    one, other = (_places(path, side, place) for side in (left, right))
    is_bad = ~np.isfinite(scores)
    if is_bad.any():
        k = int(np.flatnonzero(is_bad)[0])
        raise InputError(
            f"{path}, pair {k + 1} ({ids[one[k]]!r} and {ids[other[k]]!r}) has the score "
            f"{scores[k]}, as {plural(int(is_bad.sum()) - 1, 'other pair')}. Scores are finite "
            "numbers, higher for more alike: fill them in, or leave out these pairs."
        )
    notes = []
    if n_self := int((one == other).sum()):
        notes.append(f"{plural(n_self, 'pair')} of an item and itself left out")
    is_pair = one != other
    top = float(np.max(scores, initial=1.0))  # so that the distance of a probability p is 1 - p
    candidates = Candidates.sorted(len(ids), one[is_pair], other[is_pair], top - scores[is_pair])
    if n_twice := int(is_pair.sum()) - len(candidates.left):
        notes.append(f"{plural(n_twice, 'pair')} listed again: the best score counts")
    about = f"{plural(len(candidates.left), 'candidate pair')} from {path}"
    return bounded(candidates, top, about, same_above, different_below, notes)


def bounded(
    candidates: Candidates,
    top: float,
    about: str,
    same_above: float | None,
    different_below: float | None,
    notes: Sequence[str] = (),
    why: str = "",
) -> Features:
    """Return candidates as features; very high and very low scores need no question.

    A score is `top` minus the distance. One above `same_above` joins two items, one below
    `different_below` is no candidate. `why` says in words what joins items.
    """
    lines, scores = list(notes), top - candidates.distances
    is_same = scores > (np.inf if same_above is None else same_above)
    if different_below is not None:
        is_kept = scores >= different_below
        lines.append(f"{plural(int((~is_kept).sum()), 'pair')} below {different_below} left out")
        candidates, is_same = candidates.where(is_kept), is_same[is_kept]
    partition = None
    if same_above is not None:
        candidates, partition = joined(candidates, is_same)
        n_joined = candidates.n_rows - partition.n_super_instances
        lines.append(
            f"{plural(n_joined, 'item')} joined with others {why or f'above {same_above}'}"
        )
    return Features(candidates, about, "precomputed", tuple(lines), partition=partition)


Ids = tuple[NDArray[Any], Sequence[Any]]
"""A column of ids: for every pair a place among the distinct ids, and these ids."""


def _read(path: Path, columns: Sequence[str] | str) -> tuple[Ids, Ids, NDArray[np.float64]]:
    """Return the ids of both items and the score of every pair."""
    suffix = path.suffix.lower()
    if suffix == ".npy":
        with opened_arrays(path) as arrays:
            pairs: Any = arrays["X"]
        if set(pairs.dtype.names or ()) != {"pairs", "score"} or pairs["pairs"].ndim != 2:
            raise InputError(
                f"{path} has no pairs with scores. Save what dedupe's score(pairs) returns, an "
                "array with the fields pairs and score, by numpy.save."
            )
        places = [np.unique(side, return_inverse=True)[::-1] for side in pairs["pairs"].T]
        return *places, pairs["score"].astype(np.float64)
    if suffix in PARQUET_SUFFIXES:
        left, right, scores = parquet_columns(path, partial(named, path, columns))
        if not str(scores.type).startswith(("float", "double", "int", "decimal", "halffloat")):
            raise InputError(f"{path}: the scores are {scores.type}, not numbers")
        one, other = (
            (side.indices.fill_null(-1).to_numpy(), [*side.dictionary.to_pylist(), None])
            for side in (left.dictionary_encode(), right.dictionary_encode())
        )
        return one, other, np.asarray(scores.cast("float64").to_numpy(zero_copy_only=False))
    table = read_table(path, header=True)
    a, b, score = named(path, columns, list(table.columns))
    numbers = table.needed_numbers(score, "scores are numbers, higher for more alike")
    order = np.arange(table.n)
    return (order, table.column(a)), (order, table.column(b)), numbers


def named(path: Path, columns: Sequence[str] | str, names: Sequence[str]) -> Sequence[str]:
    """Return the columns of two ids and a score: as named, or those that are recognized."""
    if columns == AUTO:
        three = next((three for three in RECOGNIZED if set(three) <= set(names)), None)
        if three is None:
            known = "; ".join(", ".join(three) for three in RECOGNIZED)
            raise InputError(
                f"{path} has the columns {', '.join(names)}. Name those of the two ids and the "
                f"score, as --pairs LEFT,RIGHT,SCORE. Known without a name are {known}."
            )
        return three
    if isinstance(columns, str) or len(columns) != 3:
        raise InputError(
            f"--pairs takes three columns, two of ids and one of scores, got {columns!r}"
        )
    for name in columns:
        if name not in names:
            raise InputError(f"{path} has no column {name!r}; it has {', '.join(names)}")
    return columns


def _places(path: Path, side: Ids, place: Mapping[str, int]) -> NDArray[np.intp]:
    """Return the position of each id among the items."""
    codes, values = side
    names = [as_text(v.item() if isinstance(v, np.generic) else v).strip() for v in values]
    places = np.array([place.get(name, -1) for name in names], dtype=np.intp)[codes]
    if len(lost := np.flatnonzero(places < 0)):
        first = names[codes[lost[0]]]
        raise InputError(
            f"{path}, pair {lost[0] + 1}: there is no item {shorten(first)!r} (nor those of "
            f"{plural(len(lost) - 1, 'other pair')}). Items are called "
            f"{', '.join(map(repr, list(place)[:3]))}, ...; --id COLUMN names the column of "
            "--items that has their ids."
        )
    return places
