"""The JSON of the API: what replies contain, and how requests are read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import N_LARGE, Answer, Gesture, Groups, Names, Question
from likewise.core.journal import Checked, Repeated
from likewise.core.reports import Check, Repeat, Revision
from likewise.errors import InputError
from likewise.project import Project
from likewise.project.groups import Group, compare, group_ids, in_short, key_words, sum_up
from likewise.project.lives import key_of, number_of_name
from likewise.project.naming import Alike
from likewise.project.outlook import outlook
from likewise.project.people import Double, about, agreements, who
from likewise.rows.metrics import distances
from likewise.words import plural

MOST_AT_ONCE = 500
"""The most items that one request may list."""
N_TYPICAL = 6
"""How many members of a group are shown in lists of groups."""
N_FELLOWS = 4
"""How many items of the same group are shown below each item of a pair."""
N_KEY_WORDS = 24
"""How many key words of a group are marked in its texts."""
MOST_NOTES = 20
"""How many notes on what was left out or guessed a page shows."""
LONGEST_ANSWER = 86400
"""The longest time an answer may take, in seconds: one day."""

Json = dict[str, Any]


def thing(project: Project, row: int) -> Json:
    """Return an item as it is shown in a small picture or on a line."""
    place = project.where[row]
    if place is None:
        title = f"{project.ids[row]} (no longer there)"
        return {"row": row, "id": project.ids[row], "title": title, "kind": "missing"}
    items = project.items
    title = _without_given(project, row, items.title(place))
    shown = {"row": row, "id": project.ids[row], "title": title, "kind": items.kind}
    if items.has_pictures:
        # The address changes with the picture, so that browsers can keep it.
        shown["image"] = f"api/item/{row}/image?v={items.content_hash(place)[:12]}"
    if row in project.copies:
        shown["n_copies"] = len(project.copies[row])
    return shown | items.tile(place)


def _without_given(project: Project, row: int, words: str) -> str:
    """Return the words for an item without the folder it is in, if that is its given group."""
    given = project.session.strategy.given_groups()
    if given is None or given[0][row] < 0:
        return words
    return words.removeprefix(f"{given[1][given[0][row]]}/")


def whole_thing(project: Project, row: int) -> Json:
    """Return an item with everything that is shown of it."""
    place = project.where[row]
    heading, view = project.ids[row], {"kind": "missing"}
    if place is not None:
        heading = _without_given(project, row, project.items.heading(place))
        view = project.items.view(place)
    copies = list(project.copies.get(row, ()))
    return {**thing(project, row), "heading": heading, "view": view, "copies": copies}


def known_things(project: Project, rows: Iterable[int]) -> list[Json]:
    """Return items as `thing` does, with how their group is known and how certain that is."""
    how, certainty = project.how_known()
    marks, ids = project.session.marks, group_ids(project.session)
    return [
        {
            **thing(project, row),
            **_keyed(project, row),
            "group": int(ids[row]),
            "how": str(how[row]),
            "certainty": None if math.isnan(certainty[row]) else round(float(certainty[row]), 3),
            "is_marked": row in marks,
        }
        for row in rows
    ]


def _keyed(project: Project, row: int) -> Json:
    """Return what stands for the group of a row: its number, its key and its name."""
    number, name, _ = in_short(project.session, row)
    return {"number": number, "key": key_of(number), "name": name}


def question(project: Project, query: Question | None, *, with_distance: bool = False) -> Any:
    """Return a question with everything it shows, or None; a pair may have its distance."""
    if query is None:
        return None
    if not query.is_pair:
        likeliest, others = query.groups[:N_LARGE], query.groups[N_LARGE:]
        item = whole_thing(project, query.row)
        if "text" in item["view"]:
            words = (key_words(project, rows[0])[:N_KEY_WORDS] for rows in likeliest if rows)
            item["view"]["marked"] = sorted(set(chain.from_iterable(words)))
        return {
            "kind": "choice",
            "number": query.number,
            "item": item,
            # A typical one is enough where there is little room.
            "groups": _groups_to_choose(
                project, (*likeliest, *(rows[:1] for rows in others)), query.names
            ),
            "n_large": len(likeliest),
            "fields": compare(project, query.row, likeliest),
        }
    shown = {
        "kind": "pair",
        "number": query.number,
        "left": whole_thing(project, query.left),
        "right": whole_thing(project, query.right),
        # A few items that answers put together with each, to compare with its whole group.
        "fellows": [
            [thing(project, other) for other in project.session.links.same_as(row, N_FELLOWS)]
            for row in (query.left, query.right)
        ],
    }
    if with_distance:
        shown["distance"] = _distance(project, query.left, query.right)
    return shown


def _groups_to_choose(project: Project, groups: Groups, names: Names) -> list[Json]:
    """Return the groups that an item may belong to; those without rows have a name and a key."""
    names = names or (None,) * len(groups)
    return [
        _group_to_choose(project, rows) if rows else _empty_group(project, name)
        for rows, name in zip(groups, names, strict=True)
    ]


def _empty_group(project: Project, name: str | None) -> Json:
    """Return a group that is known by its name only."""
    number = number_of_name(project.session, name)
    key = key_of(number)
    about: Json = {"group": None, "number": number, "key": key, "name": name or ""}
    return {**about, "size": 0, "shown": []}


def _group_to_choose(project: Project, rows: Sequence[int]) -> Json:
    """Return a group that an item may belong to, with some of its rows."""
    number, name, size = in_short(project.session, rows[0])
    group = int(group_ids(project.session)[rows[0]])
    copies = project.session.once("copies by group", lambda: _copies_by_group(project))
    return {
        "group": group,
        "number": number,
        "key": key_of(number),
        "name": name,
        "size": size + copies[group],
        "shown": [_typical(project, row, rows[0]) for row in rows],
    }


def _typical(project: Project, row: int, head: int) -> Json:
    """Return an item that stands for the group of a row; of a long text, its most typical part."""
    place = project.where[row]
    if place is None or project.items.has_pictures:
        return thing(project, row)
    words = key_words(project, head)[:N_KEY_WORDS]
    return thing(project, row) | project.items.passage(place, words)


def _copies_by_group(project: Project) -> Counter[int]:
    """Return how many items of each group, by its id, are copies of others."""
    ids = group_ids(project.session)
    copies: Counter[int] = Counter()
    for row, names in project.copies.items():
        copies[int(ids[row])] += len(names)
    return copies


def asked(project: Project, *, with_distance: bool = False) -> Json:
    """Return the open question, and only what is needed to show it."""
    query = project.ask()
    return {
        "is_done": query is None,
        "instruction": project.instruction,
        "has_map": project.has_map,
        "question": question(project, query, with_distance=with_distance),
        "can_undo": project.can_undo,
        "can_redo": project.can_redo,
        "you": _you(),
    }


def _you() -> Json | None:
    """Return who the reply is for, if that is known."""
    person = who()
    return None if person is None else {"name": person.name, "can_answer": person.can_answer}


def agreement(project: Project) -> Json:
    """Return how often people agree, and the questions on which they do not."""
    found = project.doubles()
    left = [k for k, double in enumerate(found) if double.agree is False and not double.is_decided]
    return {
        "pairs": [line._asdict() for line in agreements(project.session)],
        "n_decided": sum(double.is_decided for double in found),
        "disagreements": [_disagreement(project, k, found[k]) for k in left[:MOST_AT_ONCE]],
    }


def _disagreement(project: Project, number: int, double: Double) -> Json:
    row, groups = about(double.first)
    heads = [rows[0] for rows in groups]
    said = [
        {
            "by": one.by,
            "chosen": [heads.index(x.right) for x in one.links if x.answer is Answer.SAME],
        }
        for one in double[:2]
    ]
    return {
        "disagreement": number,
        "item": thing(project, row),
        "groups": [_group_to_choose(project, rows) for rows in groups],
        "said": said,
    }


def progress(project: Project) -> Json:
    """Return how far along the session is and how good the groups are."""
    now, complete = project.session.progress, project.session.completeness
    has_more = can_rebuild(project)
    said = complete is not None and complete.is_said
    prospect = outlook(project.session)
    if has_more:  # there is more to ask within the small groups
        prospect = replace(prospect, more="")
    return {
        "progress": {**asdict(now), "line": str(now)},
        "outlook": {**asdict(prospect), "line": prospect.line, "can_rebuild": has_more},
        "completeness": None if complete is None else {**asdict(complete), "is_said": said},
        "abouts": _abouts(project),
        "seen": _seen(project),
        "aspects": [aspect._asdict() for aspect in project.session.assessment.aspects()],
        "grouped_by": project.session.grouped_by,
        **model(project),
        "suggestion": suggestion(project),
    }


def _abouts(project: Project) -> dict[str, str]:
    """Return what distinguishes the groups of the open question that have no name, by their id."""
    query = project.ask()
    if query is None or query.is_pair:
        return {}
    ids = group_ids(project.session)
    heads = {int(ids[rows[0]]): rows[0] for rows in query.groups if rows}
    unnamed = [group for group in project.groups() if group.id in heads and not group.name]
    return {str(group.id): words for group in unnamed if (words := sum_up(project, group))}


def _seen(project: Project) -> Json:
    """Return by which aspects the items are grouped, how to get better ones, and what was not used.

    The latter are other sheets, columns and files that were left out, and broken pictures.
    """
    items, features = project.items, project.features
    aspects = features.aspects
    problems = [problem.message for problem in (*items.problems, *features.problems)]
    # Where there is little room, nothing else says that it is a sample.
    sample = () if project.n_of_all is None else (project.how_many,)
    notes = list(dict.fromkeys((*sample, *items.notes, *features.notes, *problems)))
    if len(notes) > MOST_NOTES:
        notes[MOST_NOTES:] = [f"and {len(notes) - MOST_NOTES} others"]
    return {
        "aspects": [{"name": a.name, "description": a.description} for a in aspects],
        "better": " ".join(dict.fromkeys(a.better for a in aspects if a.better)),
        "notes": notes,
    }


def rest(project: Project) -> Json:
    """Return how many items a session is about so far, if others will join it; else None."""
    waits = project.rest
    if waits is None:
        return {"rest": None}
    seconds = waits.pace.seconds_left(waits.n)
    return {
        "rest": {
            "n": project.items.n,
            "n_so_far": project.items.n - waits.n,
            "n_described": project.items.n - waits.n + waits.n_done,
            "seconds_left": None if seconds is None else round(seconds),
            "error": waits.error,
            "line": waits.line,
        }
    }


def model(project: Project) -> Json:
    """Return what a model that answers in the background has done; None without one."""
    return {"model": None if project.model is None else project.model.report()}


def suggestion(project: Project) -> Json | None:
    """Return the two groups that are most likely one, each by several members, if there are any."""
    session = project.session
    for merge in session.merges:
        # Labels may have joined them already, though no answer says so.
        if session.labels[merge.left] != session.labels[merge.right]:
            sides = {"left": merge.left, "right": merge.right}
            shown = {side: [row, *_members(project, row)] for side, row in sides.items()}
            groups = {side: _group_to_choose(project, rows) for side, rows in shown.items()}
            return {**groups, "proba": round(merge.proba, 3)}
    return None


def _members(project: Project, row: int) -> list[int]:
    """Return further rows that answers put into the group of a row, without removed ones."""
    gone = project.session.removed
    return [k for k in project.session.links.same_as(row, N_FELLOWS) if k not in gone]


def can_rebuild(project: Project) -> bool:
    """Return whether a finished session can be rebuilt: its budget is spent, or it was COBRA's."""
    session = project.session
    if not session.is_done:
        return False
    if session.assessment.learned is not None:
        return session.progress.has_more
    return project.features.metric != "precomputed"


