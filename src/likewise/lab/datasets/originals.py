"""The original files as published, and how they are converted for the data folder."""

from __future__ import annotations

import io
import re
import tarfile
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import DatasetError
from likewise.lab.datasets.catalog import Original
from likewise.lab.datasets.faces import Faces
from likewise.lab.datasets.tables import table_bytes
from likewise.words import plural

FACES_ARCHIVE = "124/cmu+face+images.zip"


def archive_members(archive: io.BufferedIOBase | io.BytesIO) -> Iterator[tuple[str, bytes]]:
    """Give base name and content of every file in a zip, also of those in a tar.gz inside it."""
    with zipfile.ZipFile(archive) as files:
        for name in files.namelist():
            content = files.read(name)
            if name.endswith((".tar.gz", ".tgz")):
                with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as inner:
                    for member in inner:
                        if (file := inner.extractfile(member)) is not None:
                            yield member.name.rpartition("/")[2], file.read()
            elif not name.endswith("/"):
                yield name.rpartition("/")[2], content


def convert_table(archive: io.BytesIO, original: Original, columns: list[str]) -> bytes:
    """Turn UCI's archive into the CSV of the data folder."""
    texts = {name: text for name, text in archive_members(archive) if name in original.members}
    if missing := [name for name in original.members if name not in texts]:
        raise DatasetError(f"the archive does not hold {', '.join(missing)}")
    width = len(columns) + 1 + len(original.drop)
    rows = []
    for member in original.members:
        started = False
        for number, line in enumerate(texts[member].decode("latin-1").splitlines(), start=1):
            cells = [cell.strip() for cell in line.split(original.delimiter or None)]
            if len(cells) != width or not _is_number(cells[1]):
                # Some files begin with remarks or the names of the columns.
                if started and line.strip():
                    raise DatasetError(f"{member}, line {number} is not a row of the table")
                continue
            started = True
            label = original.label % width
            kept = [
                "" if cell == "?" else cell
                for place, cell in enumerate(cells)
                if place != label and place not in original.drop
            ]
            rows.append([*kept, cells[label]])
    return table_bytes(columns, rows)


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"\?|[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", cell) is not None


_FACE = re.compile(
    r"(?P<name>(?P<person>[a-z0-9]+)_(?P<pose>left|right|straight|up)"
    r"_(?P<expression>angry|happy|neutral|sad)_(?P<eyes>open|sunglasses))(_(?P<scale>[24]))?\.pgm"
)


def convert_faces(archive: io.BytesIO) -> Faces:
    """Turn UCI's archive of pictures into arrays, sorted by name."""
    scales: dict[str, dict[str, tuple[NDArray[np.uint8], int]]] = {"": {}, "2": {}, "4": {}}
    labels: dict[str, dict[str, str]] = {}
    for file, content in archive_members(archive):
        if match := _FACE.fullmatch(file):
            name = match["name"]
            scales[match["scale"] or ""][name] = read_pgm(content, file)
            labels[name] = match.groupdict()
    names = sorted(labels)
    for scale, pictures in scales.items():
        if missing := [name for name in names if name not in pictures]:
            raise DatasetError(
                f"the archive lacks {plural(len(missing), 'picture')} of scale {scale or 1}, "
                f"the first is {missing[0]}"
            )
    if not names:
        raise DatasetError("the archive holds no pictures")
    arrays: dict[str, NDArray[Any]] = {
        key: np.array([labels[name][key] for name in names])
        for key in ("person", "pose", "expression", "eyes")
    }
    for size, scale in {"full": "", "half": "2", "quarter": "4"}.items():
        arrays[size] = np.stack([scales[scale][name][0] for name in names])
    maxval = np.array([scales[""][name][1] for name in names], dtype=np.uint8)
    return Faces(names=np.array(names), maxval=maxval, **arrays)


_PGM = re.compile(rb"(P[25])\s+(?:#[^\n]*\n\s*)*(\d+)\s+(\d+)\s+(\d+)\s")


def read_pgm(content: bytes, where: str) -> tuple[NDArray[np.uint8], int]:
    r"""Read a gray picture of at most 8 bits, as text (P2) or as bytes (P5), and its maximum."""
    header = _PGM.match(content)
    if header is None:
        raise DatasetError(f"{where} is not a PGM picture")
    width, height, maximum = (int(header[part]) for part in (2, 3, 4))
    body = content[header.end() :]
    values = body.split() if header[1] == b"P2" else np.frombuffer(body, dtype=np.uint8)
    if maximum > 255 or len(values) < width * height:
        raise DatasetError(f"{where} is cut or has more than 8 bits")
    pixels = np.array(values[: width * height], dtype=np.uint8)
    return pixels.reshape(height, width), maximum
