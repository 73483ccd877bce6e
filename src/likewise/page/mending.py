"""The requests that mend the result: each is one gesture of the log."""

from __future__ import annotations

from collections.abc import Callable

from likewise.core.answers import Link
from likewise.page import shapes
from likewise.page.shapes import Asked, Json, a_list, some_rows, whole
from likewise.project import Project
from likewise.project.mending import Mending
from likewise.project.mending import split as split_links

N_SHOWN = 24
"""How many items of each likeliest part of a group are shown before it is split."""


def move(project: Project, body: Json) -> Json:
    """Move items to another group, to a new one, or only out of where they are."""
    rows, to = some_rows(project, body, "rows"), body.get("to")
    if to is None:
        return _mended(project, body, lambda mending: mending.take_out(rows))
    target = None if to == "new" else project.group(whole(body, "to"))
    return _mended(project, body, lambda mending: mending.move(rows, target))


def merge(project: Project, body: Json) -> Json:
    """Make several groups one."""
    some = [project.group(whole({"group": id}, "group")) for id in a_list(body, "groups")]
    return _mended(project, body, lambda mending: mending.merge(some))


def parts(project: Project, asked: Asked) -> Json:
    """Return the two likeliest parts of a group."""
    found = project.parts(project.group(asked.path_params["id"]))
    return {
        "position": project.position,
        "parts": [
            {"size": len(rows), "shown": shapes.known_things(project, rows[:N_SHOWN].tolist())}
            for rows in found
        ],
    }


def split(project: Project, body: Json) -> Json:
    """Split a group into parts that are named by some of their items."""
    some = [some_rows(project, {"rows": part}, "rows") for part in a_list(body, "parts")]
    return _mended(project, body, lambda _: split_links(some))


def confirm(project: Project, body: Json) -> Json:
    """Say which items are right in a group and which are not."""
    found = project.group(whole(body, "group"))
    right = some_rows(project, body, "right", least=0)
    wrong = some_rows(project, body, "wrong", least=0)
    return _mended(project, body, lambda mending: mending.check(found, right, wrong))


def _mended(project: Project, body: Json, say: Callable[[Mending], list[Link]]) -> Json:
    n_overruled = project.mend(say, position=whole(body, "position"))
    return {**shapes.state(project), "n_overruled": n_overruled}
