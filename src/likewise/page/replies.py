"""Every call of the page by its address, and the reply to it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from likewise.errors import InputError, LikewiseError, MissingExtraError, StaleQueryError
from likewise.page import calls, mending
from likewise.page.calls import File
from likewise.page.shapes import Asked, Json
from likewise.project import Project


@dataclass(frozen=True)
class Call:
    """One kind of request.

    Attributes
    ----------
    path : str
        Its address below ``api/``, such as ``group/{id:int}``.
    run : callable
        Takes the project and what is asked: the body of a change, otherwise `Asked`.
    changes : bool
        Whether it changes something, and so has a body.
    is_locked : bool
        Whether it waits for a change that is under way.
    """

    path: str
    run: Callable[[Project, Any], Json | File]
    changes: bool = False
    is_locked: bool = True


CALLS = (
    Call("query", calls.query),
    Call("progress", calls.progress),
    Call("ahead", calls.ahead),
    Call("answer", calls.answer, changes=True),
    Call("settle", calls.settle, changes=True),
    Call("undo", calls.undo, changes=True),
    Call("redo", calls.redo, changes=True),
    Call("history", calls.history),
    Call("revise", calls.revise, changes=True),
    Call("groups", calls.groups),
    Call("group/{id:int}", calls.group),
    Call("name", calls.name, changes=True),
    Call("move", mending.move, changes=True),
    Call("merge", mending.merge, changes=True),
    Call("group/{id:int}/parts", mending.parts),
    Call("split", mending.split, changes=True),
    Call("confirm", mending.confirm, changes=True),
    Call("misfit", calls.misfit, changes=True),
    Call("checks", calls.checks),
    Call("checks", calls.tell_check, changes=True),
    Call("unsure", calls.unsure),
    Call("refine", calls.refine, changes=True),
    Call("map", calls.map_),
    Call("item/{row:int}", calls.item),
    Call("item/{row:int}/image", calls.image, is_locked=False),
    Call("export/{format}", calls.export_),
    Call("formats", calls.formats),
)


def reply(project: Project, call: Call, said: Any) -> tuple[int, Json | File]:
    """Return the status, as in HTTP, and the reply to a call; errors are told, not raised."""
    try:
        if call.changes and not isinstance(said, dict):
            raise InputError("the request must be a JSON object")
        if not call.is_locked:
            return 200, call.run(project, said)
        with project.lock:
            if not call.changes:
                project.refresh()
            return 200, call.run(project, said)
    except StaleQueryError as error:
        return 409, {"error": str(error), "is_stale": True}
    except MissingExtraError as error:
        return 501, {"error": str(error)}
    except InputError as error:
        return 400, {"error": str(error)}
    except LikewiseError as error:
        return 500, {"error": str(error)}


def reply_to(project: Project, address: str, body: Any = None) -> tuple[int, Json | File]:
    """Return the reply to a request by its address below ``api/``; one with a body is a change.

    Examples
    --------
    >>> from likewise import COBRA
    >>> from likewise.items import open_items
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"petal": [1.0, 2.0, 9.0]})
    >>> project = Project(COBRA(3).start(rows), open_items(rows))
    >>> status, found = reply_to(project, "groups?limit=2")
    >>> status, found["n"]
    (200, 3)
    """
    parts = urlsplit(address)
    for call in CALLS:
        found = _pattern(call.path).fullmatch(parts.path)
        if found and call.changes == (body is not None):
            params = {
                name: int(text) if text.isdecimal() else text
                for name, text in found.groupdict().items()
            }
            said = body if call.changes else Asked(params, dict(parse_qsl(parts.query)))
            return reply(project, call, said)
    return 404, {"error": f"there is no call {parts.path!r}"}


def _pattern(path: str) -> re.Pattern[str]:
    """Return what matches the addresses of a call."""
    numbered = re.sub(r"\{(\w+):int\}", r"(?P<\1>[0-9]+)", path)
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", numbered))
