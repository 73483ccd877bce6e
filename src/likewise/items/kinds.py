"""From a path or a data frame to items: the kinds there are, and which of them this is."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from likewise.errors import InputError
from likewise.items.cache import feature_cache
from likewise.items.items import Items
from likewise.items.limits import files_below
from likewise.items.pairs import read_candidates
from likewise.items.points import ARRAY_SUFFIXES, read_features
from likewise.items.tablefiles import TABLE_SUFFIXES, is_frame, is_table, read_with
from likewise.registry import Registry

PathLike = str | os.PathLike[str]

BUILT_IN = {
    "names": "likewise.items.names:NameItems",
    "texts": "likewise.items.texts:TextItems",
    "rows": "likewise.items.rows:RowItems",
    "points": "likewise.items.points:PointItems",
    "series": "likewise.items.series:SeriesItems",
    "images": "likewise.items.images:ImageItems",
}
"""The kinds, in the order in which they are asked whether they recognize a source."""

LOOKED_AT = 65_536
"""A file with fewer bytes than this is read whole before anything else is done."""

KINDS: Registry[type[Items]] = Registry("kind of items", BUILT_IN, group="likewise.items")


def open_items(
    source: Any,
    *,
    kind: str | None = None,
    text: str | None = None,
    id: str | None = None,
    columns: Sequence[str] | None = None,
    show: Sequence[str] | None = None,
    features: PathLike | None = None,
    items: PathLike | None = None,
    series: bool = False,
    image_features: str | None = None,
    text_features: str | None = None,
    series_features: Literal["euclidean", "dtw"] | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
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
        A folder of pictures; a CSV, JSON lines or Parquet file, whose rows are the items; a data
        frame of pandas or polars, or a table of pyarrow; an .npy or .npz file of features; with
        `series`, a folder or table of time series. Or what is in memory: a list or array of
        pictures (paths, PIL images, pixels), of texts, or of series.
    kind : str, optional
        What it is, if it is not to be recognized: ``"images"``, ``"texts"``, ``"rows"``,
        ``"series"``, ``"points"``, or a kind that another package has.
    text : str, optional
        The column of a table that holds texts; they are then the items.
    id : str, optional
        The column of a table that names the rows. Without it they are numbered from 0.
    columns : sequence of str, optional
        The columns to make features from; all by default.
    show : sequence of str, optional
        The columns to show; all by default, or none beside a text.
    features : path, optional
        A file of features to use instead of the built-in ones: .npy, .npz, or a table of numbers.
    items : path, optional
        What to show for the rows of `source`, if that is a file of features.
    series : bool
        Whether these are time series; the same as ``kind="series"``.
    image_features : str, optional
        ``"auto"`` (the default), ``"efficientnet-lite0"``, ``"efficientnet-lite2"``,
        ``"descriptors"`` or the name of a timm model.
    text_features : str, optional
        ``"lsi"`` (the default) or the name of a sentence-transformers model.
    series_features : {"euclidean", "dtw"}, optional
        How to compare series; ``"euclidean"`` by default.
    encoding, delimiter, header : optional
        How to read a CSV; found out by default.
    names : str, optional
        The column of a table that holds names; its distinct names are then the items.
    pairs : sequence of str or "auto", optional
        Where `source` has candidate pairs of `items` instead of features: the columns of the two
        ids and of the score, which is higher for more alike items. "auto" recognizes the columns
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
        "image_features": image_features,
        "text_features": text_features,
        "series_features": series_features,
        "encoding": encoding,
        "delimiter": delimiter,
        "header": header,
        "names": names,
        **(bounds if pairs is None else {}),
        **more,
    }
    options = {name: value for name, value in given.items() if value is not None}
    named: Any = "series" if series and kind is None else kind
    if not is_frame(source) and not isinstance(source, str | os.PathLike):
        if options or features is not None:
            raise InputError(f"{', '.join(options) or 'features'}: not for things in memory")
        from likewise.items.memory import from_memory

        return from_memory(source, named, cache)
    if not is_frame(source):
        if not os.fspath(source):
            raise InputError('the path is empty; for this folder write "."')
        source = Path(source)
        if not source.exists():
            raise InputError(f"there is no file or folder {source}")
    kind_class = _kind(source, named, options)
    _check_options(kind_class, source if isinstance(source, Path) else "the data frame", options)
    opened = kind_class.open(source, cache=feature_cache(cache), **options)
    opened._opened_with = {"cache": cache, **options}
    if features is None:
        return opened
    if pairs is not None:
        read = partial(read_candidates, Path(features), pairs, opened.ids)
        return opened.with_features(partial(read, same_above, different_below))
    return opened.with_features(read_features(Path(features), opened.ids, opened.source))


def refuse_nothing(source: PathLike, options: Mapping[str, Any]) -> None:
    """Refuse a path that is empty or unreadable before all of it is read."""
    path = Path(source)
    is_named = options.get("kind") is not None or bool(options.get("series"))
    try:
        if not path.is_dir():
            with path.open("rb") as file:
                begins = file.read(LOOKED_AT)
            if not begins.strip():
                raise InputError(f"{path} is empty")
            if not is_named and len(begins) < LOOKED_AT and is_table(path):
                read_with(path, options)
            return
        os.scandir(path).close()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    if next(files_below(path), None) is None:
        raise InputError(f"there is nothing in the folder {path}")
    if not is_named and _kind(path, None, options).kind == "images":
        from likewise.items.images import find_pictures
        from likewise.items.images.decoding import IMAGE_SUFFIXES

        if not any(file.suffix.lower() in IMAGE_SUFFIXES for file in files_below(path)):
            find_pictures(path.resolve())  # which says what it looked for


def _kind(source: Any, name: str | None, options: Mapping[str, Any]) -> type[Items]:
    """Return the kind of a name, or else the first that recognizes a source."""
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


def _check_options(kind: type[Items], source: Any, options: Mapping[str, Any]) -> None:
    """Refuse options that the kind does not have, and name the kinds that do."""
    for name in options:
        if name not in kind.options:
            flag = name.replace("_", "-")
            others = [one for one in KINDS.names if name in KINDS.find(one).options]
            what = f"--{flag} is for {' and '.join(others)}" if others else f"no kind has --{flag}"
            raise InputError(f"{what}; {source} is opened as {kind.kind}")
