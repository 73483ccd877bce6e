"""Projects about rows in files that are not read as a whole: a sample is shown and asked about.

The session file has the sample, so that going on does not read the data. All other rows get their
groups when they are exported.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.fingerprint import fingerprint
from likewise.core.session import Session
from likewise.errors import InputError
from likewise.items.items import Features
from likewise.items.limits import fits
from likewise.items.points import check_promises, refuse_not_finite
from likewise.items.rows import RowItems
from likewise.items.tablefiles import parquet_bytes
from likewise.items.tables import Table
from likewise.project.packing import pack, readable, unpack, unpack_session
from likewise.project.project import Project
from likewise.project.store import Store
from likewise.rows.assignment import assign
from likewise.rows.blocks import in_tiles
from likewise.rows.dask_rows import connect
from likewise.rows.label_files import write_labels
from likewise.rows.row_files import NpyRows, ParquetRows
from likewise.rows.sample import draw_rows
from likewise.words import plural

SETUP = "setup 0"
"""The payload with the session as it was begun."""
FEATURES = "features"
"""The payload with the features of the sample."""
SHOWN = "shown rows"
"""The payload with the numbers of the sample's rows, and their values as they are shown."""
ALL_ROWS = "all rows"
"""The payload of release 0.1.0 with the super-instances of all rows."""

OnProgress = Callable[[str, int, int], None]


def is_large(paths: Sequence[str | os.PathLike[str]], options: Mapping[str, Any]) -> bool:
    """Return whether files are read in batches: there are several, or they do not fit in memory."""
    if any(options.get(name) for name in ("kind", "names", "text", "series", "features", "items")):
        return False
    if len(paths) > 1:
        return True
    path = Path(paths[0])
    if path.is_dir():
        return next(path.rglob("*.parquet"), None) is not None
    if path.suffix == ".npy":
        needed = 3 * path.stat().st_size
    elif path.suffix in (".parquet", ".pq"):
        needed = parquet_bytes(path)
    else:
        return False
    return not fits(needed)


def open_rows(settings: Mapping[str, Any]) -> ParquetRows | NpyRows:
    """Return the rows of the files that a project's settings name."""
    paths = settings["paths"]
    columns = settings.get("options", {}).get("columns")
    if len(paths) > 1 or not paths[0].endswith(".npy"):
        return ParquetRows(paths, columns)
    if columns:
        raise InputError(f"{paths[0]} has no names of columns; leave out --columns")
    check_promises(Path(paths[0]))
    return NpyRows(paths[0])


