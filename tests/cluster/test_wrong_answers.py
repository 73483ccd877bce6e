import numpy as np
import pytest
from likewise.strategies.row_by_row.checks import MOST_ABOUT_ONE
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

from likewise import Answer, LabelOracle, Likewise, Session, run
from likewise.core.answers import Query
from likewise.errors import ContradictionError
from likewise.oracles import NoisyOracle
from likewise.strategies import RowByRow

pytestmark = pytest.mark.slow

X, Y = make_blobs(300, centers=4, cluster_std=1.0, random_state=1)
N_QUESTIONS = 60


def truth(question):
    return LabelOracle(Y).answer(question)


def opposite(answer):
    return Answer.DIFFERENT if answer is Answer.SAME else Answer.SAME


def strategy_of(session: Session) -> RowByRow:
    """Return the strategy of a session whose answers may be wrong."""
    assert isinstance(session.strategy, RowByRow)
    return session.strategy


def careful(n_questions, oracle=None, error_rate=0.1, seed=0):
    model = Likewise(n_questions, error_rate=error_rate, random_state=seed)
    return model.fit(X, oracle=oracle or LabelOracle(Y))


def wrong_in(model):
    """Return the numbers of the wrong answers."""
    return {
        event.number
        for event in model.session_.events
        if (Y[event.left] == Y[event.right]) != (event.answer is Answer.SAME)
    }


def test_wrong_answers_are_expected_unless_told_otherwise():
    plain = Likewise(40, random_state=0).fit(X, oracle=LabelOracle(Y))
    assert plain.queries_ == careful(40, error_rate="estimate").queries_
    trusting = careful(40, error_rate=0.0).session_
    assert strategy_of(trusting).checks().n_checked == 0
    assert not trusting.strategy.weighs_answers


@pytest.mark.parametrize(("error_rate", "n_checks"), [(0.1, 12), ("estimate", 6)])
def test_true_answers_are_never_overruled_and_few_checks_are_made(error_rate, n_checks):
    model = careful(N_QUESTIONS, error_rate=error_rate)
    strategy = model.session_.strategy
    assert strategy.overruled() == []
    # With four groups there are six pairs of them to be compared a second time.
    assert strategy.checks().n_checked <= n_checks
    assert adjusted_rand_score(Y, model.labels_) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("number", [2, 12, 30])
def test_a_single_wrong_answer_is_named_and_does_no_harm(number):
    session = Likewise(error_rate=0.1, random_state=0).start(X)
    for k in range(1, N_QUESTIONS + 1):
        answer = truth(session.ask())
        session.tell(opposite(answer) if k == number else answer)
    model = Likewise().adopt(session, X=X)
    assert set(strategy_of(session).overruled()) <= {number - 1}
    suspect = model.suspects_[0]
    event = session.events[number - 1]
    assert suspect[:4] == (number, event.left, event.right, event.answer)
    assert suspect.credibility < 0.5
    assert adjusted_rand_score(Y, model.labels_) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("error_rate", [0.1, "estimate"])
def test_with_one_answer_in_ten_wrong_the_groups_are_found(error_rate, seed):
    model = careful(N_QUESTIONS, NoisyOracle(LabelOracle(Y), 0.1, seed=seed), error_rate, seed)
    assert adjusted_rand_score(Y, model.labels_) > 0.85
    if error_rate == 0.1:
        assert {suspect.number for suspect in model.suspects_} & wrong_in(model)


def test_contradictions_raise_the_estimated_rate():
    quiet = careful(100, error_rate="estimate").session_.strategy
    oracle = NoisyOracle(LabelOracle(Y), 0.15, seed=0)
    noisy = careful(100, oracle, "estimate").session_.strategy
    assert quiet.checks().rate < noisy.checks().rate


def test_labels_respect_every_answer_that_was_not_overruled():
    model = careful(N_QUESTIONS, NoisyOracle(LabelOracle(Y), 0.1, seed=3))
    overruled = model.session_.strategy.overruled()
    assert overruled
    for labels in (model.labels_, model.session_.labels):
        for k, (left, right, answer) in enumerate(model.queries_):
            agrees = (labels[left] == labels[right]) == (answer is Answer.SAME)
            assert agrees or k in overruled


def test_revising_a_wrong_answer_keeps_all_others_and_undo_takes_it_back():
    model = careful(N_QUESTIONS, NoisyOracle(LabelOracle(Y), 0.1, seed=3))
    session = model.session_
    before, labels, question = session.events, session.labels, session.ask()
    suspect = model.suspects_[0]
    revision = session.revise(suspect.number, opposite(suspect.answer))
    assert len(revision.kept) == len(before)
    assert revision.dropped == ()
    assert suspect.number - 1 not in strategy_of(session).overruled()
    session.undo()
    assert session.events == before
    assert np.array_equal(session.labels, labels)
    assert session.ask() == question


