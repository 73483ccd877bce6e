import numpy as np
import pytest

from likewise import COBRA, Answer
from likewise.errors import SessionFileError
from likewise.project.project import wilson_interval
from likewise.project.projection import project_rows
from likewise.project.splitting import split_further
from likewise.project.timeline import Timeline, setup_from_bytes, setup_to_bytes
from likewise.strategies import ClosestFirst


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(40, 2))


@pytest.fixture
def timeline(X):
    """A timeline over six super-instances, with a finer set-up called "finer" at hand."""
    first = COBRA(6, random_state=0).start(X)

    def load(name):
        assert name == "finer"
        fine = split_further(first.strategy.partition, X, 12)
        return type(first)(ClosestFirst(fine))

    return Timeline(setup_from_bytes(setup_to_bytes(first)), load)


def tell(timeline, answer):
    query = timeline.ask()
    op = {"do": "tell", "left": query.left, "right": query.right, "answer": answer}
    timeline.apply(op)
    return query


def test_undo_leads_back_through_a_set_up_and_redo_forth(timeline):
    tell(timeline, "same")
    tell(timeline, "different")
    timeline.apply({"do": "setup", "payload": "finer"})
    assert len(timeline.session.events) == 2
    fine = timeline.session
    query = tell(timeline, "same")
    timeline.apply({"do": "undo"})
    timeline.apply({"do": "undo"})
    assert timeline.session is not fine
    timeline.apply({"do": "undo"})
    assert len(timeline.session.events) == 1
    for _ in range(3):
        timeline.apply({"do": "redo"})
    assert timeline.session is fine
    assert timeline.session.events[-1].pair == query.pair
    assert not timeline.can_redo


def test_a_new_answer_forgets_what_could_have_been_redone(timeline):
    tell(timeline, "same")
    timeline.apply({"do": "setup", "payload": "finer"})
    timeline.apply({"do": "undo"})
    tell(timeline, "different")
    assert not timeline.can_redo


def test_an_answer_about_another_pair_than_the_open_one_is_kept_as_given(timeline):
    query = timeline.ask()
    others = [r for r in timeline.session.strategy.askable().tolist() if r not in query.pair]
    op = {"do": "tell", "left": others[0], "right": others[1], "answer": "different"}
    timeline.apply(op)
    assert timeline.session.events[0].source == "given"
    assert timeline.session.links.implied(others[0], others[1]) is Answer.DIFFERENT


def test_a_doubted_pair_is_asked_first_and_once(timeline):
    timeline.apply({"do": "setup", "payload": "finer", "ask": [3, 4]})
    query = timeline.ask()
    assert (query.left, query.right) == (3, 4)
    tell(timeline, "unsure")
    assert timeline.ask().pair != (3, 4)
    timeline.apply({"do": "undo"})
    assert timeline.ask().pair == (3, 4)


@pytest.mark.parametrize("op", [{"do": "dance"}, {"do": "tell"}, {}])
def test_an_entry_that_cannot_be_read_is_said(timeline, op):
    with pytest.raises(SessionFileError):
        timeline.apply(op)


def test_a_damaged_set_up_is_said():
    with pytest.raises(SessionFileError, match="damaged"):
        setup_from_bytes(b"{")


def test_the_interval_is_wilson_s():
    assert wilson_interval(0, 0) == (0.0, 1.0)
    low, high = wilson_interval(5, 5)
    assert low == pytest.approx(0.5655, abs=1e-3)
    assert high == 1.0


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_near_items_are_near_on_the_map(metric):
    from likewise.items import Features

    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(20, 5)), rng.normal(size=(20, 5)) + 9])
    if metric == "precomputed":
        X = np.linalg.norm(X[:, None] - X[None], axis=2)
    shown, place = project_rows(Features(X, "", metric), np.array([0, 25]))
    assert shown.tolist() == list(range(40))
    assert abs(place[:20, 0].mean() - place[20:, 0].mean()) > 500
