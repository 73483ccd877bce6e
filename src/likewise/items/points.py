"""Bare features: the only thing to show of an item is its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from likewise.items.arrays import ARRAY_SUFFIXES, check_features, read_array
from likewise.items.cache import FeatureCache
from likewise.items.items import Features, Items, OnProgress, check_ids, digest
from likewise.words import plural

MOST_SHOWN = 50
"""How many numbers of an item are shown."""


class PointItems(Items):
    """Rows of a numeric array; the first 50 numbers are shown."""

    kind = "points"
    noun = "row"

    def __init__(self, path: Path) -> None:
        X, ids = read_array(path)
        self._X = check_features(X, str(path))
        if ids is None:
            ids = [str(i) for i in range(len(X))]
        else:
            check_ids(ids, str(path))
        super().__init__(path, ids)

    @classmethod
    def recognizes(cls, source: Any, options: Mapping[str, Any]) -> bool:
        """Whether this is an .npy or .npz file."""
        return isinstance(source, Path) and source.suffix.lower() in ARRAY_SUFFIXES

    @classmethod
    def open(cls, source: Path, *, cache: FeatureCache) -> Self:
        """Read an array."""
        return cls(source)

    def title(self, i: int) -> str:
        """Return the item's id."""
        return self.ids[i]

    def view(self, i: int) -> dict[str, Any]:
        """Return the first features of item `i`, and where they lie between those of all others."""
        row = self._X[i]
        shown = [[f"feature {k}", f"{value:.6g}"] for k, value in enumerate(row[:MOST_SHOWN])]
        if len(row) > MOST_SHOWN:
            shown.append(["…", f"{len(row) - MOST_SHOWN} more"])
        low, width = self._range
        shares = (row[:MOST_SHOWN] - low) / width
        scales = {f"feature {k}": round(float(share), 4) for k, share in enumerate(shares)}
        return {"kind": self.kind, "fields": shown, "scales": scales}

    @cached_property
    def _range(self) -> tuple[np.ndarray, np.ndarray]:
        """The smallest values of the shown features, and how far the largest are from them."""
        shown = self._X[:, :MOST_SHOWN]
        low = shown.min(axis=0)
        width = shown.max(axis=0) - low
        return low, np.where(width > 0, width, 1)

    def content_hash(self, i: int) -> str:
        """Return a hash of the row."""
        return digest(str(self._X.dtype), self._X[i].tobytes())

    def _make_features(self, progress: OnProgress | None) -> Features:
        return Features(
            self._X, f"{plural(self._X.shape[1], 'feature')} from {self.source}, as they are"
        )
