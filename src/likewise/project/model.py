"""A model answers in the background and a person checks it: who is asked what.

The person gets three kinds of questions about what the model was asked: those it was not sure
about, those where what was learned contradicts it, and a blind sample. The sample alone says how
often the model is right. A hash of the row decides what is in it, before anybody knows the answer,
and rows that lie between two groups take turns with the others. What is in the sample is asked for
no other reason: if doubtful answers were taken out of it, the rest would look better than all.
"""

from __future__ import annotations

import hashlib
import threading
from bisect import insort
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.core.answers import MODEL, Answer, Chosen, Gesture, Question, rank_of
from likewise.core.links import LinkGraph, add_links
from likewise.core.session import Session
from likewise.errors import LikewiseError, StaleQueryError
from likewise.learning.certificate import Certificate, certificate
from likewise.words import plural

if TYPE_CHECKING:
    from likewise.core.strategy import Strategy
    from likewise.project.project import Project

LEAST_RIGHT = 0.6
"""A model that is surely right less often than this is no longer asked."""
FIRST_CHECKS, CHECKED = 20, 0.2
"""How many of its answers are in the sample, or which share of them if that is more."""
FEW = 5
"""With fewer checks than this, reports do not say how often it is right."""
TYPICAL = 10
"""Estimates of what questions take assume at least this many groups."""
MOST_ANSWERS = 400
"""How many questions a model is asked, unless it is told otherwise."""


@dataclass(frozen=True)
class Said:
    """An answer of a model, and what a person said to the same question, if anything."""

    gesture: Gesture
    stratum: int
    draw: float
    is_right: bool | None = None
    is_sampled: bool = False

    @property
    def is_sure(self) -> bool:
        """Whether it is an answer, and not *not sure*."""
        return self.gesture.answer is not Answer.UNSURE

    @property
    def can_be_checked(self) -> bool:
        """Whether it is an answer, and all groups that were offered had rows."""
        return self.is_sure and () not in self.gesture.groups


def said_by(session: Session, by: str) -> list[Said]:
    """Return what a model answered, in order, with what people said to the same questions."""
    return session.once(("said by", by), lambda: list(_said_by(session, by)))


