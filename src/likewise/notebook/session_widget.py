"""The widget: the page in a frame, which calls the session in the kernel.

For a notebook that is saved and read elsewhere there is a still picture beside it: the question and
the groups as plain HTML.
"""

from __future__ import annotations

import base64
import json
import re
import weakref
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any, ClassVar

import anywidget
import traitlets

from likewise.core.session import Session
from likewise.page import shapes
from likewise.page.calls import SIZES, File, reply_to
from likewise.page.document import STATIC, document
from likewise.page.shapes import Json
from likewise.project import Project
from likewise.project.outlook import outlook
from likewise.words import plural

# Smaller than in a window of its own, and without the files to download: the session has them.
FRAME_STYLE = ":root { font-size: 14px; } .exports, .skip { display: none; }"

N_GROUPS = 12
"""How many groups the still picture has."""
N_TILES = 3
"""How many items of each group it has."""
HEIGHT = 72
"""The height of every picture in pixels; small ones are enlarged."""
LONGEST = 300
"""Texts are cut after this many characters."""


class SessionWidget(anywidget.AnyWidget):
    """Ask the questions of a session in a notebook. Made by `Session.widget`."""

    _esm = Path(__file__).parent / "session_widget.js"
    page = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(660).tag(sync=True)
    still_id = traitlets.Unicode().tag(sync=True)
    position = traitlets.Int(0)

    _all: ClassVar[weakref.WeakSet[SessionWidget]] = weakref.WeakSet()

    def __init__(self, project: Project, *, height: int) -> None:
        super().__init__(page=framed(document(project)), height=height)
        self.still_id = f"likewise-{self.model_id}"
        self._project = project
        self._seen = project.session.log
        self._handle: Any = None
        self.on_msg(self._hear)
        self._all.add(self)

    @property
    def session(self) -> Session:
        """The session, which every answer goes to."""
        return self._project.session

    def __repr__(self) -> str:
        return f"<SessionWidget: {self.session.progress}>"

    def _hear(self, _: Any, message: Any, buffers: Any) -> None:  # noqa: ARG002
        """Reply to a call of the page."""
        path, body = message["path"], message.get("body")
        reply: Json | File = {"error": "the session was changed elsewhere"}
        status, files = 409, []
        if body is None or self._seen == self.session.log:
            status, reply = reply_to(self._project, path, body)
        if isinstance(reply, File):
            files, reply = [reply.data], {"type": reply.media_type}
        self.send({"number": message["number"], "status": status, "body": reply}, files)
        if path.startswith("query"):
            self._seen = self.session.log
        elif body is not None and self._seen != self.session.log and status == 200:
            self._changed()

    def _changed(self) -> None:
        """Tell all widgets that show this session."""
        self._seen = self.session.log
        self.position = self._project.position
        for other in self._all:
            if other is not self and other.session is self.session:
                other.send({"changed": True})
        if self._handle is not None:
            self._handle.update({"text/html": still(self._project, self.still_id)}, raw=True)

    def _ipython_display_(self) -> None:
        """Show static HTML, which a saved notebook keeps, and the widget, which hides it."""
        from IPython.display import display, publish_display_data

        picture = {"text/html": still(self._project, self.still_id)}
        self._handle = display(picture, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        data, metadata = self._repr_mimebundle_() or ({}, {})
        publish_display_data(data, metadata)  # type: ignore[no-untyped-call]


def framed(page: str) -> str:
    """Return the page as one document that needs no server: modules and style are inside."""
    modules = {}
    for path in sorted(STATIC.glob("*.js")):
        code = re.sub(r'(from |import |import\()"\./', r'\1"likewise/', path.read_text("utf-8"))
        packed = base64.b64encode(code.encode()).decode()
        modules[f"likewise/{path.name}"] = f"data:text/javascript;base64,{packed}"
    style = (STATIC / "page.css").read_text("utf-8") + FRAME_STYLE
    head = (
        # Links such as #result are about this document, not about the notebook around it.
        '<base href="about:srcdoc">'
        f'<script type="importmap">{json.dumps({"imports": modules})}</script>'
        f'<style>{style}</style><script type="module">import "likewise/main.js";</script>'
    )
    bare = re.sub(r"<link [^>]*>|<script [^>]*></script>", "", page)
    return bare.replace("</head>", f"{head}</head>", 1)


def still(project: Project, id: str) -> str:
    """Return the open question and the first groups, as they are now."""
    progress = project.session.progress
    counts = f"{progress.answered} answered, {plural(progress.n_groups, 'group')} now"
    parts = [f"<p><b>likewise</b>: {escape(f'{outlook(project.session).line} · {counts}')}</p>"]
    question = shapes.question(project, project.ask())
    if question is not None and question["kind"] == "pair":
        pair = (question["left"], question["right"])
        parts.append(f"<p>Do these two belong together?</p>{_row(project, pair)}")
    elif question is not None:
        parts.append(f"<p>Where does it belong?</p>{_row(project, [question['item']])}")
    boxes = []
    for number, own in enumerate(project.groups()[:N_GROUPS], start=1):
        group = shapes.group(project, own)
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
