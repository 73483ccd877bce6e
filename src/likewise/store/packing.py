"""Sessions as bytes: JSON, with arrays as `likewise.core.arrays` writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

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
    return json.dumps(value, default=_plain, separators=(",", ":")).encode()


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else array_to_json(value)


def unpack(data: bytes) -> Any:
    """Undo `pack`."""
    with readable("the set-up in the session file"):
        return from_json(json.loads(data))


def pack_session(session: Session) -> bytes:
    """Return a session with an empty log, as a payload of the store."""
    return pack({**session.state(), "log": [], "undone": []})


def unpack_session(data: bytes) -> Session:
    """Undo `pack_session`."""
    with readable("the session in the session file"):
        return Session.from_dict(unpack(data))
