"""What every session does, whatever it asks and whoever answers."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise import Answer, Session
from likewise.core.partition import SuperInstances
from likewise.strategies import Careful, ClosestFirst, RandomOrder, Refine

STRATEGIES = {
    "closest-first": ClosestFirst,
    "random-groups": lambda partition: RandomOrder(partition, over="groups", seed=3),
    "random-rows": lambda partition: RandomOrder(partition, over="rows", seed=3),
    "refine": Refine,
    "careful": lambda partition: Careful(partition, error_rate=0.1),
    "careful-estimate": Careful,
    "refine-regions": lambda partition: Refine(partition, n_regions=(2, 4), to_the_end=False),
}

SLOW = ("refine-regions", "careful", "careful-estimate")


def named(names):
    return [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in names]


YES_NO = st.sampled_from([Answer.SAME, Answer.DIFFERENT])
ANY = st.sampled_from([*Answer])


@st.composite
def partitions(draw, max_size=8):
    """Rows on a small grid, so that distances tie, in super-instances of one to three rows."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=max_size))
    assignment = np.repeat(np.arange(len(sizes)), sizes)
    reps = np.flatnonzero(np.diff(assignment, prepend=-1))
    coordinate = st.integers(0, 4)
    grid = draw(
        st.lists(st.tuples(coordinate, coordinate), min_size=len(sizes), max_size=len(sizes))
    )
    return SuperInstances(assignment, reps, points=np.array(grid, dtype=float))


@pytest.fixture(params=named(STRATEGIES), scope="module")
def strategy(request):
    return STRATEGIES[request.param]


@pytest.fixture(params=named([*STRATEGIES][:-1]), scope="module")
def thorough(request):
    """A strategy that asks until every super-instance is placed; all but the last do."""
    return STRATEGIES[request.param]


def visible(session):
    """All that a user can see of a session."""
    return (
        session.ask(),
        session.progress,
        session.events,
        session.labels.tolist(),
        session.labels_guess.tolist(),
        session.open_pairs,
        session.is_done,
        session.links.closure(),
    )


def answered(session, answers):
    for answer in answers:
        if session.ask() is None:
            break
        session.tell(answer)
    return session


@given(partitions(), st.lists(ANY, max_size=12))
def test_ask_twice_gives_the_same_query(strategy, partition, answers):
    session = answered(Session(strategy(partition)), answers)
    assert session.ask() == session.ask()


@given(partitions(), st.lists(ANY, max_size=12), ANY)
def test_tell_then_undo_is_the_state_before_and_redo_the_state_after(
    strategy, partition, answers, last
):
    session = answered(Session(strategy(partition)), answers)
    if session.ask() is None:
        return
    before = visible(session)
    session.tell(last)
    after = visible(session)
    session.undo()
    assert visible(session) == before
    session.redo()
    assert visible(session) == after


@given(partitions(), st.lists(ANY, max_size=20))
def test_undo_to_the_start_and_redo_to_the_end(strategy, partition, answers):
    session = Session(strategy(partition))
    states = [visible(session)]
    for answer in answers:
        if session.ask() is None:
            break
        session.tell(answer)
        states.append(visible(session))
    for expected in reversed(states[:-1]):
        session.undo()
        assert visible(session) == expected
    assert session.undo() is None
    for expected in states[1:]:
        session.redo()
        assert visible(session) == expected
    assert session.redo() is None


@given(partitions(), st.lists(ANY, max_size=20))
def test_replaying_the_events_gives_the_state(strategy, partition, answers):
    session = answered(Session(strategy(partition)), answers)
    again = Session(strategy(partition))
    for event in session.events:
        question = again.ask()
        assert (question.number, question.left, question.right) == (
            event.number,
            event.left,
            event.right,
        )
        again.tell(event.answer)
    assert visible(again) == visible(session)


@given(partitions(), st.lists(ANY, max_size=15), st.integers(0, 4), st.data())
def test_a_saved_session_is_the_session(strategy, partition, answers, n_undone, data):
    session = answered(Session(strategy(partition)), answers)
    if session.events and data.draw(st.booleans()):
        session.revise(data.draw(st.integers(1, len(session.events))), data.draw(ANY))
    for _ in range(n_undone):
        session.undo()
    loaded = Session.from_dict(session.to_dict())
    assert loaded == session
    assert visible(loaded) == visible(session)
    while session.redo() is not None:
        loaded.redo()
        assert visible(loaded) == visible(session)


@given(partitions(), st.lists(ANY, max_size=30))
def test_no_asked_pair_is_implied_by_earlier_answers_and_none_is_asked_twice(
    strategy, partition, answers
):
    session = Session(strategy(partition))
    seen = set()
    for answer in answers:
        question = session.ask()
        if question is None:
            break
        # Who expects wrong answers checks some of them: that is about what others imply.
        if not isinstance(session.strategy, Careful):
            assert session.links.implied(question.left, question.right) is None
        assert question.pair not in seen
        seen.add(question.pair)
        session.tell(answer)


@given(partitions(), st.lists(ANY, max_size=30))
def test_the_bound_never_grows_on_a_yes_or_no_and_is_kept(strategy, partition, answers):
    session = Session(strategy(partition))
    bounds = []
    for answer in answers:
        if session.ask() is None:
            break
        before = session.progress
        assert before.estimate <= before.at_most
        session.tell(answer)
        if answer.is_link:
            assert session.progress.at_most < before.at_most
            bounds.append((before.at_most, before.answered))
        else:
            assert session.progress.at_most == before.at_most
    while session.ask() is not None:
        session.tell(Answer.DIFFERENT)
    for at_most, n_answered in bounds:
        assert session.progress.answered - n_answered <= at_most


