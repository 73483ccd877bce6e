"""Sessions as bytes: JSON, with arrays as `likewise.core.arrays` writes them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.arrays import array_to_json, from_json
from likewise.core.session import Session
from likewise.errors import LikewiseError, SessionFileError


@contextmanager
def readable(what: str) -> Iterator[None]:
    """Turn any error while content of a file is read into one that names what is damaged."""
    try:
        yield
    except LikewiseError:
        raise
    except Exception as error:
        raise SessionFileError(f"{what} is damaged: {type(error).__name__}: {error}") from error


def pack(value: Any) -> bytes:
    """Return a value of plain values and arrays as JSON."""
    return json.dumps(value, default=array_to_json, separators=(",", ":")).encode()


def unpack(data: bytes) -> Any:
    """Undo `pack`; files of 0.1.0 and of development versions of 0.2 have NumPy archives."""
    with readable("the set-up in the session file"):
        return _from_archive(data) if data[:2] == b"PK" else from_json(json.loads(data))


def _from_archive(data: bytes) -> Any:
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        # Such an archive was never compressed, so its arrays are no larger than its bytes.
        if sum(member.file_size for member in archive.zip.infolist()) > len(data):
            raise SessionFileError("an archive in the session file is larger than its bytes")
        arrays: dict[str, Any] = dict(archive)
    name = "array of this file"
    return json.loads(
        arrays["json"].tobytes(),
        object_hook=lambda inner: arrays[inner[name]] if name in inner else inner,
    )


def pack_session(session: Session) -> bytes:
    """Return a session with an empty log, as a payload of the store."""
    return pack({**session.state(), "log": [], "undone": []})


def unpack_session(
    data: bytes, X: NDArray[Any] | None = None, all_rows: bytes | None = None
) -> Session:
    """Undo `pack_session`; some strategies need the rows, and files of 0.1.0 have `all_rows`."""
    with readable("the session in the session file"):
        plain = unpack(data)
        if all_rows is not None:
            partition = unpack(all_rows)["strategy"]["partition"]
            compared = {name: partition[name] for name in ("centers", "cell_owner")}
            plain["strategy"]["partition"] |= compared
        return Session.from_dict(plain, X=X)
