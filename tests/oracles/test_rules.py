"""Rules: a function, a column, a pattern."""

import numpy as np
import pytest

from likewise import Answer, LabelOracle, Likewise, Question, run
from likewise.errors import InputError
from likewise.oracles import RuleOracle

EMAILS = ["a@b.c", "A@b.c ", "", None, float("nan"), "d@e.f"]
PARTS = ["screw M4", "Screw, M4", "screw M5", "a nut", "screw M4 x 20", None]


def test_an_equal_value_is_the_same_and_another_says_nothing():
    rule = RuleOracle.equal(EMAILS, "email")
    assert rule.about(0, 1) is True
    assert [rule.about(i, j) for i, j in ((0, 5), (2, 2), (2, 3), (4, 4), (0, 2))] == [None] * 5


def test_other_matches_of_a_pattern_are_different_and_equal_ones_say_nothing():
    rule = RuleOracle.pattern(PARTS, r"\d+", "digits")
    assert rule.about(0, 2) is rule.about(0, 4) is False
    assert [rule.about(i, j) for i, j in ((0, 1), (0, 3), (3, 5))] == [None] * 3


def test_of_several_groups_it_knows_one_or_none_or_is_silent():
    emails = RuleOracle.equal(EMAILS, "email")
    assert emails.answer(Question(1, 0, ((5,), (2, 1)))) == 1
    assert emails.answer(Question(1, 0, ((5,), (2,)))) is Answer.UNSURE
    assert emails.answer(Question(1, 0, ((1,),))) is Answer.SAME
    digits = RuleOracle.pattern(PARTS, r"\d+", "digits")
    assert digits.answer(Question(1, 0, ((2,), (4,)))) is Answer.NONE
    assert digits.answer(Question(1, 0, ((2,), (3,)))) is Answer.UNSURE
    both = RuleOracle(lambda i, j: True, "all")
    assert both.answer(Question(1, 0, ((1,), (2,)))) is Answer.UNSURE  # two at once


def test_a_person_counts_more_and_a_model_less():
    X = np.arange(6.0)[:, None]
    session = Likewise(max_queries=9, random_state=0).start(X)
    rule = RuleOracle(lambda i, j: i % 2 == j % 2, "parity")
    run(session, rule)
    assert set(session.answerers) == {"rule:parity"}
    labels = session.labels.tolist()
    (question,) = [session.put(0, ((2,),))]
    session.choose(Answer.NONE, question=question, by="model:llama3")
    assert session.labels.tolist() == labels
    question = session.put(0, ((2,),))
    session.choose(Answer.NONE, question=question, by="Ann")
    assert session.labels[0] != session.labels[2]


def test_where_it_is_silent_others_are_asked():
    truth = [0, 0, 1, 1, 2, 2]
    session = Likewise(max_queries=20, random_state=0).start(np.arange(6.0)[:, None])
    run(session, RuleOracle(lambda i, j: None, "nothing"), max_queries=2)
    assert session.progress.answered == 0
    run(session, LabelOracle(truth))
    assert session.progress.answered > 0


def test_what_is_no_rule_is_refused():
    with pytest.raises(InputError, match="no regular expression"):
        RuleOracle.pattern(PARTS, "(", "digits")
    with pytest.raises(InputError, match="a function of two row numbers"):
        RuleOracle(3, "three")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="has a name"):
        RuleOracle(lambda i, j: None, "")
