"""The CMU face images: pictures, their labels, and features by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import DatasetError, InputError
from likewise.files import cache_folder
from likewise.items.encoders import installed
from likewise.lab.datasets import networks
from likewise.lab.datasets.folder import read_arrays, save_arrays

READY_MADE = "cmu_faces_features.npz"
FEATURES = ("inception-v3", "efficientnet-lite2", "pixels")


@dataclass(frozen=True, eq=False)
class Faces:
    """The 624 images sorted by name; gray values run from 0 to `maxval`, one per image."""

    names: NDArray[np.str_]
    person: NDArray[np.str_]
    pose: NDArray[np.str_]
    expression: NDArray[np.str_]
    eyes: NDArray[np.str_]
    maxval: NDArray[np.uint8]
    full: NDArray[np.uint8]
    half: NDArray[np.uint8]
    quarter: NDArray[np.uint8]

    def facts(self) -> dict[str, Any]:
        """Return what is checked against the committed table of expectations."""
        digest = sha256("\n".join(self.names.tolist()).encode())
        for array in (self.maxval, self.full, self.half, self.quarter):
            digest.update(np.ascontiguousarray(array).tobytes())
        return {
            "rows": len(self.names),
            "classes": dict(sorted(Counter(self.person.tolist()).items())),
            "digest": digest.hexdigest(),
        }

    def pictures(self) -> NDArray[np.uint8]:
        """Return the full size images with gray values from 0 to 255."""
        scale = 255 / self.maxval.astype(np.float64)
        # One new value for each of the 256, which is faster than computing it for each pixel.
        brighter = np.rint(np.arange(256) * scale[:, None]).clip(0, 255).astype(np.uint8)
        pictures = [row[image] for row, image in zip(brighter, self.full, strict=True)]
        return np.stack(pictures)

    def pixels(self) -> NDArray[np.float64]:
        """Return the images at 64 x 60 as rows of gray values from 0 to 1."""
        flat = self.half.reshape(len(self.half), -1)
        return flat / self.maxval.astype(np.float64)[:, None]


def read_faces(path: Path) -> Faces:
    """Read the arrays of the data folder."""
    return Faces(**read_arrays(path, *(field.name for field in fields(Faces))))


def face_features(
    faces: Faces, folder: Path, features: str, *, download: bool
) -> tuple[NDArray[np.float64], str]:
    """Return the features of that name and a word on where they come from."""
    if features == "auto":
        features = _first_available(faces, folder)
    if features == "pixels":
        return faces.pixels(), "pixels (64 x 60)"
    if features not in FEATURES:
        names = ", ".join(repr(name) for name in ("auto", *FEATURES))
        raise InputError(f"features is {features!r}; it can be {names}.")
    if features == "efficientnet-lite2" and (ready := _ready_made(faces, folder)) is not None:
        return ready, "efficientnet-lite2 (1280 values, ready-made)"

    def compute() -> NDArray[np.float32]:
        if features == "efficientnet-lite2":
            return networks.efficientnet_lite2(faces.pictures())
        weights = networks.inception_weights(download=download)
        return networks.inception_v3(faces.pictures(), weights)

    X = _cached(_cache_file(faces, features), compute)
    return X, f"{features} ({X.shape[1]} values)"


def _first_available(faces: Faces, folder: Path) -> str:
    if _cache_file(faces, "inception-v3").is_file() or networks.has_inception_v3():
        return "inception-v3"
    if (folder / READY_MADE).is_file() or installed(networks.LITE2):
        return "efficientnet-lite2"
    return "pixels"


def _ready_made(faces: Faces, folder: Path) -> NDArray[np.float64] | None:
    path = folder / READY_MADE
    if not path.is_file():
        return None
    arrays = read_arrays(path, "names", "efficientnet_lite2")
    names, values = arrays["names"], arrays["efficientnet_lite2"]
    if not np.array_equal(names, faces.names) or values.shape != (len(names), 1280):
        raise DatasetError(f"{path} does not belong to these images; remove it or get it again.")
    return np.asarray(values, dtype=np.float64)


def _cache_file(faces: Faces, features: str) -> Path:
    return cache_folder() / "features" / f"faces-{features}-{faces.facts()['digest'][:16]}.npz"


def _cached(path: Path, compute: Callable[[], NDArray[np.float32]]) -> NDArray[np.float64]:
    try:
        values = read_arrays(path, "X")["X"]
    except DatasetError:
        # Not there yet, or damaged: it is made again.
        values = compute()
        save_arrays(path, X=values)
    return np.asarray(values, dtype=np.float64)
