"""Ask about the row that is nearest to the most doubt.

A learner (`likewise.learning`) says how likely each row belongs to each of the groups found so far.
With its two largest probabilities p1 and p2, the doubt about a row x is w(x) = 1 - (p1 - p2), and
d(x) is the distance from x to the nearest row whose group is known. The next row to ask about is

    argmax over r of the sum over x of  w(x) max(0, d(x) - |x - r|),

the row whose answer brings the most doubt closer to a known row. Distances are square roots of
Euclidean ones, so that near rows count more. Before two groups are known, and for the first rows, w
is 1. With given groups, the first rows are members that seem misplaced by the rows nearest to them.
The row is shown beside all groups, the likeliest first. The rule needs no plan and no budget, and
everything follows from the rows and the log.

The rule is a relative of two others. Where w is 1 it is MaxHerding (Bae, Noh, Sutherland 2024,
arXiv 2407.12212) with another kernel; with margins it is Uncertainty Herding (Bae, Oliveira,
Sutherland 2025, arXiv 2412.20644), also without its temperature and its adaptive width.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from likewise.core.answered import Answers
from likewise.core.answers import Answer, Groups, checked_field
from likewise.core.arrays import whole_numbers
from likewise.core.labels import labels_of_rows, respecting_groups
from likewise.core.partition import SuperInstances, singletons
from likewise.core.reports import Aspect, Assessment, Completeness, Merge, Suspect
from likewise.core.strategy import Strategy
from likewise.errors import InputError
from likewise.learning.aspects import checked_columns
from likewise.learning.given import keep_together, unmet_rows
from likewise.learning.learner import Learned
from likewise.learning.reliability import SURE, contradicted_rows
from likewise.learning.views import weighed
from likewise.rows.metrics import unit_rows
from likewise.strategies.cells import KnownCells, known_cells, proba_of_new
from likewise.strategies.field import Field, margin_doubt
from likewise.strategies.merging import merges
from likewise.words import check_text

QUESTIONS = ("choices", "pairs")
"""What is asked: to which of all groups a row belongs, or whether it belongs to the likeliest."""

N_SHOWN = 3
"""How many rows of a group are shown, if it has them."""

N_FIRST = 8
"""For the first rows every doubt is 1, since the learner knows too little. With 16 the mean
adjusted Rand index of 20 practice sets is the same (.01)."""

AT_ONCE = 0.25
"""For each row that was asked about, this many may be asked about at the same time."""

FEW_CHANGED, SPAN = 0.01, 30
"""It is enough when fewer than this share of the rows are in another group than this many rows ago.
On 16 of 20 practice sets that is within 200 choices, after 148 on average, and loses .019 of the
adjusted Rand index that 200 choices reach (at worst .10)."""

MOST_ASKED = 200
"""It is also enough when this many rows were asked about."""


class MostDoubt(Strategy):
    """Ask about the row that is nearest to the most doubt, beside all groups.

    Parameters
    ----------
    partition : SuperInstances
        Every row, or small cells of rows, and the rows that stand for them.
    askable : ndarray of bool, optional
        The cells whose rows may be shown. By default all.
    questions : {"choices", "pairs"}, default="choices"
        Whether a row is shown beside all groups, the likeliest first, or beside one row of the
        likeliest.
    seed : int, default=0
        Decides which rows are compared, where there are many.
    given : ndarray of int, optional
        The number of the group that each cell was given beforehand, -1 for none. Given groups are
        a belief: they vote, and those that no question was about yet stay groups.
    given_labels : sequence of str
        The labels of these groups, by their numbers; a label that is not a number is a name.
    aspects : mapping of str to array-like of int, optional
        The columns of each aspect of the rows. Those that predict the answers weigh more.
    main_aspect : str, optional
        The aspect that weighs most while there are few answers.
    group_names : sequence of str
        Names of groups that are known beforehand, without rows.
    field : Field, optional
        What was computed of the rows before.
    """

    name: ClassVar[str] = "most-doubt"

    def __init__(
        self,
        partition: SuperInstances,
        *,
        askable: NDArray[np.bool_] | None = None,
        questions: str = "choices",
        seed: int = 0,
        given: NDArray[np.intp] | None = None,
        given_labels: Sequence[str] = (),
        aspects: Mapping[str, ArrayLike] | None = None,
        main_aspect: str | None = None,
        group_names: Sequence[str] = (),
        field: Field | None = None,
    ) -> None:
        super().__init__(partition)
        if partition.points is None:
            raise InputError(f"the strategy {self.name!r} learns from features, not from distances")
        n = partition.n_super_instances
        self.is_askable = np.ones(n, dtype=bool) if askable is None else askable
        if questions not in QUESTIONS:
            raise InputError(
                f"questions must be {' or '.join(map(repr, QUESTIONS))}, got {questions!r}"
            )
        self.questions = questions
        self.seed = seed
        self.given_labels = tuple(given_labels)
        self.group_names = tuple(group_names)
        if self.group_names and questions == "pairs":
            raise InputError("group_names are for choices, where a row is beside all groups")
        if given is not None and len(given) and not -1 <= given.min() <= given.max() < len(given):
            raise InputError(
                f"given must have numbers of groups from -1, for none, to {len(given) - 1}, since "
                f"there are {len(given)} cells; got {given.min()} to {given.max()}"
            )
        self.aspects = checked_columns(aspects or {}, partition.points.shape[1])
        if main_aspect is not None and main_aspect not in list(self.aspects):
            names = ", ".join(self.aspects) or "there are none"
            raise InputError(f"main_aspect must be an aspect ({names}), got {main_aspect!r}")
        self.main_aspect = main_aspect
        self._field = field or Field(
            partition, self.is_askable, seed, given, self.aspects, main_aspect
        )
        self._fields: dict[tuple[str, ...], Field] = {}
        # Cells that joined later have no given group.
        self.given = None if given is None else self._field.learner.rows.given

    @classmethod
    def from_rows(
        cls,
        X: NDArray[Any],
        *,
        train_indices: NDArray[np.intp] | None = None,
        seed: int = 0,
        n_jobs: int | None = None,  # noqa: ARG003  (nothing is computed before the first question)
        metric: str = "euclidean",
        **options: Any,
    ) -> Self:
        """Return the strategy for rows, each a cell of its own; `options` are those of the class.

        With the metric "cosine" they must have unit length.
        """
        is_askable = None
        if train_indices is not None:
            is_askable = np.isin(np.arange(len(X)), train_indices)
        return cls(singletons(X, metric), askable=is_askable, seed=seed, **options)

    def grown(self, rows: NDArray[Any], unasked: frozenset[int]) -> Self:
        """Return the strategy with further rows, each a cell of its own, to be asked about."""
        if self.partition.metric == "cosine" and len(rows):
            rows = unit_rows(rows)
        partition = self.partition.with_rows(rows)
        new = partition.representatives[self.partition.n_super_instances :]
        is_askable = np.append(self.is_askable, ~np.isin(new, sorted(unasked)))
        return self._with(partition, is_askable)

    def _with(self, partition: SuperInstances, is_askable: NDArray[np.bool_]) -> Self:
        return type(self)(
            partition,
            askable=is_askable,
            questions=self.questions,
            seed=self.seed,
            given=self.given,
            given_labels=self.given_labels,
            aspects=self.aspects,
            main_aspect=self.main_aspect,
            group_names=self.group_names,
            field=self._field.grown(partition, is_askable),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the partition, the askable cells and the options as plain values."""
        n_first = self._field.n_first
        return {
            **super().to_dict(),
            "askable": np.flatnonzero(self.is_askable).tolist(),
            "questions": self.questions,
            "seed": self.seed,
            **({} if self.given is None else {"given": self.given}),
            **({"given_labels": list(self.given_labels)} if self.given_labels else {}),
            **({"aspects": self.aspects} if self.aspects else {}),
            **({"main_aspect": self.main_aspect} if self.main_aspect else {}),
            **({"group_names": list(self.group_names)} if self.group_names else {}),
            **({"n_first": n_first} if n_first < self.partition.n_super_instances else {}),
        }

    @classmethod
    def load(cls, plain: Mapping[str, Any]) -> Self:
        """Return the strategy that `to_dict` wrote down."""
        partition = SuperInstances.from_dict(plain["partition"])
        n = partition.n_super_instances
        askable = np.zeros(n, dtype=bool)
        askable[plain["askable"]] = True
        options: Any = {
            "questions": plain["questions"],
            "seed": checked_field(plain, "seed", 0),
            "group_names": [check_text(name, "a name") for name in plain.get("group_names", ())],
        }
        n_first = checked_field({"n_first": n, **plain}, "n_first", 1, n)
        if plain.get("given") is not None:
            given = whole_numbers(plain["given"], "given", n)[:n_first]
            labels = plain.get("given_labels", ())
            if labels and len(labels) <= given.max() < n:
                raise InputError(f"given_labels must have a text for group {given.max()}, too")
            options["given"] = given
            options["given_labels"] = [check_text(label, "a label") for label in labels]
        aspects = plain.get("aspects", {}).items()
        options["aspects"] = {name: whole_numbers(columns, name) for name, columns in aspects}
        options["main_aspect"] = plain.get("main_aspect")
        first = cls(partition.first_cells(n_first), askable=askable[:n_first], **options)
        return first if n_first == n else first._with(partition, askable)

    def askable(self) -> NDArray[np.intp]:
        """Return the rows that stand for askable cells."""
        return self.partition.representatives[self.is_askable]

    def given_groups(self) -> tuple[NDArray[np.intp], Sequence[str]] | None:
        """Return the numbers of the given groups of all rows, and the labels of these groups."""
        if self.given is None:
            return None
        labels = self.given_labels or list(map(str, range(int(self.given.max(initial=-1)) + 1)))
        return self.given[self.partition.assignment], labels

    @cached_property
    def _position(self) -> dict[int, int]:
        """The number of every cell, by the row that stands for it."""
        return {row: cell for cell, row in enumerate(self.partition.representatives.tolist())}

    @cached_property
    def _cell_of(self) -> dict[int, int]:
        """The number of every cell that may be asked about, by the row that stands for it."""
        return {row: cell for row, cell in self._position.items() if self.is_askable[cell]}

    def _field_by(self, names: tuple[str, ...]) -> Field:
        """Return the field in which only some aspects count."""
        if len(names) == len(self.aspects) or not names:
            return self._field
        if names not in self._fields:
            n_first = self._field.n_first
            first = self.partition.first_cells(n_first)
            given = None if self.given is None else self.given[:n_first]
            aspects = {name: self.aspects[name] for name in names}
            about = self.seed, given, aspects, self.main_aspect
            field = Field(first, self.is_askable[:n_first], *about)
            self._fields[names] = field.grown(self.partition, self.is_askable)
        return self._fields[names]

    # -- what follows from the answers -----------------------------------------------------------

    def next_question(self, answers: Answers) -> tuple[int, Groups] | None:
        """Return a row beside the groups that it may belong to, or None when all is known."""
        awaited = [cell for row in answers.awaited if (cell := self._position.get(row)) is not None]
        return self._situation(answers.base).next_question(sorted(awaited))

    def labels(self, answers: Answers, *, guess: bool = False) -> NDArray[np.intp]:
        """Return the group of every row; a guess is one from the rows alone, if nothing is known.

        Groups are as answered, else as learned.
        """
        situation = self._situation(answers)
        names = situation.guess_of_cells() if guess else situation.group_of_cells()
        return labels_of_rows(self.partition, names, answers.links)

    def assess(self, answers: Answers) -> Assessment:
        """Return what the learner makes of the answers so far."""
        situation = self._situation(answers)
        return Assessment(
            situation.remaining,
            situation.is_enough,
            situation.doubts,
            situation.completeness,
            situation.suspects,
            situation.aspects,
            situation.merges,
            situation.learned_or_guessed,
        )

    def known(self, answers: Answers) -> KnownCells:
        """Return what answers imply for cells."""
        return self._situation(answers).known

    def _situation(self, answers: Answers) -> _Situation:
        return answers.once(self, lambda: _Situation(self, answers))


