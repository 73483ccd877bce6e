"""The laws of strategies: what every session promises, whatever it asks and whoever answers."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from likewise.core.answered import Answers
from likewise.core.answers import Answer, Link
from likewise.core.session import Session
from likewise.core.strategy import Strategy
from likewise.errors import ContradictionError, InputError, LikewiseError
from likewise.oracles import LabelOracle, run
from likewise.testing.states import (
    certain_links,
    check_labels,
    groups_at_random,
    is_same_grouping,
    is_settled,
    rows_of,
    visible,
)
from likewise.testing.walks import (
    ANYTHING,
    DEEDS,
    SAYINGS,
    SEEDS,
    YES_NO,
    Case,
    Move,
    Walk,
    cases,
    choice_of,
    endless,
    law,
    refuses_growth,
    reply,
    rows_that_join,
    shown,
    states,
    walked,
    walks,
)


class StrategyLaws:
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
    splits_when_unsure : bool
        Whether *not sure* may split a group, as in methods that split first and then ask what to
        merge.
    offers_all_groups : bool
        Whether a question that is no pair offers every group that the row may belong to. Then *none
        of these* makes a new group, at once and for good.
    """

    strategy: type[Strategy]
    stops_early: bool = False
    splits_when_unsure: bool = False
    offers_all_groups: bool = False

    def make(self, case: Case) -> Strategy:
        """Return a new strategy for some rows, the same for the same rows.

        The groups that the tests look for are at most three.
        """
        return self.strategy.from_rows(case.X, train_indices=case.train, seed=case.seed)

    # -- asking ----------------------------------------------------------------------------------

    @law(case=cases(), walk=walks(*ANYTHING))
    def test_asking_again_gives_the_same_question(self, case: Case, walk: Walk) -> None:
        for session in states(self.make(case), case, walk):
            strategy, answers = session.strategy, session.answers
            assert session.ask() == session.ask()
            assert strategy.next_question(answers) == strategy.next_question(answers)
            again = Answers(session.n_first_rows, session.log)
            assert strategy.next_question(again) == strategy.next_question(answers)

    @law(case=cases(), walk=walks(*SAYINGS, max_size=30))
    def test_nothing_is_asked_that_is_implied_or_was_asked(self, case: Case, walk: Walk) -> None:
        for session in states(self.make(case), case, walk):
            question = session.ask()
            if question is None:
                continue
            answered = {link.pair for gesture in session.events for link in gesture.links}
            pairs = {link.pair for link in question.links(Answer.UNSURE)}
            assert not pairs <= answered, "it was asked before"
            is_implied = any(session.links.implied(*pair) is not None for pair in pairs)
            assert not is_implied, "others imply the answer"

    @law(case=cases(), walk=walks(*SAYINGS, max_size=20))
    def test_only_rows_that_may_be_shown_are_asked_about(self, case: Case, walk: Walk) -> None:
        for session in states(self.make(case), case, walk):
            askable = set(session.askable.tolist())
            assert askable <= shown(session, case)
            question = session.ask()
            if question is not None:
                assert rows_of(question) <= askable
                assert all(link.left != link.right for link in question.links(Answer.UNSURE))
            for check in session.audit(3):
                assert {check.left, check.right} <= askable

    @law(case=cases(), walk=walks("link", max_size=30))
    def test_none_of_these_makes_a_new_group_at_once_and_for_good(
        self, case: Case, walk: Walk
    ) -> None:
        if not self.offers_all_groups:
            return
        session, firsts = endless(self.make(case)), set[int]()
        for move in walk:
            question, n_before = session.ask(), len(session.events)
            move.do(session, case)
            if question is None or session.events[n_before:][:1] == ():
                continue
            is_none = move.kind == "answer" and move.answer is Answer.DIFFERENT
            if is_none and not question.is_pair:
                firsts.add(question.row)
            question = session.ask()
            if question is None or question.is_pair:
                continue
            find, shown = session.links.find, {g[0] for g in question.groups}
            offered = {find(row) for row in shown} | {find(question.row)}
            for row in firsts:
                is_open = session.answers.is_open(question.row, row)
                unsure = (find(a) for pair in session.answers.unsure for a in pair)
                if is_open and find(row) not in {*offered, *unsure}:
                    raise AssertionError(f"the group of row {row} is not offered")

    @law(case=cases(), walk=walks(*ANYTHING), answer=st.sampled_from(Answer))
    def test_peeking_shows_the_question_that_follows_and_changes_nothing(
        self, case: Case, walk: Walk, answer: Answer
    ) -> None:
        session = walked(self.make(case), case, walk)
        before = visible(session)
        question = session.ask()
        if question is None:
            assert session.peek(0) is None
            return
        peeked = session.peek(choice_of(len(question.groups), answer, 0))
        assert visible(session) == before
        reply(session, question, answer)
        assert session.ask() == peeked

    @law(
        case=cases(),
        walk=walks(*SAYINGS),
        n=st.integers(2, 6),
        says=st.lists(st.tuples(SEEDS, st.sampled_from(Answer)), min_size=6, max_size=6),
    )
    def test_several_questions_are_answered_in_any_order(
        self, case: Case, walk: Walk, n: int, says: list[tuple[int, Answer]]
    ) -> None:
        session = walked(self.make(case), case, walk)
        before, many = visible(session), session.ask_many(n)
        assert many[:1] == [question for question in [session.ask()] if question is not None]
        assert session.ask_many(n) == many
        assert visible(session) == before
        assert len({question.number for question in many}) == len(many) <= n
        pairs = [frozenset(link.pair for link in q.links(Answer.UNSURE)) for q in many]
        assert len(set(pairs)) == len(pairs), "one was asked twice"
        rows = [question.row for question in many if not question.is_pair]
        assert len(set(rows)) == len(rows), "two are about the same row"
        assert all(rows_of(question).isdisjoint(session.removed) for question in many)
        for seed, answer in says[: len(many)]:
            question = many.pop(seed % len(many))
            n_asked, is_settled_now = session.n_asked, session.is_settled(question)
            gesture = session.choose(
                choice_of(len(question.groups), answer, seed), question=question
            )
            assert gesture.source == ("extra" if is_settled_now else "asked")
            assert session.n_asked == n_asked + (not is_settled_now)
            check_labels(session)
        again = endless(self.make(case))
        for entry in session.to_dict()["log"]:
            again.apply(entry)
        assert again.labels.tolist() == session.labels.tolist()

    # -- progress --------------------------------------------------------------------------------

    @law(case=cases(), walk=walks("link", "revise", "undo", "redo", max_size=30))
    def test_the_bound_falls_with_every_yes_or_no_and_never_grows(
        self, case: Case, walk: Walk
    ) -> None:
        session = endless(self.make(case))
        for move in walk:
            before, is_open = session.progress, session.ask() is not None
            assert before.estimate is None or 0 <= before.estimate <= before.at_most
            assert (before.at_most > 0) == is_open
            if move.do(session, case) and move.kind == "answer":
                assert session.progress.at_most <= before.at_most - move.answer.is_link

    @law(case=cases(), walk=walks(max_size=30), rest=st.sampled_from(YES_NO))
    def test_the_bound_is_kept(self, case: Case, walk: Walk, rest: Answer) -> None:
        bounds = []
        for session in states(self.make(case), case, walk):
            progress = session.progress
            bounds.append(progress.answered + progress.at_most)
        while (question := session.ask()) is not None:
            reply(session, question, rest)
        assert all(session.progress.answered <= bound for bound in bounds)

    @law(
        case=cases(),
        walk=walks("link", "revise", answers=YES_NO, max_size=20),
        rest=st.sampled_from(YES_NO),
    )
    def test_when_done_everything_fits_together(self, case: Case, walk: Walk, rest: Answer) -> None:
        session = walked(self.make(case), case, walk)
        while (question := session.ask()) is not None:
            reply(session, question, rest)
        assert session.is_done
        assert session.progress.at_most == session.progress.estimate == 0
        assert session.labels_guess.tolist() == session.labels.tolist()
        assert session.open_pairs == []
        check_labels(session)

    @law(case=cases())
    def test_a_person_who_is_never_sure_decides_nothing(self, case: Case) -> None:
        session = endless(self.make(case))
        n, n_groups = len(session.askable), session.n_groups
        while (question := session.ask()) is not None:
            reply(session, question, Answer.UNSURE)
            assert len(session.events) <= n * (n - 1) // 2
            if not self.splits_when_unsure:
                assert session.n_groups == n_groups, "not sure made a group"
        assert session.progress.unsure == len(session.events)
        assert session.progress.answered == session.progress.settled_for_free == 0
        assert len(session.links) == 0
        assert bool(session.open_pairs) == bool(session.events)

    # -- labels ----------------------------------------------------------------------------------

    @law(case=cases(), walk=walks(*SAYINGS, max_size=20))
    def test_labels_respect_every_answer_that_was_not_overruled(
        self, case: Case, walk: Walk
    ) -> None:
        for session in states(self.make(case), case, walk):
            check_labels(session)

    @law(case=cases(), seed=SEEDS)
    def test_with_pure_small_groups_and_the_truth_every_row_is_right(
        self, case: Case, seed: int
    ) -> None:
        session = endless(self.make(case))
        partition = session.strategy.partition
        owners = groups_at_random(partition.n_super_instances, seed)
        truth = owners[partition.assignment]
        run(session, LabelOracle(truth))
        for left, right in combinations(session.askable.tolist(), 2):
            right_answer = Answer.SAME if truth[left] == truth[right] else Answer.DIFFERENT
            assert session.links.implied(left, right) in (None, right_answer)
        if is_settled(session):
            is_askable = np.isin(partition.representatives, session.askable)
            rows = np.flatnonzero(is_askable[partition.assignment])
            assert is_same_grouping(session.labels[rows], truth[rows])
        else:
            assert self.stops_early

    @law(case=cases(ties=False), seed=SEEDS, data=st.data())
    def test_permuting_the_rows_permutes_the_labels(
        self, case: Case, seed: int, data: st.DataObject
    ) -> None:
        order = np.array(data.draw(st.permutations(range(len(case.X)))), dtype=np.intp)
        truth = groups_at_random(len(case.X), seed)
        here = run(endless(self.make(case)), LabelOracle(truth))
        then = run(endless(self.make(case.permuted(order))), LabelOracle(truth[order]))
        if is_settled(here) and is_settled(then):
            assert is_same_grouping(then.labels, here.labels[order])
        else:
            assert self.stops_early

    # -- what a strategy says about itself -------------------------------------------------------

    @law(case=cases(), walk=walks(*SAYINGS))
    def test_what_is_said_about_rows_fits_together(self, case: Case, walk: Walk) -> None:
        for session in states(self.make(case), case, walk):
            strategy, labels = session.strategy, session.labels
            n_rows = len(labels)
            assert strategy.n_rows == strategy.partition.n_rows == n_rows >= len(case.X)
            assert session.n_groups == len(np.unique(np.delete(labels, sorted(session.removed))))
            doubts = session.assessment.doubts()
            if doubts is not None:
                assert doubts.shape == (n_rows,)
                assert ((doubts >= 0) & (doubts <= 1)).all()
            complete = session.completeness
            if complete is not None:
                assert 0 <= complete.at_least <= complete.estimate <= 1
            for suspect in session.suspects:
                gesture = session.events[suspect.number - 1]
                assert Link(suspect.left, suspect.right, suspect.answer) in gesture.links
                assert 0 <= suspect.credibility <= 1

    @law(case=cases(), walk=walks(answers=YES_NO, max_size=20), n=st.integers(1, 6))
    def test_checks_are_about_what_was_settled_for_free(
        self, case: Case, walk: Walk, n: int
    ) -> None:
        session = walked(self.make(case), case, walk)
        checks = session.audit(n)
        answered = {link.pair for gesture in session.events for link in gesture.links}
        assert len(checks) == min(n, session.progress.settled_for_free)
        assert len({(check.left, check.right) for check in checks}) == len(checks)
        for check in checks:
            assert (check.left, check.right) not in answered
            assert session.links.implied(check.left, check.right) is check.expected
            assert check.chain == session.links.explain(check.left, check.right)
        assert session.audit(n) == checks

    # -- going back ------------------------------------------------------------------------------

    @law(case=cases(), walk=walks(*DEEDS))
    def test_undo_gives_the_state_before_and_redo_the_state_after(
        self, case: Case, walk: Walk
    ) -> None:
        seen = []
        for session in states(self.make(case), case, walk):
            seen.append(visible(session))
        for state in reversed(seen[:-1]):
            assert session.undo() is not None
            assert visible(session) == state
        assert session.undo() is None
        for state in seen[1:]:
            assert session.redo() is not None
            assert visible(session) == state
        assert session.redo() is None

    @law(case=cases(), walk=walks("link", "mend", "rebuild"), last=st.data())
    def test_revising_keeps_every_answer_that_does_not_contradict_it(
        self, case: Case, walk: Walk, last: st.DataObject
    ) -> None:
        session = walked(self.make(case), case, walk)
        assume(session.events)
        before, old = visible(session), session.events
        number = last.draw(st.integers(1, len(old)))
        move = Move("revise", 0, last.draw(st.integers(0, 9)), last.draw(st.sampled_from(Answer)))
        instead = move.other_answer(session, number)
        try:
            preview = session.preview(number, instead)
        except (ContradictionError, InputError):
            assert visible(session) == before
            return
        assert visible(session) == before
        revision = session.revise(number, instead)
        assert revision == preview
        assert session.events == revision.kept
        assert len(revision.kept) + len(revision.dropped) == len(old)
        for gesture in revision.dropped:
            assert gesture.number != number
            assert all(
                session.links.implied(*link.pair) not in (None, link.answer)
                for link in gesture.links
            )

    # -- laws that hold whatever is said ---------------------------------------------------------

    @law(case=cases(), walk=walks(*ANYTHING, max_size=20))
    def test_a_certain_link_is_never_overruled(self, case: Case, walk: Walk) -> None:
        for session in states(self.make(case), case, walk):
            for link in certain_links(session):
                assert session.links.implied(*link.pair) is link.answer
                is_same = session.labels[link.left] == session.labels[link.right]
                assert is_same == (link.answer is Answer.SAME)

    @law(case=cases(), budget=st.integers(0, 6), more=st.integers(0, 3), walk=walks("undo", "redo"))
    def test_no_more_is_asked_than_the_budget_allows(
        self, case: Case, budget: int, more: int, walk: Walk
    ) -> None:
        session = Session(self.make(case), max_queries=budget)
        for move in walk:
            move.do(session, case)
            assert session.n_asked <= budget
            session = Session.from_dict(session.to_dict(), X=case.X)
        while (question := session.ask()) is not None:
            reply(session, question, Answer.DIFFERENT)
        assert session.n_asked <= budget
        session.extend(more)
        while (question := session.ask()) is not None:
            reply(session, question, Answer.UNSURE)
        assert session.n_asked <= budget + more

    @law(case=cases(), walk=walks(*ANYTHING))
    def test_what_fails_leaves_no_trace(self, case: Case, walk: Walk) -> None:
        session = walked(self.make(case), case, walk)
        before, n_rows = visible(session), session.strategy.n_rows
        opposite = {Answer.SAME: Answer.DIFFERENT, Answer.DIFFERENT: Answer.SAME}
        clash = [replace(link, answer=opposite[link.answer]) for link in session.links]
        deeds: list[Callable[[], object]] = [
            lambda: session.tell("perhaps"),
            lambda: session.choose(0, question=session.n_asked + 2),
            lambda: session.choose(99),
            lambda: session.add_link(0, n_rows, "same"),
            lambda: session.add_links([]),
            lambda: session.revise(len(session.events) + 1, "same"),
            lambda: session.name({n_rows: "none"}),
            lambda: session.grow([[0.0, np.nan]]),
            lambda: session.grow([[0.0, 1.0]], sample_ids=["of a session without ids"]),
            lambda: session.grow(removed=[n_rows]),
        ]
        deeds.append(lambda: session.add_links(clash))
        for deed in deeds:
            try:
                deed()
            except LikewiseError:
                assert visible(session) == before
            else:
                raise AssertionError("it should have failed")

    # -- growing ---------------------------------------------------------------------------------

    @law(case=cases(), walk=walks(*ANYTHING), seed=SEEDS, n=st.integers(1, 4))
    def test_growing_leaves_every_other_label(
        self, case: Case, walk: Walk, seed: int, n: int
    ) -> None:
        session = walked(self.make(case), case, walk)
        if refuses_growth(session):
            return
        before, n_rows = visible(session), session.strategy.n_rows
        assert session.grow(rows_that_join(seed, n)) == range(n_rows, n_rows + n)
        after = visible(session)
        for name in ("labels", "guess", "doubts"):
            assert before[name] is None or after[name][:n_rows] == before[name]
        for name in ("events", "links", "names", "marks", "checks"):
            assert after[name] == before[name]

    @law(case=cases(), walk=walks(*SAYINGS[:-2]), seed=SEEDS, n=st.integers(1, 4))
    def test_growing_then_answering_is_answering_then_growing(
        self, case: Case, walk: Walk, seed: int, n: int
    ) -> None:
        last, first = walked(self.make(case), case, walk), endless(self.make(case))
        if refuses_growth(first):
            return
        first.grow(rows_that_join(seed, n))
        for entry in last.to_dict()["log"]:
            first.apply(entry)
        last.grow(rows_that_join(seed, n))
        # Only the logs differ, in where the growth is.
        assert visible(first) | {"log": last.log} == visible(last)

    @law(case=cases(ties=False), walk=walks(*SAYINGS[:-2]), seed=SEEDS, n=st.integers(1, 3))
    def test_the_order_of_growth_does_not_matter(
        self, case: Case, walk: Walk, seed: int, n: int
    ) -> None:
        one, other = (walked(self.make(case), case, walk) for _ in range(2))
        if refuses_growth(one):
            return
        n_rows = len(case.X)
        new = rows_that_join(seed, n), rows_that_join(seed + 1, 2)
        for k in (0, 1):
            one.grow(new[k])
            other.grow(new[1 - k])
        order = [*range(n_rows), *range(n_rows + 2, n_rows + 2 + n), n_rows, n_rows + 1]
        assert is_same_grouping(one.labels, other.labels[order])

    @law(case=cases(), walk=walks(*SAYINGS, max_size=20), row=st.none() | SEEDS)
    def test_removed_rows_are_known_but_never_asked_about(
        self, case: Case, walk: Walk, row: int | None
    ) -> None:
        session = walked(self.make(case), case, walk)
        there = [r for r in range(session.strategy.n_rows) if r not in session.removed]
        if refuses_growth(session) or len(there) == 1:
            return
        removed, question = there[(row or 0) % len(there)], session.ask()
        if row is None and question is not None:
            # A row that differs from some groups, which the strategy means to ask about again.
            reply(session, question, Answer.DIFFERENT)
            removed = question.row
        known = session.links.closure()
        session.grow(removed=[removed])
        assert session.links.closure() == known
        while (question := session.ask()) is not None:
            assert rows_of(question).isdisjoint(session.removed)
            reply(session, question, Answer.DIFFERENT)
        check_labels(session)
        session.grow(returned=[removed])
        assert removed not in session.removed

    # -- the log is the only truth ---------------------------------------------------------------

    @law(case=cases(), walk=walks(*ANYTHING))
    def test_replaying_the_log_gives_the_state(self, case: Case, walk: Walk) -> None:
        session = walked(self.make(case), case, walk)
        again = endless(self.make(case))
        for entry in session.to_dict()["log"]:
            again.apply(entry)
        assert visible(again) == visible(session)

    @law(case=cases(), walk=walks(*ANYTHING))
    def test_a_saved_session_is_the_session(self, case: Case, walk: Walk) -> None:
        session = walked(self.make(case), case, walk, digest="of these rows")
        plain = json.loads(json.dumps(session.to_dict()))
        loaded = Session.from_dict(plain, X=case.X, digest="of these rows")
        assert loaded == session
        assert loaded.to_dict() == plain
        assert visible(loaded) == visible(session)
        assert visible(pickle.loads(pickle.dumps(session))) == visible(session)
        while session.redo() is not None:
            loaded.redo()
            assert visible(loaded) == visible(session)
