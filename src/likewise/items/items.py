"""What every kind of items has in common."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from likewise.errors import CannotGrowError, InputError
from likewise.items.features import Aspect, Features, Problem, joined
from likewise.items.fields import Fields, one_line, scaled
from likewise.words import check_text, many

if TYPE_CHECKING:
    from likewise.items.kinds import Describer

OnProgress = Callable[[int, int], object]

TITLE_LENGTH = 80
"""Titles are cut after this many characters."""
LINE_LENGTH = 320
"""Lines in tiles are cut after this many characters."""
SPARK_POINTS = 48
"""How many points a curve in a tile has."""


class Items:
    """Things that a person can compare, and their features. Made by `open_items`.

    A kind of items is a subclass with `kind`, `noun`, `options`, `recognizes` and `open`. It says
    which aspects its items have (`aspects`), how one of them is computed (`compute`), and what is
    shown of an item (`view`). Page, terminal and exports need nothing more. ``docs/items.md``
    explains how to add one.

    Attributes
    ----------
    kind : str
        The name of the kind: ``"images"``, ``"texts"``, ``"rows"``, ``"series"``, ``"points"``, or
        a kind of another package.
    noun : str
        What one of them is called.
    options : tuple of str
        The keyword arguments of `open`; any others are refused.
    has_pictures : bool
        Whether `thumbnail` returns pictures.
    source : Path
        Where they come from.
    ids : tuple of str
        A name for every item: its path in the folder, its value in the id column, or its number,
        counting from 0. No two are equal.
    problems : tuple of Problem
        What could not be used or shown.
    notes : tuple of str
        How the input was understood, where that was a guess.
    fields : Fields or None
        What is shown of items that are rows of a table.
    is_numbered : bool
        Whether the ids are only numbers, so that fields say more.
    """

    kind: ClassVar[str]
    noun: ClassVar[str] = "item"
    options: ClassVar[tuple[str, ...]] = ()
    has_pictures: ClassVar[bool] = False

    def __init__(
        self,
        source: Path,
        ids: Sequence[str],
        *,
        problems: Iterable[Problem] = (),
        notes: Iterable[str] = (),
    ) -> None:
        self.source = source
        self.ids = tuple(check_text(name, "an id", in_lines=True) for name in ids)
        self.problems = tuple(problems)
        self.notes = tuple(notes)
        self._own: Features | Callable[[], Features] | None = None
        self.fields: Fields | None = None
        self.is_numbered = False
        self._opened_with: dict[str, Any] = {}
        self._searched: dict[int, str] = {}

    # -- how a kind is recognized ------------------------------------------------------------------

    @classmethod
    def recognizes(cls, source: Any, options: Mapping[str, Any]) -> bool:
        """Whether a path, data frame or array is of this kind, judging by the options given.

        By default it never is: the kind must be named.
        """
        return False

    @classmethod
    def open(cls, source: Any, *args: Any, **options: Any) -> Self:
        """Open a source, with `cache`, a `FeatureCache`, and the options of this kind."""
        raise InputError(f"{source} cannot be opened as {cls.kind}")

    @classmethod
    def require(cls, source: Path, options: Mapping[str, Any]) -> None:
        """Raise the error with the install command where a package that this needs is missing."""

    # -- what one item is --------------------------------------------------------------------------

    def view(self, i: int) -> dict[str, Any]:
        """Return what a front needs to show item `i`, as plain JSON values; by default its fields.

        It has the name of the kind and any of these parts, shown in this order:

        ``"picture": True``
            `thumbnail` has a picture of it.
        ``"channels": [{"name": str, "t": [int, ...], "y": [float, ...]}, ...]``
            Curves, with ``"length"``, the number of moments.
        ``"text": str``
            A text, and ``"length"``, how many characters it has in full; ``"telling"`` may list
            the words that stand out in a long one.
        ``"fields": [[name, text], ...]``
            A table; ``"scales"`` may say of numbers where they lie in the range of all, by name.
        ``"html": str``
            Markup that the person vouched for; shown in a frame that cannot reach the page.
        """
        return {"kind": self.kind, **({} if self.fields is None else self.fields.view(i))}

    def content_hash(self, i: int) -> str:
        """Return a hash of all that is shown of item `i` or goes into its features.

        By default of its view and its picture.
        """
        picture = self.thumbnail(i) if self.has_pictures else b""
        return digest(json.dumps(self.view(i)), picture)

    def content(self, i: int) -> str:
        """Return a hash that is equal for identical items."""
        return self.content_hash(i)

    def aspects(self) -> Sequence[Aspect]:
        """Return the aspects of these items, in order, each with its recipe.

        By default there are none: such items can be shown, but not described.
        """
        return ()

    def compute(self, aspect: Aspect, progress: OnProgress | None = None) -> np.ndarray | Features:
        """Return one row of values per item, computed by the recipe of an aspect.

        The aspect is one of these items or of earlier ones, whose ranges, vocabulary or network
        then hold for these. Return `Features` where there is more to say: notes, problems of single
        items, or distances instead of values.
        """
        raise InputError(f"{self.kind} have no aspect {aspect.name!r}")

    def compute_all(
        self,
        aspects: Sequence[Aspect],
        progress: OnProgress | None = None,
        places: Sequence[int] | None = None,
    ) -> Sequence[np.ndarray | Features]:
        """Return what `compute` returns for each aspect; a kind may save work by doing all at once.

        With `places` the items are those at these places, see `takes_long`.
        """
        compute: Any = self.compute
        options = {} if places is None else {"places": places}
        return [compute(aspect, progress, **options) for aspect in aspects]

    def takes_long(self, aspects: Sequence[Aspect]) -> bool:
        """Whether describing many of these items takes long, and each can be described alone.

        Then `compute` also takes `places`, a list of the items to describe, and returns a row for
        each of them. A session about many such items begins with some, and the others join it. By
        default it does not.
        """
        return False

    # -- what follows from that; a kind may know better --------------------------------------------

    def title(self, i: int) -> str:
        """Return one short line that names item `i`: its id, or its first fields."""
        line = self.ids[i]
        if self.fields is not None and self.is_numbered:
            line = one_line(self.fields.row(i)[:3]) or f"{self.noun} {i}"
        return shorten(line)

    def heading(self, i: int) -> str:
        """Return the heading above item `i`: its name or its number."""
        is_numbered = self.ids[i].isdecimal() and not self.has_pictures
        return f"{self.noun.capitalize()} {self.ids[i]}" if is_numbered else self.title(i)

    def location(self, i: int) -> str:
        """Return where item `i` can be found by a person at a terminal."""
        return self.ids[i]

    def file(self, i: int) -> Path | None:
        """Return the file that item `i` is, None if it is no file or is gone."""
        return None

    def tile(self, i: int) -> dict[str, Any]:
        """Return item `i` for a small tile: ``{"line": text}``, ``{"spark": points}`` or nothing.

        With nothing, its picture is shown, or else its title.
        """
        return small(self.view(i))

    def key_words(self, members: Sequence[int]) -> list[str]:
        """Return words that distinguish these items from the others, the best first."""
        return []

    def passage(self, i: int, words: Collection[str]) -> dict[str, Any]:
        """Return item `i` for a tile that stands for a group with these key words.

        By default this is its `tile`. Of a long text, it is the part that tells most.
        """
        return self.tile(i)

    def sum_up(self, members: Sequence[int]) -> str:
        """Return a few words that distinguish these items from the others, or an empty text."""
        return ""

    def searched(self, i: int) -> str:
        """Return the text of item `i` that a search looks at, in lower case."""
        if i not in self._searched:
            view = self.view(i)
            parts = [self.ids[i], self.title(i), view.get("text", "")]
            parts += [f"{name} {text}" for name, text in view.get("fields", ())]
            self._searched[i] = "\n".join(parts).lower()
        return self._searched[i]

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the columns that the items bring to exported tables; none by default."""
        return {}

    def leaving_out(self, column: str) -> Self:
        """Return the items, compared and shown without a column of their table."""
        return self

    def thumbnail(self, i: int, size: int = 512, *, format: str = "webp") -> bytes:
        """Return a picture of item `i`, at most `size` pixels wide and high."""
        raise InputError(f"{self.kind} have no pictures: item {i} of {self.source}")

    # -- all of them -------------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.ids)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<{self.n} {many(self.noun) if self.n != 1 else self.noun} from {self.source}>"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Return the features, so that ``Likewise().fit(items, ...)`` works."""
        return np.array(self.features().X, dtype=dtype, copy=copy)

    def features(
        self, progress: OnProgress | None = None, *, aspects: Sequence[Aspect] | None = None
    ) -> Features:
        """Return the features that came with the items, or else those of their aspects.

        Parameters
        ----------
        progress : callable, optional
            Called with the number of items done and of all items, if this takes long.
        aspects : sequence of Aspect, optional
            Those of earlier items, by whose recipes the features are made; by default those of
            these items.
        """
        if callable(self._own):
            self._own = self._own()
        if self._own is not None:
            return self._own.with_problems(self.problems)
        wanted = self.aspects() if aspects is None else aspects
        if not wanted:
            raise InputError(f"{self.kind} have no features; fit by features of your own")
        return joined(wanted, self.compute_all(wanted, progress)).with_problems(self.problems)

    def features_of(
        self,
        places: Sequence[int],
        progress: OnProgress | None = None,
        *,
        aspects: Sequence[Aspect] | None = None,
    ) -> Features:
        """Return the features of some items, one row each, where that `takes_long`."""
        wanted = self.aspects() if aspects is None else aspects
        parts = self.compute_all(wanted, progress, places)
        messages = {problem.item: problem.message for problem in self.problems}
        problems = [Problem(k, messages[i]) for k, i in enumerate(places) if i in messages]
        return joined(wanted, parts).with_problems(problems)

    def with_features(self, features: Features | Callable[[], Features]) -> Self:
        """Return the same items with these features, or with a function that returns features."""
        other = copy.copy(self)
        other._own = features
        return other

    @property
    def describe(self) -> Describer:
        """A function that describes new things as these items were described.

        It takes items of the same kind, or what `open_items` takes, and returns their `Features`.
        What was learned from these items, such as the range of a column, its categories or the
        vocabulary of texts, holds for the new things. It does not keep these items, so fitted
        models keep it.
        """
        from likewise.items.kinds import Describer

        aspects = self.aspects() if self._own is None else None
        return Describer(self.kind, self._opened_with, aspects)

    def from_all_together(self) -> CannotGrowError:
        """Return the error for features that depend on all items."""
        return CannotGrowError(
            f"the features of these {many(self.noun)} come from all of them together, so new ones "
            "cannot be described. Begin another session with --session FILE"
        )

    def content_hashes(self) -> dict[str, str]:
        """Return the content hash of every item by its id, as a `Store` keeps them."""
        return {item: self.content_hash(i) for i, item in enumerate(self.ids)}


def small(view: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is shown of a view in a small tile."""
    if view.get("picture"):
        return {}
    if view.get("channels"):
        return {"spark": _spark(view["channels"][0]["y"])}
    if "text" in view:
        return {"line": view["text"][:LINE_LENGTH]}
    line = one_line(view.get("fields", []), 4)
    return {"line": line[:LINE_LENGTH]} if line else {}


def _spark(values: Sequence[float]) -> list[int]:
    """Return a series in at most 48 points from 0 to 100."""
    points = np.array(values[:: max(1, -(-len(values) // SPARK_POINTS))])
    low, high = points.min(), points.max()
    shares = scaled(points, low, high) if high > low else np.full(len(points), 0.5)
    return [round(share) for share in (shares * 100).tolist()]


def digest(*parts: str | bytes) -> str:
    """Return a hash of strings and bytes that depends on where each begins and ends."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8))
        state.update(data)
    return state.hexdigest()


def shorten(text: str, length: int = TITLE_LENGTH) -> str:
    """Return the first line of a text, cut to a length."""
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
