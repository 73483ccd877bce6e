"""The distinct names in a column of a table; similar names may mean the same thing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from likewise.core.candidates import Candidates
from likewise.errors import InputError, needs_extra
from likewise.items.features import Aspect, Features
from likewise.items.fields import as_text, is_missing
from likewise.items.items import OnProgress, digest, shorten
from likewise.items.pairs import bounded
from likewise.items.tablefiles import READING, TableItems
from likewise.items.tables import Table
from likewise.words import plural

N_GRAMS = (2, 3)
"""Names are compared by runs of two and three characters within their words."""
MOST_ALIKE = 20
"""A name is a candidate with at most this many others."""
LEAST_ALIKE = 0.4
"""Names that are less similar are not candidates, unless another bound is given. Of the pairs of
spellings of 150 made-up companies, 98 % are more alike (.3: 99 %, .5: 92 %), and asking about 424
such names takes 439 choices (491, 345)."""
LEAST_APART = 1e-6
"""The least distance of names that differ in more than case and spaces."""
SURELY_SAME = 1.0 - LEAST_APART / 2
"""Names that are more similar than this are joined, unless another bound is given."""
DECIMALS = 9
"""Similarities are rounded to this many decimals, so that they are the same on every machine."""


class NameItems(TableItems):
    """The distinct texts of a column, the most frequent first, with how often each occurs.

    Names that differ only in case and spaces are joined without a question; the other candidates
    are those with the most alike runs of characters.
    """

    kind = "names"
    noun = "name"
    option = "names"
    options = ("names", "same_above", "different_below", *READING)

    def __init__(
        self,
        table: Table,
        names: str | None = None,
        same_above: float | None = None,
        different_below: float | None = None,
    ) -> None:
        names = table.only_column(names, "names")
        cells = [as_text(value).strip() for value in table.column(names) if not is_missing(value)]
        counts = Counter(cells)
        if len(counts) < 2:
            raise InputError(
                f"column {names!r} of {table.path} has {plural(len(counts), 'name')}; to compare "
                "names, at least 2 are needed"
            )
        notes = list(table.notes)
        if len(cells) < table.n:
            notes.append(f"{plural(table.n - len(cells), 'row')} without {names} left out")
        ids = sorted(counts, key=lambda name: (-counts[name], name))
        super().__init__(table, ids, notes=notes)
        self.counts = [counts[name] for name in ids]
        self._bounds = same_above, different_below

    @classmethod
    def require(cls, source: Path, options: Mapping[str, Any]) -> None:
        """Raise the error with the install command where the package for names is missing."""
        _require_comparing()

    def view(self, i: int) -> dict[str, Any]:
        """Return the name."""
        return {"kind": self.kind, "text": self.ids[i], "length": len(self.ids[i])}

    def heading(self, i: int) -> str:
        """Return how many rows have the name; the name itself is shown below."""
        return plural(self.counts[i], "row")

    def content_hash(self, i: int) -> str:
        """Return a hash of the name, not of how often it occurs."""
        return digest(self.ids[i])

    def columns(self) -> dict[str, Any]:
        """Return how many rows have each name."""
        return {"count": self.counts}

    def sum_up(self, members: Any) -> str:
        """Return the most frequent of the names."""
        return shorten(self.ids[min(members)])

    def aspects(self) -> list[Aspect]:
        """Return the spelling of the names."""
        return [Aspect("spelling", "runs of characters", {"of": digest(*self.ids)})]

    def compute(self, aspect: Aspect, progress: OnProgress | None = None) -> Features:
        """Return the most similar names as candidate pairs."""
        if aspect.recipe["of"] != digest(*self.ids):
            raise self.from_all_together()
        same_above, different_below = self._bounds
        why = "that differ only in case and spaces" if same_above is None else ""
        same_above = SURELY_SAME if same_above is None else same_above
        least = LEAST_ALIKE if different_below is None else different_below
        candidates = alike_names(self.ids, least)
        about = f"{plural(len(candidates.left), 'candidate pair')} by their runs of characters"
        made = bounded(candidates, 1.0, about, same_above, None, why=why)
        return replace(made, questions="choices")


def alike_names(names: Sequence[str], least: float = LEAST_ALIKE) -> Candidates:
    """Return the most similar names as candidates, by the cosine of their weighted n-grams.

    Names that differ only in case and spaces have distance 0, and no others.
    """
    _require_comparing()
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sparse_dot_topn import sp_matmul_topn

    plain = [" ".join(name.casefold().split()) for name in names]
    weights = TfidfVectorizer(analyzer="char_wb", ngram_range=N_GRAMS).fit_transform(plain)
    alike = sp_matmul_topn(weights, weights.T, MOST_ALIKE + 1, threshold=least).tocoo()
    is_pair = alike.row != alike.col  # in both orders, or in one: 20 others may be more alike
    left, right = alike.row[is_pair], alike.col[is_pair]
    _, number = np.unique(plain, return_inverse=True)
    distances = np.clip(1.0 - alike.data[is_pair], LEAST_APART, 1.0).round(DECIMALS)
    distances[number[left] == number[right]] = 0.0
    return Candidates.sorted(len(names), left, right, distances)


def _require_comparing() -> None:
    with needs_extra("comparing names", "names"):
        import sparse_dot_topn  # noqa: F401
