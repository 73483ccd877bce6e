"""Pictures in the terminal itself, by the protocols of kitty and iTerm2, or as sixels."""

from __future__ import annotations

import base64
import io
import os
import re
import select
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from likewise.items import Items

if TYPE_CHECKING:
    from PIL.Image import Image

Way = Literal["kitty", "iterm", "sixel"]
WAYS = ("auto", "none", "kitty", "iterm", "sixel")

CELL = (8, 16)
"""Width and height of a character in pixels, where the terminal does not say."""

MOST_COLUMNS = 110
"""Pictures take at most this many columns of the terminal, so that two fit side by side."""
MOST_LINES = 18
"""Pictures take at most this many lines, so that the question stays visible."""
N_COLORS = 128
"""Colors of a sixel picture."""
KITTY_CHUNK = 4096
"""The most bytes of one message, by the protocol of kitty."""

PATIENCE = 1.0
"""Seconds to wait for a terminal to report its attributes. Terminals that report them do so at
once."""

ATTRIBUTES = re.compile(r"\x1b\[\?[\d;]*c")
"""The reply of a terminal to a request for its attributes; 4 among them means sixel."""


def choose_way(
    wanted: str, environ: Mapping[str, str], is_terminal: bool, ask: Callable[[], str]
) -> Way | None:
    r"""Return how pictures can be shown, or None where they cannot.

    `wanted`, one of `WAYS`, is used as it is unless it is "auto". `ask` asks the terminal for its
    attributes; it is called only if the environment says nothing.

    Examples
    --------
    >>> choose_way("auto", {"TERM": "xterm-kitty"}, True, lambda: "")
    'kitty'
    >>> choose_way("auto", {"TERM": "xterm-256color"}, True, lambda: "\x1b[?62;4;22c")
    'sixel'
    >>> choose_way("auto", {"TERM": "xterm-kitty"}, False, lambda: "") is None
    True
    """
    if wanted != "auto":
        return None if wanted == "none" else wanted  # type: ignore[return-value]  # one of WAYS
    term = environ.get("TERM", "")
    if not is_terminal or term in ("", "dumb", "linux"):
        return None
    # Programs in between, such as tmux, pass on neither kitty's nor iTerm2's pictures.
    if not environ.get("TMUX") and not term.startswith(("screen", "tmux")):
        program = environ.get("TERM_PROGRAM", "")
        if term in ("xterm-kitty", "xterm-ghostty") or environ.get("KITTY_WINDOW_ID"):
            return "kitty"
        if program in ("iTerm.app", "WezTerm") or environ.get("LC_TERMINAL") == "iTerm2":
            return "iterm"
    answer = ATTRIBUTES.search(ask())
    return "sixel" if answer and "4" in re.findall(r"\d+", answer[0])[1:] else None


def ask_terminal() -> str:
    """Ask the terminal for its attributes; return what it says within a second, or nothing."""
    try:
        import termios
        import tty
    except ImportError:  # not on Windows
        return ""
    try:
        handle = sys.stdin.fileno()
        before = termios.tcgetattr(handle)
    except (OSError, ValueError, termios.error):
        return ""
    if select.select([handle], [], [], 0)[0]:
        return ""  # somebody is typing already, and no key must be lost
    try:
        tty.setcbreak(handle)
        sys.stdout.write("\x1b[c")
        sys.stdout.flush()
        said = ""
        while not ATTRIBUTES.search(said) and select.select([handle], [], [], PATIENCE)[0]:
            new = os.read(handle, 64).decode("ascii", "replace")
            if not new:
                break
            said += new
        return said
    finally:
        termios.tcsetattr(handle, termios.TCSANOW, before)


def is_late_answer(key: str) -> bool:
    """Whether a key is really the late reply of the terminal, after a slow connection."""
    return ATTRIBUTES.fullmatch(key) is not None


