"""Projects ask by `Likewise` unless super-instances are asked for."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from likewise import Answer, LabelOracle, Likewise, Session
from likewise.cluster.start import start_session
from likewise.errors import InputError
from likewise.project import beginning, formats, opening, paths

all_opened: list[opening.Opened] = []


def open_project(*args, **options):
    """Open a project that is closed when the test ends."""
    all_opened.append(opening.open_project(*args, **options))
    return all_opened[-1]


@pytest.fixture(autouse=True)
def _closed():
    yield
    while all_opened:
        all_opened.pop().project.close()


@pytest.fixture
def table(tmp_path):
    X, y = load_iris(return_X_y=True)
    path = tmp_path / "flowers.csv"
    np.savetxt(path, X, delimiter=",", header="a,b,c,d", comments="", fmt="%.3f")
    return path, y


def answer_all(project, y, at_most=1000):
    n = 0
    while (query := project.ask()) is not None and n < at_most:
        same = y[query.left] == y[query.right]
        project.tell(
            Answer.SAME if same else Answer.DIFFERENT,
            number=query.number,
            position=project.position,
        )
        n += 1
    return n


def test_by_default_an_item_is_put_to_one_of_the_groups(table):
    path, y = table
    project = open_project(path, options={"cache": False}).project
    oracle = LabelOracle(y[list(project.where)])
    while len(project.session.events) < 40:
        question = project.ask()
        chosen = question.place(oracle.answer(question))
        project.choose(chosen, number=question.number, position=project.position)
    assert project.session.strategy.name == "most-doubt"
    assert any(len(event.groups) > 1 for event in project.session.events)
    assert adjusted_rand_score(y[list(project.where)], project.session.labels) > 0.85
    assert len(project.groups()) == 3
    project.close()


def test_questions_are_for_likewise_and_a_session_goes_on_with_those_it_began_with(table):
    path, y = table
    for more in ({"strategy": "closest-first"}, {"n_super_instances": 5}):
        with pytest.raises(InputError, match="--questions is for Likewise"):
            open_project(path, questions="pairs", options={"cache": False}, **more)
    with pytest.raises(InputError, match="one of choices, pairs, got 'moons'"):
        open_project(path, questions="moons", options={"cache": False})
    project = open_project(path, questions="pairs", options={"cache": False}).project
    answer_all(project, y, at_most=3)
    project.close()
    with pytest.raises(InputError, match="begun with --questions pairs, not choices"):
        open_project(path, questions="choices")
    assert open_project(path).project.session.strategy.to_dict()["questions"] == "pairs"


def test_the_page_goes_on_as_long_as_a_person_likes(table):
    path, y = table
    project = open_project(path, questions="pairs", options={"cache": False}).project
    assert project.session.strategy.to_dict()["questions"] == "pairs"
    answer_all(project, y, at_most=80)
    assert project.session.assessment.is_enough()
    assert project.ask() is not None
    assert adjusted_rand_score(y[list(project.where)], project.session.labels) > 0.85
    assert len(project.groups()) == 3
    answer_all(project, y)
    assert project.ask() is None
    assert len(project.groups()) == 3


def test_with_super_instances_it_is_cobra_as_published(table):
    path, _ = table
    project = open_project(path, n_super_instances=20, options={"cache": False}).project
    assert project.session.strategy.name == "closest-first"
    assert project.partition.n_super_instances == 20


def test_distances_without_features_are_for_cobra(tmp_path):
    pytest.importorskip("dtaidistance", reason='pip install "likewise[series]"')
    rng = np.random.default_rng(0)
    path = tmp_path / "waves.npy"
    np.save(path, rng.normal(size=(12, 30)))
    options = {"series": True, "series_features": "dtw", "cache": False}
    project = open_project(path, options=options).project
    assert project.session.strategy.name == "closest-first"


def test_a_finished_session_of_cobra_goes_on_where_doubt_is_left_and_keeps_every_answer(table):
    path, y = table
    project = open_project(path, n_super_instances=10, options={"cache": False}).project
    answer_all(project, y)
    before = [event.pair for event in project.session.events]
    assert project.ask() is None
    project.rebuild(position=project.position)
    assert [event.pair for event in project.session.events] == before
    assert project.session.strategy.name == "most-doubt"
    question = project.ask()
    assert question is not None
    project.close()
    again = open_project(path, options={"cache": False}).project
    assert again.ask() == question
    while again.session.can_undo:
        again.undo(position=again.position)
    assert again.session.strategy.name == "closest-first"
    assert again.session.events == ()
    again.close()


def test_a_misfit_is_put_to_the_question(table):
    path, y = table
    project = open_project(path, questions="pairs", options={"cache": False}).project
    answer_all(project, y, at_most=30)
    asked = {row for event in project.session.events for row in event.pair}
    row = next(row for row in range(len(y)) if row not in asked)
    assert project.misfit(row, position=project.position) == []
    query = project.ask()
    assert row in (query.left, query.right)
    labels = project.session.labels
    assert labels[query.left] == labels[query.right]
    project.tell(Answer.DIFFERENT, number=query.number, position=project.position)
    labels = project.session.labels
    assert labels[query.left] != labels[query.right]


def test_the_session_goes_on_where_it_was(table):
    path, y = table
    opened = open_project(path, questions="pairs", options={"cache": False}).project
    answer_all(opened, y, at_most=17)
    question, labels = opened.ask(), opened.session.labels
    opened.close()
    again = open_project(path).project
    assert again.ask() == question
    assert again.session.labels.tolist() == labels.tolist()


def test_the_exported_session_is_a_fitted_likewise(table):
    path, y = table
    project = open_project(path, questions="pairs", options={"cache": False}).project
    answer_all(project, y)
    assert "Likewise().adopt(session)" in formats.to_snippet(project).decode()
    session = Session.from_dict(json.loads(formats.to_session(project)))
    model = Likewise().adopt(session)
    assert model.n_clusters_ == 3
    assert model.completeness_.at_least > 0.8


def test_a_session_without_answers_is_replaced_when_options_change(table):
    path, y = table
    first = open_project(path, questions="pairs", options={"cache": False})
    first.project.close()
    lines: list[str] = []
    second = open_project(path, n_super_instances=20, options={"cache": False}, say=lines.append)
    assert second.is_new
    assert any("a new one is begun" in line for line in lines)
    answer_all(second.project, y, at_most=1)
    second.project.close()
    with pytest.raises(InputError, match="begun with --super-instances 20, not 30"):
        open_project(path, n_super_instances=30, options={"cache": False})
    third = open_project(path, n_super_instances=20, options={"cache": False})
    assert not third.is_new
    assert len(third.project.session.events) == 1
    third.project.close()


@pytest.mark.parametrize(
    "options", [{"columns": ("nosuch",)}, {"text": "nosuch"}, {"id": "nosuch"}]
)
def test_options_that_are_refused_leave_a_session_without_answers_where_it_is(table, options):
    path, _ = table
    first = open_project(path, options={"cache": False})
    first.project.close()
    before = first.path.read_bytes()
    with pytest.raises(InputError, match="nosuch"):
        open_project(path, options={"cache": False, **options})
    assert first.path.read_bytes() == before


def test_answers_given_while_another_session_was_prepared_are_not_lost(table, monkeypatch):
    path, y = table
    first = open_project(path, questions="pairs", options={"cache": False})

    def prepare(*args, **options):
        answer_all(first.project, y, at_most=1)
        return start_session(*args, **options)

    monkeypatch.setattr(beginning, "start_session", prepare)
    with pytest.raises(InputError, match="begun without --super-instances, not with 20"):
        open_project(path, n_super_instances=20, options={"cache": False})
    assert len(first.project.session.events) == 1


def test_another_strategy_asks_by_its_name(table):
    path, _ = table
    options = {"cache": False}
    project = open_project(path, strategy="closest-first", options=options).project
    assert project.session.strategy.name == "closest-first"
    project.close()
    with pytest.raises(InputError, match="there is no strategy 'moonlight'"):
        open_project(path, strategy="moonlight", options=options)
    with pytest.raises(InputError, match="leave out --strategy"):
        open_project(path, strategy="closest-first", n_super_instances=5, options=options)


def test_a_session_that_is_opened_by_its_file_is_never_replaced(table):
    path, _ = table
    first = open_project(path, options={"cache": False})
    first.project.close()
    before = first.path.read_bytes()
    with pytest.raises(InputError, match="was begun without --strategy, not with closest-first"):
        opening.open_session_file(first.path, strategy="closest-first")
    assert first.path.read_bytes() == before


@pytest.mark.parametrize("name", ["cobras", "dsl", "acdm", "a3s", "closest-first", "most-doubt"])
def test_a_session_by_every_strategy_opens_again(table, name):
    path, y = table
    first = open_project(path, strategy=name, options={"cache": False}).project
    answer_all(first, y, at_most=1)
    labels, question = first.session.labels, first.ask()
    first.close()
    path.write_text(path.read_text().replace("5.100", "5.200"))
    again = open_project(path).project
    exported = Session.from_dict(json.loads(formats.export(again, "json")))
    for session in (again.session, exported):
        assert session.strategy.name == name
        assert session.ask() == question
        assert np.array_equal(session.labels[: len(labels)], labels)


@pytest.mark.parametrize(
    ("path", "file"),
    [("/data/photos/", "/data/photos.likewise"), ("/data/rows.csv", "/data/rows.csv.likewise")],
)
def test_the_session_file_lies_beside_its_input(path, file):
    assert paths.session_path(path).as_posix() == file
