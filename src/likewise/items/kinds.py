"""Open a path, a data frame or things in memory as items of the right kind."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from likewise.errors import InputError
from likewise.files import open_regular
from likewise.items.cache import feature_cache
from likewise.items.features import Aspect, Features, joined
from likewise.items.items import Items
from likewise.items.limits import files_below
from likewise.items.pairs import read_candidates
from likewise.items.points import ARRAY_SUFFIXES, read_features
from likewise.items.tablefiles import (
    READING,
    TABLE_SUFFIXES,
    for_reading,
    is_frame,
    is_table,
    read_table,
)
from likewise.registry import Registry
from likewise.words import plural

PathLike = str | os.PathLike[str]

BUILT_IN = {
    "names": "likewise.items.names:NameItems",
    "texts": "likewise.items.texts:TextItems",
    "rows": "likewise.items.rows:RowItems",
    "points": "likewise.items.points:PointItems",
    "series": "likewise.items.series:SeriesItems",
    "images": "likewise.items.images:ImageItems",
}
"""The kinds, in the order in which they are tried."""

LOOKED_AT = 65_536
"""A file with fewer bytes than this is read completely before anything else happens."""

KINDS: Registry[type[Items]] = Registry("kind of items", BUILT_IN, group="likewise.items")


def open_items(
    source: Any,
    *,
    kind: str | None = None,
    text: str | None = None,
    id: str | None = None,
    columns: Sequence[str] | Mapping[str, str | None] | None = None,
    show: Sequence[str] | None = None,
    features: PathLike | None = None,
    items: PathLike | None = None,
    series: bool = False,
    encoder: str | Sequence[str] | None = None,
    series_features: Literal["euclidean", "dtw"] | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
    names: str | None = None,
    pairs: Sequence[str] | str | None = None,
    same_above: float | None = None,
    different_below: float | None = None,
    cache: bool | PathLike = True,
    **more: Any,
) -> Items:
    r"""Open a path, a data frame or things in memory as items to compare.

    Parameters
    ----------
    source : path, data frame or sequence
        A folder of pictures; a table (CSV, JSON lines, a spreadsheet, Parquet), whose rows are the
        items; a data frame of pandas or polars, or a table of pyarrow; an .npy or .npz file of
        features; with `series`, a folder or table of time series. Or what is in memory: a list or
        array of pictures (paths, PIL images, pixels), of texts, or an array with two dimensions,
        whose rows are points. With ``kind="series"`` each of its rows is a time series.
    kind : str, optional
        What it is, if it is not to be recognized: ``"images"``, ``"texts"``, ``"rows"``,
        ``"series"``, ``"points"``, or a kind that another package has.
    text : str, optional
        The column of a table that holds texts; they are then the items.
    id : str, optional
        The column of a table that names the rows. Without it they are numbered from 0.
    columns : sequence of str or mapping, optional
        The columns to make features from; all but ids by default. With a type they mend what was
        guessed, and the others are compared as well: ``["zip:category", "code:ignore"]`` or
        ``{"zip": "category", "code": "ignore"}``. The types are number, category, date, text and
        ignore.
    show : sequence of str, optional
        The columns to show; all by default, or none beside a text.
    features : path, optional
        A file of features to use instead of the built-in ones: .npy, .npz, or a table of numbers.
    items : path, optional
        What to show for the rows of `source`, if that is a file of features.
    series : bool
        Whether these are time series; the same as ``kind="series"``.
    encoder : str or sequence of str, optional
        What turns pictures or texts into values: ``"auto"`` (the default), a network that is a
        package (``"efficientnet-lite0"`` for pictures, ``"minilm"`` and ``"use-multilingual"`` for
        texts), an ONNX file, or a model that fastembed downloads. Without a network there are
        ``"layout"`` for pictures and ``"words"`` for texts. Several are compared side by side.
    series_features : {"euclidean", "dtw"}, optional
        How to compare series; ``"euclidean"`` by default.
    encoding, delimiter, header : optional
        How to read a CSV; detected by default.
    sheet : str, optional
        The sheet of a spreadsheet to read; by default the first one with two rows.
    names : str, optional
        The column of a table that holds names; its distinct names are then the items.
    pairs : sequence of str or "auto", optional
        Where `source` has candidate pairs of `items` instead of features: the columns of the two
        ids and of the score, which is higher for more similar items. "auto" recognizes the columns
        of Splink (``unique_id_l``, ``unique_id_r``, ``match_probability``), ``left``, ``right``,
        ``score``, and the array of dedupe's ``score``, saved as .npy.
    same_above, different_below : float, optional
        Pairs with a score above `same_above` are joined without a question; those with a score
        below `different_below` are not candidates.
    cache : bool or path
        Whether to keep computed features, or where.
    **more
        Options of kinds from other packages.

    Returns
    -------
    Items

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "flowers.csv"
    >>> _ = path.write_text("name,petal,color\na,1.5,red\nb,4.5,blue\n")
    >>> flowers = open_items(path, id="name")
    >>> flowers.kind, flowers.n, flowers.ids
    ('rows', 2, ('a', 'b'))
    >>> flowers.view(0)["fields"]
    [['petal', '1.5'], ['color', 'red']]
    >>> flowers.features().X
    array([[0., 0., 1.],
           [1., 1., 0.]])
    >>> folder.cleanup()
    """
    _check_types(
        kind=kind, encoding=encoding, delimiter=delimiter, features=features, items=items,
        columns=columns, show=show, encoder=encoder,
    )  # fmt: skip
    if pairs is not None and items is None:
        raise InputError(
            f"{source} has pairs of ids: say by --items what they are, such as --items people.csv"
        )
    if items is not None:
        if features is not None:
            raise InputError(f"{source} and {features} cannot both be the features of {items}")
        source, features = items, source
    if same_above is not None and different_below is not None and different_below > same_above:
        raise InputError(
            f"--different-below {different_below} is more than --same-above {same_above}: a pair "
            "would be both"
        )
    bounds = {"same_above": same_above, "different_below": different_below}
    given: dict[str, Any] = {
        "text": text,
        "id": id,
        "columns": columns,
        "show": show,
        "encoder": encoder,
        "series_features": series_features,
        "encoding": encoding,
        "delimiter": delimiter,
        "header": header,
        "sheet": sheet,
        "names": names,
        **(bounds if pairs is None else {}),
        **more,
    }
    options = {name: value for name, value in given.items() if value is not None}
    opened = open_as("series" if series and kind is None else kind, source, options, cache)
    if features is None:
        return opened
    if pairs is not None:
        read = partial(read_candidates, Path(features), pairs, opened.ids)
        return opened.with_features(partial(read, same_above, different_below))
    return opened.with_features(read_features(Path(features), opened.ids, opened.source))


def open_as(
    name: str | None, source: Any, options: Mapping[str, Any], cache: bool | PathLike
) -> Items:
    """Open a source as the kind of this name, or else as the first kind that recognizes it."""
    others: tuple[str, ...]
    if isinstance(source, str | os.PathLike):
        if not os.fspath(source):
            raise InputError('the path is empty; for this folder write "."')
        source = Path(source)
        where, others = str(source), ()
        if not source.exists():
            raise InputError(f"there is no file or folder {source}")
    elif is_frame(source):
        where, others = "the data frame", ("points", "images")
    else:
        source, where, others = _listed(source), "what is in memory", ("names", "rows")
        name = _kind_in_memory(source, options) if name is None else name
    if name in others:
        rest = ", ".join(kind for kind in BUILT_IN if kind not in others)
        raise InputError(f"{where} cannot be opened as {name}, only as {rest}")
    kind = _kind(source, name, options)
    _check_options(kind, where, options)
    opened = kind.open(source, cache=feature_cache(cache), **options)
    opened._opened_with |= {"cache": cache, **options}
    return opened


def _listed(things: Any) -> list[Any]:
    """Return things in memory as a list."""
    if isinstance(things, Mapping) or hasattr(things, "toarray") or not hasattr(things, "__iter__"):
        raise InputError(
            f"items are opened from a path, a data frame, or a list of pictures, texts or series, "
            f"not {type(things).__name__}. Open columns by name as pandas.DataFrame(columns), a "
            "sparse matrix as pandas.DataFrame(matrix.toarray())."
        )
    listed = list(things)
    if not listed:
        raise InputError("there are no items: the list is empty")
    return listed


def _kind_in_memory(things: list[Any], options: Mapping[str, Any]) -> str:
    """Return the kind of things in memory, by the first of them; rows of numbers are points."""
    from likewise.items.images.formats import IMAGE_SUFFIXES

    first = things[0]
    if isinstance(first, str):
        if first.lower().endswith(IMAGE_SUFFIXES) and os.path.isfile(first):
            return "images"
        if all(isinstance(one, str) and one.lower().endswith(IMAGE_SUFFIXES) for one in things):
            raise InputError(
                f"there is no picture at {first}, the first of {plural(len(things), 'path')}. "
                f"Paths are relative to {Path.cwd()}; if these are texts, say so by "
                'kind="texts".'
            )
        return "texts"
    if isinstance(first, os.PathLike):
        return "images"
    n_axes = np.ndim(first)
    if n_axes not in (1, 2, 3):
        raise InputError(
            f"an item is a path of a picture, an image, a text, a row of numbers or a series, not "
            f"{first!r}."
        )
    if n_axes > 1:
        return "images"
    is_matrix = len({len(thing) for thing in things if np.ndim(thing) == 1}) == 1
    return "points" if is_matrix and "series_features" not in options else "series"


@dataclass(frozen=True)
class Describer:
    """Describes new things of a kind; small and without items, so that it can be pickled.

    It has the aspects of the first items; None if their features came with them.
    """

    kind: str
    options: Mapping[str, Any]
    aspects: Sequence[Aspect] | None

    def takes(self, source: Any) -> bool:
        """Whether this must be described; rows of numbers are features already."""
        if isinstance(source, Items | str | os.PathLike) or is_frame(source):
            return True
        if not isinstance(source, list | tuple | np.ndarray) or not len(source):
            return False
        is_row = isinstance(source[0], list | tuple | np.ndarray) and np.ndim(source[0]) == 1
        return not is_row or self.kind == "series"

    def __call__(self, source: Any) -> Features:
        """Return the features of the things in a source, of the same kind."""
        if self.aspects is None:
            raise InputError(
                f"new {self.kind} cannot be described: the features of these items were given. "
                "Pass features of the new ones, an array"
            )
        items = source if isinstance(source, Items) else self._opened(source)
        if items.kind != self.kind:
            raise InputError(f"these are {items.kind}, but the model was fitted on {self.kind}")
        features = joined(self.aspects, items.compute_all(self.aspects))
        for problem in (*features.problems, *items.problems):
            if items.has_pictures and problem.item is not None:
                raise InputError(f"a picture cannot be read, leave it out: {problem.message}")
        return features

    def _opened(self, source: Any) -> Items:
        """Open new things with the options of the first ones, except ids and what is only shown."""
        kind: str | None = self.kind
        unused = ["cache", "white"] if kind == "series" else ["cache", "white", "id", "show"]
        if not is_frame(source) and not isinstance(source, str | os.PathLike):
            unused = ["cache", "text", "id", "columns", "show", *READING]
            kind = kind if kind in ("images", "texts", "series") else None
        options = {name: value for name, value in self.options.items() if name not in unused}
        return open_as(kind, source, options, self.options.get("cache", True))


def refuse_nothing(source: PathLike, options: Mapping[str, Any]) -> None:
    """Refuse a path that is empty or unreadable before all of it is read."""
    path = Path(source)
    is_named = options.get("kind") is not None or bool(options.get("series"))
    try:
        if not path.is_dir():
            with open_regular(path) as file:
                begins = file.read(LOOKED_AT)
            if not begins.strip():
                raise InputError(f"{path} is empty")
            if not is_named and len(begins) < LOOKED_AT and is_table(path):
                read_table(path, **for_reading(options))
            _require(path, options)
            return
        os.scandir(path).close()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    if next(files_below(path), None) is None:
        raise InputError(f"there is nothing in the folder {path}")
    _require(path, options)
    if not is_named and _kind(path, None, options).kind == "images":
        from likewise.items.images import find_pictures
        from likewise.items.images.formats import IMAGE_SUFFIXES

        if not any(file.suffix.lower() in IMAGE_SUFFIXES for file in files_below(path)):
            find_pictures(path.resolve())  # which says what it looked for


def _require(path: Path, options: Mapping[str, Any]) -> None:
    """Refuse what needs packages that are missing, while nobody waits for a page yet."""
    name = "series" if options.get("series") else options.get("kind")
    with suppress(InputError):  # what else is wrong is said when it is read
        _kind(path, name, options).require(path, options)


def _kind(source: Any, name: str | None, options: Mapping[str, Any]) -> type[Items]:
    """Return the named kind, or else the first one that recognizes a source."""
    if name is not None:
        kind_class: Any = KINDS.find(name)
        if not (isinstance(kind_class, type) and issubclass(kind_class, Items)):
            raise InputError(f"{name} is not a kind of items: it must be a subclass of Items")
        return kind_class
    for kind in map(KINDS.find, _asked()):
        if kind.recognizes(source, options):
            return kind
    if isinstance(source, Path) and source.is_dir():
        return KINDS.find("images")  # which says what it looked for
    suffixes = ", ".join(TABLE_SUFFIXES + ARRAY_SUFFIXES)
    raise InputError(
        f"{source} is not a folder of pictures or a file that can be read ({suffixes})"
    )


def _asked() -> Iterator[str]:
    yield from BUILT_IN
    # Only now, since looking for installed packages takes a while.
    yield from (name for name in KINDS.names if name not in BUILT_IN)


def _check_types(**given: Any) -> None:
    """Refuse options of another type, which would be a traceback; a damaged session may have any.

    Which columns and files there are is seen when they are read.
    """
    for name, value in given.items():
        if value is None:
            continue
        what, is_right = "a text", isinstance(value, str)
        if name in ("features", "items"):
            what, is_right = "a path", is_right or isinstance(value, os.PathLike)
        elif name in ("columns", "show"):
            what, is_right = "a list of texts", isinstance(value, Iterable)
        elif name == "encoder" and isinstance(value, Iterable):
            is_right = all(isinstance(one, str) for one in value)
        if not is_right:
            raise InputError(f"--{name} is {what}, got {value!r}")


def _check_options(kind: type[Items], source: Any, options: Mapping[str, Any]) -> None:
    """Refuse options that the kind does not have, and name the kinds that do."""
    for name in options:
        if name not in kind.options:
            flag = name.replace("_", "-")
            others = [one for one in KINDS.names if name in KINDS.find(one).options]
            what = f"--{flag} is for {' and '.join(others)}" if others else f"no kind has --{flag}"
            raise InputError(f"{what}; {source} is opened as {kind.kind}")