def test_a_saved_session_goes_on_where_it_was():
    oracle = NoisyOracle(LabelOracle(Y), 0.1, seed=5)
    session = run(Likewise(error_rate=0.1, random_state=0).start(X), oracle, max_queries=50)
    loaded = Session.from_dict(session.to_dict())
    for _ in range(10):
        assert loaded.ask() == session.ask()
        for one in (session, loaded):
            query = one.ask()
            assert isinstance(query, Query)
            one.tell(oracle.answer(query))
    assert np.array_equal(loaded.labels, session.labels)
    assert strategy_of(loaded).overruled() == strategy_of(session).overruled()


def test_links_given_beforehand_are_certain_whatever_is_answered():
    rows, groups = load_iris(return_X_y=True)
    # Rows 0 and 60 are of different species, 0 and 1 of the same; all answers say otherwise.
    session = Likewise(60, error_rate=0.1, random_state=0).start(
        rows, must_link=[(0, 60), (1, 61)], cannot_link=[(0, 1), (2, 3)]
    )
    run(session, LabelOracle(groups), max_queries=60)
    for left, right in [(0, 1), (0, 2), (60, 61)]:
        session.give(left, right, session.links.implied(left, right) or Answer.SAME)
    labels = Likewise().adopt(session, X=rows).labels_
    assert labels[0] == labels[60] != labels[1] == labels[61]
    assert labels[2] != labels[3]
    given = {k for k, event in enumerate(session.events) if event.source == "given"}
    assert not given & set(strategy_of(session).overruled())
    assert not {k + 1 for k in given} & {s.number for s in session.suspects}


def test_links_given_beforehand_that_contradict_each_other_are_refused():
    session = Likewise(error_rate=0.1, random_state=0).start(X, must_link=[(0, 1), (1, 2)])
    before = session.events, session.labels, session.ask()
    with pytest.raises(ContradictionError):
        session.give(0, 2, Answer.DIFFERENT)
    assert session.events == before[0]
    assert np.array_equal(session.labels, before[1])
    assert session.ask() == before[2]


def test_a_certain_link_may_contradict_answers_and_be_taken_back():
    session = run(Likewise(error_rate=0.1, random_state=0).start(X), LabelOracle(Y), max_queries=20)
    first = next(e for e in session.events if e.answer is Answer.SAME)
    before = session.to_dict(), session.labels, session.ask(), strategy_of(session).overruled()
    session.give(first.left, first.right, Answer.DIFFERENT)
    assert session.labels[first.left] != session.labels[first.right]
    assert first.number - 1 in strategy_of(session).overruled()
    session.undo()
    assert np.array_equal(session.labels, before[1])
    assert session.ask() == before[2]
    assert strategy_of(session).overruled() == before[3]


def test_the_number_of_questions_is_planned_for_and_saved():
    few, many = (Likewise(n, error_rate=0.1, random_state=0).start(X) for n in (20, 100))
    assert (strategy_of(few).budget, strategy_of(many).budget) == (20, 100)
    assert strategy_of(Session.from_dict(few.to_dict())).budget == 20
    for session in (few, many):
        run(session, LabelOracle(Y), max_queries=20)
    assert few.events != many.events


def test_a_row_that_no_group_takes_is_not_asked_about_for_ever():
    rows, groups = make_blobs(300, centers=8, cluster_std=0.3, random_state=4)
    session = Likewise(40, error_rate=0.1, random_state=0).start(rows)
    run(session, LabelOracle(groups), max_queries=90)
    # From now on every newcomer is said to be different from all.
    asked: dict[int, int] = {}
    known = {row for event in session.events for row in (event.left, event.right)}
    for _ in range(20):
        question = session.ask()
        for row in {question.left, question.right} - known:
            asked[row] = asked.get(row, 0) + 1
        session.tell(Answer.DIFFERENT)
    assert len(asked) > 1
    assert max(asked.values()) <= 8 + MOST_ABOUT_ONE


def test_many_rows_are_asked_about_by_cells(monkeypatch):
    monkeypatch.setattr("likewise.strategies.row_by_row.cells.MAX_CELLS", 100)
    model = Likewise(50, n_cells=60, error_rate=0.1, random_state=0)
    model.fit(X, oracle=NoisyOracle(LabelOracle(Y), 0.05, seed=1))
    assert adjusted_rand_score(Y, model.labels_) > 0.8


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("max_queries", [10, 20])
def test_a_group_of_which_one_row_is_known_stops_nothing(max_queries, seed):
    X, y = make_blobs([60, 6], 2, centers=[[0, 0], [4, 0]], cluster_std=1.2, random_state=seed)
    model = Likewise(max_queries, error_rate="estimate", random_state=seed)
    assert model.fit(X, oracle=LabelOracle(y)).n_queries_ == max_queries


@pytest.mark.parametrize("n_rows", [1, 2, 30])
def test_equal_rows_stop_nothing(n_rows):
    X, y = np.ones((n_rows, 3)), np.zeros(n_rows, dtype=int)
    model = Likewise(20, error_rate=0.1, random_state=0).fit(X, oracle=LabelOracle(y))
    assert model.labels_.tolist() == [0] * n_rows
