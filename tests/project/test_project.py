import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise import COBRA, Answer, LabelOracle, Session
from likewise.errors import ContradictionError, InputError, SessionFileError, StaleQueryError
from likewise.project import Project, open_project
from likewise.project.outlook import wilson_interval
from likewise.rows.projection import Layout
from likewise.store.packing import pack, pack_session, unpack, unpack_session

ASSETS = Path(__file__).parent / "assets"
Y = np.repeat([0, 1, 2], 15)


@pytest.fixture
def points(tmp_path):
    return Path(shutil.copy(ASSETS / "points.npy", tmp_path))


@pytest.fixture
def project(points):
    opened = open_project(points, n_super_instances=6)
    yield opened.project
    opened.project.close()


def tell(project, said=None):
    query = project.ask()
    chosen = query.place(LabelOracle(Y).answer(query) if said is None else said)
    project.choose(chosen, number=query.number, position=project.position)
    return query


def seen(project):
    """All that a front shows of a project."""
    return (
        project.ask(),
        project.session.events,
        project.session.labels.tolist(),
        project.groups(),
        project.session.marks,
        project.session.checks,
        project.session.can_redo,
    )


def reopened(project):
    return open_project(project.path.with_suffix(""), session=project.path).project


def test_undo_leads_back_through_another_strategy_and_redo_forth(project):
    tell(project, Answer.SAME)
    tell(project, Answer.DIFFERENT)
    coarse = seen(project)
    project.rebuild(position=project.position)
    assert (len(project.session.events), project.session.strategy.name) == (2, "most-doubt")
    fine = seen(project)
    query = tell(project)
    for expected in (fine, coarse):
        project.undo(position=project.position)
        assert seen(project)[:-1] == expected[:-1]
    project.undo(position=project.position)
    assert len(project.session.events) == 1
    for _ in range(3):
        project.redo(position=project.position)
    assert project.session.events[-1].left == query.row
    assert not project.session.can_redo


def test_a_new_answer_forgets_what_could_have_been_redone(project):
    tell(project)
    project.rebuild(position=project.position)
    project.undo(position=project.position)
    tell(project)
    assert not project.session.can_redo


def test_everything_that_was_done_is_there_after_opening_again(project):
    for _ in range(4):
        tell(project)
    project.name(project.groups()[0].id, "first", position=project.position)
    free = [r for r in range(45) if r not in {x for e in project.session.events for x in e.rows}]
    assert project.misfit(free[0], position=project.position) == []
    tell(project)
    project.rebuild(position=project.position)
    tell(project)
    project.revise(2, "unsure", position=project.position)
    check = project.checks()[0][0]
    project.tell_check(check.left, check.right, Answer.SAME, position=project.position)
    tell(project)
    project.undo(position=project.position)
    again = reopened(project)
    assert seen(again) == seen(project)
    assert again.session.to_dict() == project.session.to_dict()
    again.redo(position=again.position)
    with pytest.raises(StaleQueryError, match="in another window or process"):
        project.undo(position=again.position - 1)
    assert seen(project) == seen(again)
    again.close()


def test_names_and_marks_are_undone_like_answers(project):
    group = project.groups()[0].id
    project.name(group, " one ", position=project.position)
    project.name(group, "two", position=project.position)
    assert project.group(group).name == "two"
    project.undo(position=project.position)
    assert project.group(group).name == "one"
    project.undo(position=project.position)
    assert project.group(group).name == ""


def test_who_answered_and_when_is_in_the_file(points):
    opened = open_project(points)
    opened.project.by = "Ann"
    tell(opened.project)
    opened.project.close()
    again = open_project(points).project
    gesture = again.session.events[0]
    assert gesture.by == "Ann"
    assert gesture.at.startswith("20")
    assert gesture.at.endswith("Z")
    again.close()


