"""Rules that answer what they know, and are silent about everything else."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from likewise.core.answers import RULE, Answer, Question, as_answer
from likewise.errors import InputError
from likewise.oracles.oracle import answered
from likewise.words import check_text


class RuleOracle:
    r"""Answer by a rule, and be silent where it knows nothing.

    Answers are signed ``rule:NAME``. Where answers contradict each other, people count more than
    rules, and rules more than models. Make one from a function, or by `equal`, `different` or
    `pattern`.

    Parameters
    ----------
    function : callable
        ``function(i, j)`` gets two row numbers and returns True (the same), False (different) or
        None where it does not know.
    name : str
        What the rule is called.
    n_rows : int, optional
        How many rows it knows.

    Examples
    --------
    >>> from likewise import Question
    >>> rule = RuleOracle.equal(["a@b.c", None, "a@b.c", "d@e.f"], name="email")
    >>> rule.by, rule.about(0, 2), rule.about(0, 3), rule.about(0, 1)
    ('rule:email', True, None, None)
    >>> rule.answer(Question(1, 0, ((3,), (2,))))
    1
    >>> digits = RuleOracle.pattern(["screw M4", "screw M5", "nut"], r"\d+", name="digits")
    >>> digits.about(0, 1), digits.about(0, 2)
    (False, None)
    """

    can_choose = True

    def __init__(
        self, function: Callable[[int, int], Any], name: str, *, n_rows: int | None = None
    ) -> None:
        if not callable(function):
            raise InputError(f"a rule is a function of two row numbers, got {function!r}")
        if not name:
            raise InputError("a rule has a name, which its answers are signed with")
        self._function = function
        self.by = f"{RULE}{check_text(name, 'the name of a rule')}"
        self.n_rows = n_rows

    @classmethod
    def equal(cls, values: Sequence[Hashable | None], name: str) -> RuleOracle:
        """Return the rule that rows with the same value are the same; None is no value.

        Parameters
        ----------
        values : sequence
            A value for every row, such as the column of a table. Empty texts are no values.
        name : str
            What the rule is called.
        """
        keys = [_value(value) for value in values]
        return cls(
            lambda i, j: True if keys[i] is not None and keys[i] == keys[j] else None,
            name,
            n_rows=len(keys),
        )

    @classmethod
    def different(cls, values: Sequence[Hashable | None], name: str) -> RuleOracle:
        """Return the rule that rows with different values are different; None is no value.

        Parameters
        ----------
        values : sequence
            A value for every row, such as the column of a table. Empty texts are no values.
        name : str
            What the rule is called.
        """
        keys = [_value(value) for value in values]
        return cls(
            lambda i, j: False if None not in (keys[i], keys[j]) and keys[i] != keys[j] else None,
            name,
            n_rows=len(keys),
        )

    @classmethod
    def pattern(cls, texts: Sequence[str | None], pattern: str, name: str) -> RuleOracle:
        r"""Return the rule that rows with different matches of a pattern are different.

        Parameters
        ----------
        texts : sequence of str
            A text for every row.
        pattern : str
            A regular expression, such as ``\d+``: other digits, another thing. Where a text has no
            match nothing is known.
        name : str
            What the rule is called.
        """
        try:
            found = [sorted(re.findall(pattern, text or "")) for text in texts]
        except re.error as error:
            raise InputError(f"{pattern!r} is no regular expression: {error}") from None
        return cls(
            lambda i, j: False if found[i] and found[j] and found[i] != found[j] else None,
            name,
            n_rows=len(found),
        )

    def about(self, left: int, right: int) -> bool | None:
        """Return whether two rows are the same, or None where the rule does not know."""
        value = self._function(left, right)
        answer = Answer.UNSURE if value is None else as_answer(value)
        return None if answer is Answer.UNSURE else answer is Answer.SAME

    def answer(self, question: Question) -> Any:
        """Return the only group that the rule puts a row in; none of these if it rules out all."""
        says = [[self.about(question.row, row) for row in group] for group in question.groups]
        same = [place for place, group in enumerate(says) if True in group and False not in group]
        if len(same) == 1:
            return answered(same[0], question)
        # A group is judged by its first row, which stands for it in the log.
        if says and all(group and group[0] is False for group in says):
            return answered(Answer.NONE, question)
        return Answer.UNSURE


def _value(value: Any) -> Any:
    is_missing = value is None or value == "" or value != value  # noqa: PLR0124  (not a number)
    return None if is_missing else value.strip().lower() if isinstance(value, str) else value
