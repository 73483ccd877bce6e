"""The laws of strategies: what every session promises, whatever it asks and whoever answers."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from hypothesis import strategies as st

from likewise.core.answers import Answer, Link, Query
from likewise.core.session import Session
from likewise.errors import InputError
from likewise.oracles import LabelOracle, run
from likewise.testing.logs import LogLaws
from likewise.testing.states import (
    check_labels,
    groups_at_random,
    is_same_grouping,
    is_settled,
    pairs_of,
    rows_of,
    states,
    visible,
)
from likewise.testing.walks import (
    ANYTHING,
    SAYINGS,
    YES_NO,
    Case,
    Move,
    cases,
    law,
    permuted_partition,
    reply,
    walked,
    walks,
)


class StrategyLaws(LogLaws):
    """The laws of strategies, one test method each.

    A subclass says how to make the strategy: by `strategy` if it has `Strategy.from_rows`, or else
    by `make`.

    Attributes
    ----------
    strategy : type of Strategy
        The strategy.
    stops_early : bool
        Whether it may stop asking before all askable rows are settled, as with a budget. Then it
        need not find the truth.
    """

    stops_early: bool = False

    # -- asking ----------------------------------------------------------------------------------

    @law(case=cases(), walk=walks(*ANYTHING))
    def test_asking_again_gives_the_same_question(self, case: Case, walk: list[Move]) -> None:
        session = Session(self.make(case))
        for _ in states(session, case, walk):
            strategy = session.strategy
            assert session.ask() == session.ask()
            assert strategy.next_choice() == strategy.next_choice()
            assert strategy.next_pair() == strategy.next_pair()

    @law(case=cases(), walk=walks(*SAYINGS, max_size=30))
    def test_nothing_is_asked_that_is_implied_or_was_asked(
        self, case: Case, walk: list[Move]
    ) -> None:
        session = Session(self.make(case))
        for _ in states(session, case, walk):
            question = session.ask()
            if question is None:
                continue
            said = {link.pair for gesture in session.events for link in gesture.links}
            pairs = pairs_of(question)
            assert not pairs <= said, "it was asked before"
            is_implied = any(session.links.implied(*pair) is not None for pair in pairs)
            assert question.is_check == is_implied
            assert not is_implied or session.strategy.weighs_answers, "others imply the answer"

    @law(case=cases(), walk=walks(*SAYINGS, max_size=20))
    def test_only_rows_that_may_be_shown_are_asked_about(
        self, case: Case, walk: list[Move]
    ) -> None:
        session = Session(self.make(case))
        for _ in states(session, case, walk):
            askable = set(session.strategy.askable().tolist())
            assert askable <= set(case.train.tolist())
            question = session.ask()
            if question is not None:
                assert rows_of(question) <= askable
                assert all(left != right for left, right in pairs_of(question))
            for check in session.audit(3):
                assert {check.left, check.right} <= askable

    @law(case=cases(), walk=walks(*ANYTHING), answer=st.sampled_from(Answer))
    def test_peeking_shows_the_question_that_follows_and_changes_nothing(
        self, case: Case, walk: list[Move], answer: Answer
    ) -> None:
        session = walked(Session(self.make(case)), case, walk)
        before = visible(session)
        question = session.ask()
        if question is None:
            assert session.peek(answer) is None
            return
        said: Any = answer
        if not isinstance(question, Query):
            said = {Answer.SAME: 0, Answer.DIFFERENT: None}.get(answer, answer)
        peeked = session.peek(said)
        assert visible(session) == before
        reply(session, question, answer)
        assert session.ask() == peeked

    # -- progress --------------------------------------------------------------------------------

    @law(case=cases(), walk=walks("give", "revise", "undo", "redo", max_size=30))
    def test_the_bound_falls_with_every_yes_or_no_and_never_grows(
        self, case: Case, walk: list[Move]
    ) -> None:
        session = Session(self.make(case))
        for move in walk:
            before, is_open = session.progress, session.ask() is not None
            assert 0 <= before.estimate <= before.at_most
            assert (before.at_most > 0) == is_open
            if move.do(session, case) and move.kind == "answer":
                assert session.progress.at_most <= before.at_most - move.answer.is_link

    @law(case=cases(), walk=walks(max_size=30), rest=st.sampled_from(YES_NO))
    def test_the_bound_is_kept(self, case: Case, walk: list[Move], rest: Answer) -> None:
        session = Session(self.make(case))
        bounds = []
        for _ in states(session, case, walk):
            progress = session.progress
            bounds.append(progress.answered + progress.at_most)
        while (question := session.ask()) is not None:
            reply(session, question, rest)
        assert all(session.progress.answered <= bound for bound in bounds)

    @law(
        case=cases(),
        walk=walks("give", "revise", answers=YES_NO, max_size=20),
        rest=st.sampled_from(YES_NO),
    )
    def test_when_done_everything_fits_together(
        self, case: Case, walk: list[Move], rest: Answer
    ) -> None:
        session = walked(Session(self.make(case)), case, walk)
        while (question := session.ask()) is not None:
            reply(session, question, rest)
        assert session.is_done
        assert session.progress.at_most == session.progress.estimate == 0
        assert session.labels_guess.tolist() == session.labels.tolist()
        assert session.open_pairs == []
        check_labels(session)

    @law(case=cases())
    def test_a_person_who_is_never_sure_decides_nothing(self, case: Case) -> None:
        session = Session(self.make(case))
        n = len(session.strategy.askable())
        while (question := session.ask()) is not None:
            reply(session, question, Answer.UNSURE)
            assert len(session.events) <= n * (n - 1) // 2
        assert session.progress.unsure == len(session.events)
        assert session.progress.answered == session.progress.settled_for_free == 0
        assert len(session.links) == 0
        assert bool(session.open_pairs) == bool(session.events)

    # -- labels ----------------------------------------------------------------------------------

    @law(case=cases(), walk=walks(*SAYINGS, max_size=20))
    def test_labels_respect_every_answer_that_was_not_overruled(
        self, case: Case, walk: list[Move]
    ) -> None:
        session = Session(self.make(case))
        for _ in states(session, case, walk):
            check_labels(session)

    @law(case=cases(), seed=st.integers(0, 2**16))
    def test_with_pure_small_groups_and_the_truth_every_row_is_right(
        self, case: Case, seed: int
    ) -> None:
        session = Session(self.make(case))
        partition = session.strategy.partition
        owners = groups_at_random(partition.n_super_instances, seed)
        truth = owners[partition.assignment]
        run(session, LabelOracle(truth))
        for left, right in combinations(session.strategy.askable().tolist(), 2):
            right_answer = Answer.SAME if truth[left] == truth[right] else Answer.DIFFERENT
            assert session.links.implied(left, right) in (None, right_answer)
        if is_settled(session):
            is_askable = np.isin(partition.representatives, session.strategy.askable())
            rows = np.flatnonzero(is_askable[partition.assignment])
            assert is_same_grouping(session.labels[rows], truth[rows])
        else:
            assert self.stops_early

    @law(case=cases(ties=False), seed=st.integers(0, 2**16), data=st.data())
    def test_permuting_the_rows_permutes_the_labels(
        self, case: Case, seed: int, data: st.DataObject
    ) -> None:
        order = np.array(data.draw(st.permutations(range(len(case.X)))), dtype=np.intp)
        truth = groups_at_random(len(case.X), seed)
        strategy = self.make(case)
        there = case.permuted(order)
        try:
            partition = permuted_partition(strategy.partition, order)
            permuted = strategy.on(partition, askable=there.train)
        except InputError:
            permuted = self.make(there)
        here = run(Session(strategy), LabelOracle(truth))
        then = run(Session(permuted), LabelOracle(truth[order]))
        if is_settled(here) and is_settled(then):
            assert is_same_grouping(then.labels, here.labels[order])
        else:
            assert self.stops_early

    # -- what a strategy says about itself -------------------------------------------------------

    @law(case=cases(), walk=walks(*SAYINGS))
    def test_what_is_said_about_rows_fits_together(self, case: Case, walk: list[Move]) -> None:
        session = Session(self.make(case))
        for _ in states(session, case, walk):
            strategy, labels = session.strategy, session.labels
            assert strategy.n_rows == strategy.partition.n_rows == len(case.X)
            assert strategy.n_groups == len(np.unique(labels))
            assert 1 <= strategy.n_parts <= strategy.partition.n_super_instances
            assert strategy.why()
            doubts = strategy.doubts()
            if doubts is not None:
                assert doubts.shape == (len(case.X),)
                assert ((doubts >= 0) & (doubts <= 1)).all()
            found = session.completeness
            if found is not None:
                assert 0 <= found.at_least <= found.estimate <= 1
            rows, groups = strategy.examples()
            assert len(np.unique(rows)) == len(rows) == len(groups)
            assert set(rows.tolist()) <= set(strategy.partition.representatives.tolist())
            assert np.array_equal(np.unique(groups), np.arange(len(np.unique(groups))))
            for suspect in session.suspects:
                gesture = session.events[suspect.number - 1]
                assert Link(suspect.left, suspect.right, suspect.answer) in gesture.links
                assert 0 <= suspect.credibility <= 1

    @law(case=cases(), walk=walks(answers=YES_NO, max_size=20), n=st.integers(1, 6))
    def test_checks_are_about_what_was_settled_for_free(
        self, case: Case, walk: list[Move], n: int
    ) -> None:
        session = walked(Session(self.make(case)), case, walk)
        checks = session.audit(n)
        said = {link.pair for gesture in session.events for link in gesture.links}
        assert len(checks) == min(n, session.progress.settled_for_free)
        assert len({(check.left, check.right) for check in checks}) == len(checks)
        for check in checks:
            assert (check.left, check.right) not in said
            assert session.links.implied(check.left, check.right) is check.expected
            assert check.chain == session.links.explain(check.left, check.right)
        assert session.audit(n) == checks