def test_what_fails_leaves_no_trace_in_memory_or_on_disk(project, monkeypatch):
    tell(project)
    before, last = seen(project), project.store.last
    known = project.session.events[0]
    row = known.left
    deeds = [
        lambda: project.tell(Answer.SAME, number=99, position=project.position),
        lambda: project.settle(row, row, Answer.SAME, position=project.position),
        lambda: project.settle(*known.pair, known.answer, position=project.position),
        lambda: project.revise(99, Answer.SAME, position=project.position),
        lambda: project.name(-1, "x", position=project.position),
        lambda: project.misfit(1000, position=project.position),
        lambda: project.tell_check(0, 1, Answer.SAME, position=project.position),
    ]
    for deed in deeds:
        with pytest.raises((InputError, StaleQueryError)):
            deed()
        assert (seen(project), project.store.last) == (before, last)

    def full(*args, **kwargs):
        raise OSError("the disk is full")

    monkeypatch.setattr(project.store, "append", full)
    for deed in (
        lambda: tell(project),
        lambda: project.undo(position=project.position),
        lambda: project.rebuild(position=project.position),
        lambda: project.name(project.groups()[0].id, "x", position=project.position),
    ):
        with pytest.raises(OSError, match="full"):
            deed()
        assert seen(project) == before


def test_arrays_come_back_as_they_were():
    value: dict[str, Any] = {
        "a": np.arange(6.0).reshape(2, 3),
        "b": [np.arange(2), "x", None],
        "c": {"d": 1.5},
    }
    back = unpack(pack(value))
    np.testing.assert_array_equal(back["a"], value["a"])
    np.testing.assert_array_equal(back["b"][0], value["b"][0])
    assert (back["b"][1:], back["c"]) == (["x", None], {"d": 1.5})
    session = COBRA(6, random_state=0).start(np.random.default_rng(0).normal(size=(40, 2)))
    session.tell("same")
    assert unpack_session(pack_session(session)).events == ()
    assert Session.from_dict(session.state()) == session


@pytest.mark.parametrize("data", [b"{", b"PK", b"", b"[]", b"PK\x03\x04" + bytes(50)])
def test_a_damaged_set_up_is_said(data):
    with pytest.raises(SessionFileError, match=r"damaged|not a saved"):
        unpack_session(data)


def test_a_contradiction_is_refused(project):
    query = tell(project, Answer.SAME)
    with pytest.raises((ContradictionError, InputError)):
        project.settle(query.left, query.right, Answer.DIFFERENT, position=project.position)


def test_the_interval_is_wilson_s():
    assert wilson_interval(0, 0) == (0.0, 1.0)
    low, high = wilson_interval(5, 5)
    assert low == pytest.approx(0.5655, abs=1e-3)
    assert high == 1.0


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_near_items_are_near_on_the_map(metric):

    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(20, 5)), rng.normal(size=(20, 5)) + 9])
    if metric == "precomputed":
        X = np.linalg.norm(X[:, None] - X[None], axis=2)
    layout = Layout.of(X, are_distances=metric == "precomputed")
    place = layout.places()
    assert layout.rows.tolist() == list(range(40))
    assert abs(place[:20, 0].mean() - place[20:, 0].mean()) > 500


def test_the_map_is_laid_out_by_what_was_learned():

    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 30)
    noise = 10 * rng.normal(size=(90, 4))
    X = np.column_stack([noise, group + 0.1 * rng.normal(size=90)])
    known = np.where(np.arange(90) % 3 == 0, group, -1)

    def overlap(groups):
        place = Layout.of(X).places(groups)
        means = np.array([place[group == k].mean(axis=0) for k in range(3)])
        nearest = np.linalg.norm(place[:, None] - means, axis=2).argmin(axis=1)
        return float(np.mean(nearest != group))

    assert overlap(None) > 0.4
    assert overlap(known) < 0.1


def test_rows_of_a_group_do_not_all_lie_on_one_point_of_the_map():

    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 30)
    X = np.column_stack([5 * np.eye(3)[group], 0.2 * rng.normal(size=(90, 4))])
    place = Layout.of(X).places(group).astype(float)
    means = np.array([place[group == k].mean(axis=0) for k in range(3)])
    assert ((place - means[group]).std(axis=0) > 20).all()
    assert (np.linalg.norm(place[:, None] - means, axis=2).argmin(axis=1) == group).all()


@pytest.mark.parametrize("items", [5, [[1.0], [2.0], [9.0]]])
def test_items_must_be_opened_first(items):
    with pytest.raises(InputError, match=f"likewise.open_items.*got {type(items).__name__}"):
        Project(COBRA(3).start([[1.0], [2.0], [9.0]]), items)
