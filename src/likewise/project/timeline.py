"""From a log of operations to the session they lead to.

A project begins with one set-up: a session without answers. Refining it, or setting an item apart,
begins a new set-up into which all answers so far are carried over. The timeline keeps the earlier
ones, so that undoing leads back through them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from likewise.core.answers import Answer, Choice, Query
from likewise.core.session import Session
from likewise.errors import InputError, SessionFileError


@dataclass
class Stage:
    """One set-up and what was done in it.

    Attributes
    ----------
    session : Session
        Asks about this set-up's super-instances.
    n_deeds : int
        How many undoable things were done here, carried answers not counted.
    focus : tuple of (int, int)
        Pairs to ask about before anything else: an item that was said not to fit, and the row
        that stood for it.
    """

    session: Session
    n_deeds: int = 0
    focus: tuple[tuple[int, int], ...] = ()


@dataclass
class Timeline:
    """The stages of a project.

    Parameters
    ----------
    first : Session
        The session of the first set-up.
    load : callable
        Returns the session of a later set-up, without answers, by its name.
    """

    first: Session
    load: Callable[[str], Session]
    checks: dict[tuple[int, int], Answer] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._past: list[Stage] = []
        self._now = Stage(self.first, n_deeds=len(self.first.events))
        self._ahead: list[Stage] = []

    @property
    def stage(self) -> Stage:
        """The set-up in use."""
        return self._now

    @property
    def session(self) -> Session:
        """The session in use."""
        return self._now.session

    @property
    def can_undo(self) -> bool:
        """Whether `undo` would do something."""
        return self._now.n_deeds > 0 or bool(self._past)

    @property
    def can_redo(self) -> bool:
        """Whether `redo` would do something."""
        return self.session.can_redo or bool(self._ahead)

    @property
    def open_focus(self) -> tuple[int, int] | None:
        """The pair to ask about because of an item in doubt, if there is one."""
        if not self._now.focus:
            return None
        answered = {event.pair for event in self.session.events}
        for left, right in self._now.focus:
            is_settled = self.session.links.implied(left, right) is not None
            if not is_settled and (min(left, right), max(left, right)) not in answered:
                return left, right
        return None

    def ask(self) -> Query | None:
        """Return the open question: about an item in doubt first, then what the session asks."""
        focus = self.open_focus
        if focus is None:
            question = self.session.ask()
            assert not isinstance(question, Choice)
            return question
        left, right = focus
        ids = self.session.sample_ids
        number = len(self.session.events) + 1
        if ids is None:
            return Query(number, left, right)
        return Query(number, left, right, ids[left], ids[right])

    def peek(self, answer: Answer) -> Query | None:
        """Return the question that would follow, where that is known."""
        if self.open_focus is not None:
            return None
        question = self.session.peek(answer)
        assert not isinstance(question, Choice)
        return question

    def apply(self, op: Mapping[str, Any]) -> None:
        """Do what an entry of the log says."""
        try:
            self._apply(op)
        except (KeyError, TypeError) as error:
            raise SessionFileError(f"the log has an entry that cannot be read: {op}") from error

    def _apply(self, op: Mapping[str, Any]) -> None:
        do = op["do"]
        if do == "check":
            self.checks[int(op["left"]), int(op["right"])] = Answer(op["answer"])
            return
        # What was checked are consequences of answers that may be others now.
        self.checks.clear()
        if do == "tell":
            self._tell(int(op["left"]), int(op["right"]), Answer(op["answer"]))
        elif do == "revise":
            self.session.revise(int(op["number"]), Answer(op["answer"]))
            self._count()
        elif do == "undo":
            self._undo()
        elif do == "redo":
            self._redo()
        elif do == "setup":
            self._begin(str(op["payload"]), op.get("ask"))
        else:
            raise SessionFileError(
                f"the log has an operation {do!r} that this release does not know: "
                "pip install --upgrade likewise"
            )

    def _tell(self, left: int, right: int, answer: Answer) -> None:
        question = None if self.open_focus is not None else self.ask()
        if question is not None and (question.left, question.right) == (left, right):
            self.session.tell(answer)
        else:
            self.session.give(left, right, answer)
        self._count()

    def _count(self) -> None:
        self._now.n_deeds += 1
        self._ahead.clear()

    def _undo(self) -> None:
        if self._now.n_deeds:
            self.session.undo()
            self._now.n_deeds -= 1
        elif self._past:
            self._ahead.append(self._now)
            self._now = self._past.pop()

    def _redo(self) -> None:
        if self.session.can_redo:
            self.session.redo()
            self._now.n_deeds += 1
        elif self._ahead:
            self._past.append(self._now)
            self._now = self._ahead.pop()

    def _begin(self, name: str, ask: list[int] | None) -> None:
        session = self.load(name)
        for event in self.session.events:
            session.give(event.left, event.right, event.answer)
        focus = self._now.focus
        if ask is not None:
            focus = (*focus, (int(ask[0]), int(ask[1])))
        self._past.append(self._now)
        self._now = Stage(session, focus=focus)
        self._ahead.clear()


def setup_to_bytes(session: Session) -> bytes:
    """Return a session without its answers, as a payload of the store."""
    plain = {**session.to_dict(), "log": [], "undone": []}
    return json.dumps(plain, separators=(",", ":")).encode()


def setup_from_bytes(data: bytes, X: Any = None) -> Session:
    """Return the session that `setup_to_bytes` wrote down."""
    try:
        plain = json.loads(data)
    except ValueError as error:
        raise SessionFileError(f"the set-up in the session file is damaged: {error}") from error
    return Session.from_dict(plain, X=X)


def op_for_answer(query: Query, answer: Answer) -> dict[str, Any]:
    """Return the entry of the log for an answer to a question."""
    if not isinstance(answer, Answer):
        raise InputError(f"an answer is one of {[a.value for a in Answer]}, got {answer!r}")
    return {
        "do": "tell",
        "number": query.number,
        "left": query.left,
        "right": query.right,
        "answer": answer.value,
    }
