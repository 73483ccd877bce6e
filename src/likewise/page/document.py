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
    """Return the page about a project; all that moves on it comes by calls."""
    values = {
        "source": project.items.source.name,
        "kind": project.items.kind,
        "items": plural(len(project.ids), project.items.noun),
    }
    template = TEMPLATE.read_text(encoding="utf-8")
    return re.sub(r"\{\{ (\w+) \}\}", lambda found: html.escape(values[found[1]]), template)
