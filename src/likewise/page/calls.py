"""The calls of the page: their addresses, and the functions that reply."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Link
from likewise.errors import (
    AnswerError,
    ContradictionError,
    InputError,
    LikewiseError,
    MissingExtraError,
    StaleQueryError,
)
from likewise.learning.reliability import SURE
from likewise.page import shapes
from likewise.page.shapes import Json, a_list, chosen, listed_rows, page_of, whole
from likewise.project import Project
from likewise.project.formats import file_name_of, format_of, formats_for, written
from likewise.project.groups import group_ids
from likewise.project.mending import Mending, changed_rows
from likewise.project.mending import split as split_links
from likewise.project.naming import alike_names_of, settle_names
from likewise.project.outlook import wilson_interval

SIZES = {"small": 160, "middle": 480, "large": 1024}
"""Pictures come in these sizes only, so that requests cannot fill the cache."""

TO_CHOOSE = (
    'the question offers several groups: send "chosen", the place of a group from 0, null for none '
    'of these, or "unsure"'
)

MOST_ON_MAP = 20
"""How many groups are listed beside the map."""
N_OF_A_PART = 24
"""How many items of each part of a group are shown before it is split."""

HOW = ("said", "learned", "open")
LEAST_ALIKE = 50
"""How alike names must be, in percent, to be listed together, unless another bound is chosen."""
LONGEST_NAME = 200
"""The most characters of the name of a group."""


@dataclass(frozen=True)
class File:
    """A reply that is not JSON: a picture or an export."""

    data: bytes
    media_type: str
    headers: dict[str, str]


def query(project: Project, asked: Json) -> Json:
    """Return the open question."""
    return shapes.state(project, with_distance=asked.get("distance") == "1")


def answer(project: Project, body: Json) -> Json:
    """Answer the open question; return the next one."""
    at = {"number": whole(body, "question"), "position": whole(body, "position")}
    seconds = shapes.seconds_of(body)
    try:
        if "chosen" in body:
            project.choose(chosen(body["chosen"]), **at, seconds=seconds)
        else:
            project.tell(shapes.answer_from(body.get("answer")), **at, seconds=seconds)
    except (InputError, AnswerError) as error:
        question = project.ask()
        if question is None or "chosen" in body or len(question.groups) == 1:
            raise
        raise InputError(TO_CHOOSE) from error
    return shapes.next_question(project, with_distance=body.get("distance") is True)


def settle(project: Project, body: Json) -> Json:
    """Say whether two items belong together, without being asked."""
    verdict = shapes.answer_from(body.get("answer"))
    left, right = whole(body, "left"), whole(body, "right")
    project.settle(left, right, verdict, position=whole(body, "position"))
    return shapes.state(project)


def undo(project: Project, body: Json) -> Json:
    """Undo the last change of the person who asks for it."""
    project.undo(position=whole(body, "position"))
    return shapes.next_question(project)


def redo(project: Project, body: Json) -> Json:
    """Redo the last change that the person who asks for it has undone."""
    project.redo(position=whole(body, "position"))
    return shapes.next_question(project)


def history(project: Project, asked: Json) -> Json:
    """Return the answers, the latest first."""
    events = project.session.events
    limit = page_of(asked, "limit", 100)
    before = page_of(asked, "before", len(events) + 1, most=len(events) + 1)
    first, last = max(0, before - 1 - limit), max(0, before - 1)
    return {
        "n": len(events),
        "events": [shapes.event(project, e) for e in reversed(events[first:last])],
        "checks": shapes.checked(project, first, last),
        "answerers": [
            {"by": by, "n": n, "is_aside": by in project.session.aside}
            for by, n in project.session.answerers.items()
        ],
    }


def set_aside(project: Project, body: Json) -> Json:
    """Ignore all that somebody answered or, with ``"is_aside": false``, count it again."""
    answerer = body.get("by")
    if not isinstance(answerer, str):
        raise InputError("the request needs the name of who answered, as a text 'by'")
    change = project.take_back if body.get("is_aside") is False else project.set_aside
    change(answerer, position=whole(body, "position"))
    return shapes.state(project)


def decide(project: Project, body: Json) -> Json:
    """Say who is right where two people disagree."""
    number, said = whole(body, "disagreement"), chosen(body.get("chosen"))
    project.decide(number, said, position=whole(body, "position"))
    return shapes.state(project)


def revise(project: Project, body: Json) -> Json:
    """Preview or apply the change of an earlier answer."""
    number = whole(body, "number")
    new = chosen(body["chosen"]) if "chosen" in body else shapes.answer_from(body.get("answer"))
    if body.get("apply") is True:
        seen = (whole(body, "row"), shapes.signed_by(body)) if "row" in body else None
        project.revise(number, new, position=whole(body, "position"), seen=seen)
        return shapes.state(project)
    revision = project.session.preview(number, new)
    return {"preview": shapes.revision(project, number, new, revision)}


def groups(project: Project, asked: Json) -> Json:
    """Return groups; those that answers have joined come first."""
    groups = project.groups()
    offset = page_of(asked, "offset", 0, most=len(groups))
    shown = groups[offset : offset + page_of(asked, "limit", 24)]
    return {
        "n": len(groups),
        "total": shapes.total(project, groups),
        "groups": [shapes.group(project, g) for g in shown],
    }


def group(project: Project, asked: Json) -> Json:
    """Return one group and its members, typical ones or doubtful ones first."""
    group = project.group(asked["id"])
    rows = project.members(group)
    return {"group": shapes.group(project, group), **_listed(project, rows, asked)}


def find(project: Project, asked: Json) -> Json:
    """Return the items of all groups, or those with given numbers."""
    rows = np.delete(np.arange(len(project.ids)), sorted(project.session.removed))
    if "rows" in asked:
        texts = [row for row in asked["rows"].split(",") if row][: shapes.MOST_AT_ONCE]
        rows = np.array([shapes.number_in(row, "rows") for row in texts], dtype=int)
        project.check_rows(*rows.tolist())
    return _listed(project, rows, asked)


def _listed(project: Project, rows: NDArray[np.intp], asked: Json) -> Json:
    """Return one page of the rows, filtered by text and by how they are known."""
    how, certainty = project.how_known()
    wanted, way = asked.get("text", "").strip().lower(), asked.get("how", "")
    if wanted:
        places = [project.where[row] for row in rows.tolist()]
        has_it = (p is not None and wanted in project.items.searched(p) for p in places)
        rows = rows[np.fromiter(has_it, bool, len(rows))]
    if way == "doubt":
        rows = rows[certainty[rows] < SURE]
    elif way in HOW:
        rows = rows[how[rows] == way]
    if asked.get("order") == "doubt":
        rows = rows[np.argsort(np.nan_to_num(certainty[rows], nan=0.0), kind="stable")]
    elif asked.get("order") == "name":
        rows = rows[np.argsort([project.ids[row] for row in rows.tolist()], kind="stable")]
    offset = page_of(asked, "offset", 0, most=len(rows))
    shown = rows[offset : offset + page_of(asked, "limit", 100)]
    return {"n": len(rows), "members": shapes.known_things(project, shown.tolist())}


def name(project: Project, body: Json) -> Json:
    """Name a group."""
    name = body.get("name")
    if not isinstance(name, str) or len(name) > LONGEST_NAME:
        raise InputError(f"a name is a text of at most {LONGEST_NAME} characters")
    project.name(whole(body, "group"), name, position=whole(body, "position"))
    return {"group": shapes.group(project, project.group(whole(body, "group")))}


def names(project: Project, asked: Json) -> Json:
    """Return the names of a column that may be one, the most alike first."""
    percent = page_of(asked, "least", LEAST_ALIKE, most=100)
    found = alike_names_of(project, percent / 100)
    offset = page_of(asked, "offset", 0, most=len(found))
    shown = found[offset : offset + page_of(asked, "limit", 50)]
    return {"n": len(found), "names": [shapes.alike(project, one) for one in shown]}


def decide_names(project: Project, body: Json) -> Json:
    """Merge names, or keep each apart from the others."""
    rows, name = listed_rows(project, body, "rows", least=2), body.get("name", "")
    if not isinstance(name, str) or len(name) > LONGEST_NAME:
        raise InputError(f"a name is a text of at most {LONGEST_NAME} characters")
    are_one = body.get("are_one") is not False
    settle_names(project, rows, are_one=are_one, name=name, position=whole(body, "position"))
    return {"n_groups": project.session.n_groups}


def instruction(project: Project, body: Json) -> Json:
    """Say in words what belongs together."""
    words = body.get("instruction")
    if not isinstance(words, str):
        raise InputError("an instruction is a text")
    project.instruction = words
    return {"instruction": project.instruction}


def aspect(project: Project, body: Json) -> Json:
    """Switch an aspect of the items off or on."""
    name, is_on = body.get("aspect"), body.get("is_on")
    if not isinstance(name, str) or not isinstance(is_on, bool):
        raise InputError('the request needs "aspect", a name, and "is_on", true or false')
    project.switch(name, is_on=is_on, position=whole(body, "position"))
    return shapes.state(project)


def misfit(project: Project, body: Json) -> Json:
    """Ask about an item that does not seem to fit its group."""
    numbers = project.misfit(whole(body, "row"), position=whole(body, "position"))
    return {**shapes.state(project), "answers_behind": numbers}


def move(project: Project, body: Json) -> Json:
    """Move items to another group, to a new one, or just out of their group."""
    rows, to = listed_rows(project, body, "rows"), body.get("to")
    if to is None:
        return _mended(project, body, lambda mending: mending.take_out(rows), rows)
    target = None if to == "new" else project.group(whole(body, "to"))
    return _mended(project, body, lambda mending: mending.move(rows, target), rows)


def merge(project: Project, body: Json) -> Json:
    """Merge several groups."""
    wanted = [project.group(shapes.whole_number(id, "group")) for id in a_list(body, "groups")]
    inside = np.flatnonzero(np.isin(group_ids(project.session), [g.id for g in wanted])).tolist()
    return _mended(project, body, lambda mending: mending.merge(wanted), inside)


def judge(project: Project, body: Json) -> Json:
    """Say whether two groups that may be one are."""
    verdict = shapes.answer_from(body.get("answer"))
    left, right = whole(body, "left"), whole(body, "right")
    project.judge(left, right, verdict, position=whole(body, "position"))
    return shapes.state(project)


def parts(project: Project, asked: Json) -> Json:
    """Return the two most likely parts of a group."""
    halves = project.parts(project.group(asked["id"]))
    return {
        "parts": [
            {"size": len(rows), "shown": shapes.known_things(project, rows[:N_OF_A_PART].tolist())}
            for rows in halves
        ],
    }


def split(project: Project, body: Json) -> Json:
    """Split a group into parts, each named by items in it."""
    parts = [listed_rows(project, {"rows": part}, "rows") for part in a_list(body, "parts")]
    return _mended(project, body, lambda _: split_links(parts), [*chain(*parts[1:])])


def confirm(project: Project, body: Json) -> Json:
    """Say which items are right in a group and which are not."""
    group = project.group(whole(body, "group"))
    right = listed_rows(project, body, "right", least=0)
    wrong = listed_rows(project, body, "wrong", least=0)
    return _mended(project, body, lambda mending: mending.confirm(group, right, wrong), wrong)


def _mended(
    project: Project, body: Json, say: Callable[[Mending], list[Link]], named: Sequence[int] = ()
) -> Json:
    """Mend the groups; with `preview`, only report what would change besides the `named` rows."""
    if body.get("preview") is True:
        return {"preview": _changes(project, project.foresee(say, named), named)}
    before = project.session.labels
    n_overruled = project.mend(say, position=whole(body, "position"))
    changed = changed_rows(before, project.session.labels, named)
    changes = _changes(project, changed, named)
    return {**shapes.state(project), "n_overruled": n_overruled, "changes": changes}


def _changes(project: Project, changed: NDArray[np.intp], named: Sequence[int]) -> Json:
    """Return which rows change groups: those that were named, and those that follow."""
    following = np.setdiff1d(changed, named)
    return {
        "n": len(changed),
        "n_following": len(following),
        "following": [shapes.thing(project, row) for row in following[:N_OF_A_PART].tolist()],
    }


def checks(project: Project, asked: Json) -> Json:  # noqa: ARG001
    """Return the check questions and how they went."""
    checks = project.checks()
    is_wrong = [
        check.expected is not answer for check, answer in checks if answer and answer.is_link
    ]
    agreement = project.session.agreement
    return {
        "checks": [shapes.check(project, check, answer) for check, answer in checks],
        "repeats": [shapes.repeat(project, one, said) for one, said in project.repeats()],
        "n_repeated": agreement.n,
        "n_agreeing": agreement.n_same,
        "n": len(is_wrong),
        "n_wrong": sum(is_wrong),
        "interval": [round(end, 3) for end in wilson_interval(sum(is_wrong), len(is_wrong))],
    }


def tell_check(project: Project, body: Json) -> Json:
    """Answer a check question."""
    verdict = shapes.answer_from(body.get("answer"))
    left, right = whole(body, "left"), whole(body, "right")
    project.tell_check(left, right, verdict, position=whole(body, "position"))
    return checks(project, {})


def tell_repeat(project: Project, body: Json) -> Json:
    """Answer an earlier question that is asked again, the other way round."""
    said = chosen(body["chosen"]) if "chosen" in body else shapes.answer_from(body.get("answer"))
    number, seconds = whole(body, "number"), shapes.seconds_of(body)
    project.tell_repeat(number, said, position=whole(body, "position"), seconds=seconds)
    return checks(project, {})


def unsure(project: Project, asked: Json) -> Json:  # noqa: ARG001
    """Return the pairs of groups that stayed undecided."""
    pairs = project.session.open_pairs
    labels = project.session.labels
    is_together = [bool(labels[left] == labels[right]) for left, right in pairs]
    shown = [
        {
            "left": shapes.thing(project, left),
            "right": shapes.thing(project, right),
            "is_together": together,
        }
        for (left, right), together in zip(pairs[:100], is_together[:100], strict=True)
    ]
    return {"n": len(pairs), "n_together": sum(is_together), "pairs": shown}


def rebuild(project: Project, body: Json) -> Json:
    """Let the strategy of `Likewise` ask where doubt is left; all answers are kept."""
    if not shapes.can_rebuild(project):
        raise InputError("the session is not done, or nothing is left to ask")
    project.rebuild(position=whole(body, "position"))
    return shapes.state(project)


def map_(project: Project, asked: Json) -> Json:
    """Return two coordinates and the group of the items on the map."""
    layout = project.layout()
    if asked.get("prepare"):
        return {"n": len(layout.rows)}
    with project.lock:
        project.refresh()
        position = project.position
        known, ids = project.how_known()[0], group_ids(project.session)
        largest_first = sorted(project.groups(), key=lambda g: (-g.size, g.id))
        groups = [shapes.group(project, g) for g in largest_first[:MOST_ON_MAP]]
    learned = np.where(known == "open", -1, ids)
    is_learned = len(np.unique(learned[learned >= 0])) > 1 and not layout.is_scaled
    places = layout.places(learned if is_learned else None)
    how = np.array([HOW.index(word) for word in known[layout.rows].tolist()])
    points = np.column_stack([layout.rows, places, ids[layout.rows], how])
    is_there = ~np.isin(layout.rows, sorted(project.session.removed))
    return {
        "position": position,
        "points": points[is_there].tolist(),
        "layout": "learned" if is_learned else "alike",
        "n": len(project.ids) - len(project.session.removed),
        "n_groups": len(largest_first),
        "groups": groups,
    }


def item(project: Project, asked: Json) -> Json:
    """Return one item and the group it is in."""
    row = asked["row"]
    project.check_rows(row)
    group = int(group_ids(project.session)[row])
    return {
        "item": {**shapes.known_things(project, [row])[0], **shapes.whole_thing(project, row)},
        "group": shapes.group(project, project.group(group)),
    }


def image(project: Project, asked: Json) -> File:
    """Return the picture of an item, decoded and encoded again, never as it is in the file."""
    row = asked["row"]
    project.check_rows(row)
    size = asked.get("size", "large")
    if size not in SIZES:
        raise InputError(f"a picture is {' or '.join(SIZES)}, not {size!r}")
    place = project.where[row]
    if place is None:
        raise InputError(f"{project.ids[row]} is no longer there")
    data = project.items.thumbnail(place, SIZES[size], format="webp")
    # The address has the hash of the picture in it.
    headers = {"cache-control": "private, max-age=31536000, immutable"}
    return File(data, "image/webp", headers)


def export_(project: Project, asked: Json) -> File:
    """Return the result as a file."""
    format = format_of(asked["format"])
    file_name = file_name_of(project, asked["format"])
    # Headers are ASCII; browsers that know the second name, all of today, take that.
    plain = file_name.encode("ascii", "replace").decode().replace("?", "_")
    named = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(file_name)}"
    headers = {"content-disposition": named}
    return File(written(project, format), format.media_type, headers)


def formats(project: Project, asked: Json) -> Json:  # noqa: ARG001
    """Return the available export formats."""
    names = formats_for(project)
    return {"formats": [{"format": name, "title": format_of(name).title} for name in names]}


@dataclass(frozen=True)
class Call:
    """One kind of request, by its address below ``api/``, such as ``group/{id:int}``.

    `run` takes the project and the values of the request. A call that `changes` something has them
    in a JSON body, other calls in their address. A call that `is_locked` waits for a change that is
    under way.
    """

    path: str
    run: Callable[[Project, Any], Json | File]
    changes: bool = False
    is_locked: bool = True


CALLS = (
    Call("query", query),
    Call("progress", lambda project, _: shapes.progress(project)),
    # Others join by a change of their own, which this must not wait for.
    Call("rest", lambda project, _: shapes.rest(project), is_locked=False),
    Call("model", lambda project, _: shapes.model(project)),
    Call("ahead", lambda project, _: shapes.ahead(project)),
    Call("answer", answer, changes=True),
    Call("settle", settle, changes=True),
    Call("undo", undo, changes=True),
    Call("redo", redo, changes=True),
    Call("history", history),
    Call("revise", revise, changes=True),
    Call("set-aside", set_aside, changes=True),
    Call("agreement", lambda project, _: shapes.agreement(project)),
    Call("decide", decide, changes=True),
    Call("groups", groups),
    Call("group/{id:int}", group),
    Call("find", find),
    Call("name", name, changes=True),
    Call("names", names),
    Call("names", decide_names, changes=True),
    Call("move", move, changes=True),
    Call("merge", merge, changes=True),
    Call("suggestion", judge, changes=True),
    Call("group/{id:int}/parts", parts),
    Call("split", split, changes=True),
    Call("confirm", confirm, changes=True),
    Call("instruction", instruction, changes=True),
    Call("aspect", aspect, changes=True),
    Call("misfit", misfit, changes=True),
    Call("checks", checks),
    Call("checks", tell_check, changes=True),
    Call("repeats", tell_repeat, changes=True),
    Call("unsure", unsure),
    Call("rebuild", rebuild, changes=True),
    # Its layout takes long, so it must not keep an answer waiting.
    Call("map", map_, is_locked=False),
    Call("item/{row:int}", item),
    Call("item/{row:int}/image", image, is_locked=False),
    Call("export/{format}", export_),
    Call("formats", formats),
)


def reply(project: Project, call: Call, values: Any) -> tuple[int, Json | File]:
    """Return the status, as in HTTP, and the reply to a call; errors are returned, not raised."""
    try:
        if call.changes and not isinstance(values, dict):
            raise InputError("the request must be a JSON object")
        if not call.is_locked:
            return 200, call.run(project, values)
        with project.lock:
            if not call.changes:
                project.refresh()
            result = call.run(project, values)
            if isinstance(result, dict):
                result = {"position": project.position, **result}
            return 200, result
    except StaleQueryError as error:
        return 409, {"error": str(error), "is_stale": True}
    except MissingExtraError as error:
        return 501, {"error": str(error)}
    except (InputError, AnswerError, ContradictionError) as error:
        return 400, {"error": str(error)}
    except LikewiseError as error:
        return 500, {"error": str(error)}


def reply_to(project: Project, address: str, body: Any = None) -> tuple[int, Json | File]:
    """Return the reply to a request by its address below ``api/``; one with a body is a change."""
    parts = urlsplit(address)
    for call in CALLS:
        match = _pattern(call.path).fullmatch(parts.path)
        if match and call.changes == (body is not None):
            asked: Json = {**dict(parse_qsl(parts.query)), **match.groupdict()}
            asked |= {name: int(asked[name]) for name in re.findall(r"\{(\w+):int\}", call.path)}
            return reply(project, call, body if call.changes else asked)
    return 404, {"error": f"there is no call {parts.path!r}"}


def _pattern(path: str) -> re.Pattern[str]:
    """Return a pattern for the addresses of a call."""
    numbered = re.sub(r"\{(\w+):int\}", r"(?P<\1>[0-9]+)", path)
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", numbered))
