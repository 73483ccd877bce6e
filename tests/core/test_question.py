"""The one kind of question: pairs, groups, answers and what is refused."""

from typing import Any

import pytest

from likewise import Answer, Link, Question
from likewise.errors import AnswerError, InputError

PAIR = Question(1, 7, ((2,),), "g", (("b",),))
CHOICE = Question(3, 7, ((2, 5), (3,)), "g", (("b", "e"), ("c",)))
SAME, DIFFERENT, UNSURE = Answer


def test_a_question_about_one_row_of_one_group_is_a_pair():
    assert PAIR.is_pair
    assert (PAIR.left, PAIR.right, PAIR.left_id, PAIR.right_id) == (7, 2, "g", "b")
    assert PAIR.about == "about rows 7 and 2"
    assert Question(1, 7, ((2,),)).right_id is None


@pytest.mark.parametrize("question", [CHOICE, Question(3, 7, ((2, 5),))], ids=["two", "one"])
@pytest.mark.parametrize("name", ["left", "right", "left_id", "right_id"])
def test_a_question_that_is_no_pair_has_no_sides(question, name):
    assert not question.is_pair
    with pytest.raises(InputError, match=r"question 3 is not a pair.*questions='pairs'"):
        getattr(question, name)


def test_every_group_makes_a_pair_with_its_ids():
    assert CHOICE.pair() == Question(3, 7, ((2,),), "g", (("b",),))
    assert CHOICE.pair(0, 1) == Question(3, 7, ((5,),), "g", (("e",),))
    assert CHOICE.pair(1) == Question(3, 7, ((3,),), "g", (("c",),))
    assert Question(1, 7, ((2,), (3,))).pair(1) == Question(1, 7, ((3,),))


def test_a_part_shows_some_of_the_rows_beside_the_same_row():
    assert CHOICE.pair(0, 1).is_part_of(CHOICE)
    assert CHOICE.is_part_of(CHOICE)
    assert not CHOICE.is_part_of(CHOICE.pair())
    assert not Question(3, 6, ((2,),)).is_part_of(CHOICE)
    assert not Question(3, 7, ((2,), (9,))).is_part_of(CHOICE)


def test_rows_of_a_sample_get_their_numbers_in_the_data():
    assert Question(1, 0, ((1, 2),), "a").renumbered([10, 20, 30]) == Question(
        1, 10, ((20, 30),), "a"
    )


@pytest.mark.parametrize(
    ("chosen", "links"),
    [
        (1, [(3, SAME)]),
        ([0, 1], [(2, SAME), (3, SAME)]),
        ((1,), [(3, SAME)]),
        (Answer.NONE, [(2, DIFFERENT), (3, DIFFERENT)]),
        (UNSURE, [(2, UNSURE), (3, UNSURE)]),
    ],
)
def test_the_first_row_of_a_group_stands_for_it(chosen, links):
    assert CHOICE.links(chosen) == tuple(Link(7, row, answer) for row, answer in links)


@pytest.mark.parametrize("chosen", [2, -1, True, 0.5, "same", SAME, [0, 9], []])
def test_what_is_no_place_is_named(chosen):
    with pytest.raises(AnswerError, match=r"Choose a place from 0 to 1,|no group was chosen"):
        CHOICE.links(chosen)


@pytest.mark.parametrize(
    ("answer", "chosen"),
    [(True, 0), (1, 0), ("same", 0), (False, Answer.NONE), (0, Answer.NONE), ("unsure", UNSURE)],
)
def test_with_one_group_yes_and_no_are_places(answer, chosen):
    assert PAIR.place(answer) == chosen


def test_with_several_groups_an_answer_is_a_place():
    assert CHOICE.place(1) == 1
    assert CHOICE.place(Answer.NONE) is Answer.NONE
    assert CHOICE.place(UNSURE) is UNSURE


def test_none_is_refused_and_both_meanings_are_named():
    nothing: Any = None
    for question in (PAIR, CHOICE):
        with pytest.raises(AnswerError, match=r"Answer\.NONE means none of these, Answer\.UNSURE"):
            question.links(nothing)


@pytest.mark.parametrize("value", [True, False, SAME])
def test_yes_or_no_to_one_group_is_for_tell(value):
    with pytest.raises(AnswerError, match=rf"session\.tell\({value}\)"):
        PAIR.links(value)


def test_what_is_no_answer_to_a_pair_is_named_with_the_question():
    with pytest.raises(AnswerError, match=r"1 \(about rows 7 and 2\): 'no' is not an answer"):
        PAIR.place("no")


def test_notebooks_show_it_with_names():
    assert "do these belong together?" in PAIR._repr_html_()
    assert "where does g (row 7) belong?" in CHOICE._repr_html_()
