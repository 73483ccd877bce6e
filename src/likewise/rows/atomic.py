"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any


def write_atomically(path: Path, write: Callable[[Path], Any]) -> None:
    """Let a function write a file under a temporary name, and rename it when it is whole."""
    new = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        write(new)
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)
