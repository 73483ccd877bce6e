"""The results of the phases of a long run, kept in a folder so that it can be continued."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError
from likewise.files import whole_file


class Checkpoint:
    """A folder with one file for every finished phase; it is made if it is not there.

    The plan is what the result depends on: the data and the parameters. A folder of another plan is
    refused.
    """

    def __init__(self, folder: str | os.PathLike[str], plan: Mapping[str, Any]) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / "plan.json"
        if not path.exists():
            with whole_file(path) as file:
                file.write(json.dumps(plan).encode())
            return
        earlier = json.loads(path.read_text())
        changed = [name for name in plan if earlier.get(name) != plan[name]]
        if changed:
            raise InputError(
                f"the folder {folder} has the beginning of another run: {changed[0]} was "
                f"{earlier.get(changed[0])!r} and is {plan[changed[0]]!r} now. Go on with the same "
                "data and parameters (random_state must be a number), or delete the folder."
            )

    def __call__(
        self, phase: str, make: Callable[[], dict[str, NDArray[Any]]]
    ) -> Mapping[str, NDArray[Any]]:
        """Return what a phase found, from the folder if it is there."""
        path = self.folder / f"{phase}.npz"
        if path.exists():
            try:
                with np.load(path, allow_pickle=False) as saved:
                    return dict(saved)
            except (BadZipFile, ValueError, OSError) as error:
                raise InputError(f"{path} is damaged: {error}. Delete it.") from error
        found = make()
        with whole_file(path) as file:
            np.savez(file, **found)  # type: ignore[arg-type]  # names are never `allow_pickle`
        return found
