"""The HTML of the page."""

from __future__ import annotations

import html
import re
from pathlib import Path

from likewise.project import Project
from likewise.words import escaped

STATIC = Path(__file__).parent / "static"
TEMPLATE = Path(__file__).parent / "page.html"


def document(about: Project | str) -> str:
    """Return the page about a project, or about the name of one that is still being opened."""
    values = {"source": str(about), "kind": "", "items": ""}
    if isinstance(about, Project):
        items = about.items
        values = {"source": items.source.name, "kind": items.kind, "items": about.how_many}
    template = TEMPLATE.read_text(encoding="utf-8")
    filled = {name: html.escape(escaped(text)) for name, text in values.items()}
    return re.sub(r"\{\{ (\w+) \}\}", lambda match: filled[match[1]], template)
