"""The requests of the API. Each is a function from the project and the request to JSON."""

from __future__ import annotations

import unicodedata
from collections.abc import Awaitable, Callable

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from likewise.errors import InputError, LikewiseError, MissingExtraError, StaleQueryError
from likewise.project import FORMATS, Project, export
from likewise.project.groups import group_ids, how_known
from likewise.project.projection import project_rows
from likewise.web import mending, shapes
from likewise.web.parsing import Json, chosen, one_row, page_of, whole

SIZES = {"small": 160, "large": 1024}
"""Pictures come in these two sizes; a free choice would let one fill the cache."""

MOST_ON_MAP = 20
HOW = ("said", "learned", "open")
LONGEST_NAME = 200


def query(project: Project, request: Request) -> Json:
    """Return the open question."""
    return shapes.state(project, is_far=request.query_params.get("distance") == "1")


def ahead(project: Project, request: Request) -> Json:  # noqa: ARG001
    """Return the questions that would follow."""
    return shapes.ahead(project)


def answer(project: Project, body: Json) -> Json:
    """Answer the open question; return the next one."""
    number, position = whole(body, "question"), whole(body, "position")
    if "chosen" in body:
        project.choose(chosen(body["chosen"]), number=number, position=position)
    else:
        said = shapes.answer_from(body.get("answer"))
        project.tell(said, number=number, position=position)
    return shapes.state(project, is_far=body.get("distance") is True)


def settle(project: Project, body: Json) -> Json:
    """Say something about two items without being asked."""
    said = shapes.answer_from(body.get("answer"))
    left, right = whole(body, "left"), whole(body, "right")
    project.settle(left, right, said, position=whole(body, "position"))
    return shapes.state(project)


def undo(project: Project, body: Json) -> Json:
    """Take back the last thing."""
    project.undo(position=whole(body, "position"))
    return shapes.state(project)


def redo(project: Project, body: Json) -> Json:
    """Do it again."""
    project.redo(position=whole(body, "position"))
    return shapes.state(project)


def history(project: Project, request: Request) -> Json:
    """Return the answers, the latest first."""
    events = project.session.events
    limit = page_of(request, "limit", 100)
    before = page_of(request, "before", len(events) + 1, most=len(events) + 1)
    shown = events[max(0, before - 1 - limit) : max(0, before - 1)]
    return {
        "position": project.position,
        "n": len(events),
        "events": [shapes.event(project, e) for e in reversed(shown)],
    }


def revise(project: Project, body: Json) -> Json:
    """Preview or apply the change of an earlier answer."""
    number = whole(body, "number")
    said = chosen(body["chosen"]) if "chosen" in body else shapes.answer_from(body.get("answer"))
    if body.get("apply") is True:
        project.revise(number, said, position=whole(body, "position"))
        return shapes.state(project)
    found = project.preview(number, said)
    return {
        "position": project.position,
        "preview": shapes.revision(project, number, said, found),
    }


def groups(project: Project, request: Request) -> Json:
    """Return groups, those that answers have joined first."""
    found = project.groups()
    offset = page_of(request, "offset", 0, most=len(found))
    shown = found[offset : offset + page_of(request, "limit", 24)]
    return {
        "position": project.position,
        "n": len(found),
        "total": shapes.total(found),
        "groups": [shapes.group(project, g) for g in shown],
    }


def group(project: Project, request: Request) -> Json:
    """Return one group and its members, typical ones or doubtful ones first."""
    found = project.group(request.path_params["id"])
    rows = project.members(found)
    if request.query_params.get("order") == "doubt":
        certainty = np.nan_to_num(how_known(project.session)[1][rows], nan=0.0)
        rows = rows[np.argsort(certainty, kind="stable")]
    offset = page_of(request, "offset", 0, most=len(rows))
    shown = rows[offset : offset + page_of(request, "limit", 100)]
    return {
        "position": project.position,
        "group": shapes.group(project, found),
        "members": shapes.known_things(project, shown.tolist()),
    }