def state(project: Project, *, with_distance: bool = False) -> Json:
    """Return where the session is: the open question and the progress."""
    return asked(project, with_distance=with_distance) | progress(project)


def next_question(project: Project, *, with_distance: bool = False) -> Json:
    """Return the open question, or if there is none, the progress, which takes longer."""
    reply = asked(project, with_distance=with_distance)
    return reply if reply["question"] else reply | progress(project)


def ahead(project: Project) -> Json:
    """Return the question after each likely answer; the sizes of groups are the current ones."""
    asked = project.ask()
    if project.team.names:  # what comes next depends on the others, too
        return {"next": {}}
    words: dict[str, Any] = {"same": 0, "different": Answer.NONE, "unsure": Answer.UNSURE}
    if asked is not None and not asked.is_pair:
        words = {"0": 0, "none": Answer.NONE}
    peek = project.session.peek
    if asked != project.session.ask():  # what a model does meanwhile cannot be foreseen
        return {"next": dict.fromkeys(words)}
    return {"next": {word: question(project, peek(chosen)) for word, chosen in words.items()}}


def group(project: Project, group: Group) -> Json:
    """Return a group with its most typical members; broken ones only if there are no others."""
    shown = set(project.session.askable.tolist())
    typical = [row for row in group.standing[:N_TYPICAL] if row in shown]
    return {
        "id": group.id,
        "number": group.number,
        "key": key_of(group.number),
        "name": group.name,
        **total(project, [group]),
        "n_super_instances": len(group.standing),
        "summary": sum_up(project, group),
        "typical": known_things(project, typical or group.standing[:1]),
    }


