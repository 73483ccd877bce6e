"""Rows of a table, shown as fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from likewise.items.items import FIELD_LENGTH, Features, Items, Progress, check_ids, digest, shorten
from likewise.items.rowfeatures import row_features
from likewise.items.tables import Table, as_text


class RowItems(Items):
    """Rows of a table.

    ``view(i)`` is ``{"kind": "rows", "fields": [[name, text], ...]}``.
    """

    kind = "rows"

    def __init__(
        self,
        table: Table,
        *,
        id: str | None = None,
        columns: Sequence[str] | None = None,
        show: Sequence[str] | None = None,
    ) -> None:
        super().__init__(table.path, row_ids(table, id), notes=table.notes)
        self._table = table
        self._id = id
        self._columns = None if columns is None else list(columns)
        self._show = list(table.columns) if show is None else list(show)
        for name in (*(self._columns or ()), *self._show):
            table.column(name)
        self._hashed = sorted({*self._show, *(self._columns or table.columns)})
        self._named = repr(self._hashed)

    def title(self, i: int) -> str:
        """Return the id where there is an id column, else the first shown values."""
        if self._id is not None:
            return shorten(self.ids[i])
        cells = [as_text(self._table.columns[name][i]) for name in self._show[:3]]
        return shorten(" · ".join(cell for cell in cells if cell.strip())) or f"row {i}"

    def view(self, i: int) -> dict[str, Any]:
        """Return the shown fields of row `i`."""
        return {"kind": self.kind, "fields": fields(self._table, self._show, i)}

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the columns of the table, without the one that has the ids."""
        return {name: v for name, v in self._table.columns.items() if name != self._id}

    def content_hash(self, i: int) -> str:
        """Return a hash of the columns that are shown or used."""
        return self._hash(tuple(self._table.columns[name][i] for name in self._hashed))

    def content_hashes(self) -> dict[str, str]:
        """Return the content hash of every row by its id."""
        rows = zip(*(self._table.columns[name] for name in self._hashed), strict=True)
        return dict(zip(self.ids, map(self._hash, rows), strict=True))

    def _hash(self, row: tuple[Any, ...]) -> str:
        return digest(self._named, repr(row))

    def _make_features(self, progress: Progress | None) -> Features:  # noqa: ARG002
        # Not cached: to compute them takes no longer than to hash the table.
        return row_features(self._table, self._columns, [] if self._id is None else [self._id])


def row_ids(table: Table, column: str | None) -> list[str]:
    """Return the ids of the rows: a column's values, or numbers counting from 0."""
    if column is None:
        return [str(i) for i in range(table.n)]
    ids = [as_text(value).strip() for value in table.column(column)]
    check_ids(ids, f"{table.path}, column {column!r}")
    return ids


def fields(table: Table, names: Sequence[str], i: int) -> list[list[str]]:
    """Return the named cells of row `i` as pairs of name and text, long ones cut."""
    shown = []
    for name in names:
        text = as_text(table.columns[name][i])
        if len(text) > FIELD_LENGTH:
            text = f"{text[:FIELD_LENGTH]}… ({len(text)} characters)"
        shown.append([name, text])
    return shown
