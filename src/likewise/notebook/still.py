"""The question and the groups as plain HTML, for a notebook that is saved and read elsewhere."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from likewise.page import shapes
from likewise.page.calls import SIZES
from likewise.project import Project
from likewise.project.outlook import outlook
from likewise.words import plural

N_GROUPS = 12
"""How many groups are shown."""
N_TILES = 3
"""How many items of each group are shown."""
HEIGHT = 72
"""The height of every picture in pixels; small ones are enlarged."""
LONGEST = 300
"""Texts are cut after this many characters."""


def still(project: Project, id: str) -> str:
    """Return the open question and the first groups, as they are now."""
    progress = project.session.progress
    said = f"{progress.answered} answered, {plural(progress.n_groups, 'group')} now"
    parts = [f"<p><b>likewise</b>: {escape(f'{outlook(project.session).line} · {said}')}</p>"]
    question = shapes.question(project, project.ask())
    if question is not None and question["kind"] == "pair":
        pair = (question["left"], question["right"])
        parts.append(f"<p>Do these two belong together?</p>{_row(project, pair)}")
    elif question is not None:
        parts.append(f"<p>Where does it belong?</p>{_row(project, [question['item']])}")
    boxes = []
    for number, found in enumerate(project.groups()[:N_GROUPS], start=1):
        group = shapes.group(project, found)
        name = f"{group['name'] or f'Group {number}'}: {plural(group['size'], 'item')}"
        tiles = _row(project, group["typical"][:N_TILES])
        boxes.append(f"<div><p>{escape(name)}</p>{tiles}</div>")
    groups = f'<div style="display:flex;flex-wrap:wrap;gap:0 2em">{"".join(boxes)}</div>'
    return f'<div id="{escape(id)}">{"".join(parts)}{groups}</div>'


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
        source = f"data:image/webp;base64,{code}"
        return f'<img alt="{title}" title="{title}" style="height:{HEIGHT}px" src="{source}">'
    view = thing.get("view", {})
    if "fields" in view and "text" not in view:
        fields = (f"{escape(name)}: {escape(text[:LONGEST])}" for name, text in view["fields"])
        return "<br>".join(fields) or title
    return escape(str(view.get("text") or thing.get("line") or thing["title"])[:LONGEST])
