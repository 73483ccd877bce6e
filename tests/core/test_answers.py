import pytest

from likewise import Answer
from likewise.core.answers import as_answer
from likewise.errors import AnswerError


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        (True, Answer.SAME),
        (1, Answer.SAME),
        (False, Answer.DIFFERENT),
        ("different", Answer.DIFFERENT),
        ("unsure", Answer.UNSURE),
        (Answer.NONE, Answer.DIFFERENT),
    ],
)
def test_values_that_stand_for_an_answer(value, answer):
    assert as_answer(value) is answer


def test_nothing_is_no_answer():
    with pytest.raises(AnswerError, match=r"None is not an answer: use .* Answer\.UNSURE"):
        as_answer(None)
