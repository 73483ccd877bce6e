"""Pictures, texts and series that are in memory already."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from likewise.errors import InputError
from likewise.items.cache import FeatureCache
from likewise.items.images import LARGEST_THUMBNAIL, ImageItems
from likewise.items.images.decoding import (
    IMAGE_SUFFIXES,
    BrokenPictureError,
    decode,
    require_pillow,
    to_rgb,
)
from likewise.items.items import Items, digest
from likewise.items.series import SeriesItems, series_from_table
from likewise.items.tables import Table
from likewise.items.texts import TextItems
from likewise.words import plural

MEMORY = Path("memory")
"""The path of things that come from memory, in messages."""

Kind = Literal["images", "texts", "series"]


def from_memory(
    things: Iterable[Any], kind: Kind | None, cache: FeatureCache, white: float | None = None
) -> Items:
    """Return pictures, texts or sequences of numbers as items; the first decides which kind."""
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
    kind_name = _kind(listed[0]) if kind is None else kind
    if kind_name == "texts" and kind is None:
        _refuse_paths(listed)
    if kind_name == "images":
        return _pictures(listed, cache, white)
    if kind_name == "texts":
        texts = Table(MEMORY, {"text": listed}, len(listed))
        return TextItems(texts, "text", cache=cache)
    lists = [np.asarray(one, dtype=float).tolist() for one in listed]
    series = series_from_table(Table(MEMORY, {"series": lists}, len(lists)))
    return SeriesItems(MEMORY, series, cache=cache)


def _kind(thing: Any) -> Kind:
    if isinstance(thing, os.PathLike) or _is_pil(thing):
        return "images"
    if isinstance(thing, str):
        is_picture = thing.lower().endswith(IMAGE_SUFFIXES) and os.path.isfile(thing)
        return "images" if is_picture else "texts"
    n_axes = np.ndim(thing)
    if n_axes in (2, 3):
        return "images"
    if n_axes == 1:
        return "series"
    raise InputError(
        f"an item is a path of a picture, an image, a text or a series, not {thing!r}. "
        "Rows of numbers are opened as a data frame."
    )


def _refuse_paths(texts: Iterable[Any]) -> None:
    """Raise `InputError` if what looks like a list of paths has none of a picture."""
    paths = list(texts)
    if all(isinstance(one, str) and one.lower().endswith(IMAGE_SUFFIXES) for one in paths):
        raise InputError(
            f"there is no picture at {paths[0]}, the first of {plural(len(paths), 'path')}. Paths "
            f'are relative to {Path.cwd()}; if these are texts, say so by kind="texts".'
        )


def _largest(pixels: np.ndarray) -> float:
    return float(pixels[np.isfinite(pixels)].max(initial=0))


def _is_pil(thing: Any) -> bool:
    return type(thing).__module__.startswith("PIL.")


def _pictures(pictures: list[Any], cache: FeatureCache, white: float | None) -> ImageItems:
    """Return pictures from paths, PIL images or arrays, whose largest number is white."""
    require_pillow()
    from PIL import Image

    arrays = [one for one in pictures if isinstance(one, np.ndarray)]
    largest = white or max((_largest(one) for one in arrays), default=1.0) or 1.0

    def load(i: int, at_least: int) -> Image.Image:
        picture = pictures[i]
        if isinstance(picture, str | os.PathLike):
            try:
                return decode(Path(picture).read_bytes(), at_least)
            except (OSError, BrokenPictureError) as error:
                raise InputError(f"item {i}, {picture}, cannot be shown: {error}") from error
        if _is_pil(picture):
            return to_rgb(picture)
        pixels = np.asarray(picture)
        if pixels.dtype != np.uint8:
            if not np.isfinite(pixels).all():
                raise InputError(
                    f"item {i} has pixels that are NaN or infinite: fill them in first"
                )
            pixels = (pixels.clip(0, largest) * (255.0 / largest)).astype(np.uint8)
        return to_rgb(Image.fromarray(pixels))

    names = [Path(p).name if isinstance(p, str | os.PathLike) else "" for p in pictures]
    is_named = all(names) and len(set(names)) == len(names)
    ids = names if is_named else [str(i) for i in range(len(pictures))]
    whole = (load(i, LARGEST_THUMBNAIL) for i in range(len(pictures)))
    looks = [(one.size, digest(one.tobytes(), str(one.size)), "") for one in whole]
    items = ImageItems(MEMORY, ids, looks, load, locations=ids, recipe="auto", cache=cache)
    if arrays:
        items._opened_with["white"] = largest
    return items