def _said_by(session: Session, by: str) -> Iterator[Said]:
    answers: dict[int, Gesture] = {}
    checks: dict[int, Gesture] = {}
    told = (entry for entry in session.log if isinstance(entry, Gesture))
    for entry, now in zip(told, session.answers.said, strict=True):
        if entry.is_certain:
            continue
        if entry.by == by:
            answers.setdefault(entry.left, entry)
        elif rank_of(entry.by) == 0 and now.by not in session.aside and now.answer.is_link:
            checks.setdefault(entry.left, now)
    people = LinkGraph(session.strategy.n_rows)
    by_people = [gesture for gesture in session.events if rank_of(gesture.by) == 0]
    add_links(people, [x for gesture in by_people for x in gesture.links if x.answer.is_link])
    closeness: list[float] = []
    for row, gesture in answers.items():
        close = _closeness(session, gesture)
        # Nearer to a second group than half of the earlier ones.
        middle = closeness[(len(closeness) - 1) // 2 : len(closeness) // 2 + 1]
        stratum = int(bool(closeness) and close > sum(middle) / len(middle))
        insort(closeness, close)
        draw = int.from_bytes(hashlib.sha256(f"{by} {row}".encode()).digest()[:4]) / 2**32
        check = checks.get(row)
        is_right = None if check is None else _agree(people, gesture, check)
        is_sampled = check is not None and check.source == "sampled"
        yield Said(gesture, stratum, draw, is_right, is_sampled)


def _closeness(session: Session, gesture: Gesture) -> float:
    """Return the distance to the nearest group shown over that to the second nearest."""
    points, assignment = session.strategy.partition.points, session.strategy.partition.assignment
    groups = [group for group in gesture.groups if group]
    if points is None or len(groups) < 2:
        return 0.0
    members = np.array([row for group in groups for row in group])
    begins = np.cumsum([0, *(len(group) for group in groups[:-1])])
    away = points[assignment[members]] - points[assignment[gesture.left]]
    near = np.minimum.reduceat(np.linalg.norm(away, axis=1), begins)
    first, second = np.partition(near, 1)[:2].tolist()
    return float(first / second) if second > 0 else 1.0


def _agree(people: LinkGraph, one: Gesture, other: Gesture) -> bool:
    """Return whether two answers say the same, by what people know of the groups."""
    heads = [
        [link.right for link in gesture.links if link.answer is Answer.SAME]
        for gesture in (one, other)
    ]
    if not heads[0] or not heads[1]:
        return not heads[0] and not heads[1]
    return any(people.find(a) == people.find(b) for a in heads[0] for b in heads[1])


def certified(session: Session, by: str) -> Certificate:
    """Return how often a model is right, by the sample.

    In each stratum its checks count in the order of their draws, up to the first answer that is not
    checked yet. So they are a random part of all answers also while the model goes on: the first
    ones, which are mostly checked before there are others, count for no more than the rest.
    """
    return session.once(("certified", by), lambda: _certified(session, by))


def _certified(session: Session, by: str) -> Certificate:
    said = [one for one in said_by(session, by) if one.can_be_checked]
    order = {id(gesture): k for k, gesture in enumerate(session.log)}
    counted: list[Said] = []
    for stratum in (0, 1):
        drawn = (one for one in _sample(session, said) if one.stratum == stratum)
        counted += takewhile(lambda one: one.is_right is not None, drawn)
    counted.sort(key=lambda one: order.get(id(one.gesture), 0))
    checks = [(one.stratum, bool(one.is_right)) for one in counted]
    return certificate(checks, [sum(one.stratum == k for one in said) for k in (0, 1)])


def _sample(session: Session, said: Sequence[Said]) -> list[Said]:
    """Return what is in the sample, in the order in which it is to be checked.

    Without what people answered for another reason, or could not tell.
    """
    can_be_checked = [one for one in said if one.can_be_checked]
    share = max(CHECKED, FIRST_CHECKS / max(1, len(can_be_checked)))
    untold, removed = _untold(session), session.removed
    sample = [
        one
        for one in can_be_checked
        if one.draw < share
        and (one.is_sampled or (one.is_right is None and one.gesture.left not in untold))
        and removed.isdisjoint(_rows(one.gesture))
    ]
    return sorted(sample, key=lambda one: one.draw)


def _untold(session: Session) -> set[int]:
    """Return the rows about which people were not sure."""
    unsure = (gesture for gesture in session.events if gesture.answer is Answer.UNSURE)
    return {gesture.left for gesture in unsure if rank_of(gesture.by) == 0}


def to_review(session: Session, by: str, held: Collection[int] = ()) -> tuple[Gesture, bool] | None:
    """Return an answer of a model for a person to check, and whether it is in the sample.

    Samples take turns with what was learned against the model, which is every second one, and what
    it was not sure about. Rows that are `held` are before people already.
    """
    said = said_by(session, by)
    gone = session.removed.union(held)
    present = [
        one
        for one in said
        if one.gesture.left not in gone and session.removed.isdisjoint(_rows(one.gesture))
    ]
    by_people = [gesture for gesture in session.events if rank_of(gesture.by) == 0]
    answered = {link.left for gesture in by_people for link in gesture.links}
    # What people cannot tell either is not put to them again.
    untold = _untold(session)
    unsure = [one for one in present if not one.is_sure and one.gesture.left not in answered]
    # With all that it says, wrong answers stand out less than those of people: the least credible
    # come first, and all for which another group is likelier.
    wrong = [suspect.left for suspect in session.assessment.suspects(1.0)]
    order = {row: place for place, row in enumerate(dict.fromkeys(wrong))}
    open_ = [
        one
        for one in present
        if one.can_be_checked and one.is_right is None and one.gesture.left not in untold
    ]
    share = max(CHECKED, FIRST_CHECKS / max(1, sum(one.can_be_checked for one in said)))
    against = [one for one in open_ if one.draw >= share and one.gesture.left in order]
    against.sort(key=lambda one: order[one.gesture.left])
    n = [sum(one.is_sampled and one.stratum == k for one in said) for k in (0, 1)]
    sampled = [one for one in _sample(session, said) if one.gesture.left not in gone]
    waiting = [one for one in sampled if one.is_right is None]
    of_strata = ([one for one in waiting if one.stratum == k] for k in (0, 1))
    in_turn = sorted(zip(n, of_strata, strict=True), key=lambda pair: pair[0])
    sample = next((some for _, some in in_turn if some), [])
    turns = [(sample, True), (against, False), (unsure, False), (against, False)]
    turn = sum(one.is_right is not None for one in said) % len(turns)
    for some, is_sample in turns[turn:] + turns[:turn]:
        if some:
            return some[0].gesture, is_sample
    return None


def _rows(gesture: Gesture) -> set[int]:
    return {gesture.left, *(row for group in _groups(gesture) for row in group)}


def _groups(gesture: Gesture) -> tuple[tuple[int, ...], ...]:
    return gesture.groups or ((gesture.right,),)


class ModelAtWork:
    """A model that answers in a thread, while a person uses the same project.

    Every answer is on disk before the model is asked on. What it says counts less than what people
    say.

    Parameters
    ----------
    project : Project
        The project; its questions to the person are those of `ask` from now on.
    oracle : ChatOracle
        Who answers.
    n_at_once : int
        How many questions are open at the same time.
    most : int
        How many answers it gives in all, earlier ones among them.
    """

    def __init__(
        self, project: Project, oracle: Any, *, n_at_once: int = 8, most: int = MOST_ANSWERS
    ) -> None:
        self.project, self.oracle, self.by = project, oracle, str(oracle.by)
        self._n_at_once, self._most = n_at_once, most
        self._has_ended, self._is_told = threading.Event(), False
        self._thread: threading.Thread | None = None
        self.awaited: list[Question] = []
        self.problem = ""

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.by.removeprefix(MODEL)

    # -- the model -------------------------------------------------------------------------------

    def start(self) -> None:
        """Let it answer, in a thread."""
        self._thread = threading.Thread(target=self.work, name="model", daemon=True)
        self._thread.start()

    def work(self) -> None:
        """Let the model answer until it must stop or nothing is left to ask."""
        from likewise.oracles import run

        try:
            shared: Any = _Shared(self)
            run(shared, self.oracle, n_at_once=self._n_at_once)
        except LikewiseError as error:
            self.problem = str(error)
        except Exception as error:  # the page says it; the person goes on
            self.problem = f"{type(error).__name__}: {error}"
        finally:
            self.awaited = []
            meter = getattr(self.oracle, "meter", None)
            self.problem = self.problem or getattr(meter, "spent", "")
            self.oracle.close()
            self._has_ended.set()

    def stop(self, seconds: float = 10.0) -> None:
        """Stop asking the model, and wait until it has ended."""
        self._is_told = True
        if self._thread is not None and not self._has_ended.wait(seconds):
            self.oracle.close()  # what was replied so far is kept, whatever it still waits for

    def next_questions(self, n: int, besides: Sequence[Question]) -> list[Question]:
        """Return what to ask the model next: nothing if it is done or wrong too often."""
        with self.project.lock:
            self.project.refresh()
            session = self.project.session
            found = certified(session, self.by)
            if found.at_most < LEAST_RIGHT and not self.problem:
                self.problem = (
                    f"it is right in at most {found.at_most:.0%} and is asked no more. Its answers "
                    "can be set aside"
                )
            n_said = session.answerers.get(self.by, 0) + len(besides)
            is_aside = self.by in session.aside
            is_over = self._is_told or bool(self.problem) or is_aside
            if is_over or n_said >= self._most or session.assessment.is_enough():
                return []
            n = min(n, self._most - n_said)
            others = [*self.project.team.held, *besides]
            asked, rules = partial(session.ask_many, n, besides=others), self.project.rules
            new = asked() if rules is None else rules.put(asked)
            question = session.ask()
            if not (new or besides or question is None):
                # In the beginning, only what the person has before them is worth asking.
                row, groups, names = question.row, question.groups, question.names
                new = [session.put(row, groups, source="asked", names=names)]
            self.awaited = [*besides, *new]
            return new

    def typical(self, n: int = 8) -> list[Question]:
        """Return questions as large as later ones are, to estimate what they take.

        The first ones are about one group or two, with an item each.
        """
        from likewise.oracles.chat.prompt import MOST_EXAMPLES

        session = self.project.session
        question = session.ask()
        if question is None:
            return []
        rows = session.askable
        are_choices = getattr(session.strategy, "questions", "pairs") == "choices"
        n_groups, size = (TYPICAL, MOST_EXAMPLES) if are_choices else (1, 1)
        n_groups = max(len(question.groups), n_groups)
        # Spread over all rows, which may be in an order.
        spread = rows[np.linspace(0, len(rows) - 1, n * (1 + n_groups * size)).astype(int)]
        shown = np.random.default_rng(0).permutation(spread).reshape(n, -1).tolist()
        return [
            Question(k, row, tuple(tuple(some[at : at + size]) for at in range(0, len(some), size)))
            for k, (row, *some) in enumerate(shown, start=1)
        ]

    # -- people ----------------------------------------------------------------------------------

    def review(self, held: Collection[int] = ()) -> Question | None:
        """Return a question that the model has answered, for a person to check.

        Rows that are `held` are before people already.
        """
        session = self.project.session
        review = None if self.by in session.aside else to_review(session, self.by, held)
        if review is None:
            return None
        gesture, is_sample = review
        source = "sampled" if is_sample else "extra"
        return session.put(gesture.left, _groups(gesture), source=source, names=gesture.names)

    def report(self) -> dict[str, Any]:
        """Return how it goes, for the page: numbers, and a line in words."""
        session = self.project.session
        found = certified(session, self.by)
        said = said_by(session, self.by)
        n_unsure = sum(not one.is_sure for one in said)
        line = f"{self.name} answered {len(said)}"
        if n_unsure:
            line += f" ({n_unsure} not sure)"
        if found.n >= FEW:
            line += f", right in {found.estimate:.0%}, at least {found.at_least:.0%}"
            line += f" by {plural(found.n, 'check')}"
        elif said:
            line += f", {found.n or 'none'} checked so far"
        warning = f"{self.name} seems to get worse: check more, or set it aside"
        warning = warning if found.is_falling else ""
        if self.by in session.aside:
            warning = f"The answers of {self.name} are set aside"
        is_working = self._thread is not None and not self._has_ended.is_set()
        if is_working and (trouble := getattr(self.oracle, "trouble", "")):
            warning = f"{self.name} waits: {trouble}"
        return {
            "name": self.name,
            "by": self.by,
            "n": len(said),
            "n_unsure": n_unsure,
            "n_checked": found.n,
            "right": round(found.estimate, 3) if found.n else None,
            "at_least": round(found.at_least, 3),
            "is_working": is_working,
            "line": line,
            "warning": (self.problem and f"{self.name} stopped: {self.problem}") or warning,
        }


class _Shared:
    """A project as the session that `run` asks; every answer goes through the project to disk."""

    row_numbers = None
    max_queries = None

    def __init__(self, work: ModelAtWork) -> None:
        self._work, self._project = work, work.project

    @property
    def strategy(self) -> Strategy:
        """The strategy in use."""
        return self._project.session.strategy

    @property
    def n_asked(self) -> int:
        """How many questions were answered."""
        return self._project.session.n_asked

    def ask(self) -> Question | None:
        """Return the next question for the model."""
        return next(iter(self.ask_many(1)), None)

    def ask_many(self, n: int, *, besides: Sequence[Question] = ()) -> list[Question]:
        """Return the next questions for the model."""
        return self._work.next_questions(n, list(besides))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Do nothing: the project saves every answer, or takes it back."""
        yield

    def answer(self, question: Question, chosen: Chosen, **signed: Any) -> None:
        """Take in an answer of the model."""
        try:
            self._project.answer_for(question, chosen, **signed)
        except StaleQueryError:  # such as after undo, or when another process took over
            return


Show = Callable[[int], Any]


def shown_to_models(project: Project) -> Show:
    """Return a function that shows a row to a model: its text, its fields, its picture."""

    def show(row: int) -> Any:
        place = project.where[row]
        if place is None:
            return project.ids[row]
        items = project.items
        view = items.view(place)
        parts: list[Any] = [items.thumbnail(place, 512, format="png")] if items.has_pictures else []
        fields = {str(name): str(text) for name, text, *_ in view.get("fields", ())}
        if view.get("text"):
            parts.append(str(view["text"]))
        if fields:
            parts.append(fields)
        return parts[0] if len(parts) == 1 else parts or items.title(place)

    return show