def side_by_side(items: Items, places: Sequence[int], columns: int, lines: int, way: Way) -> str:
    """Return the text that makes a terminal show pictures beside each other."""
    from PIL import Image, ImageOps

    width, height = cell_size()
    n_columns = max(8, min(columns - 4, MOST_COLUMNS))
    n_lines = max(4, min(lines - 10, MOST_LINES))
    whole = Image.new("RGBA", (n_columns * width, n_lines * height))
    step = (whole.width + 2 * width) // len(places)
    box = (max(1, step - 2 * width), whole.height)
    for k, place in enumerate(places):
        data = items.thumbnail(place, max(box), format="png")
        with Image.open(io.BytesIO(data)) as picture:
            shown = ImageOps.contain(picture.convert("RGBA"), box)
        whole.paste(shown, (k * step, 0))
    return {"kitty": kitty, "iterm": iterm, "sixel": sixel}[way](whole, n_columns, n_lines)


def cell_size() -> tuple[int, int]:
    """Return the width and height of a character in pixels."""
    try:
        import fcntl
        import struct
        import termios

        answer = fcntl.ioctl(sys.stdout.fileno(), termios.TIOCGWINSZ, b"\0" * 8)
    except (ImportError, OSError, ValueError):
        return CELL
    lines, columns, width, height = struct.unpack("HHHH", answer)
    if not lines or not columns or width < 4 * columns or height < 4 * lines:
        return CELL
    # More pixels would only take longer over a slow connection.
    return min(width // columns, 16), min(height // lines, 32)


def kitty(picture: Image, n_columns: int, n_lines: int) -> str:
    """Return a picture by kitty's graphics protocol; ``q=2`` asks for no answer."""
    data = base64.standard_b64encode(_png(picture)).decode()
    chunks = [data[k : k + KITTY_CHUNK] for k in range(0, len(data), KITTY_CHUNK)]
    parts = []
    for k, chunk in enumerate(chunks):
        about = f"a=T,f=100,q=2,c={n_columns},r={n_lines}," if k == 0 else ""
        parts.append(f"\x1b_G{about}m={int(k < len(chunks) - 1)};{chunk}\x1b\\")
    return "".join(parts) + "\n"


def iterm(picture: Image, n_columns: int, n_lines: int) -> str:
    """Return a picture as an inline file of iTerm2."""
    data = _png(picture)
    about = f"inline=1;size={len(data)};width={n_columns};height={n_lines};preserveAspectRatio=1"
    return f"\x1b]1337;File={about}:{base64.standard_b64encode(data).decode()}\x07\n"


def sixel(picture: Image, n_columns: int, n_lines: int) -> str:  # noqa: ARG001  (it has pixels)
    """Return a picture as sixels: bands of six rows, one layer per color."""
    is_drawn = np.asarray(picture)[:, :, 3] > 127
    reduced = picture.convert("RGB").quantize(N_COLORS)
    index = np.asarray(reduced)
    palette = np.array(reduced.getpalette()).reshape(-1, 3) * 100 // 255
    parts = [f'\x1bP0;1;0q"1;1;{picture.width};{picture.height}']
    for k in np.unique(index[is_drawn]):
        red, green, blue = palette[k]
        parts.append(f"#{k};2;{red};{green};{blue}")
    for top in range(0, picture.height, 6):
        band, drawn = index[top : top + 6], is_drawn[top : top + 6]
        bits = 1 << np.arange(len(band))
        colors = np.unique(band[drawn])
        parts += [f"#{k}{_runs(bits @ ((band == k) & drawn))}$" for k in colors]
        parts.append("-")
    return "".join(parts) + "\x1b\\\n"


def _runs(values: np.ndarray) -> str:
    """Return sixels with repeats run-length encoded, without empty ones at the end."""
    starts = np.flatnonzero(np.diff(values, prepend=-1))
    lengths = np.diff(starts, append=len(values))
    parts = []
    for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
        sign = chr(63 + int(values[start]))
        parts.append(f"!{length}{sign}" if length > 3 else sign * length)
    if values[starts[-1]] == 0:
        parts.pop()
    return "".join(parts)


def _png(picture: Image) -> bytes:
    file = io.BytesIO()
    picture.save(file, "png", compress_level=3)
    return file.getvalue()