def name(project: Project, body: Json) -> Json:
    """Name a group."""
    said = body.get("name")
    if not isinstance(said, str) or len(said) > LONGEST_NAME:
        raise InputError(f"a name is a text of at most {LONGEST_NAME} characters")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in said):
        raise InputError(f"a name has no control characters or halves of characters: {said!r}")
    project.name(whole(body, "group"), said, position=whole(body, "position"))
    found = project.group(whole(body, "group"))
    return {"position": project.position, "group": shapes.group(project, found)}


def misfit(project: Project, body: Json) -> Json:
    """Put an item to the question."""
    numbers = project.misfit(whole(body, "row"), position=whole(body, "position"))
    return {**shapes.state(project), "answers_behind": numbers}


def checks(project: Project, request: Request | None) -> Json:  # noqa: ARG001
    """Return the check questions and how they went."""
    found = project.agreement()
    return {
        "position": project.position,
        "checks": [shapes.check(project, check, said) for check, said in project.checks()],
        "n": found.n,
        "n_wrong": found.n_wrong,
        "interval": [round(found.low, 3), round(found.high, 3)],
    }


def tell_check(project: Project, body: Json) -> Json:
    """Answer a check question."""
    said = shapes.answer_from(body.get("answer"))
    left, right = whole(body, "left"), whole(body, "right")
    project.tell_check(left, right, said, position=whole(body, "position"))
    return checks(project, None)


def unsure(project: Project, request: Request) -> Json:  # noqa: ARG001
    """Return the pairs of groups that stayed undecided."""
    pairs = project.session.open_pairs
    labels = project.session.labels
    return {
        "position": project.position,
        "n": len(pairs),
        "n_together": sum(bool(labels[left] == labels[right]) for left, right in pairs),
        "pairs": [
            {
                "left": shapes.thing(project, left),
                "right": shapes.thing(project, right),
                "is_together": bool(labels[left] == labels[right]),
            }
            for left, right in pairs[:100]
        ],
    }


def refine(project: Project, body: Json) -> Json:
    """Split further, all answers kept."""
    wanted = whole(body, "n_super_instances") if "n_super_instances" in body else None
    project.refine(wanted, position=whole(body, "position"))
    return shapes.state(project)


def map_(project: Project, request: Request) -> Json:  # noqa: ARG001
    """Return two coordinates and the group of the items on the map."""
    rows, places = project_rows(project.features, project.partition.representatives)
    ids = group_ids(project.session)[rows]
    how = np.array([HOW.index(word) for word in how_known(project.session)[0][rows].tolist()])
    found = sorted(project.groups(), key=lambda g: (-g.size, g.id))
    return {
        "position": project.position,
        "points": np.column_stack([rows, places, ids, how]).tolist(),
        "n": len(project.ids),
        "n_groups": len(found),
        "groups": [{"id": g.id, "name": g.name, **shapes.total([g])} for g in found[:MOST_ON_MAP]],
    }


def item(project: Project, request: Request) -> Json:
    """Return one item and the group it is in."""
    row = one_row(project, request)
    found = int(group_ids(project.session)[row])
    return {
        "position": project.position,
        "item": {**shapes.known_things(project, [row])[0], **shapes.whole_thing(project, row)},
        "group": shapes.group(project, project.group(found)),
    }


def image(project: Project, request: Request) -> Response:
    """Return the picture of an item, decoded and encoded anew."""
    row = one_row(project, request)
    size = request.query_params.get("size", "large")
    if size not in SIZES:
        raise InputError(f"a picture is {' or '.join(SIZES)}, not {size!r}")
    place = project.where[row]
    if place is None:
        raise InputError(f"{project.ids[row]} is not there any more")
    data = project.items.thumbnail(place, SIZES[size], format="webp")
    # The address has the hash of the picture in it.
    headers = {"cache-control": "private, max-age=31536000, immutable"}
    return Response(data, media_type="image/webp", headers=headers)


