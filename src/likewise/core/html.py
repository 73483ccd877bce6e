"""What notebooks show of sessions, questions and reports: plain HTML, built as strings."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


def card(title: str, lines: Iterable[tuple[str, object]]) -> str:
    """Return a title and a small table; all text is escaped."""
    rows = (
        f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>" for name, value in lines
    )
    return f"<b>{escape(title)}</b><table>{''.join(rows)}</table>"


def row_name(row: int, id: object = None) -> str:
    """Return a row by its number, and by its name where it has one."""
    return f"row {row}" if id is None else f"{id} (row {row})"
