"""Arrays of numbers: as items with nothing else to show, and as features of other items."""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Self

import numpy as np

from likewise.errors import InputError
from likewise.files import open_regular
from likewise.inputs import refuse_rows
from likewise.items.cache import FeatureCache
from likewise.items.features import Aspect, Features
from likewise.items.fields import Fields, as_text
from likewise.items.items import Items, OnProgress, check_ids, digest, shorten
from likewise.items.limits import check_fits, check_methods, check_unpacked
from likewise.items.tablefiles import TABLE_SUFFIXES, read_table
from likewise.items.tables import Table, numbered
from likewise.words import plural

ARRAY_SUFFIXES = (".npy", ".npz")
FEATURE_NAMES = ("X", "features", "embeddings", "arr_0")
ID_NAMES = ("ids", "id", "names")
HEADER = np.lib.format.read_array_header_2_0
"""Reads the heads of versions 2 and 3, which differ in how names of fields are encoded."""
BYTES_OF_FLOAT = 8
MOST_SHOWN = 50
"""How many numbers of an item are shown."""


class PointItems(Items):
    """Rows of a numeric array; the first 50 numbers are shown."""

    kind = "points"
    noun = "row"

    def __init__(self, source: Path | list[Any]) -> None:
        path, ids = Path("memory"), None
        if isinstance(source, Path):
            path, (X, ids) = source, read_array(source)
        else:
            refuse_rows(source)
            X = np.asarray(source)
        self._X = check_features(X, str(path))
        super().__init__(path, ids or numbered(len(X)))
        columns: dict[str, Any] = {f"feature {k}": x for k, x in enumerate(X.T[:MOST_SHOWN])}
        if X.shape[1] > MOST_SHOWN:
            columns["…"] = [f"{X.shape[1] - MOST_SHOWN} more"] * len(X)
        self.fields = Fields(Table(path, columns, len(X)), list(columns))

    @classmethod
    def recognizes(cls, source: Any, options: Mapping[str, Any]) -> bool:
        """Whether this is an .npy or .npz file."""
        return isinstance(source, Path) and source.suffix.lower() in ARRAY_SUFFIXES

    @classmethod
    def open(cls, source: Path | list[Any], *, cache: FeatureCache) -> Self:
        """Read an array, or take one that is in memory."""
        return cls(source)

    def content_hash(self, i: int) -> str:
        """Return a hash of the row."""
        return digest(str(self._X.dtype), self._X[i].tobytes())

    def aspects(self) -> list[Aspect]:
        """Return the numbers as one aspect."""
        about = f"{plural(self._X.shape[1], 'feature')} from {self.source}, as they are"
        return [Aspect("numbers", about)]

    def compute(self, aspect: Aspect, progress: OnProgress | None = None) -> np.ndarray:
        """Return the numbers as they are."""
        return self._X


@contextmanager
def opened_arrays(path: Path) -> Iterator[Mapping[str, np.ndarray]]:
    """Yield the arrays of a file by name, a single one as X; raise `InputError` for a bad file."""
    try:
        # Opened here, because numpy forgets to close what turns out to be broken.
        with open_regular(path) as file:
            _check_sizes(path, file)
            file.seek(0)
            stored = np.load(file, allow_pickle=False)
            yield {"X": stored} if isinstance(stored, np.ndarray) else stored
    except InputError:
        raise
    except Exception as error:  # numpy reads headers as Python text, which can fail in any way
        raise InputError(
            f"{path} cannot be read as a numpy array: {error}. If it is cut or damaged, save it "
            "again. Arrays of Python objects are not read, since that could run code; save "
            "numbers and strings."
        ) from error


def _check_sizes(path: Path, file: IO[bytes]) -> None:
    """Refuse a file whose arrays are larger than its bytes can hold, before any is read."""
    size = os.fstat(file.fileno()).st_size
    if not zipfile.is_zipfile(file):
        file.seek(0)
        _check_array(path, file, size)
        return
    with zipfile.ZipFile(file) as archive:
        check_methods(path, archive)
        members = archive.infolist()
        check_unpacked(path, sum(member.file_size for member in members), size)
        for member in members:
            with archive.open(member) as packed:
                _check_array(path, packed, member.file_size)


