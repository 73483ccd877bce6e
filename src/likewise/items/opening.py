"""From a path to items: recognize what is there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from likewise.errors import InputError
from likewise.items.cache import FeatureCache, default_folder
from likewise.items.given import ARRAY_SUFFIXES, read_features
from likewise.items.images import ImageItems
from likewise.items.items import Items, Kind
from likewise.items.points import PointItems
from likewise.items.rows import RowItems
from likewise.items.series import SeriesItems, series_from_array, series_from_folder, table_series
from likewise.items.tables import TABLE_SUFFIXES, Table, read_table
from likewise.items.texts import TextItems

PathLike = str | os.PathLike[str]


def open_items(
    path: PathLike,
    *,
    kind: Kind | None = None,
    text: str | None = None,
    id: str | None = None,
    columns: Sequence[str] | None = None,
    show: Sequence[str] | None = None,
    features: PathLike | None = None,
    items: PathLike | None = None,
    series: bool = False,
    image_features: str = "auto",
    text_features: str = "lsi",
    series_features: Literal["euclidean", "dtw"] = "euclidean",
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    cache: bool | PathLike = True,
) -> Items:
    r"""Open what is at a path as items to compare.

    Parameters
    ----------
    path : path
        A folder of pictures; a CSV, JSON lines or Parquet file, whose rows are the items; an
        .npy or .npz file of features; with `series`, a folder or table of time series.
    kind : str, optional
        What it is, instead of recognizing it.
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
        Where `path` is a file of features, what to show for its rows.
    series : bool
        Whether these are time series.
    image_features : str
        ``"auto"``, ``"efficientnet-lite0"``, ``"efficientnet-lite2"``, ``"descriptors"`` or the
        name of a timm model.
    text_features : str
        ``"lsi"`` or the name of a sentence-transformers model.
    series_features : {"euclidean", "dtw"}
        How to compare series.
    encoding, delimiter, header : optional
        How to read a CSV, instead of finding out.
    cache : bool or path
        Whether to keep computed features, or where.

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
    [['name', 'a'], ['petal', '1.5'], ['color', 'red']]
    >>> flowers.features().X
    array([[0., 0., 1.],
           [1., 1., 0.]])
    >>> folder.cleanup()
    """
    path = Path(path)
    if items is not None:
        if features is not None:
            raise InputError(f"{path} and {features} cannot both be the features of {items}")
        path, features = Path(items), path
    if not path.exists():
        raise InputError(f"there is nothing at {path}")
    store = FeatureCache(_cache_folder(cache))
    table_options: dict[str, Any] = {
        "text": text,
        "id": id,
        "columns": columns,
        "show": show,
        "encoding": encoding,
        "delimiter": delimiter,
        "header": header,
    }
    kind = kind or _recognize(path, text, series)
    found: Items
    if kind == "images":
        _refuse(path, table_options, "a table")
        found = ImageItems(path, recipe=image_features, cache=store)
    elif kind == "points":
        _refuse(path, table_options, "a table")
        found = PointItems(path)
    elif kind == "series":
        found = _open_series(path, table_options, series_features, store)
    else:
        table = _table(path, table_options)
        if kind == "rows":
            found = RowItems(table, id=id, columns=columns, show=show)
        else:
            _refuse(path, {"columns": columns}, "rows or series")
            column = _text_column(list(table.columns), path) if text is None else text
            found = TextItems(table, column, id=id, show=show, recipe=text_features, cache=store)
    if features is not None:
        found = found.with_features(read_features(Path(features), found.ids, path))
    return found


def _recognize(path: Path, text: str | None, series: bool) -> Kind:
    if series:
        return "series"
    if path.is_dir():
        return "images"
    suffix = path.suffix.lower()
    if suffix in TABLE_SUFFIXES:
        return "rows" if text is None else "texts"
    if suffix in ARRAY_SUFFIXES:
        return "points"
    known = ", ".join(TABLE_SUFFIXES + ARRAY_SUFFIXES)
    raise InputError(f"{path} is not a folder of pictures or a file that can be read ({known})")


def _table(path: Path, options: dict[str, Any]) -> Table:
    if not path.is_file() or path.suffix.lower() not in TABLE_SUFFIXES:
        raise InputError(f"{path} is not a table ({', '.join(TABLE_SUFFIXES)})")
    reading = {name: options[name] for name in ("encoding", "delimiter", "header")}
    return read_table(path, **reading)


def _open_series(
    path: Path, options: dict[str, Any], how: Literal["euclidean", "dtw"], cache: FeatureCache
) -> SeriesItems:
    _refuse(path, {"text": options["text"]}, "texts")
    if path.is_dir():
        _refuse(path, {"id": options["id"], "show": options["show"]}, "a table")
        found = series_from_folder(path, options["columns"])
    elif path.suffix.lower() in ARRAY_SUFFIXES:
        _refuse(path, options, "a table")
        found = series_from_array(path)
    else:
        found = table_series(
            _table(path, options), options["id"], options["columns"], options["show"]
        )
    return SeriesItems(path, found, how=how, cache=cache)


def _refuse(path: Path, options: dict[str, Any], needed: str) -> None:
    """Refuse options that would have no effect."""
    for name, value in options.items():
        if value is not None:
            raise InputError(f"--{name} is for {needed}; {path} is opened as something else")


def _text_column(columns: list[str], path: Path) -> str:
    if len(columns) == 1:
        return columns[0]
    raise InputError(f"which column of {path} holds the texts? --text is one of {columns}")


def _cache_folder(cache: bool | PathLike) -> Path | None:
    if cache is True:
        return default_folder()
    return None if cache is False else Path(cache)
