from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from likewise import (
    COBRA,
    Answer,
    BudgetedOracle,
    CallbackOracle,
    Gesture,
    LabelOracle,
    Likewise,
    Link,
    NoisyOracle,
    Question,
    ReplayOracle,
    TerminalOracle,
    run,
)
from likewise.errors import (
    AnswerError,
    BudgetExhausted,
    InputError,
    InterruptedFitError,
    NothingAskedWarning,
    SilentOracleWarning,
)
from likewise.oracles import as_oracle, can_choose
from likewise.oracles.oracle import chosen_by
from likewise.oracles.terminal import Prompt


def pair(left, right, number=1):
    return Question(number, left, ((right,),))


X = np.arange(12.0)[:, None] ** 1.3
Y = np.repeat([0, 1, 2], 4)


def test_what_is_no_oracle_is_refused():
    with pytest.raises(InputError, match="got int"):
        as_oracle(3)


def test_labels_by_row_and_by_id_agree():
    ids = list("abcdefghijkl")
    by_row = COBRA(6, random_state=0).fit(X, oracle=LabelOracle(Y))
    by_id = COBRA(6, random_state=0).fit(
        X, oracle=LabelOracle(dict(zip(ids, Y, strict=True))), sample_ids=ids
    )
    assert by_row.queries_ == by_id.queries_


@pytest.mark.parametrize(
    ("oracle", "question", "words"),
    [
        (LabelOracle([0, 1]), pair(0, 2, 1), "row 2 has no label"),
        (LabelOracle({"a": 0}), pair(0, 1, 1), "Pass sample_ids"),
        (LabelOracle({"a": 0}), Question(1, 0, ((1,),), "a", (("b",),)), "'b' has no label"),
    ],
)
def test_missing_labels_are_named(oracle, question, words):
    with pytest.raises(AnswerError, match=words):
        oracle.answer(question)


def test_labels_have_one_dimension():
    with pytest.raises(InputError, match="one dimension"):
        LabelOracle([[0, 1]])


def test_noise_turns_the_stated_share_around_and_always_the_same_pairs():
    truth = LabelOracle(np.zeros(2000))
    noisy = NoisyOracle(truth, 0.1, random_state=4)
    questions = [pair(i, i + 1, 1) for i in range(1999)]
    answers = [noisy.answer(q) for q in questions]
    assert answers == [noisy.answer(pair(q.right, q.left, 9)) for q in questions]
    assert 0.08 < np.mean([a is Answer.DIFFERENT for a in answers]) < 0.12
    assert NoisyOracle(lambda i, j: None, 1.0).answer(questions[0]) is Answer.UNSURE
    assert NoisyOracle(truth, 1.0).answer(questions[0]) is Answer.DIFFERENT


def test_a_budget_ends_the_questions_and_fit_ends_normally():
    oracle = BudgetedOracle(LabelOracle(Y), 4)
    model = COBRA(10, random_state=0).fit(X, oracle=oracle)
    assert (model.n_queries_, oracle.n_queries) == (4, 4)


def test_a_replay_answers_as_before_and_says_what_it_does_not_know():
    first = COBRA(10, random_state=0).fit(X, oracle=LabelOracle(Y))
    again = COBRA(10, random_state=0).fit(X, oracle=ReplayOracle(first.session_.events))
    assert again.queries_ == first.queries_
    with pytest.raises(AnswerError, match="did not ask about rows 0 and 1"):
        ReplayOracle([]).answer(pair(0, 1, 1))
    assert ReplayOracle([], otherwise=LabelOracle(Y)).answer(pair(0, 1, 1)) is Answer.SAME


@pytest.mark.parametrize(("n", "words"), [(1, "1 answer is"), (2, "2 answers is")])
def test_the_end_of_a_budget_is_told_in_the_right_number(n, words):
    oracle = BudgetedOracle(LabelOracle(Y), n)
    for _ in range(n):
        oracle.answer(pair(0, 1, 1))
    with pytest.raises(BudgetExhausted, match=f"the budget of {words} spent"):
        oracle.answer(pair(0, 1, 1))


def test_a_person_at_the_terminal_answers_by_keys_and_may_stop():
    keys = iter(["s", "x", "D", " u ", "q"])
    lines: list[str] = []
    oracle = TerminalOracle(
        lambda row: f"item {row}", read=lambda prompt: next(keys), write=lines.append
    )
    session = run(COBRA(10, random_state=0).start(X), oracle)
    assert [e.answer for e in session.events] == [Answer.SAME, Answer.DIFFERENT, Answer.UNSURE]
    assert any("'x' is none of the keys s d u q" in line for line in lines)
    assert any("left   item" in line for line in lines)


