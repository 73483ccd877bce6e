"""Where data lies: the folder of the original data, and the cache of what is derived from them."""

from __future__ import annotations

import os
import tempfile
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile

import numpy as np

from likewise.errors import DatasetError

VARIABLE = "LIKEWISE_DATA"


def cache_folder() -> Path:
    """Return the folder for what can be made again: downloads and derived features.

    It is ``$XDG_CACHE_HOME/likewise``, or ``~/.cache/likewise`` where that variable is not set.
    """
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "likewise"


def data_folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of the original data.

    The first of these that is given: `data_home`, the variable ``LIKEWISE_DATA``, the cache.
    """
    chosen = data_home or os.environ.get(VARIABLE)
    return Path(chosen).expanduser() if chosen else cache_folder() / "data"


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing that appears under its name only when it is complete.

    Whatever goes wrong while it is written, `path` is as it was before and nothing is left over.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files that only their owner can read; a cache may be shared.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read_arrays(path: Path, *names: str) -> dict[str, Any]:
    """Read some arrays of an npz file."""
    try:
        # np.load leaves a file open that it cannot read, so it is opened here.
        with path.open("rb") as file, np.load(file) as arrays:
            return {name: arrays[name] for name in names}
    except (OSError, EOFError, ValueError, KeyError, BadZipFile, zlib.error) as error:
        raise DatasetError(f"{path} cannot be read: {error}; get the file again.") from error


def save_arrays(path: Path, **arrays: Any) -> None:
    """Keep derived arrays in the cache; where that is not possible, warn and go on."""
    try:
        with whole_file(path) as file:
            np.savez(file, **arrays)
    except OSError as error:
        warnings.warn(
            f"{path} could not be written ({error}), so these features are computed each time. "
            "Set XDG_CACHE_HOME to a folder that can be written.",
            stacklevel=2,
        )
