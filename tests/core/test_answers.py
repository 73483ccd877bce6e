import pytest

from likewise import Answer
from likewise.core.answers import as_answer


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        (True, Answer.SAME),
        (1, Answer.SAME),
        (False, Answer.DIFFERENT),
        ("different", Answer.DIFFERENT),
        (None, Answer.UNSURE),
    ],
)
def test_values_that_stand_for_an_answer(value, answer):
    assert as_answer(value) is answer
