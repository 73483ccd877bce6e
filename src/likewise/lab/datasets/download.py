"""Download the original data from the official sources into the data folder.

Tables and pictures come as archives from UCI; where that fails and OpenML has the same values in
the same order, from there; the messages come by scikit-learn. Whatever comes is converted to the
layout of the folder and checked before it appears there under its name.
"""

from __future__ import annotations

import io
import tarfile
import tempfile
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from likewise.errors import DatasetError, needs_extra
from likewise.files import whole_file
from likewise.lab.datasets.catalog import ORIGINALS, Original
from likewise.lab.datasets.folder import VARIABLE
from likewise.lab.datasets.loading import expected, verify
from likewise.lab.datasets.newsgroups import Message, message_bytes
from likewise.lab.datasets.originals import FACES_ARCHIVE, convert_faces, convert_table
from likewise.lab.datasets.tables import table_bytes

UCI = "https://archive.ics.uci.edu/static/public"
_FAILURES = (
    OSError,  # no connection, a cut one, a full disk; requests and urllib derive theirs from it
    EOFError,
    ValueError,
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    DatasetError,
)


def fetch_file(file: str, folder: Path) -> tuple[str, str]:
    """Fetch a file unless it is there and correct; return its origin, and what was checked."""
    path = folder / file
    if path.is_file():
        try:
            return "already there", verify(path)
        except DatasetError:
            pass  # A damaged file is replaced, but only by a correct one.
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".fetch-") as scratch:
            return _fetch_from_first(file, folder, Path(scratch))
    except OSError as error:
        raise DatasetError(
            f"{file} is to be fetched, but {folder} cannot be written: {error}."
        ) from error


def _fetch_from_first(file: str, folder: Path, scratch: Path) -> tuple[str, str]:
    reasons = []
    for place, get in _places(file, scratch):
        try:
            content = get()
            # Checked under another name, so that a wrong file is never there under the right one.
            candidate = scratch / file
            candidate.write_bytes(content)
            verified = verify(candidate)
            with whole_file(folder / file) as target:
                target.write(content)
        except _FAILURES as error:
            reasons.append(f"{place}: {error}")
        else:
            return place, verified
    raise DatasetError(
        f"{file} could not be fetched, and nothing was kept. {'. '.join(reasons)}. Try again, or "
        f"without internet access point {VARIABLE} or data_home= at a folder that holds {file}."
    )


def _places(file: str, scratch: Path) -> list[tuple[str, Callable[[], bytes]]]:
    """Return the official places of a file, the best first, and how to get it from each."""
    if file in ORIGINALS:
        original = ORIGINALS[file]
        url = f"{UCI}/{original.archive}"
        columns = expected(file)["columns"]
        places = [(url, lambda: convert_table(_archive(url, scratch), original, columns))]
        if original.openml:
            place = f"OpenML {original.openml}"
            places.append((place, lambda: _openml(original, scratch, expected(file))))
        return places
    if file == "cmu_faces.npz":
        url = f"{UCI}/{FACES_ARCHIVE}"
        return [(url, lambda: _faces_bytes(_archive(url, scratch)))]
    return [("scikit-learn fetch_20newsgroups", lambda: _newsgroups(scratch))]


def _archive(url: str, scratch: Path) -> io.BytesIO:
    with needs_extra("downloading datasets", "data"):
        import pooch
    path = scratch / "archive"
    pooch.HTTPDownloader()(url, str(path), None)
    return io.BytesIO(path.read_bytes())


def _openml(original: Original, scratch: Path, facts: dict[str, Any]) -> bytes:
    from sklearn.datasets import fetch_openml

    with warnings.catch_warnings():
        # It warns at every attempt, but only the last one matters.
        warnings.simplefilter("ignore")
        bunch = fetch_openml(
            data_id=original.openml,
            data_home=str(scratch / "openml"),
            as_frame=False,
            parser="liac-arff",
        )

    def cell(value: float) -> str:
        return "" if np.isnan(value) else np.format_float_positional(value, trim="-")

    names = original.openml_labels
    rows = [
        [*map(cell, row), names.get(str(label), str(label))]
        for row, label in zip(bunch.data, bunch.target, strict=True)
    ]
    return table_bytes(facts["columns"], rows[: facts["rows"]])


def _faces_bytes(archive: io.BytesIO) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **vars(convert_faces(archive)))
    return buffer.getvalue()


def _newsgroups(scratch: Path) -> bytes:
    from sklearn.datasets import fetch_20newsgroups

    messages = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for split in ("train", "test"):
            bunch = fetch_20newsgroups(
                data_home=str(scratch / "newsgroups"), subset=split, shuffle=False
            )
            messages += [
                Message(bunch.target_names[code], Path(name).name, split, text)
                for code, name, text in zip(bunch.target, bunch.filenames, bunch.data, strict=True)
            ]
    messages.sort(key=lambda message: (message.newsgroup, message.split, message.id))
    return message_bytes(messages)
