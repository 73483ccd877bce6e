"""Write the labels of rows in files: one Parquet file for each of them, and a manifest."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError
from likewise.files import whole_path
from likewise.rows.dask_rows import computed_each
from likewise.rows.row_files import NpyRows, ParquetRows, RowFile

MANIFEST = "_manifest.json"
"""The name of a file that every folder of labels has."""

Labels = Callable[[int, NDArray[Any]], NDArray[np.intp]]
"""The labels of the rows of a block, of which the first has the given number."""


def write_labels(
    rows: ParquetRows | NpyRows,
    labels_of: Labels,
    folder: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    is_on_cluster: bool = False,
    watch: NDArray[np.intp] | None = None,
    check: Callable[[NDArray[Any]], None] | None = None,
    progress: Callable[[int], None] | None = None,
    titles: Mapping[str, Sequence[str]] | None = None,
) -> int:
    """Write the labels to Parquet files, unless `check` refuses the rows in `watch` as read.

    `titles` are further columns by their names: for every label a text.
    """
    target = Path(os.path.abspath(folder))
    _check_folder(target, overwrite)
    target.parent.mkdir(parents=True, exist_ok=True)
    files = [file.path.resolve() for file in rows.files]
    common = Path(os.path.commonpath([path.parent for path in files]))
    names = [str(path.relative_to(common).with_suffix(".parquet")) for path in files]
    if len(set(names)) < len(names):
        raise InputError(f"two files differ only in their endings, such as {names[0]}; rename one")
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as place:
        new = Path(place, "labels")
        new.mkdir()
        watch = np.empty(0, dtype=np.intp) if watch is None else watch
        write = partial(_write_file, rows, labels_of, new, watch, titles or {})
        results: Iterator[tuple[set[int], NDArray[Any]]] = map(write, rows.files, names)
        if is_on_cluster:
            results = iter(computed_each(write, zip(rows.files, names, strict=True)))
        labels: set[int] = set()
        watched: list[NDArray[Any]] = []
        parts: list[dict[str, Any]] = []
        for file, name, (own, rows_read) in zip(rows.files, names, results, strict=True):
            if not Path(new, name).exists():
                raise InputError(
                    f"a worker wrote {Path(new, name)}, but it is not there: the folder must be "
                    "one that all workers and this process share"
                )
            labels |= own
            watched.append(rows_read)
            parts.append({"file": name, "first_row": file.first_row, "n_rows": file.n_rows})
            if progress is not None:
                progress(file.first_row + file.n_rows)
        if check is not None:
            check(np.concatenate(watched))
        about = {"format": "likewise-labels", "n_rows": rows.n_rows, "n_groups": len(labels)}
        text = json.dumps({**about, "parts": parts}, indent=1)
        Path(new, MANIFEST).write_text(text, encoding="utf-8")
        if target.exists():
            os.replace(target, Path(place, "before"))
        os.replace(new, target)
    return len(labels)


def _check_folder(folder: Path, overwrite: bool) -> None:
    """Raise `InputError` for a folder that labels may not be written to."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; labels are written to a folder")
    if folder.is_dir() and any(folder.iterdir()):
        if not (folder / MANIFEST).exists():
            raise InputError(f"the folder {folder} is not empty and has no labels; choose another")
        if not overwrite:
            raise InputError(f"the folder {folder} has labels already: choose another or overwrite")


def _write_file(
    rows: ParquetRows | NpyRows,
    labels_of: Labels,
    folder: Path,
    watch: NDArray[np.intp],
    titles: Mapping[str, Sequence[str]],
    file: RowFile,
    name: str,
) -> tuple[set[int], NDArray[Any]]:
    """Write the labels of one file; return the labels, and its rows that are watched."""
    import pyarrow
    from pyarrow import parquet

    texts = {name: pyarrow.array(titles[name], pyarrow.string()) for name in titles}
    fields = [("row", pyarrow.int64()), ("label", pyarrow.int32())]
    schema = pyarrow.schema([*fields, *((name, pyarrow.string()) for name in texts)])
    labels: set[int] = set()
    watched = [np.empty((0, len(rows.names)), rows.dtype)]
    encodings = {
        "use_dictionary": ["label", *texts],
        "column_encoding": {"row": "DELTA_BINARY_PACKED"},
    }
    # A cluster may write a file twice, so every attempt has a name of its own.
    with (
        whole_path(folder / name) as attempt,
        parquet.ParquetWriter(attempt, schema, **encodings) as writer,
    ):
        for number, block in rows.blocks(file):
            own = labels_of(number, block).astype(np.int32)
            low, high = np.searchsorted(watch, [number, number + len(block)])
            watched.append(block[watch[low:high] - number])
            labels |= set(np.unique(own).tolist())
            columns: list[Any] = [np.arange(number, number + len(block)), own]
            columns += [text.take(pyarrow.array(own)) for text in texts.values()]
            writer.write_table(pyarrow.table(columns, schema=schema))
    return labels, np.concatenate(watched)
