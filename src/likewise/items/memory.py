"""Pictures, texts and series that are in memory already."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from likewise.errors import InputError
from likewise.items.cache import FeatureCache, feature_cache
from likewise.items.images import LARGEST_THUMBNAIL, ImageItems
from likewise.items.images.decoding import (
    IMAGE_SUFFIXES,
    BrokenPictureError,
    decode,
    require_pillow,
    to_rgb,
)
from likewise.items.items import Items, digest
from likewise.items.series import SeriesItems, SeriesSet, one_channel
from likewise.items.tables import Table, numbered
from likewise.items.texts import TextItems
from likewise.words import plural

MEMORY = Path("memory")
"""The path of things that come from memory, in messages."""

Kind = Literal["images", "texts", "series"]


def from_memory(
    things: Any, kind: Any, cache: bool | str | os.PathLike[str] = True, white: float | None = None
) -> Items:
    """Return pictures, texts or sequences of numbers as items; the first decides which kind.

    `white` is the number that is white in arrays of pixels, by default the largest.
    """
    if isinstance(things, Mapping) or hasattr(things, "toarray") or not hasattr(things, "__iter__"):
        raise InputError(
            f"items are opened from a path, a data frame, or a list of pictures, texts or series, "
            f"not {type(things).__name__}. Open columns by name as pandas.DataFrame(columns), a "
            "sparse matrix as pandas.DataFrame(matrix.toarray())."
        )
    if kind not in (None, *get_args(Kind)):
        raise InputError(f"things in memory are {', '.join(get_args(Kind))}, not {kind!r}")
    listed = list(things)
    if not listed:
        raise InputError("there are no items: the list is empty")
    kept = feature_cache(cache)
    items: Items
    match kind or _kind(listed):
        case "images":
            items = _pictures(listed, kept, white)
        case "texts":
            items = TextItems(Table(MEMORY, {"text": listed}, len(listed)), cache=kept)
        case _:
            series = [one_channel(one, f"series {i}") for i, one in enumerate(listed)]
            named = SeriesSet(numbered(len(series)), series, ["value"])
            items = SeriesItems(MEMORY, named, cache=kept)
    items._opened_with |= {"cache": cache}
    return items


def _kind(things: Sequence[Any]) -> Kind:
    """Return the kind of things, by the first of them."""
    first = things[0]
    if isinstance(first, os.PathLike) or _is_pil(first):
        return "images"
    if isinstance(first, str):
        if first.lower().endswith(IMAGE_SUFFIXES) and os.path.isfile(first):
            return "images"
        if all(isinstance(one, str) and one.lower().endswith(IMAGE_SUFFIXES) for one in things):
            raise InputError(
                f"there is no picture at {first}, the first of {plural(len(things), 'path')}. "
                f"Paths are relative to {Path.cwd()}; if these are texts, say so by "
                'kind="texts".'
            )
        return "texts"
    n_axes = np.ndim(first)
    if n_axes not in (1, 2, 3):
        raise InputError(
            f"an item is a path of a picture, an image, a text or a series, not {first!r}. "
            "Rows of numbers are opened as a data frame."
        )
    return "series" if n_axes == 1 else "images"


def _is_pil(thing: Any) -> bool:
    return type(thing).__module__.startswith("PIL.")


def _pixels(i: int, thing: Any) -> np.ndarray:
    """Return a picture in memory as pixels, or raise `InputError`."""
    pixels = np.asarray(thing)
    n_channels = pixels.shape[2] if pixels.ndim == 3 else 1
    is_numbers = pixels.dtype.kind in "buif" and pixels.size > 0
    if not is_numbers or pixels.ndim not in (2, 3) or n_channels > 4:
        raise InputError(
            f"item {i} is no picture: pixels are numbers of shape (height, width) or (height, "
            f"width, channels) with up to 4 channels, got {pixels.dtype} {pixels.shape}"
        )
    return pixels[:, :, 0] if pixels.ndim == 3 and n_channels == 1 else pixels


def _pictures(pictures: list[Any], cache: FeatureCache, white: float | None) -> ImageItems:
    """Return pictures from paths, PIL images or arrays, whose largest number is white."""
    require_pillow()
    from PIL import Image

    pictures = [
        one if isinstance(one, str | os.PathLike) or _is_pil(one) else _pixels(i, one)
        for i, one in enumerate(pictures)
    ]
    arrays = [one for one in pictures if isinstance(one, np.ndarray)]
    tops = (float(one[np.isfinite(one)].max(initial=0)) for one in arrays)
    largest = white or max(tops, default=1.0) or 1.0

    def load(i: int, at_least: int) -> Image.Image:
        picture = pictures[i]
        if isinstance(picture, str | os.PathLike):
            try:
                return decode(Path(picture).read_bytes(), at_least)
            except (OSError, BrokenPictureError) as error:
                raise InputError(f"item {i}, {picture}, cannot be shown: {error}") from error
        if _is_pil(picture):
            return to_rgb(picture)
        if picture.dtype != np.uint8:
            if not np.isfinite(picture).all():
                raise InputError(f"item {i} has pixels that are NaN or infinite: fill them in")
            picture = (picture.clip(0, largest) * (255.0 / largest)).astype(np.uint8)
        return to_rgb(Image.fromarray(picture))

    names = [Path(p).name if isinstance(p, str | os.PathLike) else "" for p in pictures]
    is_named = all(names) and len(set(names)) == len(names)
    ids = names if is_named else numbered(len(pictures))
    whole = (load(i, LARGEST_THUMBNAIL) for i in range(len(pictures)))
    looks = [(one.size, digest(one.tobytes(), str(one.size)), "") for one in whole]
    items = ImageItems(MEMORY, ids, looks, load, locations=ids, recipe="auto", cache=cache)
    if arrays:
        items._opened_with["white"] = largest
    return items
