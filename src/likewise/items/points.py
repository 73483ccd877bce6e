"""Arrays of numbers: items of which there is no more to show, and features that the user brings."""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Self

import numpy as np

from likewise.errors import InputError
from likewise.items.cache import FeatureCache
from likewise.items.items import Features, Items, OnProgress, check_ids, digest, shorten
from likewise.items.limits import check_fits, in_words
from likewise.items.tablefiles import TABLE_SUFFIXES, read_table
from likewise.items.tables import as_text
from likewise.words import plural

ARRAY_SUFFIXES = (".npy", ".npz")
FEATURE_NAMES = ("X", "features", "embeddings", "arr_0")
ID_NAMES = ("ids", "id", "names")
MOST_SHOWN = 50
"""How many numbers of an item are shown."""


class PointItems(Items):
    """Rows of a numeric array; the first 50 numbers are shown."""

    kind = "points"
    noun = "row"

    def __init__(self, path: Path) -> None:
        X, ids = read_array(path)
        self._X = check_features(X, str(path))
        super().__init__(path, ids_of(X, ids, path))

    @classmethod
    def recognizes(cls, source: Any, options: Mapping[str, Any]) -> bool:
        """Whether this is an .npy or .npz file."""
        return isinstance(source, Path) and source.suffix.lower() in ARRAY_SUFFIXES

    @classmethod
    def open(cls, source: Path, *, cache: FeatureCache) -> Self:
        """Read an array."""
        return cls(source)

    def view(self, i: int) -> dict[str, Any]:
        """Return the first features of item `i`, and where they lie between those of all others."""
        row = self._X[i]
        shown = [[f"feature {k}", f"{value:.6g}"] for k, value in enumerate(row[:MOST_SHOWN])]
        if len(row) > MOST_SHOWN:
            shown.append(["…", f"{len(row) - MOST_SHOWN} more"])
        low, width = self._range
        shares = (row[:MOST_SHOWN] - low) / width
        scales = {f"feature {k}": round(float(share), 4) for k, share in enumerate(shares)}
        return {"kind": self.kind, "fields": shown, "scales": scales}

    @cached_property
    def _range(self) -> tuple[np.ndarray, np.ndarray]:
        """The smallest values of the shown features, and how far the largest are from them."""
        shown = self._X[:, :MOST_SHOWN]
        low = shown.min(axis=0)
        width = shown.max(axis=0) - low
        return low, np.where(width > 0, width, 1)

    def content_hash(self, i: int) -> str:
        """Return a hash of the row."""
        return digest(str(self._X.dtype), self._X[i].tobytes())

    def _make_features(self, progress: OnProgress | None) -> Features:
        return Features(
            self._X, f"{plural(self._X.shape[1], 'feature')} from {self.source}, as they are"
        )

    def _make_features_like(self, learned: Mapping[str, Any] | None) -> Features:
        return self._make_features(None)


def read_array(path: Path) -> tuple[np.ndarray, list[str] | None]:
    """Read a numeric array, X if there are several, and ids if it is an .npz that has some."""
    try:
        check_promises(path)
        # Opened here, because numpy forgets to close what turns out to be broken.
        with path.open("rb") as file:
            stored = np.load(file, allow_pickle=False)
            arrays = {"X": stored} if isinstance(stored, np.ndarray) else stored
            ids, X = _choose(path, arrays)
    except InputError:
        raise
    except (
        OSError, EOFError, MemoryError, TypeError, ValueError, zipfile.BadZipFile, zlib.error
    ) as error:  # fmt: skip
        raise InputError(
            f"{path} cannot be read as a numpy array: {error}. Arrays of Python objects are not "
            "read, since that could run code; save numbers and strings."
        ) from error
    if not (np.issubdtype(X.dtype, np.number) or X.dtype == bool) or np.iscomplexobj(X):
        raise InputError(f"{path} must hold real numbers, not {X.dtype}")
    if ids is None:
        return X, None
    names = [as_text(str(i)) for i in ids.ravel().tolist()]
    if X.ndim and len(names) != len(X):
        raise InputError(f"{path} has {plural(len(names), 'id')} for {plural(len(X), 'row')}")
    return X, names


def ids_of(X: np.ndarray, ids: list[str] | None, path: Path) -> list[str]:
    """Return the ids that came with an array, if they are good, or numbers from 0."""
    if ids is None:
        return [str(i) for i in range(len(X))]
    check_ids(ids, str(path))
    return ids


def _choose(path: Path, arrays: Mapping[str, np.ndarray]) -> tuple[np.ndarray | None, np.ndarray]:
    """Return the ids and the features among the arrays of a file."""
    ids = next((name for name in ID_NAMES if name in arrays), None)
    others = [name for name in arrays if name != ids]
    name = next((name for name in FEATURE_NAMES if name in others), None)
    if name is None and len(others) == 1:
        (name,) = others
    if name is None:
        raise InputError(
            f"{path} must have an array called X (or features, or embeddings); "
            f"it has {', '.join(others) or 'none'}"
        )
    return None if ids is None else arrays[ids], arrays[name]


