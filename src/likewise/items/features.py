"""Features: what makes items alike, as one matrix of named blocks of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from likewise.core.candidates import Candidates
from likewise.core.partition import SuperInstances
from likewise.errors import InputError

OWN = "own"
"""The name of the only aspect of features that came with the items."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be used, while the rest could.

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
class Aspect:
    """One respect in which items are similar, such as the layout or the content of pictures.

    Attributes
    ----------
    name : str
        A word, such as ``"layout"``.
    description : str
        How it is computed, in words.
    recipe : mapping
        How it is computed, as plain values and arrays: all that `Items.compute` needs to describe
        new things in the same way. A session file keeps it.
    better : str
        How to get better features, as whole sentences.
    notes : tuple of str
        What was filled in or left out.
    columns : tuple of int, optional
        Where its columns are among those of all aspects; by default after those before it.
    is_main : bool
        Whether it weighs most while there are few answers; by default all aspects weigh the same.
    """

    name: str
    description: str
    recipe: Mapping[str, Any] = field(default_factory=dict)
    better: str = ""
    notes: tuple[str, ...] = ()
    columns: tuple[int, ...] | None = None
    is_main: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return what a session file keeps: plain values and arrays."""
        return {
            "name": self.name,
            "description": self.description,
            "recipe": dict(self.recipe),
            "better": self.better,
            "columns": None if self.columns is None else list(self.columns),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Undo `to_dict`."""
        name, description, better = (str(plain[key]) for key in ("name", "description", "better"))
        columns = plain["columns"]
        if columns is not None:
            columns = tuple(int(column) for column in columns)
        return cls(name, description, dict(plain["recipe"]), better, columns=columns)


@dataclass(frozen=True, eq=False)
class Features:
    """Numbers that say how similar the items are.

    Attributes
    ----------
    X : array of shape (n, n_features), (n, n) distances, or Candidates
        One row per item, all finite; or the pairs that may be asked about.
    description : str
        Which features these are and, where there are better ones, how to get them; by default in
        the words of the aspects.
    metric : {"euclidean", "precomputed"}
        ``"precomputed"`` when `X` holds distances or candidate pairs.
    notes : tuple of str
        What was filled in or left out on the way.
    problems : tuple of Problem
        Items without features of their own; they get the mean of the others.
    partition : SuperInstances or None
        Beside candidate pairs, which items certainly belong together.
    questions : {"pairs", "choices"}
        How candidate pairs are asked about by default.
    aspects : tuple of Aspect
        The blocks of columns; by default one that cannot be computed for new items.
    """

    X: np.ndarray | Any
    description: str = ""
    metric: Literal["euclidean", "precomputed"] = "euclidean"
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    partition: SuperInstances | None = None
    questions: Literal["pairs", "choices"] = "pairs"
    aspects: tuple[Aspect, ...] = ()

    def __post_init__(self) -> None:
        if not self.aspects:
            object.__setattr__(self, "aspects", (Aspect(OWN, self.description),))
        elif not self.description:
            object.__setattr__(self, "description", _in_words(self.aspects))

    def __repr__(self) -> str:
        n_rows, n_columns = self.X.shape
        names = ", ".join(aspect.name for aspect in self.aspects)
        return f"<Features: {n_rows} x {n_columns}, {self.metric}: {names}>"

    def block(self, name: str) -> NDArray[Any]:
        """Return the columns of one aspect, or the distances by it."""
        for aspect in self.aspects:
            if aspect.name == name:
                columns = aspect.columns
                return np.asarray(self.X if columns is None else self.X[:, list(columns)])
        names = ", ".join(aspect.name for aspect in self.aspects)
        raise InputError(f"there is no aspect {name!r}, only {names}")

    @property
    def columns(self) -> dict[str, tuple[int, ...]] | None:
        """The columns of each aspect, by name; None if there is only one aspect."""
        if len(self.aspects) < 2:
            return None
        return {aspect.name: aspect.columns or () for aspect in self.aspects}

    @property
    def main_aspect(self) -> str | None:
        """The name of the main one of several aspects, None if there is none."""
        main = [aspect.name for aspect in self.aspects if aspect.is_main]
        return main[0] if main and len(self.aspects) > 1 else None

    @property
    def askable(self) -> np.ndarray:
        """The rows that may be shown in a question: those without a problem."""
        broken = {problem.item for problem in self.problems}
        return np.array([i for i in range(len(self.X)) if i not in broken], dtype=np.intp)

    def aligned(self, where: Sequence[int | None]) -> Features:
        """Return the features of the items at these places; an item that is gone gets the mean."""
        if list(where) == list(range(len(self.X))):
            return self
        gone = [k for k, place in enumerate(where) if place is None]
        places = np.array([place or 0 for place in where], dtype=np.intp)
        X: Any
        if isinstance(self.X, Candidates):
            X = self.X  # by the rows of the session already, which keeps them
        elif self.metric == "precomputed":
            X = self.X[np.ix_(places, places)]
            X[gone, :] = X[:, gone] = self.X.mean()
            np.fill_diagonal(X, 0.0)
        else:
            X = self.X[places]
            if gone:
                X[gone] = np.delete(X, gone, axis=0).mean(axis=0)
        back = {place: k for k, place in enumerate(where) if place is not None}
        problems = [Problem(back[p.item], p.message) for p in self.problems if p.item in back]
        problems += [Problem(k, "it is no longer there") for k in gone]
        return replace(self, X=X, problems=tuple(problems))

    def with_problems(self, problems: Sequence[Problem]) -> Features:
        """Return the same features with further problems of items, one for each item."""
        first: dict[int | None, Problem] = {}
        for problem in (*self.problems, *problems):
            if problem.item is not None:
                first.setdefault(problem.item, problem)
        if len(first) == len(self.problems):
            return self
        ordered = sorted(first.values(), key=lambda problem: problem.item or 0)
        return replace(self, problems=tuple(ordered))