def total(project: Project, groups: Sequence[Group]) -> Json:
    """Return how many items groups have, how they are known, and about how many are wrong."""
    names = ("size", "n_said", "n_open", "n_doubtful")
    wrong = project.session.once("n_wrong", lambda: _wrong_by_group(project))
    n_wrong = None if wrong is None else round(float(wrong[[g.id for g in groups]].sum()))
    return {**{name: sum(getattr(g, name) for g in groups) for name in names}, "n_wrong": n_wrong}


def _wrong_by_group(project: Project) -> NDArray[np.float64] | None:
    """Return about how many items are wrong by group id, None if there is no estimate."""
    complete = project.session.completeness
    if complete is None or not complete.is_said:
        return None
    # The doubts of its items, scaled so that all groups together have as many as the estimate says.
    doubts = 1.0 - np.nan_to_num(project.how_known()[1], nan=1.0)
    wrong = np.bincount(group_ids(project.session), doubts, 2 * len(project.ids))
    n_wrong = (1.0 - complete.estimate) * sum(g.size for g in project.groups())
    return np.asarray(wrong * (n_wrong / max(wrong.sum(), 1e-9)))


def alike(project: Project, names: Alike) -> Json:
    """Return names that may be one, with how many rows have each."""
    counts = project.items.columns()["count"]
    n_rows = [0 if place is None else counts[place] for place in project.where]
    parts = [
        {
            "row": rows[0],
            "names": [{"row": r, "name": project.ids[r], "count": n_rows[r]} for r in rows],
        }
        for rows in names.parts
    ]
    first = min(row for rows in names.parts for row in rows)
    given = [in_short(project.session, rows[0])[1] for rows in names.parts]
    target = next(filter(None, given), project.ids[first])
    return {"target": target, "likeness": round(names.likeness, 3), "parts": parts}