def export_(project: Project, request: Request) -> Response:
    """Return the result as a file."""
    format = request.path_params["format"]
    data = export(project, format)
    found = FORMATS.find(format)
    headers = {"content-disposition": f'attachment; filename="{found.file_name}"'}
    return Response(data, media_type=found.media_type, headers=headers)


def formats(project: Project, request: Request) -> Json:  # noqa: ARG001
    """Return the formats in which the result can be had."""
    return {
        "position": project.position,
        "formats": [{"format": f, "title": FORMATS.find(f).title} for f in FORMATS.names],
    }


def routes() -> list[Route]:
    """Return all routes of the API."""
    return [
        Route("/api/query", _looking(query)),
        Route("/api/ahead", _looking(ahead)),
        Route("/api/answer", _changing(answer), methods=["POST"]),
        Route("/api/settle", _changing(settle), methods=["POST"]),
        Route("/api/undo", _changing(undo), methods=["POST"]),
        Route("/api/redo", _changing(redo), methods=["POST"]),
        Route("/api/history", _looking(history)),
        Route("/api/revise", _changing(revise), methods=["POST"]),
        Route("/api/groups", _looking(groups)),
        Route("/api/group/{id:int}", _looking(group)),
        Route("/api/name", _changing(name), methods=["POST"]),
        Route("/api/move", _changing(mending.move), methods=["POST"]),
        Route("/api/merge", _changing(mending.merge), methods=["POST"]),
        Route("/api/group/{id:int}/parts", _looking(mending.parts)),
        Route("/api/split", _changing(mending.split), methods=["POST"]),
        Route("/api/confirm", _changing(mending.confirm), methods=["POST"]),
        Route("/api/misfit", _changing(misfit), methods=["POST"]),
        Route("/api/checks", _looking(checks), methods=["GET"]),
        Route("/api/checks", _changing(tell_check), methods=["POST"]),
        Route("/api/unsure", _looking(unsure)),
        Route("/api/refine", _changing(refine), methods=["POST"]),
        Route("/api/map", _looking(map_)),
        Route("/api/item/{row:int}", _looking(item)),
        Route("/api/item/{row:int}/image", _looking(image, is_locked=False)),
        Route("/api/export/{format}", _looking(export_)),
        Route("/api/formats", _looking(formats)),
    ]


Handler = Callable[[Request], Awaitable[Response]]


def _looking(
    look: Callable[[Project, Request], Json | Response], *, is_locked: bool = True
) -> Handler:
    """Make a handler of a function that changes nothing."""

    def run(request: Request) -> Response:
        project: Project = request.app.state.project
        if not is_locked:
            return _response(look(project, request))
        with project.lock:
            project.refresh()
            return _response(look(project, request))

    async def handle(request: Request) -> Response:
        return await run_in_threadpool(_told, run, request)

    return handle


def _changing(change: Callable[[Project, Json], Json]) -> Handler:
    """Make a handler of a function that changes something."""

    async def handle(request: Request) -> Response:
        try:
            body = await request.json()
        except (ValueError, RecursionError):
            return JSONResponse({"error": "the request is not JSON, or nested too deep"}, 400)
        if not isinstance(body, dict):
            return JSONResponse({"error": "the request must be a JSON object"}, 400)

        def run(request: Request) -> Response:
            project: Project = request.app.state.project
            with project.lock:
                return _response(change(project, body))

        return await run_in_threadpool(_told, run, request)

    return handle


def _told(run: Callable[[Request], Response], request: Request) -> Response:
    """Turn errors that are meant for the person into answers that say so."""
    try:
        return run(request)
    except StaleQueryError as error:
        return JSONResponse({"error": str(error), "is_stale": True}, 409)
    except MissingExtraError as error:
        return JSONResponse({"error": str(error)}, 501)
    except InputError as error:
        return JSONResponse({"error": str(error)}, 400)
    except LikewiseError as error:
        return JSONResponse({"error": str(error)}, 500)


def _response(found: Json | Response) -> Response:
    return found if isinstance(found, Response) else JSONResponse(found)