def joined(aspects: Sequence[Aspect], parts: Sequence[np.ndarray | Features]) -> Features:
    """Return the features that aspects have together: the columns of each in their place."""
    whole = [part if isinstance(part, Features) else Features(part) for part in parts]
    notes = dict.fromkeys(
        note
        for aspect, part in zip(aspects, whole, strict=True)
        for note in (*aspect.notes, *part.notes)
    )
    if len(whole) == 1:
        width = None if whole[0].metric == "precomputed" else whole[0].X.shape[1]
        columns = None if width is None else tuple(range(width))
        about = whole[0].description or aspects[0].description
        one = replace(aspects[0], description=about, columns=columns)
        return replace(whole[0], description="", aspects=(one,), notes=tuple(notes))
    if any(part.metric == "precomputed" for part in whole):
        raise InputError("distances or candidate pairs must be the only aspect")
    placed, n_columns = [], 0
    for aspect, part in zip(aspects, whole, strict=True):
        end = n_columns + part.X.shape[1]
        columns = tuple(range(n_columns, end)) if aspect.columns is None else aspect.columns
        placed.append(replace(aspect, columns=columns))
        n_columns = end
    order = [column for aspect in placed for column in aspect.columns or ()]
    if sorted(order) != list(range(n_columns)):
        raise InputError(
            f"the columns of {', '.join(aspect.name for aspect in placed)} are not 0 to "
            f"{n_columns - 1}, each once"
        )
    X = np.empty((len(whole[0].X), n_columns), np.result_type(*(part.X for part in whole)))
    for aspect, part in zip(placed, whole, strict=True):
        X[:, list(aspect.columns or ())] = part.X
    problems = [problem for part in whole for problem in part.problems]
    features = Features(X, aspects=tuple(placed), notes=tuple(notes))
    return features.with_problems(problems)


def _in_words(aspects: Sequence[Aspect]) -> str:
    """Return which features these are and how to get better ones."""
    about = "; ".join(aspect.description for aspect in aspects)
    better = " ".join(dict.fromkeys(aspect.better for aspect in aspects if aspect.better))
    return f"{about}. {better}" if better else about