class _Situation:
    """What a strategy makes of some answers. Everything is computed when it is needed, and once."""

    def __init__(self, strategy: MostDoubt, answers: Answers) -> None:
        self._strategy, self._answers = strategy, answers
        names = tuple(strategy.aspects)
        self._on = tuple(name for name in names if name not in answers.off) or names
        self._field, self._partition = strategy._field_by(self._on), strategy.partition
        self._rows = strategy.partition.representatives
        cells = (strategy._position.get(row) for row in answers.removed)
        self._removed = frozenset(cell for cell in cells if cell is not None)

    @cached_property
    def known(self) -> KnownCells:
        """What answers imply for cells."""
        strategy, learner = self._strategy, self._field.learner
        about = self._answers, strategy._cell_of, learner, self._removed
        return known_cells(*about, by_pairs=strategy.questions == "pairs")

    @cached_property
    def learned(self) -> Learned | None:
        """What was learned from known cells, and from cells that are likely the first of groups.

        None before there are two groups.
        """
        known, field = self.known, self._field
        cells, groups = known.examples()
        new = self._unmet.copy()
        if known.learned is not None:
            # By pairs, rows are placed only later, and where groups overlap.
            only_far = self._strategy.questions == "choices"
            share = proba_of_new(len(known.groups), len(cells))
            new += field.likely_new(known.learned, share, only_far=only_far)
        if not new or len(known.groups) + len(new) < 2:
            return known.learned
        further = len(known.groups) + np.arange(len(new))
        return field.learner.learn(np.append(cells, new), np.append(groups, further))

    @property
    def guessed(self) -> Learned | None:
        """What is learned from groups that were guessed from the rows alone.

        None when something is known or given, and when the rows do not fall into groups.
        """
        if self._strategy.given is not None or self.known.groups or len(self._answers.links):
            return None
        return self._field.guess

    def learned_or_guessed(self, guess: bool) -> Learned | None:
        """Return what was learned; with `guess`, what is guessed while nothing is known."""
        guessed = self.guessed if guess else None
        return self.learned if guessed is None else guessed

    @cached_property
    def proba(self) -> NDArray[np.float64]:
        """How likely each cell belongs to each group; 1 where that is known."""
        if self.learned is None:
            return np.ones((len(self._rows), 1))
        proba = self.learned.known_proba()
        if self._unmet:
            given, known = self._field.learner.rows.given, self.known
            keep_together(proba, given, self._unmet, known.order, len(known.groups))
        return proba

    @cached_property
    def _unmet(self) -> list[int]:
        """A cell of every given group that no question was about yet."""
        if self._strategy.given is None:
            return []
        rows, position = self._field.learner.rows, self._strategy._position
        given = rows.given[self._partition.assignment]
        out = [position[row] for row in self._answers.taken_out(given) if row in position]
        suspicion = self._field.learner.suspicion
        return unmet_rows(rows, *self.known.examples(), self._may_show, out, suspicion)

    @cached_property
    def _may_show(self) -> NDArray[np.bool_]:
        """Whether each cell may be asked about and is not removed."""
        may_show = self._strategy.is_askable.copy()
        may_show[list(self._removed)] = False
        return may_show

    # -- what to ask -----------------------------------------------------------------------------

    def next_question(self, awaited: Sequence[int] = ()) -> tuple[int, Groups] | None:
        """Return a row beside the groups that it may belong to, or None when all is known.

        Somebody is being asked about the `awaited` cells. They are not asked about again, and for
        distances they are as good as known, so that several questions lie far apart. Only a
        few are allowed in the beginning, when every answer changes what is worth asking.
        """
        if len(awaited) > AT_ONCE * len(self.known.order):
            return None
        if (question := self._about_a_pending_row(awaited)) is not None:
            return question
        if not self.known.shown_groups() and not self._shown_unmet:
            return self._about_the_first_rows(awaited)
        return self._about_a_new_row(awaited) or self._about_two_groups(awaited)

    def _about_a_pending_row(self, awaited: Sequence[int]) -> tuple[int, Groups] | None:
        """Return a question about a row that differs from some groups, the latest first."""
        for cell in reversed(self.known.pending):
            if cell in awaited:
                continue
            if groups := self.known.comparable(cell, self.known.open_groups(cell)):
                return self._shown(cell, groups)
        return None

    def _about_the_first_rows(self, awaited: Sequence[int]) -> tuple[int, Groups] | None:
        """Return the pair of rows that are nearest to all others; no group can be shown yet.

        Where groups are known by name, only the first of the two is asked about.
        """
        order = self.known.order
        first = self._next_cell(order)
        if first is not None and self._strategy.group_names:
            return int(self._rows[first]), ()
        second = self._central_of_its_given(first)
        if first is not None and second is None:
            second = self._next_cell([*order, first, *awaited])
        return None if second is None else (int(self._rows[second]), ((int(self._rows[first]),),))

    def _central_of_its_given(self, cell: int | None) -> int | None:
        """Return the central row of the given group of a cell, if it has one that may be shown."""
        given = self._field.learner.rows.given
        if cell is None or given[cell] < 0:
            return None
        same = (one for one in self._unmet if given[one] == given[cell] and one != cell)
        return next((one for one in same if self._may_show[one]), None)

    def _about_a_new_row(self, awaited: Sequence[int]) -> tuple[int, Groups] | None:
        """Return a question about the row that is nearest to the most doubt."""
        passed_over: list[int] = []
        met = [*self.known.order, *awaited]
        while (newcomer := self._next_cell(met, passed_over)) is not None:
            groups = self.known.comparable(newcomer, self.known.open_groups(newcomer))
            if groups or self._open_unmet(newcomer):
                return self._shown(newcomer, groups)
            passed_over.append(newcomer)
        return None

    def _about_two_groups(self, awaited: Sequence[int]) -> tuple[int, Groups] | None:
        """Return a question about groups that were never compared, once all rows were asked about.

        Each is shown by its first row that is not removed.
        """
        known = self.known
        for cell, *_ in filter(None, map(known.shown_cells, known.groups)):
            groups = known.comparable(cell, known.open_groups(cell))
            if groups and cell not in known.unsure and cell not in awaited:
                return self._shown(cell, groups)
        return None

    def _next_cell(self, met: Sequence[int], passed_over: Sequence[int] = ()) -> int | None:
        """Return the cell that is nearest to the most doubt, or None if all were asked about."""
        is_open = self._may_show.copy()
        is_open[[*met, *passed_over, *self.known.unsure]] = False
        if not is_open.any():
            return None
        doubt, learned = self._doubt(met, is_open), self.known.learned
        if self._strategy.given is not None and len(met) < N_FIRST:
            # Given groups are in doubt from the first question on.
            suspicion = self._field.suspicion()
            is_suspicious = is_open & (suspicion > 0.0)
            if is_suspicious.any():
                doubt, is_open = suspicion, is_suspicious
        aspects = None if learned is None else learned.aspects
        return self._field.nearest_to_doubt(is_open, self._removed, met, doubt, aspects)

    def _doubt(self, met: Sequence[int], is_open: NDArray[np.bool_]) -> NDArray[np.float64] | None:
        """Return the doubt about every cell, or None if that is 1 for all."""
        learned = self.known.learned if len(met) >= N_FIRST else None
        if learned is None:
            return None
        if self._unmet:
            # Given groups that no question was about come first.
            given = self._field.learner.rows.given
            is_unmet = is_open & np.isin(given, given[self._unmet])
            if is_unmet[self._field.asked.cells].any():
                return is_unmet.astype(np.float64)
        return margin_doubt(learned.proba)

    def _shown(self, cell: int, groups: Sequence[int]) -> tuple[int, Groups]:
        """Return a question about a cell beside some groups, or beside the likeliest of them.

        Given groups that no question was about are among them, each by its central row first.
        """
        known = self.known
        likeliest = known.likeliest(cell, groups) if groups else []
        shown = [self._rows_of(known.shown_cells(known.groups[g]), cell) for g in likeliest]
        if unmet := self._open_unmet(cell):
            shown += [self._rows_of_given(self._unmet[k], cell) for k in unmet]
            if self.learned is not None:
                numbers = [*likeliest, *(len(known.groups) + k for k in unmet)]
                proba = self.learned.proba[cell][numbers].round(9)
                shown = [shown[k] for k in np.argsort(-proba, kind="stable").tolist()]
        if self._strategy.questions == "pairs":
            del shown[1:]
        return int(self._rows[cell]), tuple(shown)

    @cached_property
    def _shown_unmet(self) -> list[int]:
        """The central rows of given groups that no question was about, if these may be shown."""
        if self._strategy.questions == "pairs":
            return []
        return [cell for cell in self._unmet if self._may_show[cell]]

    def _open_unmet(self, cell: int) -> list[int]:
        """Return the places in `_unmet` of given groups that a cell may belong to."""
        row = int(self._rows[cell])
        found = []
        for k, central in enumerate(self._unmet):
            first = self._stand_in(central, cell) if central in self._shown_unmet else None
            if first is not None and self._answers.is_open(row, int(self._rows[first])):
                found.append(k)
        return found

    def _rows_of_given(self, central: int, cell: int) -> tuple[int, ...]:
        """Return the rows by which a given group is shown: its central row, and the nearest."""
        first = self._stand_in(central, cell)
        assert first is not None
        inside = np.setdiff1d(self._inside_given(central, cell), first)
        return self._rows_of([first, *inside.tolist()], cell)

    def _stand_in(self, central: int, cell: int) -> int | None:
        """Return the first cell by which a given group is shown beside a cell, if there is one.

        That is its central cell or, beside that cell itself, the nearest other one.
        """
        if central != cell:
            return central
        inside, rows = self._inside_given(central, cell), self._field.learner.rows.scaled
        if not len(inside):
            return None
        return int(inside[np.argmin(((rows[inside] - rows[cell]) ** 2).sum(axis=1))])

    def _inside_given(self, central: int, cell: int) -> NDArray[np.intp]:
        """Return the other cells of a given group that may be shown and were not asked about."""
        given = self._field.learner.rows.given
        inside = np.flatnonzero((given == given[central]) & self._may_show)
        return np.setdiff1d(inside, [central, cell, *self.known.order])

    def _rows_of(self, group: Sequence[int], cell: int) -> tuple[int, ...]:
        """Return the rows by which a group is shown: the nearest, or its first and the nearest."""
        learned, rows = self.known.learned, self._field.learner.rows
        points = weighed(rows.take([cell, *group]), None if learned is None else learned.aspects)
        distances = cdist(points[:1], points[1:])[0]
        near = [group[k] for k in np.argsort(distances, kind="stable").tolist()]
        cells = near[:1]
        if self._strategy.questions == "choices":
            # The first row of a group stands for it in the log, so that a row that is later found
            # to be misplaced takes no other with it.
            cells = list(dict.fromkeys([group[0], *near]))[:N_SHOWN]
        return tuple(self._rows[cells].tolist())

    # -- what is known ---------------------------------------------------------------------------

    def group_of_cells(self) -> NDArray[np.intp]:
        """Return, for every cell, the number of its group: as answered, else as learned."""
        groups, links = self.known.groups, self._answers.links
        decided = {links.find(int(self._rows[cells[0]])): g for g, cells in enumerate(groups)}
        decided = decided if len(groups) > 1 else {}
        return respecting_groups(self.proba, links, decided, self._strategy._position)

    def guess_of_cells(self) -> NDArray[np.intp]:
        """Return the group of every cell; while nothing is known, a guess from the rows alone."""
        if self.guessed is None:
            return self.group_of_cells()
        return np.asarray(self.guessed.proba.argmax(axis=1), dtype=np.intp)

    def remaining(self) -> tuple[int, int | None]:
        """Return the number of undecided pairs of groups; how many will be asked is not planned."""
        links = self._answers.links
        answered = self.known.shown_cells(self.known.order)
        roots = {links.find(row) for row in self._rows[answered].tolist()}
        n_groups = int(self._may_show.sum()) - len(answered) + len(roots)
        n_differing = sum(len(roots & links.differing(root)) for root in roots) // 2
        return n_groups * (n_groups - 1) // 2 - n_differing, None

    def doubts(self) -> NDArray[np.float64]:
        """Return, for every row, the probability that its label is wrong, by the learner."""
        if self.learned is None:
            return np.ones(self._strategy.n_rows)
        doubt: NDArray[np.float64] = 1.0 - self.proba.max(axis=1)
        return doubt[self._partition.assignment]

    def completeness(self) -> Completeness | None:
        """Return how much of the grouping is right, or None while too little is known."""
        return self.known.completeness(n_groups=self.proba.shape[1])

    def is_enough(self) -> bool:
        """Return whether the last rows that were asked about changed few labels.

        Of rows that joined later, few may be in doubt, too.
        """
        known = self.known.examples()[0]
        if self._is_later_in_doubt(known):
            return False
        if len(known) >= min(MOST_ASKED, len(self._strategy._cell_of)):
            return True
        return len(known) > SPAN and self.known.share_changed(SPAN) < FEW_CHANGED

    def _is_later_in_doubt(self, known: NDArray[np.intp]) -> bool:
        """Return whether rows that joined later are in doubt, and not enough of them are known."""
        later = np.flatnonzero(self._may_show)
        later = later[later >= self._field.n_first]
        if not len(later) or np.isin(later, known).sum() >= MOST_ASKED:
            return False
        return float((self.proba[later].max(axis=1) < SURE).mean()) >= FEW_CHANGED

    def aspects(self) -> list[Aspect]:
        """Return how much each aspect weighs; None before something was learned."""
        learned, names = self.learned, self._strategy.aspects
        if learned is None or not names:
            return [Aspect(name, None, name in self._on) for name in names]
        weights = dict(zip(self._on, learned.aspects.tolist(), strict=True))
        return [Aspect(name, weights.get(name, 0.0), name in weights) for name in names]

    def merges(self) -> list[Merge]:
        """Return pairs of groups that may be one and do not certainly differ."""
        return merges(self.known, self._answers, self._rows)

    def suspects(self, at_most: float) -> list[Suspect]:
        """Return answers that put rows where others contradict them, the least credible first."""
        learned = self.known.learned
        if learned is None:
            return []
        # The answer that put a row into its group; for the first of a group, one that it differs.
        by_row: dict[int, Suspect] = {}
        for gesture in self._answers.gestures:
            for row, other, answer in ((x.left, x.right, x.answer) for x in gesture.links):
                is_link = answer.is_link and not gesture.is_certain
                if is_link and (answer is Answer.SAME or row not in by_row):
                    by_row[row] = Suspect(gesture.number, row, other, answer, 0.0)
        suspects: dict[int, Suspect] = {}
        for k, credibility in contradicted_rows(learned.left_out, learned.groups, at_most):
            row = int(self._rows[learned.known[k]])
            if row in by_row and row not in self._answers.removed:
                suspect = by_row[row]._replace(credibility=credibility)
                suspects.setdefault(suspect.number, suspect)
        return list(suspects.values())
