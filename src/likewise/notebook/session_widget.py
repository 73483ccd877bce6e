"""The widget: the page in a frame, which calls the session in the kernel."""

from __future__ import annotations

import base64
import json
import re
import weakref
from pathlib import Path
from typing import Any, ClassVar

import anywidget
import traitlets

from likewise.core.session import Session
from likewise.notebook.still import still
from likewise.page.calls import File, reply_to
from likewise.page.document import STATIC, document
from likewise.page.shapes import Json
from likewise.project import Project

# Smaller than in a window of its own, and without the files to download: the session has them.
FRAME_STYLE = ":root { font-size: 14px; } .exports, .skip { display: none !important; }"


class SessionWidget(anywidget.AnyWidget):
    """Ask the questions of a session in a notebook. Made by `Session.widget`.

    Attributes
    ----------
    session : Session
        The session, which every answer goes to.
    position : int
        Grows with every change made here; observe it to do something after each answer.
    """

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

    def _hear(self, _: Any, said: Any, buffers: Any) -> None:  # noqa: ARG002
        """Reply to a call of the page."""
        path, body = said["path"], said.get("body")
        found: Json | File = {"error": "the session was changed elsewhere"}
        status, files = 409, []
        if body is None or self._seen == self.session.log:
            status, found = reply_to(self._project, path, body)
        if isinstance(found, File):
            files, found = [found.data], {"type": found.media_type}
        self.send({"number": said["number"], "status": status, "body": found}, files)
        if path.startswith("query"):
            self._seen = self.session.log
        elif body is not None and self._seen != self.session.log and status == 200:
            self._changed()

    def _changed(self) -> None:
        """Tell everybody who shows this session."""
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
