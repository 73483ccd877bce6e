"""Show pictures in the terminal itself, with the package `textual-image` (extra `terminal`)."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from likewise.errors import needs_extra
from likewise.items import Items

KINDS = {"kitty": "TGPImage", "sixel": "SixelImage", "blocks": "HalfcellImage"}
"""Ways to show pictures, and the class of `textual_image.renderable` for each."""
WAYS = ("auto", "none", *KINDS)

MOST_COLUMNS = 110
"""Pictures take at most this many columns of the terminal, so that two fit side by side."""
MOST_LINES = 18
"""Pictures take at most this many lines, so that the question stays visible."""
MOST_BESIDE = 4
"""More pictures than this are in two rows: beside each other, each would be too small."""
BOX = (512, 384)
"""The most pixels that a picture has; more would only take longer over a slow connection."""
GAP = 24
"""Pixels between two pictures."""

REPLY = re.compile(r"\x1b\[\?[\d;]*c|\x1b_G.*|\x1b\[\d+;\d+;\d+t")
"""What a terminal replies to the questions that `textual-image` asks it."""


def choose_way(wanted: str, environ: Mapping[str, str], is_terminal: bool) -> str | None:
    """Return how to show pictures, or None; with "auto", `textual-image` asks the terminal."""
    if wanted != "auto":
        if wanted == "none":
            return None
        with needs_extra("--pictures", "terminal"):
            import textual_image  # noqa: F401
        return wanted
    is_able = is_terminal and environ.get("TERM", "") not in ("", "dumb", "linux")
    if not is_able or find_spec("textual_image") is None:
        return None
    from textual_image import renderable

    named = {getattr(renderable, name): way for way, name in KINDS.items()}
    return named.get(renderable.Image)


def is_late_answer(key: str) -> bool:
    """Whether a key is really the late reply of the terminal, after a slow connection."""
    return REPLY.fullmatch(key) is not None


def show_side_by_side(
    items: Items,
    places: Sequence[int],
    columns: int,
    lines: int,
    way: str,
    file: Any,
    names: Sequence[str] = (),
) -> None:
    """Show pictures beside each other in the terminal that `file` writes to, under their names."""
    most = max(4, min(lines - 10, MOST_LINES))
    n_beside = len(places) if len(places) <= MOST_BESIDE else -(-len(places) // 2)
    for first in range(0, len(places), n_beside):
        part = slice(first, first + n_beside)
        most_here = most if n_beside == len(places) else max(4, most // 2)
        _show_row(items, places[part], n_beside, columns, most_here, way, file, names[part])


def _show_row(
    items: Items,
    places: Sequence[int],
    n_beside: int,
    columns: int,
    most: int,
    way: str,
    file: Any,
    names: Sequence[str],
) -> None:
    """Show pictures in one row that has room for `n_beside` of them."""
    from PIL import Image, ImageOps
    from rich.console import Console
    from textual_image import renderable

    whole = Image.new("RGBA", (n_beside * (BOX[0] + GAP) - GAP, BOX[1]))
    for k, place in enumerate(places):
        data = items.thumbnail(place, max(BOX), format="png")
        with Image.open(io.BytesIO(data)) as picture:
            whole.paste(ImageOps.contain(picture.convert("RGBA"), BOX), (k * (BOX[0] + GAP), 0))
    n_columns = max(8, min(columns - 4, MOST_COLUMNS))
    # A cell of a terminal is about twice as high as it is wide.
    n_columns = min(n_columns, 2 * most * whole.width // whole.height)
    n_lines = max(1, round(n_columns * whole.height / whole.width / 2))
    middles = [(k * (BOX[0] + GAP) + BOX[0] / 2) / whole.width for k in range(len(places))]
    print(_spread(names, [round(middle * n_columns) for middle in middles]), file=file)
    console = Console(
        file=file, force_terminal=True, color_system="truecolor", width=n_columns, height=n_lines
    )
    with warnings.catch_warnings():
        # Its blocks call what Pillow 14 no longer has.
        warnings.simplefilter("ignore", DeprecationWarning)
        console.print(getattr(renderable, KINDS[way])(whole, width=n_columns, height=n_lines))


def _spread(names: Sequence[str], middles: Sequence[int]) -> str:
    """Return names in one line, each around its column."""
    line = ""
    for name, middle in zip(names, middles, strict=False):
        line = f"{line:<{max(len(line) + (line != ''), middle - len(name) // 2)}}{name}"
    return line