def event(project: Project, gesture: Gesture) -> Json:
    """Return an answer of the log with its two items."""
    return {
        "number": gesture.number,
        "answer": gesture.answer.value,
        "source": gesture.source,
        "by": gesture.by,
        "at": gesture.at,
        "seconds": gesture.seconds,
        "left": thing(project, gesture.left),
        "right": thing(project, gesture.right),
        "links": [
            {"left": link.left, "right": link.right, "answer": link.answer.value}
            for link in gesture.links
        ],
        "groups": _groups_to_choose(project, gesture.groups, gesture.names),
        "name": gesture.name,
    }


def checked(project: Project, first: int, last: int) -> list[Json]:
    """Return the checks made after the answers from `first` to `last`, the latest first."""
    session, found, n = project.session, [], 0
    for entry in session.log:
        if isinstance(entry, Gesture):
            n += 1
        elif isinstance(entry, Checked | Repeated):
            # Some of the answers before it may have been dropped since.
            after = min(n, len(session.events))
            is_again = isinstance(entry, Repeated)
            if first < after <= last or after == first == 0:
                is_same = session.agrees(entry) if isinstance(entry, Repeated) else None
                found.append(
                    {
                        "after": after,
                        "source": "repeat" if is_again else "check",
                        "answer": entry.links[0].answer.value,
                        "is_same": is_same,
                        "by": entry.by,
                        "at": entry.at,
                        "left": thing(project, entry.links[0].left),
                        "right": thing(project, entry.links[0].right),
                    }
                )
    return found[::-1]


def repeat(project: Project, repeat: Repeat, said: Repeated | None) -> Json:
    """Return an earlier question the other way round; its answer is sent only afterward."""
    shown: Json = {
        "number": repeat.number,
        "question": question(project, repeat.question),
        "said": None if said is None else said.links[0].answer.value,
    }
    if said is not None:
        shown["is_same"] = project.session.agrees(said)
    return shown


