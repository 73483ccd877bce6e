"""Find out whether an ONNX file refers to other files, since onnxruntime would read them.

A tensor may say that its values are in another file, and onnxruntime reads that also where the
network is given as bytes: 1.20 by any path, 1.31 below the current folder. ONNX files are Protocol
Buffers: fields with a number, and a value or bytes, which may be fields again.
"""

from __future__ import annotations

EXTERNAL_DATA, DATA_LOCATION = 13, 14
"""The fields of a tensor that name another file, and say that there is one."""
PARTS: dict[str, dict[int, str]] = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node", 11: "attribute"},
    "node": {5: "attribute"},
    "attribute": {
        5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse",
    },
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {},
}  # fmt: skip
"""The fields of each part of an ONNX file that may have a tensor in them, as onnx.proto has it."""
DEEPEST = 100
"""How deep parts are within each other at most, as Protocol Buffers limit it."""
VARINT, EIGHT_BYTES, BYTES, FOUR_BYTES = 0, 1, 2, 5
"""Types of fields."""


def names_files(data: memoryview, part: str = "model", depth: int = 0) -> bool:
    """Return whether a part of an ONNX file refers to another file; `ValueError` if truncated."""
    if depth > DEEPEST:
        raise ValueError("its parts are too deep within each other")
    place = 0
    while place < len(data):
        tag, place = _varint(data, place)
        number, type = tag >> 3, tag & 7
        size = {EIGHT_BYTES: 8, FOUR_BYTES: 4}.get(type, 0)
        value = 0
        if type in (VARINT, BYTES):
            value, place = _varint(data, place)
            size = value if type == BYTES else 0
        elif not size:
            raise ValueError(f"it has a field of type {type}")
        if place + size > len(data):
            raise ValueError("it is cut")
        is_other = number == EXTERNAL_DATA or (number == DATA_LOCATION and value != 0)
        if part == "tensor" and is_other:
            return True
        inner = PARTS[part].get(number)
        if inner and names_files(data[place : place + size], inner, depth + 1):
            return True
        place += size
    return False


def _varint(data: memoryview, place: int) -> tuple[int, int]:
    """Return a whole number in groups of seven bits, and the place after it."""
    value = 0
    for k, byte in enumerate(data[place : place + 10]):
        value |= (byte & 127) << 7 * k
        if byte < 128:
            return value, place + k + 1
    raise ValueError("it is cut")
