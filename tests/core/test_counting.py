"""The one rule for answers that contradict each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise import Answer, Gesture, Link, Session
from likewise.core.answered import Answers
from likewise.core.journal import Revised
from likewise.core.partition import singletons
from likewise.errors import ContradictionError, InputError
from likewise.strategies import ClosestFirst

SAME, DIFFERENT, UNSURE = Answer
N_ROWS = 6


def gesture(*links, source="asked"):
    return Gesture(0, tuple(Link(*link) for link in links), source)


def counted(*gestures):
    """Return what counts after some gestures, and those dropped by the last."""
    what = Answers(N_ROWS)
    dropped: list[Gesture] = []
    for one in gestures:
        dropped = what.take(one)
    return what, [x.links for x in dropped]


def links_of(what):
    return [(*link.pair, link.answer) for g in what.gestures for link in g.links]


def session(n=N_ROWS):
    return Session(ClosestFirst(singletons(np.arange(float(n))[:, None] ** 1.5)))


@pytest.mark.parametrize("certain", ["known", "mended"])
def test_a_certain_link_is_never_overruled_by_an_answer(certain):
    sure, asked = gesture((0, 1, SAME), source=certain), gesture((0, 1, DIFFERENT))
    for order in ((sure, asked), (asked, sure)):
        what, _ = counted(*order)
        assert links_of(what) == [(0, 1, SAME)]
        assert what.gestures[0].source == certain


@pytest.mark.parametrize("certain", ["known", "mended"])
def test_a_certain_link_wins_also_by_what_it_implies(certain):
    what, dropped = counted(
        gesture((1, 2, SAME)),
        gesture((0, 1, SAME), source=certain),
        gesture((0, 2, DIFFERENT), source=certain),
    )
    assert links_of(what) == [(0, 1, SAME), (0, 2, DIFFERENT)]
    assert dropped == [(Link(1, 2, SAME),)]


def test_among_certain_links_the_newest_wins():
    what, dropped = counted(
        gesture((0, 1, SAME), source="known"),
        gesture((2, 3, SAME), source="mended"),
        gesture((0, 1, DIFFERENT), source="mended"),
    )
    assert links_of(what) == [(2, 3, SAME), (0, 1, DIFFERENT)]
    assert dropped == [(Link(0, 1, SAME),)]


def test_among_answers_the_newest_wins_and_the_others_stand_in_their_order():
    what, dropped = counted(
        gesture((0, 1, SAME)), gesture((1, 2, SAME)), gesture((0, 2, DIFFERENT))
    )
    assert links_of(what) == [(0, 1, SAME), (0, 2, DIFFERENT)]
    assert dropped == [(Link(1, 2, SAME),)]


def test_what_contradicts_loses_just_those_links():
    what, dropped = counted(
        gesture((0, 1, SAME), (0, 2, SAME)),
        gesture((4, 5, UNSURE)),
        gesture((0, 1, DIFFERENT), source="mended"),
    )
    assert links_of(what) == [(0, 2, SAME), (4, 5, UNSURE), (0, 1, DIFFERENT)]
    assert dropped == []


def test_gestures_that_count_are_numbered_from_one():
    what, _ = counted(
        gesture((0, 1, SAME)), gesture((2, 3, SAME)), gesture((0, 1, DIFFERENT), source="mended")
    )
    assert [g.number for g in what.gestures] == [1, 2]


def test_two_places_that_are_known_to_differ_cannot_both_be_chosen():
    what, _ = counted(gesture((0, 1, DIFFERENT)))
    with pytest.raises(ContradictionError):
        what.take(gesture((5, 0, SAME), (5, 1, SAME)), is_strict=True)
    assert links_of(what) == [(0, 1, DIFFERENT)]
    assert what.links.implied(5, 0) is None
    what.take(gesture((5, 0, SAME), (5, 2, SAME)), is_strict=True)
    assert len(what.gestures) == 2


def test_two_links_of_a_gesture_may_contradict_each_other_by_way_of_what_is_known():
    what, _ = counted(gesture((0, 1, SAME)))
    with pytest.raises(ContradictionError):
        what.take(gesture((5, 0, SAME), (5, 1, DIFFERENT)), is_strict=True)


def test_a_link_that_cannot_be_counted_leaves_no_trace():
    what, _ = counted(gesture((0, 1, SAME)))
    with pytest.raises(InputError, match="paired with itself"):
        what.take(gesture((2, 3, SAME), (4, 4, DIFFERENT)))
    assert links_of(what) == [(0, 1, SAME)]
    assert what.links.implied(2, 3) is None


# -- what strategies compute of them -------------------------------------------------------------


def test_what_is_computed_once_is_computed_again_after_the_next_answer():
    what, made = Answers(N_ROWS), []

    def make():
        made.append(len(what.gestures))
        return made[-1]

    assert [what.once("a", make), what.once("a", make)] == [0, 0]
    what.take(gesture((0, 1, SAME)))
    assert [what.once("a", make), what.once("a", make)] == [1, 1]
    assert made == [0, 1]


def test_a_search_goes_on_while_answers_are_added_and_begins_anew_after_others():
    what = Answers(N_ROWS)

    def go_on(before):
        return (*(before or ()), len(what.gestures))

    assert what.onward("a", go_on) == what.onward("a", go_on) == (0,)
    what.take(gesture((0, 1, SAME)))
    assert what.onward("a", go_on) == (0, 1)
    assert what.plus(gesture((1, 2, SAME))).onward("a", go_on) == (0, 1, 1)
    what.take(gesture((0, 1, DIFFERENT)))
    assert what.onward("a", go_on) == (1,)


def test_one_answer_more_leaves_the_others_as_they_are():
    what, _ = counted(gesture((0, 1, SAME)))
    more = what.plus(gesture((1, 2, SAME)))
    assert more.links.implied(0, 2) is SAME
    assert what.links.implied(0, 2) is None
    assert links_of(what) == [(0, 1, SAME)]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 4),
            st.integers(0, 4),
            st.sampled_from([SAME, DIFFERENT]),
            st.sampled_from(["asked", "known", "mended"]),
        ).filter(lambda link: link[0] != link[1]),
        max_size=12,
    )
)
def test_what_counts_fits_together_and_the_newest_certain_link_always_counts(gestures):
    what = Answers(5)
    for left, right, answer, source in gestures:
        what.take(gesture((left, right, answer), source=source))
        Answers(5).take(gesture(*links_of(what)), is_strict=True)
        if source != "asked":
            assert (min(left, right), max(left, right), answer) in links_of(what)


# -- changing an answer --------------------------------------------------------------------------


def test_a_revised_answer_wins_over_answers_before_and_after_it():
    what, dropped = counted(
        gesture((0, 1, SAME)),
        gesture((1, 2, SAME)),
        gesture((0, 2, SAME)),
        gesture((3, 4, SAME)),
        Revised(2, (Link(1, 2, DIFFERENT),)),
    )
    assert links_of(what) == [(0, 1, SAME), (1, 2, DIFFERENT), (3, 4, SAME)]
    assert dropped == [(Link(0, 2, SAME),)]


def test_revising_keeps_answers_that_say_nothing_new():
    known = session()
    for left, right in ((0, 1), (1, 2), (0, 2), (3, 4)):
        known.add_link(left, right, "same")
    revision = known.revise(4, "different")
    assert [g.links[0].pair for g in revision.kept] == [(0, 1), (1, 2), (0, 2), (3, 4)]
    assert revision.dropped == ()


@pytest.mark.parametrize("pairs", [[(1, 2), (0, 2)], [(1, 0)]])
def test_an_answer_cannot_be_revised_against_a_certain_link(pairs):
    known = session()
    known.tell("same")
    for pair in pairs:
        known.add_link(*pair, "same")
    before = known.to_dict()
    for attempt in (known.preview, known.revise):
        with pytest.raises(ContradictionError, match="0 different 1 contradicts"):
            attempt(1, "different")
    assert known.to_dict() == before


def test_a_certain_link_can_be_revised():
    known = session()
    known.add_link(0, 1, "same")
    known.add_link(1, 2, "same")
    known.revise(1, "different")
    assert known.links.implied(0, 2) is DIFFERENT


def test_what_said_several_things_without_groups_is_not_revised():
    known = session()
    known.add_links([Link(0, 1, SAME), Link(2, 3, SAME)])
    with pytest.raises(InputError, match="answer 1 consists of 2 links"):
        known.revise(1, "same")


def test_mending_takes_parts_of_an_answer_away_and_undo_brings_them_back():
    known = session()
    known.add_links([Link(0, 1, SAME), Link(0, 2, SAME)])
    known.add_links([Link(0, 1, DIFFERENT)], overrules=True)
    assert [link.pair for g in known.events for link in g.links] == [(0, 2), (0, 1)]
    assert known.links.implied(0, 2) is SAME
    known.undo()
    assert known.links.implied(0, 1) is SAME
