"""Show items as lines of text in a terminal."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import accumulate, zip_longest

import click

from likewise.items import Items
from likewise.words import escaped

BARS = "▁▂▃▄▅▆▇█"
LONGEST_TEXT = 1_200
"""A text is cut after this many characters in the terminal; about one screen."""
LONGEST_NAME = 28
"""So many columns stand beside a curve at most, the same for every curve: they can be compared."""


def both(items: Items, left: int, right: int, width: int, n_lines: int = 12) -> Iterator[str]:
    """Return the lines that show two items: fields aligned, anything else side by side."""
    views = items.view(left), items.view(right)
    parts = {part for view in views for part in view if part in ("text", "channels", "picture")}
    if not parts:
        yield from _aligned(views[0].get("fields", []), views[1].get("fields", []), width)
    elif parts == {"picture"}:
        # A path can be opened from the terminal, in most by a click.
        for side, place in (("left ", left), ("right", right)):
            yield f"  {side}  {clean(items.location(place))}"
    else:
        half = max(20, (width - 5) // 2)
        columns = (block(items, left, half, n_lines), block(items, right, half, n_lines))
        for a, b in zip_longest(*columns, fillvalue=""):
            yield f"  {cell(a, half)} │ {b}".rstrip()


def one_line(items: Items, place: int, width: int) -> str:
    """Return an item as one line: its name, and its content where the name does not show it."""
    view, title = items.view(place), clean(items.title(place))
    if view.get("picture"):
        return fit_end(clean(items.location(place)), width)
    if view.get("channels"):
        return _curve(title, view["channels"][0]["y"], width)
    line = clean(items.tile(place).get("line", ""))
    both = line if _begins(line, title) else f"{title} · {line}"
    return fit(both if line else title, width)


def _begins(text: str, title: str) -> bool:
    """Return whether a title is nothing but the beginning of a text."""
    return text.startswith(title.removesuffix("…"))


def block(
    items: Items, place: int, width: int, n_lines: int = 12, *, as_one_line: bool = False
) -> list[str]:
    """Return an item as lines that fit a width; `n_lines` are at least shown of a text.

    Curves are below their names or, if so wished, beside them as in `one_line`.
    """
    view, title = items.view(place), clean(items.title(place))
    lines = [] if _begins(view.get("text", ""), title) else [fit(title, width)]
    if view.get("picture"):
        lines = [fit_end(clean(items.location(place)), width)]
    for channel in view.get("channels", ()):
        low, high = min(channel["y"]), max(channel["y"])
        about = clean(f"{channel['name']}, {low:.4g} to {high:.4g}")
        if as_one_line:
            lines.append(_curve(about, channel["y"], width))
        else:
            lines += [fit(about, width), sparkline(channel["y"], width)]
    if "text" in view:
        most = max(LONGEST_TEXT, 2 * n_lines * width)
        if len(view["text"]) > most:  # behind a word, if there are any
            most = max(view["text"].rfind(" ", most // 2, most), 0) or most
        text = clean(view["text"][:most], keeps_lines=True)
        lines += [""] if lines else []
        for paragraph in text.splitlines():
            lines += _wrapped(paragraph, width)
        hidden = view.get("length", len(view["text"])) - most
        lines += [f"… {hidden} more characters"] if hidden > 0 else []
    return lines + [fit(clean(f"{name}: {text}"), width) for name, text in view.get("fields", ())]


def _curve(name: str, values: Sequence[float], width: int) -> str:
    """Return a curve beside its name, as wide as all others of this width."""
    beside = min(width // 2, LONGEST_NAME)
    return f"{cell(name, beside)} {sparkline(values, width - beside - 1)}"


def _aligned(
    left: Sequence[Sequence[str]], right: Sequence[Sequence[str]], width: int
) -> Iterator[str]:
    """Align fields; ≠ stands beside those that differ."""
    values = {name: text for name, text in right}  # noqa: C416  (lists of two, for mypy)
    name_width = min(24, max((cells(name) for name, _ in left), default=0))
    half = max(10, (width - name_width - 9) // 2)
    for name, text in left:
        other = values.get(name, "")
        sign = " " if text == other else "≠"
        both = f"{cell(text or 'missing', half)} {sign} {cell(other or 'missing', half)}"
        yield f"  {cell(name, name_width)}  {both}".rstrip()


def sparkline(values: Sequence[float], width: int) -> str:
    """Return a curve as bars of eight heights, as wide as asked, however many values it has."""
    last, steps = len(values) - 1, max(1, width - 1)
    drawn = [values[round(k * last / steps)] for k in range(width)]
    low, high = min(drawn), max(drawn)
    scale = (len(BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(BARS[round((value - low) * scale)] for value in drawn)


# -- text from outside -----------------------------------------------------------------------------


def say(text: object, *, err: bool = False) -> None:
    """Print lines with names of files or errors, which may have characters of any kind."""
    click.echo(escaped(str(text), in_lines=True), err=err)


def clean(text: str, *, keeps_lines: bool = False) -> str:
    """Return text without characters that control the terminal or the direction of text."""

    def shown(character: str) -> str:
        if character in "\n\r\t":
            return character if character == "\n" and keeps_lines else " "
        kind = unicodedata.category(character)
        return "·" if kind == "Cc" else "" if kind in ("Cf", "Cs", "Co") else character

    return "".join(map(shown, text))


def cells(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def cell(text: str, width: int) -> str:
    """Return a text as a cell of a table: cleaned, and cut or padded to a width."""
    shown = fit(clean(text), width)
    return shown + " " * (width - cells(shown))


def fit(text: str, width: int) -> str:
    """Return a text cut to a width, behind a word if one ends in the last third."""
    if cells(text) <= width:
        return text
    whole = _beginning(text, width - 1)
    if not text[len(whole)].isspace():
        words = whole.rsplit(" ", 1)[0].rstrip(" ,;:·")
        whole = words if cells(words) > width * 2 // 3 else whole
    return f"{whole.rstrip()}…"


def fit_end(text: str, width: int) -> str:
    """Return the end of a text that fits a width: paths differ there."""
    if cells(text) <= width:
        return text
    return f"…{_beginning(text[::-1], width - 1)[::-1].lstrip()}"


def in_lines(parts: Sequence[str], width: int, gap: str = "  ", indent: str = "") -> str:
    """Return parts in as few lines as there is room for, broken between words; a word is cut."""
    lines: list[str] = []
    for part in parts:
        joined = f"{lines[-1]}{gap}{part}" if lines else f"{indent}{part}"
        if lines and cells(joined) <= width:
            lines[-1] = joined
        else:
            lines += _between_words(f"{indent}{part}", width, indent)
    return "\n".join(fit(line, width) for line in lines)


def for_terminal(text: str, width: int) -> str:
    """Return text broken between words; a word that is too long, such as a path, stays whole."""
    return "\n".join(line for one in text.split("\n") for line in _between_words(one, width))


def _between_words(text: str, width: int, indent: str = "") -> list[str]:
    if cells(text) <= width:
        return [text]
    whole = textwrap.TextWrapper(
        width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return whole.wrap(text)


def strip(low: float, middle: float, high: float, at: float | None, width: int) -> str:
    """Return the spread of a group on the range of all items, its middle, and where an item is."""
    marks = [" "] * width

    def place(share: float) -> int:
        return min(width - 1, max(0, int(share * width)))

    marks[place(low) : place(high) + 1] = "─" * (place(high) - place(low) + 1)
    marks[place(middle)] = "┼"
    if at is not None:
        marks[place(at)] = "◆"
    return "".join(marks)


def _beginning(text: str, width: int) -> str:
    """Return as many characters of a text as a width has room for."""
    taken = accumulate(map(cells, text))
    return text[: sum(n <= width for n in taken)]


def _wrapped(text: str, width: int) -> Iterator[str]:
    """Return a text as lines of a width; one with wide characters is broken between any two."""
    if cells(text) <= len(text):
        yield from textwrap.wrap(text, width) or [""]
        return
    while text:
        line = _beginning(text, max(2, width))
        yield line.rstrip()
        text = text.removeprefix(line).lstrip()
