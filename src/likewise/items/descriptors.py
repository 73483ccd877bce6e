"""Features of pictures without a network: layout of colors and directions of edges."""

from __future__ import annotations

import numpy as np

SIDE = 64
"""Pictures are looked at in this size, squeezed to a square."""

CELL = 8
DIRECTIONS = 9
COLOR_GRID = 8


def describe(pictures: np.ndarray) -> np.ndarray:
    """Return a row of features for every picture.

    Two parts of equal weight: the mean colors on an 8 x 8 grid, and histograms of oriented
    gradients (8 x 8 cells, 9 directions, blocks of 2 x 2 cells brought to unit length) after
    Dalal and Triggs, 2005.

    Parameters
    ----------
    pictures : array of uint8, shape (n, 64, 64, 3)
    """
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
    # An edge has a direction but no sense: black beside white is white beside black.
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
    # The constant keeps noise in flat areas small, as a length of 1 would not.
    blocks /= length + 0.1
    rows: np.ndarray = blocks.reshape(n, -1) / (cells - 1)
    return rows
