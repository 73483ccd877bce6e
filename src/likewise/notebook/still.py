"""The question and the groups as plain HTML, for a notebook that is saved and read elsewhere."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from likewise.page import shapes
from likewise.page.calls import SIZES
from likewise.project import Project

N_GROUPS = 12
N_TILES = 3
LONGEST = 300
"""A still picture has the beginning of a text only."""


def still(project: Project, id: str) -> str:
    """Return the open question and the first groups, as they are now."""
    parts = [f"<p><b>likewise</b>: {escape(str(project.session.progress))}</p>"]
    question = shapes.question(project, project.ask())
    if question is not None and question["kind"] == "pair":
        pair = (question["left"], question["right"])
        parts.append(f"<p>Do these two belong together?</p>{_row(project, pair)}")
    elif question is not None:
        parts.append(f"<p>Where does it belong?</p>{_row(project, [question['item']])}")
    for found in project.groups()[:N_GROUPS]:
        group = shapes.group(project, found)
        name = escape(group["name"] or "A group without a name")
        parts.append(f"<p>{name}: {group['size']}</p>")
        parts.append(_row(project, group["typical"][:N_TILES]))
    return f'<div id="{escape(id)}">{"".join(parts)}</div>'


def _row(project: Project, things: Iterable[Mapping[str, Any]]) -> str:
    cells = "".join(
        f'<td style="text-align:left;vertical-align:top">{_thing(project, thing)}</td>'
        for thing in things
    )
    return f"<table><tr>{cells}</tr></table>"


def _thing(project: Project, thing: Mapping[str, Any]) -> str:
    title = escape(str(thing["title"]))
    place = project.where[thing["row"]]
    if "image" in thing and place is not None:
        data = project.items.thumbnail(place, SIZES["small"], format="webp")
        code = base64.b64encode(data).decode()
        return f'<img alt="{title}" title="{title}" src="data:image/webp;base64,{code}">'
    view = thing.get("view", {})
    if "fields" in view and "text" not in view:
        fields = (f"{escape(name)}: {escape(text[:LONGEST])}" for name, text in view["fields"])
        return "<br>".join(fields) or title
    return escape(str(view.get("text") or thing.get("line") or thing["title"])[:LONGEST])