@given(partitions(), st.lists(YES_NO, min_size=28, max_size=28))
def test_when_done_links_and_groups_fit_together(thorough, partition, answers):
    session = answered(Session(thorough(partition)), answers)
    if isinstance(session.strategy, Careful):  # which overrules some of these answers
        return
    assert session.is_done
    assert session.progress.at_most == 0
    n_groups = len(set(session.labels.tolist()))
    n_same = sum(e.answer is Answer.SAME for e in session.events)
    assert n_same == partition.n_super_instances - n_groups
    assert len(session.events) - n_same >= n_groups * (n_groups - 1) // 2
    assert session.labels_guess.tolist() == session.labels.tolist()
    n_pairs = partition.n_super_instances * (partition.n_super_instances - 1) // 2
    assert session.progress.settled_for_free == n_pairs - len(session.events)


@given(partitions(), st.lists(ANY, max_size=15), st.data())
def test_labels_are_a_valid_clustering_at_every_moment(strategy, partition, answers, data):
    session = Session(strategy(partition))
    for answer in [*answers, None]:
        for labels in (session.labels, session.labels_guess):
            assert labels.shape == (partition.n_rows,)
            assert sorted(set(labels.tolist())) == list(range(labels.max() + 1))
            for g in session.links:
                assert (labels[g.left] == labels[g.right]) == (g.answer is Answer.SAME)
        assert session.progress.n_groups == session.labels.max() + 1
        if answer is None or session.ask() is None:
            break
        session.tell(answer)


@given(partitions(), st.lists(ANY, max_size=12), ANY)
def test_peek_is_the_question_that_follows_and_changes_nothing(
    strategy, partition, answers, answer
):
    session = answered(Session(strategy(partition)), answers)
    before = visible(session)
    peeked = session.peek(answer)
    assert visible(session) == before
    if session.ask() is not None:
        session.tell(answer)
        assert session.ask() == peeked


@given(partitions(), st.lists(ANY, min_size=1, max_size=15), st.data())
def test_revising_keeps_every_later_answer_that_still_says_something(
    strategy, partition, answers, data
):
    session = answered(Session(strategy(partition)), answers)
    if not session.events:
        return
    before = visible(session)
    number = data.draw(st.integers(1, len(session.events)))
    answer = data.draw(ANY)
    foretold = session.preview(number, answer)
    assert visible(session) == before
    old = session.events
    revision = session.revise(number, answer)
    assert revision == foretold
    assert session.events == revision.kept
    assert [e.pair for e in revision.kept[: number - 1]] == [e.pair for e in old[: number - 1]]
    assert {e.pair for e in revision.kept} | {e.pair for e in revision.dropped} == {
        e.pair for e in old
    }
    for event in revision.dropped:
        assert session.links.implied(event.left, event.right) is not None
    session.undo()
    assert visible(session) == before
    session.redo()
    assert session.events == revision.kept


@given(partitions(), st.integers(0, 2**16))
def test_with_pure_super_instances_and_the_truth_every_row_is_right(thorough, partition, seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, partition.n_super_instances)[partition.assignment]
    session = Session(thorough(partition))
    while (question := session.ask()) is not None:
        same = truth[question.left] == truth[question.right]
        session.tell(Answer.SAME if same else Answer.DIFFERENT)
    labels = session.labels
    for i, j in combinations(range(partition.n_rows), 2):
        assert (labels[i] == labels[j]) == (truth[i] == truth[j])


@given(partitions(), st.integers(0, 2**16))
def test_only_representatives_are_asked_about(strategy, partition, seed):
    rng = np.random.default_rng(seed)
    session = Session(strategy(partition))
    allowed = set(partition.representatives.tolist())
    while (question := session.ask()) is not None:
        assert {question.left, question.right} <= allowed
        session.tell([Answer.SAME, Answer.DIFFERENT][rng.integers(2)])


@given(partitions())
def test_if_the_person_is_never_sure_every_pair_is_asked_once_and_stays_open(thorough, partition):
    session = Session(thorough(partition))
    n = partition.n_super_instances
    n_asked = 0
    while session.ask() is not None:
        session.skip()
        n_asked += 1
        assert n_asked <= n * (n - 1) // 2
    assert session.progress.unsure == n_asked
    if not isinstance(session.strategy, Refine):  # which guesses what nobody is sure of
        assert session.progress.n_groups == n
    assert len(session.open_pairs) == n * (n - 1) // 2


@settings(max_examples=30)
@given(partitions(), st.lists(YES_NO, min_size=28, max_size=28), st.integers(1, 6))
def test_checks_are_settled_pairs_that_were_not_asked(strategy, partition, answers, n):
    session = answered(Session(strategy(partition)), answers)
    checks = session.audit(n)
    asked = {event.pair for event in session.events}
    assert len(checks) == min(n, session.progress.settled_for_free)
    assert len({(c.left, c.right) for c in checks}) == len(checks)
    for check in checks:
        assert (check.left, check.right) not in asked
        assert session.links.implied(check.left, check.right) is check.expected
        assert check.chain == session.links.explain(check.left, check.right)
    assert session.audit(n) == checks
