"""One project, driven by a front: every change is on disk before anything follows from it."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.core.answers import Answer, Query
from likewise.core.partition import SuperInstances
from likewise.core.reports import Check, Revision
from likewise.core.session import Session
from likewise.errors import InputError, StaleQueryError
from likewise.items import Features, Items, Problem
from likewise.project.beginning import fineness, strategy_like
from likewise.project.groups import Group, groups_of, members_of, strategy_of
from likewise.project.memory import Log, MemoryLog
from likewise.project.splitting import set_apart, split_further
from likewise.project.timeline import Timeline, op_for_answer, setup_from_bytes, setup_to_bytes
from likewise.strategies import Refine

N_CHECKS = 5
MISFIT = "does not fit"


@dataclass(frozen=True, slots=True)
class Agreement:
    """How the check questions went.

    Attributes
    ----------
    n : int
        Checks answered with yes or no.
    n_wrong : int
        Those that came out otherwise than the earlier answers imply.
    low, high : float
        Where the share of wrong ones lies with 95 % confidence (Wilson's interval).
    """

    n: int
    n_wrong: int
    low: float
    high: float


class Project:
    """A session over items, with its log.

    All methods may be called from several threads. Whoever changes something says at which
    `position` of the log it looked; if the log has moved on, nothing is changed and
    `StaleQueryError` is raised.

    Parameters
    ----------
    session : Session
        The first set-up, as it was before anything in `log`.
    items : Items
        What the rows are.
    log : Store or other Log, optional
        Where operations are kept. By default in memory.
    features : callable, optional
        Returns the features; called when they are needed for the first time.
    where : sequence of int or None, optional
        For every row of the session its place in `items`, None if it is not there any more.
    path : Path, optional
        The session file, for those who want to show it.
    seed : int
        Decides what is random in refining.
    """

    def __init__(
        self,
        session: Session,
        items: Items,
        log: Log | None = None,
        *,
        features: Callable[[], Features] | None = None,
        where: Sequence[int | None] | None = None,
        path: Path | None = None,
        seed: int = 0,
    ) -> None:
        n_rows = strategy_of(session).n_rows
        self.items = items
        self.path = path
        self.seed = seed
        self.where = tuple(range(len(items))) if where is None else tuple(where)
        if len(self.where) != n_rows:
            raise InputError(f"the session has {n_rows} rows, but there are {len(items)} items")
        self.ids: tuple[str, ...] = tuple(map(str, session.sample_ids or items.ids))
        self.lock = threading.RLock()
        self._log: Log = MemoryLog() if log is None else log
        self._features = items.features if features is None else features
        self._known_features: Features | None = None
        self._timeline = Timeline(session, lambda name: setup_from_bytes(self._log.payload(name)))
        self._position = 0
        self.refresh()

    # -- looking ---------------------------------------------------------------------------------

    @property
    def position(self) -> int:
        """The number of the last operation that is taken in."""
        return self._position

    @property
    def session(self) -> Session:
        """The session in use. Read it; change it by the methods of the project only."""
        return self._timeline.session

    @property
    def partition(self) -> SuperInstances:
        """The super-instances in use."""
        return strategy_of(self.session).partition

    @property
    def can_undo(self) -> bool:
        """Whether `undo` would do something."""
        return self._timeline.can_undo

    @property
    def can_redo(self) -> bool:
        """Whether `redo` would do something."""
        return self._timeline.can_redo

    def refresh(self) -> bool:
        """Take in what other processes have added to the log; return whether there was any."""
        with self.lock:
            if self._log.last == self._position:
                return False
            for entry in self._log.read(self._position):
                self._timeline.apply(entry.op)
                self._position = entry.seq
            return True

    def ask(self) -> Query | None:
        """Return the open question, or None."""
        return self._timeline.ask()

    @property
    def is_in_doubt(self) -> bool:
        """Whether the open question is about an item that was said not to fit."""
        return self._timeline.open_focus is not None

    def peek(self, answer: Answer) -> Query | None:
        """Return the question that would follow an answer, where that is known."""
        return self._timeline.peek(answer)

    def groups(self) -> list[Group]:
        """Return all groups."""
        return groups_of(self.session, self.ids, self._log.group_names)

    def group(self, id: int) -> Group:
        """Return one group by its id."""
        for group in self.groups():
            if group.id == id:
                return group
        raise InputError(f"there is no group {id} any more: the answers have changed")

    def members(self, group: Group) -> NDArray[np.intp]:
        """Return the rows of a group, typical ones first."""
        return members_of(self.session, group)

    @property
    def n_parts(self) -> int:
        """How many small groups the items are cut into; refining makes more of them."""
        return fineness(strategy_of(self.session))

    @property
    def misfits(self) -> set[str]:
        """The ids of the items that were said not to fit."""
        return set(self._log.notes(MISFIT))

    @property
    def features(self) -> Features:
        """The features of the rows; computed, or fetched from the cache, when first needed."""
        with self.lock:
            if self._known_features is None:
                self._known_features = _aligned(self._features(), self.where)
            return self._known_features

    # -- changing --------------------------------------------------------------------------------

    def tell(self, answer: Answer, *, number: int, position: int) -> None:
        """Answer the open question, whose number was `number` when it was put."""
        with self.lock:
            self._check(position)
            query = self.ask()
            if query is None or query.number != number:
                raise StaleQueryError(
                    f"nothing was saved: question {number} is not the open one any more"
                )
            self._do(op_for_answer(query, answer))

    def settle(self, left: int, right: int, answer: Answer, *, position: int) -> None:
        """Say something about two rows without being asked."""
        with self.lock:
            self._check(position)
            self._check_rows(left, right)
            known = self.session.links.implied(left, right)
            if known is not None:
                raise InputError(f"rows {left} and {right} are settled already: {known.value}")
            number = len(self.session.events) + 1
            self._do(op_for_answer(Query(number, left, right), answer))

    def undo(self, *, position: int) -> None:
        """Take back the last answer, revision or set-up."""
        with self.lock:
            self._check(position)
            if self.can_undo:
                self._do({"do": "undo"})

    def redo(self, *, position: int) -> None:
        """Do again what was taken back."""
        with self.lock:
            self._check(position)
            if self.can_redo:
                self._do({"do": "redo"})

    def preview(self, number: int, answer: Answer) -> Revision:
        """Return what `revise` would keep and drop."""
        return self.session.preview(number, answer)

    def revise(self, number: int, answer: Answer, *, position: int) -> None:
        """Change an earlier answer."""
        with self.lock:
            self._check(position)
            self.session.preview(number, answer)
            self._do({"do": "revise", "number": number, "answer": answer.value})

    def name(self, group: int, name: str, *, position: int) -> None:
        """Name a group, or take its name away."""
        with self.lock:
            self._check(position)
            found = self.group(group)
            names = self._log.group_names
            for row in found.standing:
                if self.ids[row] in names:
                    self._log.name_group(self.ids[row], "")
            self._log.name_group(self.ids[found.standing[0]], name.strip())

    def misfit(self, row: int, *, position: int) -> list[int]:
        """Put an item to the question that does not seem to fit its group.

        Returns
        -------
        list of int
            Empty if it is asked about next. Otherwise the numbers of the answers that put it into
            its group by name, one of which would have to change.
        """
        with self.lock:
            self._check(position)
            self._check_rows(row)
            by_answers = self._answers_behind(row)
            if by_answers:
                self._log.put_note(MISFIT, self.ids[row])
                return by_answers
            X, askable = self.features.X, self.features.askable
            if row not in askable:
                raise InputError(f"{self.ids[row]} cannot be shown, so it cannot be asked about")
            if np.count_nonzero(self.partition.assignment == self.partition.assignment[row]) == 1:
                partition, stands = self.partition, self._nearest_fellow(row)
            else:
                partition, stands = set_apart(self.partition, X, row, askable=askable)
            self._set_up(partition, {"why": "misfit", "row": row, "ask": [row, stands]})
            self._log.put_note(MISFIT, self.ids[row])
            return []

    def refine(self, n_super_instances: int | None = None, *, position: int) -> None:
        """Split the super-instances further and keep all answers; by default twice as many."""
        with self.lock:
            self._check(position)
            now = self.n_parts
            wanted = 2 * now if n_super_instances is None else n_super_instances
            n_cells = self.partition.n_super_instances
            if wanted <= now:
                raise InputError(
                    f"there are {now} small groups already; refining needs more than that, "
                    f"got {wanted}"
                )
            if now == n_cells:
                partition = split_further(
                    self.partition,
                    self.features.X,
                    wanted,
                    askable=self.features.askable,
                    seed=self.seed,
                )
                if partition.n_super_instances == n_cells:
                    raise InputError(
                        "nothing is left to split: every super-instance is a single item"
                    )
            else:
                partition = self.partition
            self._set_up(partition, {"why": "refine"}, n_regions=wanted)

    # -- checking --------------------------------------------------------------------------------

    def checks(self) -> list[tuple[Check, Answer | None]]:
        """Return check questions about pairs settled for free, with the answers given to them."""
        with self.lock:
            seed = len(self.session.events)
            found = self.session.audit(N_CHECKS, random_state=seed)
            return [
                (check, self._timeline.checks.get((check.left, check.right))) for check in found
            ]

    def tell_check(self, left: int, right: int, answer: Answer, *, position: int) -> None:
        """Answer a check question. It changes no group."""
        with self.lock:
            self._check(position)
            if (left, right) not in {(c.left, c.right) for c, _ in self.checks()}:
                raise StaleQueryError("this is not one of the check questions any more")
            self._do({"do": "check", "left": left, "right": right, "answer": answer.value})

    def agreement(self) -> Agreement:
        """Return how the check questions went."""
        links = [(check, said) for check, said in self.checks() if said and said.is_link]
        wrong = sum(check.expected is not said for check, said in links)
        low, high = wilson_interval(wrong, len(links))
        return Agreement(len(links), wrong, low, high)

    def close(self) -> None:
        """Close the session file."""
        self._log.close()

    # -- inside ----------------------------------------------------------------------------------

    def _check(self, position: int) -> None:
        self.refresh()
        if position != self._position:
            raise StaleQueryError(
                f"nothing was saved: this came after operation {position} and the log is at "
                f"{self._position}. Somebody answered in another window or process; look again."
            )

    def _check_rows(self, *rows: int) -> None:
        for row in rows:
            if not 0 <= row < len(self.ids):
                raise InputError(f"there is no row {row}, only 0 to {len(self.ids) - 1}")
        if len(set(rows)) < len(rows):
            raise InputError("an answer is about two different items")

    def _do(self, op: dict[str, Any], payloads: dict[str, bytes] | None = None) -> None:
        self._position = self._log.append(op, after=self._position, payloads=payloads)
        self._timeline.apply(op)

    def _set_up(
        self, partition: SuperInstances, about: dict[str, Any], n_regions: int | None = None
    ) -> None:
        now = strategy_of(self.session)
        more = None
        if isinstance(now, Refine) and n_regions is not None:
            more = (*now.n_regions, n_regions)
        session = Session(
            strategy_like(now, partition, self.features.askable, more),
            sample_ids=self.session.sample_ids,
            digest=self.session.digest,
        )
        name = f"setup {self._position + 1}"
        self._do({"do": "setup", "payload": name, **about}, {name: setup_to_bytes(session)})

    def _nearest_fellow(self, row: int) -> int:
        """Return the nearest row of the same group that can be asked about."""
        labels = self.session.labels
        fellows = np.array(
            [r for r in self.session.strategy.askable() if labels[r] == labels[row] and r != row],
            dtype=np.intp,
        )
        if len(fellows) == 0:
            raise InputError(f"row {row} stands alone already")
        X = self.features.X
        if self.features.metric == "precomputed":
            return int(fellows[np.argmin(X[row, fellows])])
        return int(fellows[np.argmin(np.linalg.norm(X[fellows] - X[row], axis=1))])

    def _answers_behind(self, row: int) -> list[int]:
        """Return the answers by which a representative is in one group with others."""
        links = self.session.links
        return [
            event.number
            for event in self.session.events
            if event.answer is Answer.SAME and row in (event.left, event.right)
            if links.implied(event.left, event.right) is Answer.SAME
        ]


def wilson_interval(n_hits: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """Return the 95 % interval of a share of which `n_hits` of `n` were seen.

    Examples
    --------
    >>> [round(end, 2) for end in wilson_interval(1, 5)]
    [0.04, 0.62]
    """
    if n == 0:
        return 0.0, 1.0
    share = n_hits / n
    middle = share + z * z / (2 * n)
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(0.0, (middle - reach) / scale), min(1.0, (middle + reach) / scale)


def _aligned(features: Features, where: Sequence[int | None]) -> Features:
    """Return the features in the order of the session's rows; rows that are gone get the mean."""
    if list(where) == list(range(len(features.X))):
        return features
    here = np.array([k for k, place in enumerate(where) if place is not None], dtype=np.intp)
    places = np.array([place for place in where if place is not None], dtype=np.intp)
    gone = [k for k, place in enumerate(where) if place is None]
    if features.metric == "precomputed":
        X = np.full((len(where), len(where)), float(features.X.mean()))
        np.fill_diagonal(X, 0.0)
        X[np.ix_(here, here)] = features.X[np.ix_(places, places)]
    else:
        X = np.tile(features.X[places].mean(axis=0), (len(where), 1)).astype(features.X.dtype)
        X[here] = features.X[places]
    back = {place: k for k, place in enumerate(where) if place is not None}
    problems = [Problem(back[p.item], p.message) for p in features.problems if p.item in back]
    problems += [Problem(k, "it is not there any more") for k in gone]
    return Features(X, features.description, features.metric, features.notes, tuple(problems))
