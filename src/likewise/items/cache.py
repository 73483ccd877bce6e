"""Features kept on disk under a hash of what they were made from."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from likewise.files import cache_folder, whole_file
from likewise.items.items import Features, Problem


def default_folder() -> Path:
    """Return the folder for features in the user's cache."""
    return cache_folder() / "features"


def package_versions(*names: str) -> str:
    """Return the versions of packages that features depend on, as a part of their key."""
    found = []
    for name in names:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:  # making the features will say so
            found.append(name)
    return ", ".join(found)


class FeatureCache:
    """A folder of features. It may be deleted at any time.

    Parameters
    ----------
    folder : Path or None
        Where; None keeps nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def get(self, key: str, make: Callable[[], Features]) -> Features:
        """Return the features kept under `key`, or make and keep them.

        A file that cannot be read counts as missing. A folder that cannot be written to costs the
        time to make them again, which a note says.
        """
        if self.folder is None:
            return make()
        path = self.folder / f"{key}.npz"
        found = _load(path)
        if found is not None:
            return found
        made = make()
        try:
            _save(path, made)
        except OSError as error:
            note = f"these features could not be kept for the next start: {error}"
            return Features(
                made.X, made.description, made.metric, (*made.notes, note), made.problems
            )
        return made


def _load(path: Path) -> Features | None:
    try:
        # Opened here, because numpy forgets to close what turns out to be broken.
        with path.open("rb") as file:
            arrays = np.load(file, allow_pickle=False)
            X = arrays["X"]
            about = json.loads(str(arrays["about"]))
        return Features(
            X,
            about["description"],
            about["metric"],
            tuple(about["notes"]),
            tuple(Problem(item, message) for item, message in about["problems"]),
        )
    except (OSError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile):
        return None


def _save(path: Path, features: Features) -> None:
    about = {
        "description": features.description,
        "metric": features.metric,
        "notes": features.notes,
        "problems": [(problem.item, problem.message) for problem in features.problems],
    }
    with whole_file(path, private=True) as file:
        np.savez(file, X=features.X, about=np.array(json.dumps(about)))
