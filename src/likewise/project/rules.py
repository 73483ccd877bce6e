"""Rules of a project: columns that answer, such as equal e-mail addresses for the same person.

Equal values are told once, when the rules are made. What differs is told when a question is about
it, before anybody sees it: there are too many such pairs to tell them all. If a rule knows the
answer, it answers; else the groups that it rules out are left out of the question. Its answers are
signed and on disk like others; those of people overrule them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from likewise.core.answers import Answer, Chosen, Question
from likewise.errors import ContradictionError, InputError
from likewise.items.fields import as_text
from likewise.oracles.rules import RuleOracle
from likewise.store import now

if TYPE_CHECKING:
    from likewise.project.project import Project

HOW = ("same", "different", "digits")
"""What the part of a rule before the colon may be."""
IN_A_ROW = 25
"""After rules have answered this many questions in a row, somebody is asked anyway."""


class Rules:
    """What columns say about the rows of a project.

    Parameters
    ----------
    project : Project
        The project.
    rules : sequence of str
        ``same:COLUMN``: equal values are the same. ``different:COLUMN``: other values are
        different. ``digits:COLUMN``: other numbers in them are different.
    """

    def __init__(self, project: Project, rules: Sequence[str]) -> None:
        self._project, self._rules = project, tuple(dict.fromkeys(rules))
        columns = project.items.columns()
        for rule in self._rules:
            how, _, column = rule.partition(":")
            if how not in HOW or not column:
                raise InputError(
                    f"a rule is {', '.join(f'{word}:COLUMN' for word in HOW[:-1])} or "
                    f"{HOW[-1]}:COLUMN, got {rule!r}"
                )
            if column not in columns:
                which = f"its columns are {', '.join(columns)}" if columns else "it has no columns"
                raise InputError(
                    f"--rule {rule}: {project.items.source} has no column {column!r}; {which}"
                )
        self._oracles: list[RuleOracle] = []
        self._n_rows = 0
        self._follow()

    def put(self, ask: Callable[[], list[Question]]) -> list[Question]:
        """Return the next questions of `ask`, without the groups that rules rule out.

        Questions that the rules can answer are answered first, so that nobody is asked them.
        """
        self._follow()
        for _ in range(IN_A_ROW):
            questions = ask()
            told = [self._tells(question) for question in questions]
            if not any(told):
                return [self._narrowed(question) for question in questions]
        return ask()

    def _there(self) -> list[RuleOracle]:
        aside = self._project.session.aside
        return [oracle for oracle in self._oracles if oracle.by not in aside]

    def _tells(self, question: Question) -> bool:
        """Answer a question if a rule knows the answer; return whether one does."""
        for oracle in self._there():
            said = oracle.answer(question)
            if said is not Answer.UNSURE:
                row, groups, names = question.row, question.groups, question.names
                asked = self._project.session.put(row, groups, names=names)
                if self._tell(oracle, asked, question.place(said)):
                    return True
        return False

    def _narrowed(self, question: Question) -> Question:
        """Return a question without the groups that a rule rules out, if others are left."""
        row, groups = question.row, question.groups
        # Groups that are known by name only may be the answer, whatever rules say.
        ruled_out = [
            () not in groups and any(one.about(row, group[0]) is False for one in self._there())
            for group in groups
        ]
        left = tuple(group for group, is_out in zip(groups, ruled_out, strict=True) if not is_out)
        if left in ((), groups):
            return question
        return self._project.session.put(row, left, source="asked")

    def _tell(self, oracle: RuleOracle, question: Question, chosen: Chosen) -> bool:
        """Take in what a rule says, unless it contradicts what counts more."""
        try:
            self._project.answer_for(question, chosen, by=oracle.by, at=now(), seconds=0.0)
        except ContradictionError:
            return False
        return True

    def _follow(self) -> None:
        """Read the columns again if rows have joined, and tell which of their values are equal."""
        if self._n_rows == len(self._project.where):
            return
        self._n_rows = len(self._project.where)
        self._oracles = [self._oracle(rule) for rule in self._rules]
        for oracle, rule in zip(self._oracles, self._rules, strict=True):
            if rule.startswith("same:") and oracle.by not in self._project.session.aside:
                self._join(oracle, self._values(rule))

    def _values(self, rule: str) -> list[str]:
        column = self._project.items.columns()[rule.partition(":")[2]]
        gone = self._project.session.removed
        places = [None if row in gone else k for row, k in enumerate(self._project.where)]
        return ["" if k is None else as_text(column[k]).strip() for k in places]

    def _oracle(self, rule: str) -> RuleOracle:
        values, how = self._values(rule), rule.partition(":")[0]
        if how == "digits":
            return RuleOracle.pattern(values, r"\d+", name=rule)
        return (RuleOracle.equal if how == "same" else RuleOracle.different)(values, name=rule)

    def _join(self, oracle: RuleOracle, values: Sequence[str]) -> None:
        """Tell that rows with the same value are the same, one answer for each value."""
        rows_of: dict[str, list[int]] = {}
        for row, value in enumerate(values):
            if value:
                rows_of.setdefault(value.lower(), []).append(row)
        for first, *others in rows_of.values():
            links = self._project.session.links
            new = tuple(row for row in others if links.implied(first, row) is None)
            if new:
                # About each row, but of one group: otherwise each row would begin one, with a key.
                asked = self._project.session.put(first, (new,))
                each = replace(asked, groups=tuple((row,) for row in new), group_ids=(), names=())
                self._tell(oracle, each, list(range(len(new))) if new[1:] else 0)
