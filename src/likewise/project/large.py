"""Projects about files that are not read as a whole: a sample is shown and asked about.

The session file has the sample, so opening it again does not read the data. All other rows get
their groups when they are exported.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise.cluster.start import start_session
from likewise.core.fingerprint import fingerprint
from likewise.core.session import Session
from likewise.core.strategy import Strategy
from likewise.errors import InputError, SessionFileError
from likewise.items import Features, Items
from likewise.items.limits import fits
from likewise.items.points import refuse_not_finite
from likewise.items.rows import RowItems
from likewise.items.tablefiles import parquet_bytes
from likewise.items.tables import Table
from likewise.project.beginning import Begun, Step, strategy_for
from likewise.project.groups import group_names, titles_of
from likewise.project.paths import Say
from likewise.project.project import Project
from likewise.rows.blocks import in_tiles
from likewise.rows.dask_rows import connect
from likewise.rows.label_files import write_labels
from likewise.rows.row_files import NpyRows, ParquetRows
from likewise.store import Store
from likewise.store.packing import pack, readable, unpack
from likewise.words import plural

if TYPE_CHECKING:
    from likewise.cluster import COBRA, Likewise

FEATURES = "features"
"""The payload with the features of the sample."""
SHOWN = "shown rows"
"""The payload with the numbers of the sample's rows, and their values as they are shown."""
OTHER_KINDS = ("kind", "names", "text", "series", "features", "items")
"""Options for data that is read as a whole."""


def is_large(paths: Sequence[str | os.PathLike[str]], options: Mapping[str, Any]) -> bool:
    """Return whether files are read in batches: there are several, or they do not fit in memory."""
    if len(paths) > 1:
        return True
    path = Path(paths[0])
    if any(options.get(name) for name in OTHER_KINDS):
        return False
    if path.is_dir():
        return next(path.rglob("*.parquet"), None) is not None
    if path.suffix == ".npy":
        needed = 3 * path.stat().st_size
    elif path.suffix in (".parquet", ".pq"):
        needed = parquet_bytes(path)
    else:
        return False
    return not fits(needed)


def is_sample(settings: Mapping[str, Any]) -> bool:
    """Return whether a session is about a sample of files that are not read as a whole."""
    return "paths" in settings


def check_batches(paths: Sequence[str | os.PathLike[str]], options: Mapping[str, Any]) -> None:
    """Refuse files that cannot be read in batches, and options that are not for such files."""
    for path in map(Path, paths):
        if not path.is_dir() and path.suffix not in (".parquet", ".pq", ".npy"):
            raise InputError(
                f"{path} is not a Parquet file, so it cannot be read together with others. Give "
                "one file, or convert all of them."
            )
    for name, value in options.items():
        if value is not None and name not in ("columns", "show"):
            flag = name.replace("_", "-")
            raise InputError(f"--{flag} is not for files that are read in batches")


def open_rows(settings: Mapping[str, Any]) -> ParquetRows | NpyRows:
    """Return the rows of the files that a project's settings name."""
    paths = settings["paths"]
    columns = settings.get("options", {}).get("columns")
    if len(paths) > 1 or not paths[0].endswith(".npy"):
        return ParquetRows(paths, columns)
    if columns:
        raise InputError(f"{paths[0]} has no names of columns; leave out --columns")
    return NpyRows(paths[0])


def _scaled(rows: NDArray[Any], settings: Mapping[str, Any]) -> NDArray[Any]:
    """Return rows with columns scaled to [0, 1] by their range in the sample, if that is stored."""
    low = np.array(settings.get("low", 0.0), dtype=rows.dtype)
    high = np.array(settings.get("high", 1.0), dtype=rows.dtype)
    if any(one.shape not in ((), rows.shape[1:]) for one in (low, high)):
        raise SessionFileError("the session does not say the range of every column: use a copy")
    width = high - low
    return np.asarray((rows - low) / np.where(width > 0, width, np.ones_like(width)))


class ScaledRows:
    """The rows of files with columns scaled by their range in the rows that are taken.

    `sample` has these rows and `scale` what `_scaled` needs to scale others like them.
    """

    def __init__(self, rows: ParquetRows | NpyRows, source: str) -> None:
        self._rows, self._source = rows, source
        self.n_rows = rows.n_rows
        self.scale: dict[str, list[float]] = {}

    def take(self, numbers: NDArray[np.intp] | None) -> NDArray[Any]:
        """Return the rows of some numbers, which increase; None for all."""
        numbers = np.arange(self.n_rows) if numbers is None else numbers
        values = self._rows.take(numbers)
        refuse_not_finite(values, self._source, numbers)
        if isinstance(self._rows, ParquetRows):
            # As Python floats, which JSON gives back exactly.
            self.scale = {"low": values.min(axis=0).tolist(), "high": values.max(axis=0).tolist()}
        self.sample = _scaled(values, self.scale)
        return self.sample


