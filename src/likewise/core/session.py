"""A session: it asks one question at a time, and every answer can be changed later.

A session has no loop of its own. `ask` returns the open question, `choose` and `tell` take the
answer; the caller is the web page, the terminal, an estimator's `fit`, or your own code. What was
done is in the log (`likewise.core.log`), from which everything else follows. Questions and answers
are in `likewise.core.asking`, all other changes in `likewise.core.changing`. Here is what a session
reports about itself.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer, Gesture, Question, checked_count, rank_of
from likewise.core.asking import Asking
from likewise.core.changing import Changing
from likewise.core.journal import Checked, Grown, Marked, Named, Repeated, rows_of
from likewise.core.links import pairs_for_free
from likewise.core.log import Log
from likewise.core.reports import (
    CONTRADICTED,
    Agreement,
    Assessment,
    Check,
    Completeness,
    Merge,
    Progress,
    Repeat,
    Suspect,
    grouped_by,
)
from likewise.errors import InputError, needs_extra
from likewise.words import card


class Session(Asking, Changing):
    """Ask and answer.

    Five names suffice: `ask` returns the open question, `choose` answers it (`tell` if it is about
    two rows), `undo` takes an answer back, `labels` is a valid clustering at every moment, and
    `to_dict` saves it all. An estimator's ``start`` makes a session. Methods that change it take
    `by` and `at`, who did it and when, for the log; those that answer also `seconds`, how long it
    took.

    Parameters
    ----------
    strategy : Strategy
        Decides what to ask.
    sample_ids : sequence of hashable, optional
        Names of the rows that outlive slicing and reordering; passed along with every question.
    digest : str, optional
        Fingerprint of the data, so that a saved session is not continued on other data.
    row_numbers : sequence of int, optional
        If the session is about a sample of larger data: for every row its number there.
    max_queries : int, optional
        The budget: `ask` returns None after this many questions; without a budget, when more
        questions would bring little. `extend` changes it.

    Attributes
    ----------
    removed : frozenset of int
        The rows that are gone: nothing is asked about them, but what was answered still counts.

    Examples
    --------
    >>> from likewise import COBRA
    >>> session = COBRA(n_super_instances=3).start([[0.0], [0.1], [5.0]])
    >>> question = session.ask()
    >>> question.left, question.right
    (0, 1)
    >>> _ = session.tell("same")
    >>> _ = session.tell("different")
    >>> session.ask() is None, session.labels.tolist()
    (True, [0, 0, 1])
    >>> print(session.progress)
    2 answers · 2 groups · nothing left to ask
    """

    def __repr__(self) -> str:
        return f"<Session: {self.progress}>"

    def _repr_html_(self) -> str:
        question, progress, complete = self.ask(), self.progress, self.completeness
        lines = [("rows", self.strategy.n_rows), ("progress", progress)]
        lines += [] if question is None else [("asks", question.about)]
        lines += [("to ask more", "session.extend(20)")] if progress.has_more else []
        lines += [] if complete is None else [("groups", complete)]
        shown = card("Session", [*lines, ("to answer", "session.widget(items=...)")])
        # By its name, since the core imports none of the rooms above it.
        picture: str = import_module("likewise.plotting").as_html(self)
        return shown + picture

    # -- how far it is -----------------------------------------------------------------------------

    @property
    def assessment(self) -> Assessment:
        """What the strategy makes of the answers so far."""
        return self.strategy.assess(self.answers)

    @property
    def askable(self) -> NDArray[np.intp]:
        """The rows that questions may be about, increasing."""
        return np.setdiff1d(self.strategy.askable(), sorted(self.removed))

    @property
    def is_done(self) -> bool:
        """Whether `ask` returns None."""
        return self.ask() is None

    @property
    def progress(self) -> Progress:
        """How far along the session is."""
        at_most, estimate = (0, 0) if self.is_done else self.assessment.remaining()
        if at_most and self.max_queries is not None and not self._is_endless:
            n_left = self.max_queries - self.n_asked
            estimate = n_left if estimate is None else min(estimate, n_left)
        more = self.is_done and self._question(self.answers, self.n_asked)
        unsure = sum(gesture.answer is Answer.UNSURE for gesture in self.events)
        return Progress(
            answered=len(self.events) - unsure,
            unsure=unsure,
            settled_for_free=self.links.n_decided - len(self.links),
            at_most=at_most,
            estimate=estimate,
            n_groups=self.n_groups,
            has_more=bool(more),
        )

    @property
    def completeness(self) -> Completeness | None:
        """How much of the grouping is right, as an estimate; None if there is none."""
        return self.once("completeness", self.assessment.completeness)

    @property
    def aspects(self) -> dict[str, float] | None:
        """How much each aspect of the rows counts, by name; None before anything is known.

        The weights sum to 1; that of an aspect that is switched off is 0. None, too, if the rows
        have no aspects. ``grouped_by`` says it in words.
        """
        aspects = self.once("aspects", self.assessment.aspects)
        weights = {each.name: each.weight for each in aspects if each.weight is not None}
        return weights or None

    @property
    def grouped_by(self) -> str:
        """By which aspects rows are grouped, in words; "" before anything is known."""
        return grouped_by(self.once("aspects", self.assessment.aspects))

    @property
    def n_groups(self) -> int:
        """Number of groups by what is known now; those of removed rows alone do not count."""
        if not self.removed:
            return int(self.labels.max()) + 1
        return len(np.unique(np.delete(self.labels, sorted(self.removed))))

    @property
    def open_pairs(self) -> list[tuple[int, int]]:
        """One pair of rows for every two groups that stayed undecided by *not sure* answers."""
        pairs: dict[frozenset[int], tuple[int, int]] = {}
        for gesture in self.events:
            for link in gesture.links:
                if link.answer is Answer.UNSURE and self.links.implied(*link.pair) is None:
                    roots = frozenset(map(self.links.find, link.pair))
                    pairs.setdefault(roots, link.pair)
        return sorted(pairs.values())

    # -- what may be wrong -------------------------------------------------------------------------

    @property
    def suspects(self) -> list[Suspect]:
        """Answers that are probably wrong, the least credible first; certain links never are."""
        return self.assessment.suspects(CONTRADICTED)

    @property
    def merges(self) -> list[Merge]:
        """Pairs of groups that may be one, the likeliest first; `judge` says whether they are.

        Groups that certainly differ are not among them, so what was decided does not come again.
        """
        return self.once("merges", self.assessment.merges)

    def audit(self, n: int, *, random_state: int = 0) -> list[Check]:
        """Return pairs that were settled for free, to find out whether that was right.

        Questions never contradict earlier answers by themselves, so a wrong answer shows only when
        something settled is asked on purpose. If there are enough pairs, half of them are expected
        to be the same and half to differ.

        Parameters
        ----------
        n : int
            How many pairs to return; fewer if fewer are settled.
        random_state : int, default=0
            Which ones to choose.
        """
        n = checked_count(n, "audit takes")
        settled = self.links, self.askable, {link.pair for link in self.links}
        rng = np.random.default_rng(random_state)
        same = pairs_for_free(*settled, Answer.SAME, n, rng)
        different = pairs_for_free(*settled, Answer.DIFFERENT, n, rng)
        n_same = min(len(same), max((n + 1) // 2, n - len(different)))
        chosen = [(pair, Answer.SAME) for pair in same[:n_same]]
        chosen += [(pair, Answer.DIFFERENT) for pair in different[: n - n_same]]
        return [Check(*pair, expected, self.links.explain(*pair)) for pair, expected in chosen]

    @property
    def checks(self) -> dict[tuple[int, int], Answer]:
        """The answers to check questions since the last change of the groups."""
        checks: dict[tuple[int, int], Answer] = {}
        for entry in reversed(self._log):
            if isinstance(entry, Checked):
                for link in entry.links:
                    checks.setdefault((link.left, link.right), link.answer)
            elif not isinstance(entry, Repeated | Named | Marked | Grown):
                break
        return checks

    def repeats(self, n: int, *, by: str | None = None, random_state: int = 0) -> list[Repeat]:
        """Return earlier questions, the other way round, to see how consistent the answers are.

        They are questions that a person answered with more than *not sure*. The two rows of a pair
        change sides, and groups come in the opposite order. Pass the answers to `repeat`.

        Parameters
        ----------
        n : int
            How many questions to return; fewer if fewer were answered.
        by : str, optional
            Only what this person answered.
        random_state : int, default=0
            Which ones to choose.
        """
        n = checked_count(n, "repeats takes")
        askable = set(self.askable.tolist())
        answered = [
            gesture
            for gesture in self.events
            if gesture.source == "asked" and gesture.answer.is_link and rank_of(gesture.by) == 0
            if (by is None or gesture.by == by) and askable.issuperset(rows_of(gesture))
            if any(gesture.groups) or not gesture.groups
        ]
        rng = np.random.default_rng(random_state)
        chosen = rng.permutation(len(answered))[:n].tolist()
        return [self._mirrored(answered[k]) for k in sorted(chosen)]

    def _mirrored(self, gesture: Gesture) -> Repeat:
        """Return the question of a gesture the other way round."""
        # A group that was only a name cannot be compared with.
        row, groups = gesture.left, tuple(filter(None, gesture.groups[::-1]))
        if not groups:
            row, groups = gesture.right, ((gesture.left,),)
        return Repeat(gesture.number, Question(gesture.number, row, groups), gesture.links)

    @property
    def repeated(self) -> tuple[Repeated, ...]:
        """The answers to questions that were asked again, in order."""
        return tuple(entry for entry in self._log if isinstance(entry, Repeated))

    @property
    def agreement(self) -> Agreement:
        """How often questions that were asked again were answered in the same way."""
        same = [is_same for e in self.repeated if (is_same := self.agrees(e)) is not None]
        return Agreement(len(same), sum(same))

    def agrees(self, repeated: Repeated) -> bool | None:
        """Return whether a repeated answer is the same as before; None for *not sure*.

        Two groups that have become one are the same answer.
        """
        if any(link.answer is Answer.UNSURE for link in repeated.links):
            return None
        before, now = (
            {link.pair for link in links if link.answer is Answer.SAME}
            for links in (repeated.before, repeated.links)
        )
        if not before or not now:
            return not before and not now
        if before & now:
            return True
        there = {self.links.find(link.right) for link in repeated.before}
        return not there.isdisjoint(self.links.find(link.right) for link in repeated.links)

    # -- elsewhere ---------------------------------------------------------------------------------

    def to_frame(self) -> Any:
        """Return the answers as a pandas data frame, one row per link, in order.

        Needs pandas. The columns are the number of the answer, the two rows by their numbers in the
        data, their ids where there are any, the answer, its source, who gave it and when, and how
        many seconds it took. Answers that change no group come last. Their source is "check", with
        the number 0, or "repeat", with the number of the answer to the same question.
        """
        with needs_extra("to_frame()", "tables"):
            pandas = import_module("pandas")
        ids = self.sample_ids
        number: Any = range(self.strategy.n_rows)
        if self.row_numbers is not None:
            number = self.row_numbers.tolist()
        numbers = {gesture.links: gesture.number for gesture in self.events}
        told: list[tuple[Gesture | Checked | Repeated, int, str]]
        told = [(e, e.number, e.source) for e in self.events]
        told += [(e, 0, "check") for e in self._log if isinstance(e, Checked)]
        told += [(e, numbers.get(e.before, 0), "repeat") for e in self.repeated]
        records = [
            {
                "number": count,
                "row": number[link.left],
                "other": number[link.right],
                **({} if ids is None else {"row_id": ids[link.left], "other_id": ids[link.right]}),
                "answer": link.answer.value,
                "source": source,
                "by": entry.by,
                "at": entry.at,
                "seconds": entry.seconds,
            }
            for entry, count, source in told
            for link in entry.links
        ]
        columns = ["number", "row", "other", "answer", "source", "by", "at", "seconds"]
        if ids is not None:
            columns[3:3] = ["row_id", "other_id"]
        return pandas.DataFrame.from_records(records, columns=columns)

    def widget(
        self,
        items: Any = None,
        *,
        show: Callable[[int], Any] | None = None,
        html: bool = False,
        kind: str | None = None,
        X: Any = None,
        height: int = 660,
    ) -> Any:
        """Return a widget for notebooks that asks the questions and shows the groups.

        Needs ``pip install "likewise[notebook]"``. Answers change this session, so `progress`,
        `labels` and all else follow at once.

        Parameters
        ----------
        items : data frame, sequence or Items
            What the rows look like: the rows of a data frame; pictures (paths, PIL images or
            arrays of pixels); texts; series; or what `likewise.open_items` returned.
        show : callable, optional
            Instead of `items`: returns what row `i` looks like, as a text.
        html : bool
            Whether `show` returns HTML. It is then shown in a frame that cannot reach the
            notebook. By default all markup is shown as text.
        kind : {"images", "texts", "series"}, optional
            What `items` are, instead of recognizing it.
        X : array-like, optional
            The features, for the map; needed by strategies that do not store them.
        height : int
            In pixels.
        """
        # By its name, since the core imports none of the rooms above it.
        front = import_module("likewise.notebook")
        return front.widget(self, items, show=show, html=html, kind=kind, X=X, height=height)


def refuse_session(session: Any) -> None:
    """Raise `InputError` unless this is a session."""
    if not hasattr(session, "strategy"):
        raise InputError(
            f"a Session is needed, got {type(session).__name__}. Session.from_dict(saved) makes "
            "one of what session.to_dict() returned."
        )


# Python's messages about arguments name methods; the name that users know is Session.
for _part in (Log, Asking, Changing):
    for _name, _method in vars(_part).items():
        if callable(_function := getattr(_method, "__func__", _method)) and not isinstance(
            _function, type
        ):
            _function.__qualname__ = f"Session.{_name}"
