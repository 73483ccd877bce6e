"""What every kind of items has in common."""

from __future__ import annotations

import copy
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from likewise.errors import InputError

Kind = Literal["images", "texts", "rows", "series", "points"]

Progress = Callable[[int, int], object]

TITLE_LENGTH = 80
FIELD_LENGTH = 2_000
"""A cell is cut here for showing, so that one huge value does not stop the page."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be used; the rest goes on.

    Attributes
    ----------
    item : int or None
        The item it is about, or None for something that did not become an item.
    message : str
        What it is and why.
    """

    item: int | None
    message: str


@dataclass(frozen=True, eq=False)
class Features:
    """Numbers that say how alike the items are.

    Attributes
    ----------
    X : array of shape (n, n_features), or (n, n) distances
        One row per item, all finite.
    description : str
        Which features these are and, where there are better ones, how to get them.
    metric : {"euclidean", "precomputed"}
        ``"precomputed"`` when `X` holds distances.
    notes : tuple of str
        What was filled in or left out on the way.
    problems : tuple of Problem
        Items without features of their own; they stand in the middle of the others.
    """

    X: np.ndarray
    description: str
    metric: Literal["euclidean", "precomputed"] = "euclidean"
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = field(default=())

    @property
    def askable(self) -> np.ndarray:
        """The rows that may be shown in a question: those without a problem."""
        broken = {problem.item for problem in self.problems}
        return np.array([i for i in range(len(self.X)) if i not in broken], dtype=np.intp)


class Items(ABC):
    """A set of things a person can compare, and features of them. Made by `open_items`.

    Attributes
    ----------
    kind : str
        ``"images"``, ``"texts"``, ``"rows"``, ``"series"`` or ``"points"``.
    source : Path
        Where they come from.
    ids : tuple of str
        A name for every item: its path in the folder, its value in the id column, or its number,
        counting from 0. No two are equal.
    problems : tuple of Problem
        What could not be used or shown.
    notes : tuple of str
        How the input was understood, where that was a guess.
    """

    kind: Kind

    def __init__(
        self,
        source: Path,
        ids: Sequence[str],
        *,
        problems: Iterable[Problem] = (),
        notes: Iterable[str] = (),
    ) -> None:
        self.source = source
        self.ids = tuple(ids)
        self.problems = tuple(problems)
        self.notes = tuple(notes)
        self._given: Features | None = None

    @property
    def decided(self) -> dict[str, Any]:
        """Options of `open_items` that were left to this machine, as it decided them."""
        return {}

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.ids)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<{self.n} {self.kind} from {self.source}>"

    @abstractmethod
    def title(self, i: int) -> str:
        """Return one short line that names item `i`."""

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return what the items bring themselves, for exported tables; by default nothing."""
        return {}

    @abstractmethod
    def view(self, i: int) -> dict[str, Any]:
        """Return what a front needs to show item `i`, as plain JSON values."""

    @abstractmethod
    def content_hash(self, i: int) -> str:
        """Return a hash of all that is shown of item `i` or goes into its features."""

    @abstractmethod
    def _make_features(self, progress: Progress | None) -> Features:
        """Compute the built-in features, or fetch them from the cache."""

    def features(self, progress: Progress | None = None) -> Features:
        """Return the features that came with the items, or else the built-in ones.

        Parameters
        ----------
        progress : callable, optional
            Told now and then, where this takes long, how many of how many items are done.
        """
        features = self._given if self._given is not None else self._make_features(progress)
        known = {problem.item for problem in features.problems}
        here = tuple(p for p in self.problems if p.item is not None and p.item not in known)
        if not here:
            return features
        return Features(
            features.X,
            features.description,
            features.metric,
            features.notes,
            tuple(sorted((*features.problems, *here), key=lambda problem: problem.item or 0)),
        )

    def with_features(self, features: Features) -> Self:
        """Return the same items with these features instead of the built-in ones."""
        other = copy.copy(self)
        other._given = features
        return other

    def content_hashes(self) -> dict[str, str]:
        """Return the content hash of every item by its id, as a `Store` keeps them."""
        return {item: self.content_hash(i) for i, item in enumerate(self.ids)}

    def thumbnail(self, i: int, size: int = 512, *, format: str = "webp") -> bytes:  # noqa: ARG002
        """Return a picture of item `i`, at most `size` pixels wide and high."""
        raise InputError(f"{self.kind} have no pictures: item {i} of {self.source}")


def digest(*parts: str | bytes) -> str:
    """Return a hash of strings and bytes that also tells where one ends and the next begins."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8))
        state.update(data)
    return state.hexdigest()


def shorten(text: str, length: int = TITLE_LENGTH) -> str:
    """Return the first line of a text, cut to a length.

    Examples
    --------
    >>> shorten("To whom it may concern", 10)
    'To whom i…'
    """
    line = " ".join(text[: 4 * length].split())
    return line if len(line) <= length else line[: length - 1] + "…"


def check_ids(ids: Sequence[str], where: str) -> None:
    """Refuse ids that are empty or occur twice."""
    seen: dict[str, int] = {}
    for i, name in enumerate(ids):
        if not name:
            raise InputError(f"{where}: row {i} has no id. Fill it in or choose another id column.")
        if name in seen:
            raise InputError(
                f"{where}: rows {seen[name]} and {i} have the same id {shorten(name)!r}. "
                "Choose a column without repetitions, or none."
            )
        seen[name] = i