class _Numbers(Sequence[str]):
    """The numbers of rows as texts, by which the rows of files are named; none is stored."""

    def __init__(self, n: int) -> None:
        self._n = n

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, row: Any) -> Any:
        return str(range(self._n)[row])


def begin(
    paths: Sequence[str | os.PathLike[str]], settings: dict[str, Any], say: Say, progress: Step
) -> Begun:
    """Draw a sample of rows in files and begin a session about it."""
    settings["paths"] = [os.path.abspath(path) for path in paths]
    source = settings["paths"][0]
    progress(f"Reading a sample of {Path(source).name}", 0, 0)
    rows = open_rows(settings)
    data = ScaledRows(rows, source)

    def strategy(X: NDArray[Any], **about: Any) -> Strategy:
        progress("Finding small groups", 0, 0)
        return strategy_for(_features(X, settings), settings)(X, **about)

    about: Any = {"seed": settings["seed"], "sample_ids": _Numbers(rows.n_rows)}
    about["group_names"] = settings["group_names"] or ()
    session, sample = start_session(data, strategy, **about, takes_sample=True)
    if session.row_numbers is None:
        session.row_numbers = np.arange(rows.n_rows)
    numbers = session.row_numbers
    settings |= {**data.scale, "n_rows": rows.n_rows}
    say(f"{plural(len(numbers), 'row')} of {rows.n_rows} are asked about")
    records = rows.records(numbers, settings["options"].get("show"))
    items = _items(Path(source), numbers.tolist(), records)
    shown = json.dumps({"rows": numbers.tolist(), "records": records}, default=str)
    payloads = {FEATURES: pack({"X": sample}), SHOWN: shown.encode()}
    return Begun(session, items, _features(sample, settings), payloads)


def _features(X: NDArray[Any], settings: Mapping[str, Any]) -> Features:
    return Features(X, f"{plural(X.shape[1], 'column')} of {settings['paths'][0]}")


def _items(where: Path, numbers: Sequence[int], records: Mapping[str, Sequence[Any]]) -> RowItems:
    """Return the rows of a sample as items."""
    columns: dict[str, Sequence[Any]] = {"row": [str(row) for row in numbers]}
    columns |= {name: list(values) for name, values in records.items() if name != "row"}
    return RowItems(Table(where, columns, len(numbers)), id="row")


def sample_in(store: Store) -> tuple[Items, Callable[[], Features]]:
    """Return the sample in a file, and what returns its features; the data is not needed."""
    with readable(f"the payload {SHOWN!r}"):
        kept = json.loads(store.payload(SHOWN))
        X = unpack(store.payload(FEATURES))["X"]
        items = _items(store.path, kept["rows"], kept["records"])
        features = _features(X, store.settings)
        return items, lambda: features


def export_folder(
    project: Project,
    folder: str | os.PathLike[str],
    *,
    cluster: str | None = None,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Write the group of every row to a folder, by Dask if asked; return the number of groups."""
    store, session = project.store, project.session
    settings = store.settings
    rows = open_rows(settings)
    numbers = np.array([int(name) for name in project.ids], dtype=np.intp)
    scale: Any = {name: settings[name] for name in ("low", "high") if name in settings}
    expected, n_rows = project.features.X, settings["n_rows"]

    def check(watched: NDArray[Any]) -> None:
        same = fingerprint(_scaled(watched, scale)) == fingerprint(np.asarray(expected, rows.dtype))
        if not same or rows.n_rows < n_rows:  # what was added behind the others is predicted
            raise InputError(
                "the data has changed since the session was begun: nothing was written, and no "
                "answer is lost. Begin another session about this data with --session FILE."
            )

    with connect(cluster) or nullcontext():
        return write_labels(
            rows,
            partial(
                _labels,
                scale=scale,
                predict=model_of(session)._predictor(),
                numbers=numbers,
                known=session.labels,
            ),
            folder,
            overwrite=overwrite,
            is_on_cluster=cluster is not None,
            watch=numbers,
            check=check,
            progress=progress,
            titles={
                "group": [*titles_of(session).values()],
                "name": [*group_names(session).values()],
            },
        )


def _labels(
    number: int,
    rows: NDArray[Any],
    *,
    scale: Mapping[str, Any],
    predict: Callable[[NDArray[Any]], NDArray[np.intp]],
    numbers: NDArray[np.intp],
    known: NDArray[np.intp],
) -> NDArray[np.intp]:
    """Return the labels of a block of rows: those known for the sample, else predicted ones."""
    refuse_not_finite(rows, "the data", range(number, number + len(rows)))
    labels = in_tiles(predict, _scaled(rows, scale))
    low, high = np.searchsorted(numbers, [number, number + len(rows)])
    labels[numbers[low:high] - number] = known[low:high]
    return labels


def model_of(session: Session) -> COBRA | Likewise:
    """Return the fitted estimator of a session, which can predict other rows."""
    from likewise.cluster import COBRA, Likewise

    estimator = COBRA if session.assessment.learned is None else Likewise
    return estimator().adopt(session)