def revision(project: Project, number: int, new: Any, revision: Revision) -> Json:
    """Return what revising an answer would keep and drop, also in words."""
    n_kept = len(revision.kept) - 1
    answer = new.value if isinstance(new, Answer) else _named(project, number, new)
    words = f"changes answer {number} to “{answer}”, keeps {plural(n_kept, 'other answer')}"
    words += f", drops {len(revision.dropped) or 'none'}"
    return {
        "number": number,
        "answer": answer,
        "n_kept": n_kept,
        "n_dropped": len(revision.dropped),
        "words": words,
        "dropped": [event(project, e) for e in revision.dropped[:20]],
    }


def _named(project: Project, number: int, new: Any) -> str:
    """Return the new choice in words."""
    if new is Answer.NONE:
        return "none of these"
    gesture = project.session.events[number - 1]
    groups = gesture.groups
    if not isinstance(new, int) or not 0 <= new < len(groups):
        return "another group"
    if not groups[new]:
        return gesture.names[new] or "another group"
    key, name, _ = in_short(project.session, groups[new][0])
    return ", ".join(filter(None, (f"group {key_of(key).upper()}", name)))


def check(project: Project, check: Check, answer: Answer | None) -> Json:
    """Return a check question; the expected answer is sent only afterward."""
    shown: dict[str, Any] = {
        "left": whole_thing(project, check.left),
        "right": whole_thing(project, check.right),
        "said": None if answer is None else answer.value,
    }
    if answer is not None:
        numbers = {link.pair: e.number for e in project.session.events for link in e.links}
        pairs = [link.pair for link in check.chain]
        shown["expected"] = check.expected.value
        shown["because"] = [numbers[pair] for pair in pairs if pair in numbers]
    return shown


def answer_from(value: Any) -> Answer:
    """Return the answer that a request names."""
    try:
        return Answer(value)
    except ValueError:
        words = ", ".join(a.value for a in Answer)
        raise InputError(f"an answer is one of {words}, not {value!r}") from None


def _distance(project: Project, left: int, right: int) -> float | None:
    partition = project.partition
    if not project.has_map:
        return float(project.features.X[left, right])
    at = {int(row): k for k, row in enumerate(partition.representatives)}
    if left not in at or right not in at:
        return None
    i, j = at[left], at[right]
    if partition.distances is not None:
        return float(partition.distances[i, j])
    assert partition.points is not None
    points = partition.points
    return float(distances(points[[i]], points[[j]], partition.metric)[0, 0])


def whole(body: Json, name: str) -> int:
    """Return a whole number from a request."""
    return whole_number(body.get(name), name)


def whole_number(value: Any, name: str) -> int:
    """Return a value of a request, if it is a whole number."""
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > 2**53:
        raise InputError(f"the request needs a whole number {name!r}, got {value!r}")
    return value


def signed_by(body: Json) -> str | None:
    """Return who answered, as a request says; None if nobody signed."""
    by = body.get("by")
    if not isinstance(by, str | None):
        raise InputError(f"the request needs who answered as a text 'by', got {by!r}")
    return by


def seconds_of(body: Json) -> float | None:
    """Return how long an answer took; None if a request gives no time, or an impossible one."""
    value: Any = body.get("seconds")
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= LONGEST_ANSWER else None


def a_list(body: Json, name: str) -> list[Any]:
    """Return a list from a request."""
    value = body.get(name)
    if not isinstance(value, list) or len(value) > MOST_AT_ONCE:
        raise InputError(f"the request needs a list {name!r} of at most {MOST_AT_ONCE}")
    return value


def listed_rows(project: Project, body: Json, name: str, least: int = 1) -> list[int]:
    """Return the items that a request lists, each once."""
    rows = list(dict.fromkeys(whole_number(row, name) for row in a_list(body, name)))
    if len(rows) < least:
        raise InputError(f"the request names no items in {name!r}")
    project.check_rows(*rows)
    return rows


def chosen(value: Any) -> Any:
    """Return what a request chose: a place, several, none of these, or *unsure*."""
    if value is None:
        return Answer.NONE
    if value == Answer.UNSURE.value:
        return Answer.UNSURE
    if isinstance(value, list):
        return [whole_number(place, "chosen") for place in value]
    return whole_number(value, "chosen")


def page_of(asked: Json, name: str, default: int, most: int = MOST_AT_ONCE) -> int:
    """Return a number in an address that selects a part of a list."""
    return min(number_in(asked[name], name), most) if name in asked else default


def number_in(text: str, name: str) -> int:
    """Return a whole number in an address."""
    if not text.isdecimal() or len(text) > 15:
        raise InputError(f"{name} must be a whole number, got {text[:40]!r}")
    return int(text)
