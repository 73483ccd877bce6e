"""Bare features: all there is to see of an item is its numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from likewise.items.given import check_features, read_array
from likewise.items.items import Features, Items, Progress, check_ids, digest

MOST_SHOWN = 50


class PointItems(Items):
    """Rows of a numeric array.

    ``view(i)`` is ``{"kind": "points", "fields": [[name, text], ...]}``.
    """

    kind = "points"

    def __init__(self, path: Path) -> None:
        X, ids = read_array(path)
        self._X = check_features(X, str(path))
        if ids is None:
            ids = [str(i) for i in range(len(X))]
        else:
            check_ids(ids, str(path))
        super().__init__(path, ids)

    def title(self, i: int) -> str:
        """Return the item's id."""
        return self.ids[i]

    def view(self, i: int) -> dict[str, Any]:
        """Return the first features of item `i`."""
        row = self._X[i]
        shown = [[f"feature {k}", f"{value:.6g}"] for k, value in enumerate(row[:MOST_SHOWN])]
        if len(row) > MOST_SHOWN:
            shown.append(["…", f"{len(row) - MOST_SHOWN} more"])
        return {"kind": self.kind, "fields": shown}

    def content_hash(self, i: int) -> str:
        """Return a hash of the row."""
        return digest(str(self._X.dtype), self._X[i].tobytes())

    def _make_features(self, progress: Progress | None) -> Features:  # noqa: ARG002
        return Features(self._X, f"{self._X.shape[1]} features from {self.source}, as they are")
