"""The laws of the log: undo, redo, corrections, and what is saved."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from hypothesis import assume
from hypothesis import strategies as st

from likewise.core.answers import Answer, Link
from likewise.core.links import LinkGraph
from likewise.core.session import Session
from likewise.core.strategy import Strategy
from likewise.errors import ContradictionError, LikewiseError
from likewise.testing.states import opposite, said_links, states, visible
from likewise.testing.walks import ANYTHING, DEEDS, Case, Move, cases, law, walked, walks


class LogLaws:
    """What holds of the log of every session. The suite of strategies contains it."""

    strategy: type[Strategy]

    def make(self, case: Case) -> Strategy:
        """Return a new strategy for some rows, the same for the same rows.

        The groups that the tests look for are at most three.
        """
        return self.strategy.from_rows(case.X, train_indices=case.train, seed=case.seed)

    # -- going back ------------------------------------------------------------------------------

    @law(case=cases(), walk=walks(*DEEDS))
    def test_undo_gives_the_state_before_and_redo_the_state_after(
        self, case: Case, walk: list[Move]
    ) -> None:
        session = Session(self.make(case))
        seen = [visible(session) for _ in states(session, case, walk)]
        for state in reversed(seen[:-1]):
            assert session.undo() is not None
            assert visible(session) == state
        assert session.undo() is None
        for state in seen[1:]:
            assert session.redo() is not None
            assert visible(session) == state
        assert session.redo() is None

    @law(case=cases(), walk=walks("give", "rebuild"), last=st.data())
    def test_revising_keeps_every_later_answer_that_still_says_something(
        self, case: Case, walk: list[Move], last: st.DataObject
    ) -> None:
        session = walked(Session(self.make(case)), case, walk)
        assume(session.events)
        before, old = visible(session), session.events
        number = last.draw(st.integers(1, len(old)))
        move = Move("revise", 0, last.draw(st.integers(0, 9)), last.draw(st.sampled_from(Answer)))
        said = move.said_instead(session, number)
        try:
            foretold = session.preview(number, said)
        except ContradictionError:
            assert visible(session) == before
            return
        assert visible(session) == before
        revision = session.revise(number, said)
        assert revision == foretold
        assert session.events == revision.kept
        assert revision.kept[: number - 1] == old[: number - 1]
        links = said_links(old[number - 1], said)
        now = [replace(g, links=links) if g.number == number else g for g in old]
        left = Counter(g.links for g in (*revision.kept, *revision.dropped))
        assert left == Counter(g.links for g in now)
        for gesture in revision.dropped:
            known = [session.links.implied(*link.pair) for link in gesture.links]
            is_old_news = all(answer is not None for answer in known)
            is_refuted = not fit_together([*session.links, *gesture.links])
            assert is_old_news or is_refuted

    @law(case=cases(), walk=walks(*ANYTHING))
    def test_what_fails_leaves_no_trace(self, case: Case, walk: list[Move]) -> None:
        session = walked(Session(self.make(case)), case, walk)
        before, n_rows = visible(session), len(case.X)
        clash = [Link(g.left, g.right, opposite(g.answer)) for g in session.links]
        deeds: list[Callable[[], object]] = [
            lambda: session.tell("perhaps"),
            lambda: session.tell("same", query=len(session.events) + 2),
            lambda: session.choose(99),
            lambda: session.give(0, n_rows, "same"),
            lambda: session.give_links([]),
            lambda: session.revise(len(session.events) + 1, "same"),
            lambda: session.name({n_rows: "none"}),
        ]
        if not session.strategy.weighs_answers:
            deeds.append(lambda: session.give_links(clash))
        for deed in deeds:
            try:
                deed()
            except LikewiseError:
                assert visible(session) == before
            else:
                raise AssertionError("it should have failed")

    # -- the log is the only truth ---------------------------------------------------------------

    @law(case=cases(), walk=walks(*ANYTHING))
    def test_replaying_the_log_gives_the_state(self, case: Case, walk: list[Move]) -> None:
        session = walked(Session(self.make(case)), case, walk)
        again = Session(self.make(case))
        for entry in session.to_dict()["log"]:
            again.apply(entry)
        assert visible(again) == visible(session)

    @law(case=cases(), walk=walks(*ANYTHING))
    def test_a_saved_session_is_the_session(self, case: Case, walk: list[Move]) -> None:
        session = walked(Session(self.make(case), digest="of these rows"), case, walk)
        plain = json.loads(json.dumps(session.to_dict()))
        loaded = Session.from_dict(plain, X=case.X, digest="of these rows")
        assert loaded == session
        assert loaded.to_dict() == plain
        assert visible(loaded) == visible(session)
        assert visible(pickle.loads(pickle.dumps(session))) == visible(session)
        while session.redo() is not None:
            loaded.redo()
            assert visible(loaded) == visible(session)


def fit_together(links: Iterable[Link]) -> bool:
    """Return whether no links contradict others."""
    some = [link for link in links if link.answer.is_link]
    graph = LinkGraph(1 + max((max(link.pair) for link in some), default=0))
    try:
        for link in some:
            graph.add(link.left, link.right, link.answer)
    except ContradictionError:
        return False
    return True
