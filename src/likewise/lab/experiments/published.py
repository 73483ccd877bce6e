"""What the paper shows and the numbers printed in it (``paper.toml``), to stand beside ours."""

from __future__ import annotations

import tomllib
from importlib.resources import files

from likewise.lab.experiments.protocol import SIZES

_PAPER = tomllib.loads(
    files("likewise.lab.experiments").joinpath("paper.toml").read_text(encoding="utf-8")
)
SHOWN: list[dict[str, str]] = _PAPER["shown"]
TABLE_1: dict[str, list[int]] = _PAPER["table_1"]
TABLE_2: dict[str, list[str]] = _PAPER["table_2"]
TABLE_3: dict[str, list[str]] = _PAPER["table_3"]


def printed(table: dict[str, list[str]], method: str, size: int) -> str | None:
    """Return the entry of Table 2 or 3 for a method and a number of super-instances, if any."""
    return table[method][SIZES.index(size)] if method in table and size in SIZES else None
