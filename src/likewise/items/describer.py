"""Features of new things, made as those of the items that a model learned from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError
from likewise.items.items import Items
from likewise.items.tablefiles import is_frame


@dataclass(frozen=True)
class Describer:
    """What describes new things of a kind: small, without items, so that it can be pickled."""

    kind: str
    options: Mapping[str, Any]
    learned: Mapping[str, Any] | None
    has_given_features: bool

    def takes(self, source: Any) -> bool:
        """Whether this is to be described; rows of numbers are features already."""
        if isinstance(source, Items | str | os.PathLike) or is_frame(source):
            return True
        if not isinstance(source, list | tuple | np.ndarray) or not len(source):
            return False
        is_row = isinstance(source[0], list | tuple | np.ndarray) and np.ndim(source[0]) == 1
        return not is_row or self.kind == "series"

    def __call__(self, source: Any) -> NDArray[Any]:
        """Return one row of features for each thing in a source, of the same kind."""
        if self.has_given_features:
            raise InputError(
                f"new {self.kind} cannot be described: the features of these items were given. "
                "Pass features of the new ones, an array"
            )
        items = source if isinstance(source, Items) else self._opened(source)
        if items.kind != self.kind:
            raise InputError(f"these are {items.kind}, but the model was fitted on {self.kind}")
        features = items._make_features_like(self.learned)
        for problem in (*features.problems, *items.problems):
            if items.has_pictures and problem.item is not None:
                raise InputError(f"a picture cannot be read, leave it out: {problem.message}")
        return np.asarray(features.X)

    def _opened(self, source: Any) -> Items:
        from likewise.items.kinds import open_items  # which needs `items`
        from likewise.items.memory import from_memory

        if not is_frame(source) and not isinstance(source, str | os.PathLike):
            kind = self.kind if self.kind in ("images", "texts", "series") else None
            cache, white = self.options.get("cache", True), self.options.get("white")
            return from_memory(source, kind, cache, white)
        # Rows and texts are described without their ids and without what is only shown.
        unused = {"white"} if self.kind == "series" else {"white", "id", "show"}
        options = {name: value for name, value in self.options.items() if name not in unused}
        return open_items(source, kind=self.kind, **options)
