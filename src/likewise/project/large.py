"""Projects about data that does not fit in memory: a few rows of every super-instance are shown.

The file has two sessions. One is about the rows that can be shown; it asks the questions. The other
is about all rows; it gets the same answers when labels are written.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.partition import StreamedSuperInstances, SuperInstances
from likewise.core.session import Session
from likewise.errors import InputError, needs_extra
from likewise.items.items import Features
from likewise.items.limits import fits
from likewise.items.points import check_promises
from likewise.items.rows import RowItems
from likewise.items.tablefiles import parquet_bytes
from likewise.items.tables import Table
from likewise.project.packing import pack_session, readable, unpack, unpack_session
from likewise.project.project import Project
from likewise.project.store import Store
from likewise.strategies.closest_first import DEFAULT_SUPER_INSTANCES, ClosestFirst
from likewise.words import plural

if TYPE_CHECKING:
    from likewise.scale import Source

SETUP = "setup 0"
"""The payload with the session as it was begun."""
WHOLE = "all rows"
SHOWN = "shown rows"
OnProgress = Callable[[str, int, int], None]


def is_large(paths: Sequence[str | os.PathLike[str]], options: Mapping[str, Any]) -> bool:
    """Return whether files are read in batches: there are several, or they do not fit in memory."""
    if any(options.get(name) for name in ("kind", "text", "series", "features", "items")):
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


def open_source(settings: Mapping[str, Any], client: Any = None) -> Source:
    """Return the source that a project's settings describe."""
    from likewise.rows.scaled import ScaledSource
    from likewise.scale import from_npy, from_parquet

    paths = settings["paths"]
    options = settings.get("options", {})
    if len(paths) == 1 and paths[0].endswith(".npy"):
        if options.get("columns"):
            raise InputError(f"{paths[0]} has no names of columns; leave out --columns")
        check_promises(Path(paths[0]))
        return from_npy(paths[0], client=client)
    source = from_parquet(paths, options.get("columns"), client=client)
    if "low" in settings:
        return ScaledSource(source, np.array(settings["low"]), np.array(settings["high"]))
    return source


def begin(
    where: Path,
    settings: dict[str, Any],
    *,
    client: Any = None,
    progress: OnProgress | None = None,
) -> Project:
    """Read all rows, and begin a project about some rows of each super-instance."""
    from likewise.cluster import COBRA
    from likewise.rows.scaled import ScaledSource, scaled

    source = open_source(settings, client)
    if not settings["paths"][0].endswith(".npy"):
        source = scaled(source, n_jobs=-1, progress=progress)
        # As Python floats, which JSON gives back exactly.
        low, width = source.low.astype(float), source.width.astype(float)
        settings |= {"low": low.tolist(), "high": (low + width).tolist()}
        source = open_source(settings, client)
    n = settings.get("n_super_instances") or DEFAULT_SUPER_INSTANCES
    unfinished = where.with_name(f".{where.name}.unfinished")
    model = COBRA(n, n_jobs=-1, random_state=settings["seed"])
    whole = model.start(source, checkpoint=unfinished, progress=progress)
    partition = whole.strategy.partition
    rows, shown = shown_part(partition)
    small = Session(ClosestFirst(shown), sample_ids=[str(row) for row in rows], digest=whole.digest)
    plain = source.source if isinstance(source, ScaledSource) else source
    options = settings.get("options", {})
    records = plain.records(rows, options.get("show"))
    store = Store.create(
        where,
        settings=settings,
        items=_items(where, rows, records).content_hashes(),
        payloads={
            SETUP: pack_session(small),
            WHOLE: pack_session(whole),
            SHOWN: json.dumps({"rows": rows.tolist(), "records": records}, default=str).encode(),
        },
    )
    shutil.rmtree(unfinished, ignore_errors=True)
    return go_on(where, store)


def go_on(where: Path, store: Store) -> Project:
    """Return the project in a file; the data is not needed to go on asking."""
    session = unpack_session(store.payload(SETUP))
    with readable(f"the payload {SHOWN!r}"):
        kept = json.loads(store.payload(SHOWN))
        points = session.strategy.partition.points
        assert points is not None
        rows = np.array(kept["rows"], dtype=np.intp)
        items = _items(where, rows, kept["records"])
        X = points[session.strategy.partition.assignment]
        features = Features(X, f"{plural(X.shape[1], 'column')} of {store.settings['paths'][0]}")
    seed = int(store.settings["seed"])
    return Project(session, items, store, features=lambda: features, path=where, seed=seed)


def write_labels(
    project: Project,
    store: Store,
    folder: str | os.PathLike[str],
    *,
    client: Any = None,
    overwrite: bool = False,
    progress: OnProgress | None = None,
) -> None:
    """Give all rows the answers of a project, and write the group of each."""
    from likewise.scale import SourceSession

    source = open_source(store.settings, client)
    whole = SourceSession.from_dict(unpack(store.payload(WHOLE)), X=source)
    whole.attach(source, n_jobs=-1)
    rows = [int(name) for name in project.ids]
    for gesture in project.session.events:
        whole.give_links(
            replace(link, left=rows[link.left], right=rows[link.right]) for link in gesture.links
        )
    whole.write_labels(folder, overwrite=overwrite, progress=progress)


def shown_part(partition: SuperInstances) -> tuple[NDArray[np.intp], SuperInstances]:
    """Return the rows that can be shown, and the same super-instances of these rows alone."""
    if not isinstance(partition, StreamedSuperInstances):
        rows = np.arange(partition.n_rows)
        return rows, replace(partition, row_counts=partition.sizes())
    typical = partition.typical
    members = [
        np.union1d(rows, [rep])
        for rows, rep in zip(typical, partition.representatives, strict=True)
    ]
    rows = np.unique(np.concatenate(members)).astype(np.intp)
    assignment = np.empty(len(rows), dtype=np.intp)
    for k, own in enumerate(members):
        assignment[np.searchsorted(rows, own)] = k
    return rows, SuperInstances(
        assignment,
        np.searchsorted(rows, partition.representatives).astype(np.intp),
        points=partition.points,
        metric=partition.metric,
        row_counts=partition.sizes(),
    )


def connect(address: str | None) -> Any:
    """Return a client of the cluster at an address, or None without one."""
    if address is None:
        return None
    with needs_extra("working on a cluster", "dask"):
        from distributed import Client
    try:
        return Client(address, timeout="10s")
    except OSError as error:
        raise InputError(f"no Dask scheduler answers at {address}: {error}") from error


def _items(where: Path, rows: NDArray[np.intp], records: Mapping[str, Sequence[Any]]) -> RowItems:
    columns: dict[str, Sequence[Any]] = {"row": [str(row) for row in rows.tolist()]}
    columns |= {name: list(values) for name, values in records.items() if name != "row"}
    return RowItems(Table(where, columns, len(rows)), id="row")
