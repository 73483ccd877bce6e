"""Mending the result: each is one gesture that later answers keep and undo takes back."""

import numpy as np
import pytest

from likewise import Answer, LabelOracle
from likewise.errors import InputError
from likewise.items import Features
from likewise.project import open_project
from likewise.project.mending import likeliest_parts, split

N = 60
Y = np.arange(N) % 3


@pytest.fixture(
    params=[
        pytest.param({"questions": "choices"}, marks=pytest.mark.slow),
        {"questions": "pairs"},
        {"n_super_instances": 12},
    ]
)
def project(request, tmp_path):
    """Three groups of points, after some truthful answers by Likewise and by COBRA."""
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
    np.save(tmp_path / "points.npy", centers[Y] + rng.normal(size=(N, 2)))
    project = open_project(tmp_path / "points.npy", **request.param).project
    answer(project, 20)
    yield project
    project.close()


def answer(project, n):
    for _ in range(n):
        question = project.ask()
        if question is None:
            return
        at = {"number": question.number, "position": project.position}
        if len(question.groups) > 1:
            project.choose(LabelOracle(Y).answer(question), **at)
        else:
            project.tell(LabelOracle(Y).answer(question), **at)


def group_of(project, row):
    labels = project.session.labels
    return next(g for g in project.groups() if labels[g.standing[0]] == labels[row])


def said_and_learned(project, label):
    """A row of a class that was asked about, and one that was not."""
    asked = {row for gesture in project.session.events for row in gesture.rows}
    rows = np.flatnonzero(label == Y).tolist()
    return next(r for r in rows if r in asked), next(r for r in rows if r not in asked)


def labels_of(project, rows):
    return project.session.labels[rows].tolist()


def test_rows_move_together_whatever_was_said_and_later_answers_keep_it(project):
    before = project.session.labels.tolist(), project.session.events
    rows, other = list(said_and_learned(project, 0)), said_and_learned(project, 1)[0]
    # A row that stands for a small group takes it along.
    cell = project.partition.assignment
    stays = [r for r in np.flatnonzero(Y == 0).tolist() if cell[r] not in cell[rows]]
    n = len(project.session.log)
    project.mend(lambda m: m.move(rows, group_of(project, other)), position=project.position)
    assert len(project.session.log) == n + 1
    assert labels_of(project, rows) == labels_of(project, [other, other])
    assert labels_of(project, [other])[0] not in labels_of(project, stays)
    answer(project, 5)
    assert labels_of(project, rows) == labels_of(project, [other, other])
    again = open_project(project.path.with_suffix(""), session=project.path).project
    assert again.session.labels.tolist() == project.session.labels.tolist()
    again.close()
    while len(project.session.log) > n:
        project.undo(position=project.position)
    assert (project.session.labels.tolist(), project.session.events) == before


def test_rows_found_a_new_group_or_are_only_taken_out(project):
    rows = list(said_and_learned(project, 2))
    anchors = [said_and_learned(project, label)[0] for label in (0, 1)]
    anchors.append(next(r for r in group_of(project, rows[0]).standing if r not in rows))
    project.mend(lambda m: m.move(rows, None), position=project.position)
    assert len(set(labels_of(project, rows))) == 1
    assert labels_of(project, rows)[0] not in labels_of(project, anchors)
    project.undo(position=project.position)
    was = group_of(project, rows[0])
    anchor = next(r for r in was.standing if r not in rows)
    project.mend(lambda m: m.take_out(rows), position=project.position)
    assert labels_of(project, [anchor])[0] not in labels_of(project, rows)


def test_groups_that_were_told_apart_merge_and_split_again(project):
    a, b = (said_and_learned(project, label)[0] for label in (0, 1))
    n = len(project.groups())
    overruled = project.mend(
        lambda m: m.merge([group_of(project, a), group_of(project, b)]), position=project.position
    )
    assert len(set(labels_of(project, [a, b]))) == 1
    assert len(project.groups()) == n - 1
    assert overruled >= 1
    parts = [part.tolist() for part in project.parts(group_of(project, a))]
    assert [set(Y[part]) for part in parts] in ([{0}, {1}], [{1}, {0}])
    project.mend(lambda _: split([part[:20] for part in parts]), position=project.position)
    assert len(set(labels_of(project, [a, b]))) == 2


def test_checking_a_group_confirms_some_and_takes_out_others(project):
    said, learned = said_and_learned(project, 0)
    group = group_of(project, said)
    members = [r for r in project.members(group).tolist() if r not in (said, learned)]
    right, wrong = members[:6], [said, learned]
    project.mend(lambda m: m.confirm(group, right, wrong), position=project.position)
    assert len(set(labels_of(project, right))) == 1
    assert labels_of(project, right)[0] not in labels_of(project, wrong)
    implied = project.session.links.implied
    assert all(implied(right[0], row) is Answer.SAME for row in right[1:])
    with pytest.raises(InputError, match="consists of"):
        project.revise(len(project.session.events), Answer.SAME, position=project.position)


def test_what_cannot_be_done_is_refused_without_a_trace(project):
    before = project.session.to_dict()
    group = project.groups()[0]
    everyone = project.members(group).tolist()
    for say in (
        lambda m: m.take_out(everyone),
        lambda m: m.move(everyone, group),
        lambda m: m.merge([group]),
        lambda _: split([everyone]),
        lambda m: m.confirm(group, [], everyone),
        lambda m: m.confirm(group, everyone[:1], everyone[:1]),
        lambda _: split([everyone[:2], everyone[1:]]),
    ):
        with pytest.raises(InputError):
            project.mend(say, position=project.position)
        assert project.session.to_dict() == before


def test_the_likeliest_parts_are_on_both_sides_of_the_gap():
    X = np.array([[0.0], [0.2], [9.0], [9.1]])
    parts = likeliest_parts(Features(X, "x"), np.arange(4))
    assert parts.tolist() == [False, False, True, True]
