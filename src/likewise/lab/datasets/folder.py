"""Where the original data is kept, and the arrays that are derived from it."""

from __future__ import annotations

import os
import warnings
import zlib
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from likewise.errors import DatasetError
from likewise.files import cache_folder, whole_file

VARIABLE = "LIKEWISE_DATA"


def data_folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of the data: `data_home`, else ``LIKEWISE_DATA``, else one in the cache."""
    chosen = data_home or os.environ.get(VARIABLE)
    return Path(chosen).expanduser() if chosen else cache_folder() / "data"


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