def test_keys_are_the_same_for_fit_and_for_the_command_line():
    pair, several = Prompt(Question(1, 0, ((1,),))), Prompt(Question(2, 0, ((1,), (2, 5))))
    assert (pair.words, pair.ways) == (
        "1. Do these two belong together?", "[s]ame  [d]ifferent",
    )  # fmt: skip
    assert pair.answers["s"] is pair.answers["\x1b[C"] is Answer.SAME
    assert pair.answers["d"] is pair.answers["\x1b[D"] is Answer.DIFFERENT
    assert several.answers == {
        "u": Answer.UNSURE, "\x1b[B": Answer.UNSURE, "0": Answer.NONE, "1": 0, "2": 1,
    }  # fmt: skip
    assert several.unknown("x", "q") == "'x' is none of the keys 0 1 2 u q"


def test_a_key_of_two_letters_is_read_as_one():
    prompt = Prompt(Question(1, 0, ((1,), (2,))), {"a": 1, "wa": 0})
    assert prompt.ways == "[A WA]  [0] none of these"
    typed = iter(["W", "A", "w", ""])
    assert prompt.read(lambda: next(typed)) == "wa"
    assert prompt.read(lambda: next(typed)) == ""
    assert prompt.answers["wa"] == 0


def test_the_end_of_the_input_ends_the_questions():
    def read(prompt):
        raise EOFError

    session = run(COBRA(10).start(X), TerminalOracle(read=read, write=lambda line: None))
    assert session.events == ()


def choice(row, *groups):
    return Question(1, row, groups)


def test_a_wrong_choice_is_another_group_or_none_and_always_the_same():
    noisy = NoisyOracle(LabelOracle(np.repeat(np.arange(4), 500)), 0.2, random_state=1)
    questions = [choice(row, (500,), (1000,), (0,)) for row in range(1, 500)]
    chosen = [noisy.answer(q) for q in questions]
    assert chosen == [noisy.answer(q) for q in questions]
    assert 0.15 < np.mean([c != 2 for c in chosen]) < 0.25
    assert {c for c in chosen if c != 2} == {0, 1, Answer.NONE}


def test_labels_of_another_length_are_refused_before_anything_is_asked():
    with pytest.raises(InputError, match=r"labels for 12 rows, but the data has 9.*sample_ids"):
        COBRA(4, random_state=0).fit(X[:9], oracle=NoisyOracle(LabelOracle(Y), 0.0))


def test_a_function_that_takes_row_numbers_for_rows_is_told():
    with pytest.raises(InterruptedFitError, match=r"two row numbers, not two rows.*X\[i\]"):
        COBRA(4, random_state=0).fit(X, oracle=lambda a, b: a[0] == b[0])


def test_labels_that_are_no_oracle_are_told_to_be_wrapped():
    with pytest.raises(InputError, match=r"oracle=LabelOracle\(labels\)"):
        COBRA(4, random_state=0).fit(X, oracle=Y)


@pytest.mark.parametrize(("n", "kept"), [(0, "no answer yet"), (1, "1 answer"), (2, "2 answers")])
def test_a_failing_oracle_is_named_with_what_is_kept_and_how_to_go_on(n, kept):
    answers = iter([False] * n)

    def stops(left, right):
        for answer in answers:
            return answer
        raise RuntimeError("It stopped.")

    with pytest.raises(InterruptedFitError) as caught:
        COBRA(3).fit([[0.0], [1.0], [5.0]], oracle=stops)
    assert str(caught.value) == (
        f"the oracle failed on question {n + 1}: RuntimeError: It stopped. The session is kept "
        f"with {kept}: go on with run(error.session, oracle) and model.adopt(error.session)."
    )


@pytest.mark.parametrize("p", [2, -0.1, "x", None])
def test_a_share_of_wrong_answers_is_a_probability(p):
    with pytest.raises(InputError, match=f"from 0 to 1, got {p!r}"):
        NoisyOracle(LabelOracle(Y), p)


@pytest.mark.parametrize("n", [-1, 2.5, "x", None])
def test_a_budget_is_a_number(n):
    with pytest.raises(InputError, match=f"from 0, got {n!r}"):
        BudgetedOracle(LabelOracle(Y), n)


@pytest.mark.parametrize("labels", [[0.0, float("nan")], [0, None], {"a": 0, "b": None}])
def test_a_label_that_is_missing_is_named_when_it_is_asked_for(labels):
    oracle = LabelOracle(labels)
    assert oracle.answer(Question(1, 0, ((0,),), "a", (("a",),))) is Answer.SAME
    with pytest.raises(AnswerError, match=r"label of (row 1|sample id 'b') is .*train_indices"):
        oracle.answer(Question(1, 0, ((1,),), "a", (("b",),)))


