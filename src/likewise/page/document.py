"""The HTML of the page."""

from __future__ import annotations

import html
import re
from pathlib import Path

from likewise.project import Project
from likewise.words import plural

STATIC = Path(__file__).parent / "static"
TEMPLATE = Path(__file__).parent / "page.html"


def document(project: Project) -> str:
    """Return the page about a project; its content comes by calls."""
    items = project.items
    counts = project.session.strategy.partition.row_counts
    # Of data that was read in batches only some rows can be shown; it is about all of them.
    n = len(project.listed()) if counts is None else int(counts.sum())
    return _filled(items.source.name, items.kind, plural(n, items.noun))


def empty_document(source: str) -> str:
    """Return the page about a project that is still being opened; it shows the progress."""
    return _filled(source, "", "")


def _filled(source: str, kind: str, items: str) -> str:
    values = {"source": source, "kind": kind, "items": items}
    template = TEMPLATE.read_text(encoding="utf-8")
    return re.sub(r"\{\{ (\w+) \}\}", lambda match: html.escape(values[match[1]]), template)
