"""Recipes for pictures: their content by a network, their layout without one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError
from likewise.items.encoders import (
    AUTO,
    INSTALL,
    LAYOUT,
    PictureEncoder,
    installed,
    named,
    picture_encoder,
    recipe_of,
)
from likewise.items.features import Aspect
from likewise.items.images.decoding import BrokenPictureError

if TYPE_CHECKING:
    from PIL.Image import Image

DEFAULT = "efficientnet-lite0"
"""The network that is used beside the layout where it is installed."""
SIDE = 64
"""The layout is of pictures in this size, squeezed to a square."""

DECODED = 224
"""Pictures are decoded in at least this size, once for both the network and the layout."""

CELL = 8
"""Pixels of a cell of gradients, as published by Dalal and Triggs."""
DIRECTIONS = 9
"""Directions of gradients, as published by Dalal and Triggs."""
COLOR_GRID = 8
"""Mean colors are taken on a grid with this many cells in each direction."""

Load = Callable[[int, int], "Image"]
"""Decodes picture number i, with at least the given number of pixels in one direction."""


class Layout(PictureEncoder):
    """Where which colors are, and in which directions edges run; this needs no network."""

    title = "layout of colors and directions of edges, without a network"
    # Change the number whenever the values change, so that old ones are not used.
    key = "layout 3"
    side = SIDE

    def encode(self, pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return mean colors and oriented gradients."""
        return describe(pictures)


def find_encoder(name: str) -> PictureEncoder:
    """Return the encoder of a name."""
    return Layout() if name == LAYOUT else picture_encoder(name)


def aspects(encoder: str | Sequence[str]) -> list[Aspect]:
    """Return the aspects that the encoders of an option see: the *content*, the *layout*."""
    names, better = named(encoder), ""
    if AUTO in names:
        best = (DEFAULT, LAYOUT) if installed(DEFAULT) else (LAYOUT,)
        names = named([one for name in names for one in (best if name == AUTO else (name,))])
        if DEFAULT not in best:
            better = f"To see what is in a picture: {INSTALL}"
    networks = [name for name in names if name != LAYOUT]
    if len(networks) > 1:
        raise InputError(f"pictures have one encoder beside {LAYOUT}, not {' and '.join(networks)}")
    found = {name: find_encoder(name) for name in names}
    return [
        Aspect(LAYOUT if name == LAYOUT else "content", one.title, recipe_of({name: one}), better)
        for name, one in found.items()
    ]


def squares(
    chunk: Sequence[int], load: Load, sides: Sequence[int]
) -> Iterator[list[np.ndarray] | BrokenPictureError]:
    """Decode pictures, squeezed to squares of these sides; an error in place of each broken one.

    What a square looks like does not depend on which others are wanted.
    """
    from PIL.Image import Resampling

    def square(i: int) -> list[np.ndarray] | BrokenPictureError:
        try:
            pictures = {size: load(i, size) for size in {max(side, DECODED) for side in sides}}
        except BrokenPictureError as error:
            return error
        sized = ((side, pictures[max(side, DECODED)]) for side in sides)
        return [np.asarray(p.resize((side, side), Resampling.BILINEAR)) for side, p in sized]

    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        yield from pool.map(square, chunk)


def describe(pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
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