ANSWERS = [
    (True, Answer.SAME),
    (False, Answer.DIFFERENT),
    (None, Answer.UNSURE),
    (np.True_, Answer.SAME),
    (np.False_, Answer.DIFFERENT),
    (1, Answer.SAME),
    (0, Answer.DIFFERENT),
    (np.int64(1), Answer.SAME),
    (Answer.UNSURE, Answer.UNSURE),
    ("same", Answer.SAME),
    ("different", Answer.DIFFERENT),
]


@pytest.mark.parametrize(("value", "answer"), ANSWERS)
def test_what_a_function_may_return(value, answer):
    session = run(COBRA(3).start([[0.0], [1.0], [5.0]]), lambda i, j: value, max_queries=1)
    assert session.events[0].answer is answer


@pytest.mark.parametrize("value", ["no", "yes", "", 2, -1, 0.5, []])
def test_what_a_function_may_not_return_is_named(value):
    session = COBRA(3).start([[0.0], [1.0], [5.0]])
    with pytest.raises(AnswerError, match=r"1 \(about rows 0 and 1\): .* is not an answer"):
        run(session, lambda i, j: value)
    assert session.events == ()


def test_every_oracle_answers_by_one_method_what_it_can():
    labels = LabelOracle(Y)
    assert labels.answer(choice(0, (4, 5), (1, 2))) == 1
    assert labels.answer(choice(0, (4,), (8,))) is Answer.NONE
    assert labels.answer(choice(0, (1, 4))) is Answer.SAME
    assert labels.answer(choice(0, (4, 1))) is Answer.DIFFERENT
    by_id = LabelOracle(dict(zip("abc", [0, 1, 0], strict=True)))
    assert by_id.answer(Question(1, 0, ((1,), (2,)), "a", (("b",), ("c",)))) == 1
    assert BudgetedOracle(labels, 1).answer(choice(0, (1,))) is Answer.SAME
    by_function = CallbackOracle(lambda i, j: None, choose=lambda row, groups: len(groups) - 1)
    assert by_function.answer(choice(0, (4,), (8,))) == 1
    assert by_function.answer(choice(0, (4,))) is None
    keys = iter(["9", "2", "0", "u"])
    terminal = TerminalOracle(read=lambda prompt: next(keys), write=lambda line: None)
    assert [terminal.answer(choice(0, (1,), (4,))) for _ in range(3)] == [
        1,
        Answer.NONE,
        Answer.UNSURE,
    ]


def test_a_recorded_choice_answers_the_same_groups_also_in_another_order():
    replay = ReplayOracle([Gesture(1, (Link(0, 4, Answer.SAME),), groups=((1,), (4,)))])
    assert replay.answer(choice(0, (1,), (4,))) == 1
    assert replay.answer(choice(0, (4,), (8,))) == 0
    with pytest.raises(AnswerError, match="did not ask about rows 0 and 8"):
        replay.answer(choice(0, (8,)))
    pairs = ReplayOracle([], otherwise=lambda i, j: j == 8)
    assert pairs.answer(choice(0, (4,), (8,))) == 1
    assert pairs.answer(choice(0, (4,), (5,))) is Answer.NONE


def test_only_what_says_so_can_choose():
    class Mine:
        can_choose = True

        def answer(self, question):
            return 0

    assert can_choose(Mine())
    assert can_choose(NoisyOracle(Mine(), 0.0))
    assert not can_choose(as_oracle(lambda i, j: True))
    assert can_choose(CallbackOracle(lambda i, j: True, choose=lambda row, groups: 0))
    assert not can_choose(BudgetedOracle(lambda i, j: True, 3))


def test_an_oracle_of_pairs_is_asked_a_choice_as_pairs_the_likeliest_first_and_each_counts():
    asked: list[tuple[int, int]] = []

    def same(i, j):
        asked.append((i, j))
        return bool(Y[i] == Y[j])

    session: Any = Likewise(9, questions="choices", random_state=0).start(X)
    while len((question := session.ask()).groups) < 3:
        session.choose(chosen_by(LabelOracle(Y), question))
    n = session.n_asked
    assert len(question.groups) == 3
    run(session, same)
    assert asked[0] == (question.row, question.groups[0][0])
    assert (len(asked), session.n_asked) == (9 - n, 9)
    assert all(len(gesture.links) == 1 for gesture in session.events[n:])


def test_labels_judge_a_group_by_its_first_row():
    labels = LabelOracle(Y)
    assert labels.answer(choice(0, (4, 1, 2), (8, 1), (3, 9))) == 2
    assert labels.answer(choice(0, (4, 1, 2), (8, 1))) is Answer.NONE
    by_id = LabelOracle(dict(zip("abcd", [0, 1, 0, 0], strict=True)))
    assert by_id.answer(Question(1, 0, ((1, 2), (3,)), "a", (("b", "c"), ("d",)))) == 1


