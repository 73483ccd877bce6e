"""Untrusted picture files: decoded by Pillow, never passed on as they are."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import InputError, needs_extra
from likewise.files import open_regular
from likewise.items.images.formats import DrawingError, decoders, drawn

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS = 80_000_000
"""A picture with more pixels is treated as a decompression bomb. Pillow starts to warn at about the
same number."""

ORIENTATION = 0x0112
"""The EXIF tag that says how the camera was held; 5 to 8 mean on its side."""


class BrokenPictureError(Exception):
    """A file that is not a picture or is not safe to decode. Never leaves this package."""


def require_pillow() -> None:
    """Raise the error with the install command where Pillow is missing."""
    with needs_extra("showing pictures", "app"):
        import PIL  # noqa: F401


def read_file(path: Path, folder: Path) -> bytes:
    """Read a regular file, after checking that it is inside the folder."""
    try:
        if not path.resolve(strict=True).is_relative_to(folder):
            raise BrokenPictureError("it is a link to outside of the folder")
        with open_regular(path) as file:
            return file.read()
    except InputError as error:
        raise BrokenPictureError(str(error).replace(str(path), "it", 1)) from error
    except (OSError, RuntimeError) as error:  # Python up to 3.12 raises the latter for a loop
        raise BrokenPictureError(getattr(error, "strerror", None) or str(error)) from error


def open_picture(data: bytes, suffix: str = "") -> Image:
    """Read the header of a picture; refuse one with too many pixels."""
    from PIL import Image, UnidentifiedImageError

    try:
        # Pillow warns where its own limit is lower than ours.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            picture = Image.open(io.BytesIO(drawn(data, suffix)), formats=decoders())
    except DrawingError as error:
        raise BrokenPictureError(str(error)) from error
    except Image.DecompressionBombError as error:
        raise BrokenPictureError("it has far too many pixels (a decompression bomb?)") from error
    except Exception as error:  # a broken file makes decoders raise nearly anything
        reason = "" if isinstance(error, UnidentifiedImageError) else f" ({error})"
        raise BrokenPictureError(f"it is not a picture that can be read{reason}") from error
    width, height = picture.size
    if width * height > MOST_PIXELS:
        raise BrokenPictureError(f"it has too many pixels, {width} x {height}")
    return picture


def upright_size(picture: Image) -> tuple[int, int]:
    """Return width and height as a person sees them."""
    width, height = picture.size
    try:
        is_on_its_side = picture.getexif().get(ORIENTATION, 1) in (5, 6, 7, 8)
    except Exception:  # broken metadata: Pillow will show it unturned
        is_on_its_side = False
    return (height, width) if is_on_its_side else (width, height)


def decode(data: bytes, at_least: int, suffix: str = "") -> Image:
    """Decode a picture to RGB, upright, on white, a JPEG at a fraction of its size if large."""
    from PIL import ImageOps

    picture = open_picture(data, suffix)
    try:
        picture.draft("RGB" if picture.mode != "L" else "L", (at_least, at_least))
        picture.load()
        try:
            upright = ImageOps.exif_transpose(picture)
        except Exception:  # broken metadata is no reason not to show the picture
            upright = picture
        return to_rgb(upright)
    except Exception as error:  # a broken file makes decoders raise nearly anything
        raise BrokenPictureError(f"it is damaged ({error})") from error


def to_rgb(picture: Image) -> Image:
    """Return a picture of any mode as RGB, on white where it is transparent."""
    from PIL import Image

    if picture.mode.startswith("I") or picture.mode == "F":  # 16 and 32 bits: Pillow would clip
        values = np.asarray(picture, dtype=np.float64)
        top = 65535.0 if values.min() >= 0 and values.max() <= 65535 else values.max()
        return Image.fromarray((values.clip(0) * (255.0 / top)).astype(np.uint8)).convert("RGB")
    if picture.has_transparency_data:
        layer = picture.convert("RGBA")
        ground = Image.new("RGBA", layer.size, "white")
        return Image.alpha_composite(ground, layer).convert("RGB")
    return picture.convert("RGB")


def encode(picture: Image, size: int, format: str) -> bytes:
    """Encode a decoded picture, at most `size` pixels wide and high, without its metadata."""
    options = {
        "webp": {"quality": 85, "method": 0},
        "jpeg": {"quality": 88},
        "png": {"compress_level": 3},
    }
    if format not in options:
        raise InputError(f"a thumbnail is {', '.join(options)}, not {format!r}")
    from PIL.Image import Resampling

    small = picture.copy()
    # Takes half the time of the bicubic filter, with almost the same result.
    small.thumbnail((size, size), Resampling.HAMMING)
    small.info.clear()
    file = io.BytesIO()
    small.save(file, format, **options[format])
    return file.getvalue()


def placeholder(size: int) -> Image:
    """Return the placeholder for a picture that cannot be shown: a crossed-out gray box."""
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (size, size), "#e8e8e8")
    pen = ImageDraw.Draw(picture)
    thick = max(1, size // 64)
    pen.rectangle((0, 0, size - 1, size - 1), outline="#8a8a8a", width=thick)
    pen.line((0, 0, size - 1, size - 1), fill="#b0b0b0", width=thick)
    pen.line((0, size - 1, size - 1, 0), fill="#b0b0b0", width=thick)
    return picture
