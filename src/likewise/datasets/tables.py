"""The UCI tables: reading them from CSV and the two ways of preprocessing them."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import DatasetError


@dataclass(frozen=True, eq=False)
class Table:
    """Rows as they came: numbers (NaN is a missing value) and the label of each row as text."""

    columns: tuple[str, ...]
    values: NDArray[np.float64]
    labels: tuple[str, ...]

    def facts(self) -> dict[str, Any]:
        """Return what is checked against the committed table of expectations."""
        from hashlib import sha256

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


@dataclass(frozen=True, eq=False)
class Preprocessed:
    """Features and labels after preprocessing, with the rows of the table that they come from."""

    values: NDArray[np.float64]
    labels: tuple[str, ...]
    rows: NDArray[np.int64]


def read_table(path: Path) -> Table:
    """Read a CSV with a header and the label in the last column; empty cells are missing."""
    with path.open(newline="", encoding="utf-8") as file:
        return parse_rows(csv.reader(file), str(path))


def parse_rows(lines: Any, where: str) -> Table:
    """Turn rows of text, the header first and the label last, into a table."""
    rows = list(lines)
    if not rows or rows[0][-1:] != ["target"]:
        raise DatasetError(f"{where} has no header that ends with 'target'; get the file again.")
    width = len(rows[0])
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            raise DatasetError(
                f"{where}, line {number}: {len(row)} cells instead of {width}; get the file again."
            )
    try:
        values = [[float(cell or "nan") for cell in row[:-1]] for row in rows[1:]]
    except ValueError as error:
        raise DatasetError(f"{where}: {error}; get the file again.") from error
    return Table(
        columns=tuple(rows[0][:-1]),
        values=np.array(values, dtype=np.float64).reshape(len(values), width - 1),
        labels=tuple(row[-1] for row in rows[1:]),
    )


def table_bytes(columns: list[str], rows: list[list[str]]) -> bytes:
    """Return the CSV of rows whose last cell is the label."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*columns, "target"])
    writer.writerows(rows)
    return text.getvalue().encode()


def differences(found: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """Say in words in what two descriptions differ, the digest only when nothing else does."""
    says = [
        f"{found[what]} {what} instead of {expected[what]}"
        for what in ("rows", "features")
        if what in expected and found[what] != expected[what]
    ]
    if found["classes"] != expected["classes"]:
        says += [
            f"class {label!r} has {found['classes'].get(label, 0)} rows instead of "
            f"{expected['classes'].get(label, 0)}"
            for label in sorted({*found["classes"], *expected["classes"]})
            if found["classes"].get(label) != expected["classes"].get(label)
        ]
    if not says and found.get("columns") != expected.get("columns"):
        says = [f"columns {found['columns']} instead of {expected['columns']}"]
    if not says and found["digest"] != expected["digest"]:
        says = [
            f"values or row order (digest {found['digest'][:12]} instead of "
            f"{expected['digest'][:12]}; rows, features and classes agree)"
        ]
    return says


def check(where: str, found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Raise unless what was found is what is expected."""
    if says := differences(found, expected):
        raise DatasetError(
            f"{where} is not the data that the paper used: {'; '.join(says)}. "
            "Get the original file again, for example by `likewise data fetch`."
        )


def preprocess(
    table: Table,
    *,
    drop: tuple[str, ...] = (),
    pick: tuple[str, ...] = (),
    authors: bool,
) -> Preprocessed:
    """Drop incomplete and duplicate rows and uninformative columns, then scale to [0, 1].

    Parameters
    ----------
    table : Table
    drop : tuple of str
        Columns that are left out before anything else.
    pick : tuple of str
        The labels whose rows are taken; none means all.
    authors : bool
        Whether to do what the authors did and the paper's text does not say: leave out columns in
        which no value occurs twice, and pick rows last, so that they are scaled with all others.

    Returns
    -------
    Preprocessed

    Notes
    -----
    Duplicates are rows with equal features, whatever their labels; the first one stays. A constant
    column cannot be scaled and changes no distance, so it is left out.
    """
    keep = [j for j, column in enumerate(table.columns) if column not in drop]
    values = table.values[:, keep] + 0.0
    picked = np.array([not pick or label in pick for label in table.labels])
    rows = np.flatnonzero(~np.isnan(values).any(axis=1) & (picked | authors))
    _, first = np.unique(values[rows], axis=0, return_index=True)
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
    return Preprocessed(scaled[last], tuple(table.labels[i] for i in rows), rows.astype(np.int64))


def encode(labels: tuple[str, ...]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return the labels as indices into their sorted names; numbers sort as numbers."""
    names = sorted(set(labels), key=lambda name: (float(name) if name.isdigit() else 0.0, name))
    index = {name: code for code, name in enumerate(names)}
    return np.array([index[label] for label in labels], dtype=np.int64), tuple(names)