def test_a_wrong_answer_makes_no_later_right_answer_wrong():
    X, y = load_iris(return_X_y=True)
    scores = []
    for seed in range(4):
        oracle = NoisyOracle(LabelOracle(y), 0.05, random_state=seed)
        model = Likewise(60, random_state=seed).fit(X, oracle=oracle)
        scores.append(adjusted_rand_score(y, model.labels_))
    assert min(scores) > 0.85  # .49 if any row of a group counts


def silent(*_):
    """Lack a return."""


async def silent_later(*_):
    """Lack a return, and wait for it."""


@pytest.mark.parametrize(
    "oracle",
    [silent, CallbackOracle(silent, choose=silent), silent_later],
    ids=["pairs", "choices", "coroutine"],
)
def test_a_function_that_returns_nothing_is_told_once_what_to_return(oracle):
    session = Likewise(9, random_state=0).start(X)
    with pytest.warns(
        SilentOracleWarning, match=r"lack a return.*True or False.*Answer\.NONE"
    ) as w:
        run(session, oracle)
    assert len(w) == 1
    assert {gesture.answer for gesture in session.events} == {Answer.UNSURE}


def test_a_function_that_is_not_sure_now_and_then_is_not_told_anything():
    answers = iter([None, None, None, None, True, *[None] * 9])
    session = run(COBRA(12).start(X), lambda i, j: next(answers), max_queries=14)
    assert session.n_asked == 14


@pytest.mark.parametrize("value", [None, Answer.UNSURE, Answer.DIFFERENT, Answer.NONE])
def test_a_value_means_the_same_to_a_pair_and_to_several_groups(value):
    oracle = CallbackOracle(lambda i, j: value, choose=lambda row, groups: value)
    expected = Answer.DIFFERENT if value in (Answer.DIFFERENT, Answer.NONE) else Answer.UNSURE
    for question in (choice(0, (1,)), choice(0, (1,), (4,))):
        chosen = chosen_by(oracle, question)
        assert {link.answer for link in question.links(chosen)} == {expected}


@pytest.mark.parametrize(
    ("oracle", "words"),
    [
        ("terminal", r"got 'terminal'. To answer at the terminal, pass oracle=TerminalOracle\(\)"),
        (
            lambda question: True,
            r"lambda>\(question\) cannot answer .*answer\(question",
        ),
        (lambda i, j, k: True, r"\(i, j, k\) cannot answer \(missing a required argument: 'k'\)"),
        (LabelOracle, r"pass an oracle, LabelOracle\(\.\.\.\), not its class"),
    ],
)
def test_what_cannot_answer_is_named_with_the_remedy(oracle, words):
    with pytest.raises(InputError, match=words):
        COBRA(4, random_state=0).fit(X, oracle=oracle)


def test_functions_that_can_be_called_with_two_rows_are_taken():
    for function in (max, lambda *rows: True, lambda i, j, k=0: True):
        assert as_oracle(function)
    with pytest.raises(InputError, match="a row number and the groups"):
        CallbackOracle(lambda i, j: True, choose=lambda row: 0)  # type: ignore[arg-type, misc]


def test_asking_after_a_spent_budget_warns_and_names_extend():
    session = Likewise(3, random_state=0).start(X)
    run(session, LabelOracle(Y))
    with pytest.warns(NothingAskedWarning, match=r"budget of 3 questions is spent.*extend\(10\)"):
        run(session, LabelOracle(Y), max_queries=10)
    session.extend(2)
    assert run(session, LabelOracle(Y), max_queries=10).n_asked == 5
    session.grow(X[:2] + 0.5)
    with pytest.warns(NothingAskedWarning, match=r"budget of 5 questions is spent.*extend\(4\)"):
        run(session, LabelOracle([*Y, 0, 0]), max_queries=4)
    run(session, LabelOracle([*Y, 0, 0]), max_queries=0)  # nothing was to be asked


def test_asking_where_more_would_bring_little_warns_and_names_extend():
    y = np.repeat([0, 1, 2], 40)
    session = run(Likewise(random_state=0).start(y[:, None] + np.eye(120)), LabelOracle(y))
    n_asked = session.n_asked
    with pytest.warns(NothingAskedWarning, match=r"more questions would bring little.*extend\(2\)"):
        run(session, LabelOracle(y), max_queries=2)
    session.extend(2)
    assert run(session, LabelOracle(y), max_queries=2).n_asked == n_asked + 2


def test_asking_where_nothing_is_left_to_ask_is_no_surprise():
    session = run(COBRA(4, max_queries=50, random_state=0).start(X), LabelOracle(Y))
    assert session.n_asked < 50
    run(session, LabelOracle(Y), max_queries=2)
