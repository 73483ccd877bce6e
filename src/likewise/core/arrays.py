"""Arrays in files: one encoding, for exported sessions and for the payloads of a project file.

An array is a JSON object with its type, its shape and its bytes, which are compressed and written
as text. What a file says about sizes is not believed: see `inflated`.
"""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError, SessionFileError

NAMES = {"base64", "dtype", "shape"}
"""The names of an array's JSON object."""
KINDS = "biuf"
"""Arrays hold truth values, whole numbers or floats; others could hold code."""
SHORT = 100
"""Shorter arrays are lists in exported sessions, for people who read them."""
ROOM = 64 << 20
"""Compressed bytes may always expand to 64 MiB, since arrays of equal values compress well."""
MOST_GROWTH = 64
"""Beyond that, they may expand by this factor. Real sessions expand by 2 to 10; a bomb by 1000."""
SAMPLE = 65_536
"""How many bytes are compressed to see whether that is worthwhile."""
WORTH = 0.7
"""Bytes are compressed only if a sample from their middle shrinks below this share. Features of
5000 pictures would shrink by a tenth, or to .76 as base64, and that would take half a second."""


def array_to_json(array: NDArray[Any]) -> dict[str, Any]:
    """Return an array as a JSON object."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in KINDS:
        what = getattr(array, "dtype", type(array).__name__)
        raise TypeError(f"{what} is neither a plain value nor an array of numbers")
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    text = base64.b64encode(deflated(little.tobytes())).decode("ascii")
    return {"base64": text, "dtype": little.dtype.str, "shape": list(array.shape)}


def as_base64(array: NDArray[Any]) -> Any:
    """Return a long array as a JSON object and a short one as a list."""
    is_short = array.size < SHORT or array.dtype.kind not in KINDS
    return array.tolist() if is_short else array_to_json(array)


def from_json(value: Any) -> Any:
    """Return a JSON value with every array in it as an array again."""
    if isinstance(value, list):
        return [from_json(inner) for inner in value]
    if not isinstance(value, Mapping):
        return value
    if value.keys() != NAMES:
        return {key: from_json(inner) for key, inner in value.items()}
    try:
        dtype, shape = np.dtype(value["dtype"]), tuple(value["shape"])
        is_shape = all(type(n) is int and n >= 0 for n in shape)
        if dtype.kind not in KINDS or not is_shape:
            raise ValueError(f"shape {value['shape']!r} of {value['dtype']!r}")
        size = math.prod(shape) * dtype.itemsize
        data = inflated(base64.b64decode(value["base64"]), size)
        flat = np.frombuffer(data, dtype=dtype)
        return flat.reshape(shape).astype(dtype.newbyteorder("="))
    except (ValueError, TypeError, OverflowError, SyntaxError) as error:
        raise SessionFileError(f"an array of the saved session is damaged: {error}") from error


def whole_numbers(value: Any, what: str, n: int | None = None) -> NDArray[np.intp]:
    """Return whole numbers of a saved session, `n` of them if given; refuse other values."""
    array = np.asarray(value)
    is_plain = array.ndim == 1 and (array.dtype.kind in "iu" or not array.size)
    if not is_plain or n not in (None, len(array)):
        number = "" if n is None else f"{n} "
        raise InputError(f"{what} must be {number}whole numbers, got {str(value)[:80]}")
    return array.astype(np.intp)


def deflated(data: bytes) -> bytes:
    """Return data compressed, or only wrapped where compression gains little, as for features."""
    middle = len(data) // 2
    sample = data[middle : middle + SAMPLE]
    gains = len(data) <= 2 * SAMPLE or len(zlib.compress(sample, 1)) < WORTH * len(sample)
    return zlib.compress(data, 1 if gains else 0)


def inflated(data: bytes, size: int | None = None) -> bytes:
    """Undo `deflated`; refuse damaged bytes, and bombs before they fill the memory."""
    most = max(ROOM, MOST_GROWTH * len(data))
    if size is not None and size > most:
        raise SessionFileError(f"{len(data)} bytes cannot hold an array of {size} bytes")
    unpacking = zlib.decompressobj()
    try:
        whole = unpacking.decompress(data, most + 1)
    except zlib.error as error:
        raise SessionFileError(f"compressed bytes are damaged: {error}") from error
    if len(whole) > most:
        raise SessionFileError(f"{len(data)} compressed bytes would become more than {most}")
    if not unpacking.eof or unpacking.unused_data or size not in (None, len(whole)):
        raise SessionFileError("compressed bytes are cut, or followed by others")
    return whole


def packed(value: Any) -> Any:
    """Return mappings with whole numbers in the smallest type that holds them, for pickles."""
    if isinstance(value, dict):
        return {name: packed(each) for name, each in value.items()}
    if isinstance(value, np.ndarray) and value.dtype.kind == "i" and value.size:
        smallest = np.result_type(*map(np.min_scalar_type, (value.min(), value.max())))
        return value.astype(smallest)
    return value
