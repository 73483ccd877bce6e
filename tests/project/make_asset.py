"""Write the session file of this release, which every later release must open.

``python tests/project/make_asset.py FOLDER`` makes ``schema-1.likewise`` with every kind of entry,
``schema-1.csv``, its rows, and ``schema-1.json`` with what must be in it. Once they are released,
they are never made again: a new schema gets files of its own.
"""

import json
import sys
from functools import partial
from pathlib import Path

from likewise import Answer
from likewise.project import open_project
from likewise.project.mending import Mending


def make(folder):
    """Answer questions about 24 rows, and do everything else that a log can hold."""
    source = Path(folder, "rows.csv")
    rows = [f"r{k},{k % 4 * 9 + k / 9:.3f},{k % 3},{['red', 'blue'][k % 2]}" for k in range(24)]
    source.write_text("id,x,y,color\n" + "\n".join(rows[:22]) + "\n")
    session = Path(folder, "schema-1.likewise")
    options = {"cache": False, "id": "id"}
    opened = open_project(source, session=session, n_super_instances=8, options=options)
    project = opened.project
    project.by = "Ann"
    project.instruction = "the same size?"
    for _ in range(8):
        answer(project)
    project.name(project.groups()[0].id, "größe", position=project.position)
    project.mend(partial(Mending.move, rows=[5, 10], to=None), position=project.position)
    largest = max(project.groups(), key=lambda group: group.size)
    project.misfit(int(project.members(largest)[-1]), position=project.position)
    answer(project)
    project.undo(position=project.position)
    project.redo(position=project.position)
    project.revise(1, Answer.UNSURE, position=project.position)
    project.rebuild(position=project.position)
    answer(project)
    (check, _), *_ = project.checks()
    project.tell_check(check.left, check.right, Answer.SAME, position=project.position)
    (repeat, _), *_ = project.repeats()
    project.tell_repeat(repeat.number, Answer.UNSURE, position=project.position)
    project.set_aside("Ann", position=project.position)
    project.take_back("Ann", position=project.position)
    project.switch("categories", is_on=False, position=project.position)
    project.close()
    source.write_text("id,x,y,color\n" + "\n".join(rows) + "\n")
    project = open_project(source, session=session).project
    project.by = "Bob"
    answer(project)
    expected = contents(project)
    project.close()
    Path(folder, "schema-1.json").write_text(json.dumps(expected, indent=1) + "\n")
    source.rename(Path(folder, "schema-1.csv"))


def answer(project):
    """Answer the open question by the row's number."""
    if (question := project.ask()) is not None:
        heads = [group[0] % 4 for group in question.groups]
        chosen = heads.index(question.row % 4) if question.row % 4 in heads else Answer.NONE
        at = {"number": question.number, "position": project.position}
        if len(heads) == 1:
            said = Answer.SAME if chosen == 0 else Answer.DIFFERENT
            project.tell(said, seconds=1.5, **at)
        else:
            project.choose(chosen, seconds=1.5, **at)


def contents(project):
    """Return what must be in the file, whoever opens it."""
    entries = project.store.read()
    return {
        "entries": [[e.op["do"], e.by, bool(e.at), e.seconds] for e in entries],
        "ids": list(project.ids),
        "events": [
            [[link.left, link.right, link.answer.value] for link in event.links]
            for event in project.session.events
        ],
        "names": sorted(name for name in project.session.names.values()),
        "marks": sorted(project.session.marks),
        "off": sorted(project.session.answers.off),
        "repeats": [
            [[link.left, link.right, link.answer.value] for link in repeated.links]
            for repeated in project.session.repeated
        ],
        "instruction": project.instruction,
    }


if __name__ == "__main__":
    make(Path(sys.argv[1]))