@dataclass(frozen=True)
class Scale:
    """Columns scaled to [0, 1] by their range in the sample, like those of small tables."""

    low: NDArray[Any]
    width: NDArray[Any]

    @classmethod
    def of(cls, settings: Mapping[str, Any], dtype: Any) -> Scale:
        """Return the scale that a project's settings have; columns stay as they are without one."""
        low = np.array(settings.get("low", 0.0), dtype=dtype)
        width = np.array(settings.get("high", 1.0), dtype=dtype) - low
        return cls(low, np.where(width > 0, width, np.ones_like(width)))

    def __call__(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return rows with scaled columns."""
        return np.asarray((rows - self.low) / self.width)


def sample_of(
    settings: dict[str, Any],
) -> tuple[NDArray[np.intp], Features, dict[str, list[Any]]]:
    """Return the sample, its features and its items; add the columns' ranges to the settings."""
    rows = open_rows(settings)
    numbers = draw_rows(rows.n_rows, settings["seed"])
    numbers = np.arange(rows.n_rows) if numbers is None else numbers
    values = rows.take(numbers)
    refuse_not_finite(values, settings["paths"][0], numbers)
    if isinstance(rows, ParquetRows):
        # As Python floats, which JSON gives back exactly.
        settings |= {"low": values.min(axis=0).tolist(), "high": values.max(axis=0).tolist()}
    settings["n_rows"] = rows.n_rows
    X = Scale.of(settings, rows.dtype)(values)
    about = f"{plural(X.shape[1], 'column')} of {settings['paths'][0]}"
    records = rows.records(numbers, settings.get("options", {}).get("show"))
    return numbers, Features(X, about), records


def payloads_of(
    numbers: NDArray[np.intp], features: Features, records: Mapping[str, Sequence[Any]]
) -> dict[str, bytes]:
    """Return the sample as payloads of a session file."""
    shown = json.dumps({"rows": numbers.tolist(), "records": records}, default=str)
    return {FEATURES: pack({"X": features.X}), SHOWN: shown.encode()}


def items_of(where: Path, numbers: Sequence[int], records: Mapping[str, Sequence[Any]]) -> RowItems:
    """Return the rows of a sample as items."""
    columns: dict[str, Sequence[Any]] = {"row": [str(row) for row in numbers]}
    columns |= {name: list(values) for name, values in records.items() if name != "row"}
    return RowItems(Table(where, columns, len(numbers)), id="row")


def go_on(where: Path) -> Project:
    """Return the project in a file; the data is not needed to go on asking."""
    store = Store.open(where)
    try:
        return _project(where, store)
    except BaseException:
        store.close()
        raise


def _project(where: Path, store: Store) -> Project:
    with readable(f"the payload {SHOWN!r}"):
        kept = json.loads(store.payload(SHOWN))
        if FEATURES in store.payload_names:
            X = unpack(store.payload(FEATURES))["X"]
            session = unpack_session(store.payload(SETUP), X)
        else:  # of release 0.1.0, which stored the representatives alone
            session = unpack_session(store.payload(SETUP))
            points = session.strategy.partition.points
            assert points is not None
            X = points[session.strategy.partition.assignment]
        items = items_of(where, kept["rows"], kept["records"])
        features = Features(X, f"{plural(X.shape[1], 'column')} of {store.settings['paths'][0]}")
        seed = int(store.settings["seed"])
    return Project(session, items, store, features=lambda: features, path=where, seed=seed)


def export_folder(
    project: Project,
    store: Store,
    folder: str | os.PathLike[str],
    *,
    cluster: str | None = None,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Write the group of every row to a folder, by Dask if asked; return the number of groups."""
    settings, session = store.settings, project.session
    rows = open_rows(settings)
    scale = Scale.of(settings, rows.dtype)
    numbers = np.array([int(name) for name in project.ids], dtype=np.intp)
    if ALL_ROWS in store.payload_names:
        old = unpack(store.payload(ALL_ROWS))["strategy"]["partition"]
        partition = session.strategy.partition
        groups = session.labels[partition.representatives]
        centers = np.asarray(old["centers"], dtype=old["dtype"])
        predict: Any = _OfCells(centers, groups[np.asarray(old["cell_owner"], dtype=np.intp)])
        watch, expected = numbers[partition.representatives], partition.points
        n_rows = int(old["n_rows"]) if "n_rows" in old else len(old["assignment"])
    else:
        predict = model_of(session)._predictor()
        watch, expected = numbers, project.features.X
        n_rows = settings["n_rows"]

    def check(watched: NDArray[Any]) -> None:
        same = fingerprint(scale(watched)) == fingerprint(np.asarray(expected, rows.dtype))
        if not same or rows.n_rows < n_rows:  # what was added behind the others is predicted
            raise InputError(
                "the data has changed since the session was begun: nothing was written, and no "
                "answer is lost. Begin another session about this data with --session FILE."
            )

    labels_of = _LabelsOf(scale, predict, numbers, session.labels)
    with connect(cluster) or nullcontext():
        return write_labels(
            rows,
            labels_of,
            folder,
            overwrite=overwrite,
            is_on_cluster=cluster is not None,
            watch=watch,
            check=check,
            progress=progress,
        )


@dataclass(frozen=True)
class _LabelsOf:
    """The labels of a block of rows: from the session for the sample, else predicted."""

    scale: Scale
    predict: Callable[[NDArray[Any]], NDArray[np.intp]]
    numbers: NDArray[np.intp]
    labels: NDArray[np.intp]

    def __call__(self, number: int, rows: NDArray[Any]) -> NDArray[np.intp]:
        refuse_not_finite(rows, "the data", range(number, number + len(rows)))
        labels = in_tiles(self.predict, self.scale(rows))
        low, high = np.searchsorted(self.numbers, [number, number + len(rows)])
        labels[self.numbers[low:high] - number] = self.labels[low:high]
        return labels


@dataclass(frozen=True)
class _OfCells:
    """The labels of rows by their nearest center."""

    centers: NDArray[Any]
    groups: NDArray[np.intp]

    def __call__(self, rows: NDArray[Any]) -> NDArray[np.intp]:
        return self.groups[assign(rows, self.centers)]


def model_of(session: Session) -> Any:
    """Return the fitted estimator of a session, which can predict other rows."""
    from likewise import cluster

    return getattr(cluster, session.strategy.estimator)().adopt(session)