def check_promises(path: Path) -> None:
    """Refuse a file that is too short for its arrays, or an archive too large for memory."""
    with path.open("rb") as file:
        if not zipfile.is_zipfile(file):
            file.seek(0)
            _check_header(path, file, path.stat().st_size)
            return
        with zipfile.ZipFile(file) as archive:
            check_fits(path, sum(member.file_size for member in archive.infolist()))
            for member in archive.infolist():
                with archive.open(member) as inside:
                    _check_header(path, inside, member.file_size)


def _check_header(path: Path, file: IO[bytes], size: int) -> None:
    """Refuse an array whose header promises more bytes than there are."""
    reads = np.lib.format
    try:
        is_first = reads.read_magic(file) == (1, 0)
        header = reads.read_array_header_1_0 if is_first else reads.read_array_header_2_0
        shape, _, dtype = header(file)
    except Exception as error:  # it is read as Python text, which can fail in any way
        raise InputError(
            f"{path} cannot be read as a numpy array: its header is damaged ({error}). "
            "Write it again with numpy.save."
        ) from error
    promised = math.prod(shape) * dtype.itemsize
    if promised > size and not dtype.hasobject:
        raise InputError(
            f"{path} promises an array of shape {shape}, which takes {in_words(promised)}, but "
            f"has only {in_words(size)}. It is cut or damaged; save it again."
        )


def check_features(X: np.ndarray, where: str) -> np.ndarray:
    """Return features as floats; an error names the first value that is not finite."""
    if X.ndim != 2 or not X.size:
        raise InputError(f"{where}: one row of features per item is needed, not shape {X.shape}")
    if X.dtype != np.float32:
        X = X.astype(np.float64)
    refuse_not_finite(X, where, range(len(X)))
    return X


def refuse_not_finite(X: np.ndarray, where: str, numbers: Sequence[int] | np.ndarray) -> None:
    """Raise `InputError` with the first value that is not finite; `numbers` are those of rows."""
    bad = np.argwhere(~np.isfinite(X))
    if len(bad):
        row, column = (int(k) for k in bad[0])
        raise InputError(
            f"{where}: row {numbers[row]}, column {column} is {X[row, column]} (not finite: "
            f"{plural(len(bad), 'value')}). Fill in what is missing, or leave out these rows."
        )


def read_features(path: Path, ids: Sequence[str], source: Path) -> Features:
    """Read the features of items from a file, matched by ids if it has some, else by order."""
    if not path.is_file():
        raise InputError(f"there is no file of features {path}")
    suffix = path.suffix.lower()
    if suffix in ARRAY_SUFFIXES:
        X, names = read_array(path)
    elif suffix in TABLE_SUFFIXES:
        X, names = _from_table(path)
    else:
        raise InputError(f"features come as {', '.join(ARRAY_SUFFIXES + TABLE_SUFFIXES)}: {path}")
    X = check_features(X, str(path))
    if names is not None:
        X = X[_match(names, ids, path)]
    elif len(X) != len(ids):
        raise InputError(
            f"{path} has {plural(len(X), 'row')} for {plural(len(ids), 'item')} of {source}. Rows "
            f"follow the order of the items (the first is {shorten(ids[0])!r}); add an array or a "
            "column of ids to match them by name."
        )
    return Features(X, f"{plural(X.shape[1], 'feature')} from {path}")


def _from_table(path: Path) -> tuple[np.ndarray, list[str] | None]:
    table = read_table(path)
    name = next((name for name in ID_NAMES if name in table.columns), None)
    columns = []
    for column in table.columns:
        if column != name:
            numbers = table.numbers(column)
            if numbers is None:
                raise InputError(
                    f"{path}: column {column!r} is not numbers. Features are numbers; a column of "
                    f"ids is called {' or '.join(ID_NAMES)}."
                )
            columns.append(numbers)
    if not columns:
        raise InputError(f"{path} has no columns of numbers")
    return np.column_stack(columns), None if name is None else table.texts(name)


def _match(names: Sequence[str], ids: Sequence[str], path: Path) -> list[int]:
    check_ids(names, str(path))
    place = {name: k for k, name in enumerate(names)}
    lost = [name for name in ids if name not in place]
    if lost:
        raise InputError(
            f"{path} has no features for {len(lost)} of {plural(len(ids), 'item')}, "
            f"for instance {shorten(lost[0])!r}; it has some for {shorten(names[0])!r}"
        )
    return [place[name] for name in ids]