def _check_array(path: Path, file: IO[bytes], size: int) -> None:
    """Check the shape that the head of an array claims against the size of the array in bytes."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else HEADER
    shape, _, dtype = read(file)
    n_values = math.prod(shape)
    if dtype.hasobject:
        return  # refused by numpy, which says why
    # Values without bytes, such as empty strings, take memory all the same.
    if n_values * max(1, dtype.itemsize) > size:
        raise InputError(
            f"{path} claims to hold {dtype} {shape} in {size} bytes: it is cut or damaged. Save it "
            "again."
        )
    check_fits(path, n_values * max(BYTES_OF_FLOAT, dtype.itemsize))


def read_array(path: Path) -> tuple[np.ndarray, list[str] | None]:
    """Read a numeric array, X if there are several, and its ids if it has any."""
    with opened_arrays(path) as arrays:
        id_name = next((name for name in ID_NAMES if name in arrays), None)
        others = [name for name in arrays if name != id_name]
        recognized = [name for name in FEATURE_NAMES if name in others]
        if not recognized and len(others) != 1:
            raise InputError(
                f"{path} must have an array called X (or features, or embeddings); "
                f"it has {', '.join(others) or 'none'}"
            )
        X = arrays[(recognized or others)[0]]
        ids = None if id_name is None else arrays[id_name]
    if not (np.issubdtype(X.dtype, np.number) or X.dtype == bool) or np.iscomplexobj(X):
        raise InputError(f"{path} must hold real numbers, not {X.dtype}")
    if ids is None:
        return X, None
    names = [as_text(str(i)) for i in ids.ravel().tolist()]
    if X.ndim and len(names) != len(X):
        raise InputError(f"{path} has {plural(len(names), 'id')} for {plural(len(X), 'row')}")
    check_ids(names, str(path))
    return X, names


def check_features(X: np.ndarray, where: str) -> np.ndarray:
    """Return features as floats; an error names the first value that is not finite."""
    if X.ndim != 2 or not X.size:
        raise InputError(f"{where}: one row of features per item is needed, not shape {X.shape}")
    if X.dtype != np.float32:
        X = X.astype(np.float64)
    refuse_not_finite(X, where, range(len(X)))
    return X


def refuse_not_finite(X: np.ndarray, where: str, numbers: Sequence[int] | np.ndarray) -> None:
    """Raise `InputError` for the first value that is not finite; `numbers` has the row numbers."""
    bad = np.argwhere(~np.isfinite(X))
    if len(bad):
        row, column = (int(k) for k in bad[0])
        raise InputError(
            f"{where}: row {numbers[row]}, column {column} is {X[row, column]} (not finite: "
            f"{plural(len(bad), 'value')}). Fill in what is missing, or leave out these rows."
        )


def read_features(path: Path, ids: Sequence[str], source: Path) -> Features:
    """Read the features of items from a file, matched by ids if it has any, else by order."""
    if not path.exists():
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
    """Read the columns of numbers of a table, and its ids if it has a column of them."""
    table = read_table(path)
    id_name = next((name for name in ID_NAMES if name in table.columns), None)
    remedy = f"features are numbers, and a column of ids is called {' or '.join(ID_NAMES)}"
    columns = [table.needed_numbers(name, remedy) for name in table.columns if name != id_name]
    if not columns:
        raise InputError(f"{path} has no columns of numbers")
    return np.column_stack(columns), None if id_name is None else table.ids(id_name)


def _match(names: Sequence[str], ids: Sequence[str], path: Path) -> list[int]:
    """Return the row of features that belongs to each item."""
    place = {name: k for k, name in enumerate(names)}
    lost = [name for name in ids if name not in place]
    if lost:
        raise InputError(
            f"{path} has no features for {len(lost)} of {plural(len(ids), 'item')}, "
            f"for instance {shorten(lost[0])!r}; it has some for {shorten(names[0])!r}"
        )
    return [place[name] for name in ids]
