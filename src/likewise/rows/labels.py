"""The group of every row, written as Parquet files that are cut like the data.

All files are written under temporary names, renamed when all are whole, and listed in a manifest
that comes last: a folder with a manifest is complete, one without is not.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError, MissingExtraError
from likewise.files import whole_file
from likewise.rows.blocks import BLOCKS_PER_SPAN, blocks, whole_blocks
from likewise.rows.passes import Block, Cells, Pass
from likewise.rows.source import Part, Source

MANIFEST = "_manifest.json"

_ROWS_PER_GROUP = 2**17
"""Rows of a row group of the Parquet files."""


def no_rows() -> NDArray[np.intp]:
    """Return no rows."""
    return np.empty(0, dtype=np.intp)


class RowLabels(Protocol):
    """Labels rows one by one, not by their super-instance."""

    @property
    def n_groups(self) -> int:
        """Number of groups."""

    def of(self, start: int, block: NDArray[Any]) -> NDArray[np.intp]:
        """Return the labels of the rows from `start` on, where a block begins."""


@dataclass(frozen=True, slots=True)
class Labeling:
    """How rows get their labels: by the cell they lie in, or one by one.

    Attributes
    ----------
    cells : Cells or None
        The cells of K-means.
    owner : ndarray
        For every cell its super-instance; without cells, for every row.
    groups : ndarray of shape (n_super_instances,)
        For every super-instance its group.
    rows : RowLabels or None
        What labels every row, if it is not the group of its super-instance.
    fixed, of_fixed : ndarray of int
        Rows that have a group of their own, increasing, and their groups.
    """

    cells: Cells | None
    owner: NDArray[np.intp]
    groups: NDArray[np.intp]
    rows: RowLabels | None = None
    fixed: NDArray[np.intp] = field(default_factory=no_rows)
    of_fixed: NDArray[np.intp] = field(default_factory=no_rows)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        if self.rows is not None:
            return self.rows.n_groups
        return max(int(some.max(initial=0)) for some in (self.groups, self.of_fixed)) + 1

    def of(
        self, source: Source, start: int, stop: int
    ) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.intp]]]:
        """Yield rows, their super-instances and labels from `start` up to `stop`, in blocks."""
        if self.cells is None and self.rows is None:
            owned = self.owner[start:stop]
            yield start, owned, self.fix(start, self.groups[owned])
            return
        # Blocks begin at the same rows as in the first assignment, which gives the same bits.
        for at, block in blocks(source, *whole_blocks(source, start, stop)):
            here = slice(max(start - at, 0), min(stop - at, len(block)))
            owned = self.owned(at, block)
            if self.rows is None:
                labels = self.fix(at, self.groups[owned])
            else:
                labels = self.rows.of(at, block)
            yield at + here.start, owned[here], labels[here]

    def owned(self, start: int, block: NDArray[Any]) -> NDArray[np.intp]:
        """Return the super-instances of the rows of a block."""
        if self.cells is None:
            return self.owner[start : start + len(block)]
        return np.asarray(self.owner[self.cells.of(block)])

    def labels(self, start: int, block: NDArray[Any]) -> NDArray[np.intp]:
        """Return the labels of the rows of a block."""
        if self.rows is not None:
            return self.rows.of(start, block)
        return self.fix(start, self.groups[self.owned(start, block)])

    def fix(self, start: int, labels: NDArray[np.intp]) -> NDArray[np.intp]:
        """Set the labels of the rows in `fixed`, whatever their super-instance has."""
        low, high = np.searchsorted(self.fixed, [start, start + len(labels)])
        labels[self.fixed[low:high] - start] = self.of_fixed[low:high]
        return labels


@dataclass(frozen=True)
class LabelPass(Pass[list[NDArray[np.intp]]]):
    """Collect the label of every row."""

    labeling: Labeling
    phase: str = "labels"

    def empty(self) -> list[NDArray[np.intp]]:
        """Return no labels."""
        return []

    def add(self, found: list[NDArray[np.intp]], block: Block) -> list[NDArray[np.intp]]:
        """Return the labels so far and those of one more block."""
        return [*found, self.labeling.labels(block.start, block.rows)]


@dataclass(frozen=True, slots=True)
class Written:
    """Files that a piece of work wrote, and how many rows of each super-instance were in them."""

    files: list[tuple[str, str]]
    counts: NDArray[np.int64]


def pieces_of_work(source: Source) -> list[list[Part]]:
    """Return the parts in bundles that are large enough for a worker."""
    enough = BLOCKS_PER_SPAN * source.block_rows
    bundles: list[list[Part]] = [[]]
    for part in source.parts:
        if bundles[-1] and part.stop - bundles[-1][0].start > enough:
            bundles.append([])
        bundles[-1].append(part)
    return bundles


def write_parts(
    source: Source, parts: Sequence[Part], labeling: Labeling, folder: str, run: str
) -> Written:
    """Write the labels of consecutive parts under temporary names."""
    written = list(write_each(source, parts, labeling, folder, run))
    files = [file for part in written for file in part.files]
    return Written(files, np.sum([part.counts for part in written], axis=0))


def write_each(
    source: Source, parts: Sequence[Part], labeling: Labeling, folder: str, run: str
) -> Iterator[Written]:
    """Write the labels of consecutive parts one after the other, in one run through their rows."""
    stream = labeling.of(source, parts[0].start, parts[-1].stop)
    waiting: tuple[int, NDArray[np.intp], NDArray[np.intp]] | None = None
    for part in parts:
        counts = np.zeros(len(labeling.groups), dtype=np.int64)
        final = Path(folder, f"{part.name}.parquet")
        final.parent.mkdir(parents=True, exist_ok=True)
        # A lost worker may have left its file, so every attempt has its own name.
        new = final.with_name(f".{final.name}.{run}-{uuid.uuid4().hex}.tmp")
        with _Writer(new) as writer:
            while writer.n_rows < part.stop - part.start:
                at, owned, labels = waiting or next(stream)
                n = min(len(owned), part.stop - at)
                waiting = (at + n, owned[n:], labels[n:]) if n < len(owned) else None
                counts += np.bincount(owned[:n], minlength=len(counts))
                writer.add(at, labels[:n])
        yield Written([(str(new), str(final))], counts)


def new_folder(path: str | os.PathLike[str], overwrite: bool) -> Path:
    """Return a folder that labels may be written to, or raise `InputError`."""
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; labels are written to a folder")
    if folder.is_dir() and any(folder.iterdir()):
        if not (folder / MANIFEST).exists():
            raise InputError(f"the folder {folder} is not empty and has no labels; choose another")
        if not overwrite:
            raise InputError(
                f"the folder {folder} has labels already. Choose another or pass overwrite=True."
            )
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def publish(
    folder: Path, files: Sequence[tuple[str, str]], about: dict[str, Any], parts: Sequence[Part]
) -> None:
    """Rename whole files to their final names, and write the manifest last."""
    for new, _ in files:
        if not Path(new).exists():
            raise InputError(
                f"a worker wrote {new}, but it is not there: the folder must be one that all "
                "workers and this process share"
            )
    manifest = folder / MANIFEST
    if manifest.exists():
        earlier = json.loads(manifest.read_text())
        manifest.unlink()
        for part in earlier["parts"]:
            (folder / part["file"]).unlink(missing_ok=True)
    for new, final in files:
        os.replace(new, final)
    listed = [
        {"file": f"{part.name}.parquet", "first_row": part.start, "n_rows": part.stop - part.start}
        for part in parts
    ]
    text = json.dumps({"format": "likewise-labels", **about, "parts": listed}, indent=1)
    with whole_file(manifest) as file:
        file.write(text.encode())


def remove_unfinished(folder: Path, run: str) -> None:
    """Delete the temporary files of a run."""
    for left in folder.rglob(f".*.{run}-*.tmp"):
        left.unlink(missing_ok=True)


class _Writer:
    """A Parquet file with the columns `row` and `label`."""

    def __init__(self, path: Path) -> None:
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError as error:
            raise MissingExtraError("writing Parquet", "tables") from error
        self._arrow = pyarrow
        self._schema = pyarrow.schema([("row", pyarrow.int64()), ("label", pyarrow.int32())])
        self._file = parquet.ParquetWriter(
            path,
            self._schema,
            use_dictionary=["label"],
            column_encoding={"row": "DELTA_BINARY_PACKED"},
        )
        self._labels: list[NDArray[np.int32]] = []
        self._first = 0
        self._n_waiting = 0
        self.n_rows = 0

    def add(self, start: int, labels: NDArray[np.intp]) -> None:
        """Write labels of the rows from `start` on."""
        if not self._n_waiting:
            self._first = start
        self._labels.append(labels.astype(np.int32))
        self._n_waiting += len(labels)
        self.n_rows += len(labels)
        if self._n_waiting >= _ROWS_PER_GROUP:
            self._flush()

    def _flush(self) -> None:
        if self._n_waiting:
            rows = np.arange(self._first, self._first + self._n_waiting)
            columns = [rows, np.concatenate(self._labels)]
            self._file.write_table(self._arrow.table(columns, schema=self._schema))
            self._labels, self._n_waiting = [], 0

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self._flush()
        self._file.close()
