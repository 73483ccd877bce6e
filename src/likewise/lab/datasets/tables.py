"""The UCI tables: reading them from CSV and the two ways of preprocessing them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import DatasetError
from likewise.words import plural


@dataclass(frozen=True, eq=False)
class Table:
    """Rows as they came: numbers (NaN is a missing value) and the label of each row as text."""

    columns: tuple[str, ...]
    values: NDArray[np.float64]
    labels: tuple[str, ...]

    def facts(self) -> dict[str, Any]:
        """Return what is checked against the committed table of expectations."""
        digest = sha256("\n".join(self.labels).encode())
        # One NaN, no minus zero and one byte order, so that equal values have equal bytes.
        values = np.where(np.isnan(self.values), np.nan, self.values + 0.0)
        digest.update(np.ascontiguousarray(values, dtype="<f8").tobytes())
        return {
            "rows": self.values.shape[0],
            "features": self.values.shape[1],
            "columns": list(self.columns),
            "classes": dict(sorted(Counter(self.labels).items())),
            "digest": digest.hexdigest(),
        }


def read_table(path: Path) -> Table:
    """Read a CSV with a header and the label in the last column; empty cells are missing."""
    header, *lines = path.read_text(encoding="utf-8").splitlines() or [""]
    columns = header.split(",")
    if columns[-1] != "target":
        raise DatasetError(f"{path} has no header that ends with 'target'; get the file again.")
    rows = [line.split(",") for line in lines]
    for number, row in enumerate(rows, start=2):
        if len(row) != len(columns):
            raise DatasetError(
                f"{path}, line {number}: {plural(len(row), 'cell')} instead of {len(columns)}; "
                "get the file again."
            )
    if not rows:
        raise DatasetError(f"{path} has no rows; get the file again.")
    try:
        values = np.array([[float(cell or "nan") for cell in row[:-1]] for row in rows])
    except ValueError as error:
        raise DatasetError(f"{path}: {error}; get the file again.") from error
    return Table(tuple(columns[:-1]), values, tuple(row[-1] for row in rows))


def table_bytes(columns: list[str], rows: list[list[str]]) -> bytes:
    """Return the CSV of rows whose last cell is the label."""
    lines = [",".join(row) for row in ([*columns, "target"], *rows)]
    return ("\n".join(lines) + "\n").encode()


def differences(facts: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """Say in words how two descriptions differ; name the digest only if nothing else differs."""
    words = [
        f"{facts[what]} {what} instead of {expected[what]}"
        for what in ("rows", "features")
        if what in expected and facts[what] != expected[what]
    ]
    ours, theirs = facts["classes"], expected["classes"]
    words += [
        f"class {label!r} has {ours.get(label, 0)} rows instead of {theirs.get(label, 0)}"
        for label in sorted({*ours, *theirs})
        if ours.get(label) != theirs.get(label)
    ]
    if not words and facts.get("columns") != expected.get("columns"):
        words = [f"columns {facts['columns']} instead of {expected['columns']}"]
    if not words and facts["digest"] != expected["digest"]:
        words = [
            f"values or row order (digest {facts['digest'][:12]} instead of "
            f"{expected['digest'][:12]}; rows, features and classes agree)"
        ]
    return words


def check(where: str, facts: dict[str, Any], expected: dict[str, Any]) -> None:
    """Raise unless the facts of a file are those expected."""
    if words := differences(facts, expected):
        raise DatasetError(
            f"{where} is not the data that the paper used: {'; '.join(words)}. "
            "Get the original file again, for example by `likewise data fetch`."
        )


def preprocess(
    table: Table,
    *,
    drop: tuple[str, ...] = (),
    pick: tuple[str, ...] = (),
    authors: bool,
) -> tuple[NDArray[np.float64], tuple[str, ...], NDArray[np.int64]]:
    """Drop incomplete rows, duplicates and useless columns, scale to [0, 1]; return which rows."""
    # The authors also left out columns in which no value occurs twice, and picked rows last; the
    # text of the paper does not say so.
    keep = [j for j, column in enumerate(table.columns) if column not in drop]
    # Adding zero turns -0.0 into 0.0, so that equal rows have equal bytes.
    values = table.values[:, keep] + 0.0
    picked = np.array([not pick or label in pick for label in table.labels])
    rows = np.flatnonzero(~np.isnan(values).any(axis=1) & (picked | authors))
    first = np.unique(values[rows], axis=0, return_index=True)[1]
    rows = rows[np.sort(first)]
    values = values[rows]

    low, high = values.min(axis=0), values.max(axis=0)
    wanted = high > low
    if authors:
        ordered = np.sort(values, axis=0)
        wanted &= (ordered[1:] == ordered[:-1]).any(axis=0)
    scaled = (values[:, wanted] - low[wanted]) / (high - low)[wanted]
    last = picked[rows]
    rows = rows[last]
    return scaled[last], tuple(table.labels[i] for i in rows), rows


def encode(labels: tuple[str, ...]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return the labels as indices into their sorted names; numbers sort as numbers."""
    names = sorted(set(labels), key=lambda name: (float(name) if name.isdigit() else 0.0, name))
    index = {name: code for code, name in enumerate(names)}
    return np.array([index[label] for label in labels], dtype=np.int64), tuple(names)
