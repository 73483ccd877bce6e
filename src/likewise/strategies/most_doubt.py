"""Ask about the row that is nearest to the most doubt.

A learner (`likewise.learning`) says how likely each row belongs to each of the groups found so far.
With its two largest probabilities p1 and p2, the doubt about a row x is w(x) = 1 - (p1 - p2), and
d(x) is the distance from x to the nearest row whose group is known. The next row to ask about is

    argmax over r of the sum over x of  w(x) max(0, d(x) - |x - r|),

the row whose answer brings the most doubt closer to a known row. Distances are square roots of
Euclidean ones, so that near rows count more. Before two groups are known, and for the first rows, w
is 1. The row is shown beside its likeliest groups. There is no plan and no budget: the rule is as
good after every answer, and all of it follows from the rows and the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist, pdist

from likewise.core.answers import Answer, Groups
from likewise.core.partition import SuperInstances, singletons
from likewise.core.reports import Completeness, Suspect
from likewise.errors import InputError
from likewise.learning.given import keep_together, unmet_rows
from likewise.learning.learner import Learned, Learner
from likewise.learning.merge_tree import join_by_guess, merge_tree
from likewise.learning.reliability import contradicted_rows
from likewise.learning.voters import squared_distances
from likewise.rows.metrics import unit_rows
from likewise.rows.threads import one_thread_each
from likewise.strategies.cells import (
    CellStrategy,
    Known,
    chance_of_new,
    read_log,
    respecting_groups,
)

MAX_GROUPS = 6
"""How many groups a question shows: as many as fit on a page, with one key for each."""

N_SHOWN = 3
"""How many rows of a group are shown, if it has them."""

N_FIRST = 8
"""For the first rows every doubt is 1, since the learner knows too little. With 16 the mean
adjusted Rand index of 20 practice sets is the same (.01)."""

MAX_CANDIDATES = 2000
"""Of more rows, a random sample of this many is compared with each other."""

BLOCK = 64
"""So many rows are compared with the others at a time; they stay in the processor's cache."""

FEW_CHANGED, SPAN = 0.01, 30
"""It is enough when fewer than this share of the rows are in another group than this many rows ago.
On 16 of 20 practice sets that is within 200 choices, after 148 on average, and loses .019 of the
adjusted Rand index that 200 choices reach (at worst .10)."""

MOST_GUESSED = 200
"""Of more rows, a random sample of this many is grouped where nothing is known."""

MOST_ASKED = 200
"""It is also enough when this many rows were asked about."""

SURE = 0.8
"""Of rows that joined later, those whose likeliest group is less likely than this are in doubt."""


class MostDoubt(CellStrategy):
    """Ask about the row that is nearest to the most doubt, beside its likeliest groups.

    Parameters
    ----------
    partition : SuperInstances
        Every row, or small cells of rows, and the rows that stand for them.
    askable : ndarray of bool, optional
        The cells whose rows may be shown. By default all.
    max_groups : int, default=6
        How many groups are shown at most; 1 asks about pairs of rows.
    seed : int, default=0
        Decides which rows are compared, where there are many.
    given : ndarray of int, optional
        The number of the group that each cell was given beforehand, -1 for none. Given groups are
        a belief: they vote, and those that no question was about yet stay groups.
    given_labels : sequence of str
        The labels of these groups, by their numbers; a label that is not a number is a name.
    removed : frozenset of int
        Rows that are gone: they are learned from, but no question shows them.
    """

    name: ClassVar[str] = "most-doubt"
    estimator: ClassVar[str] = "Likewise"

    def __init__(
        self,
        partition: SuperInstances,
        *,
        askable: NDArray[np.bool_] | None = None,
        max_groups: int = MAX_GROUPS,
        seed: int = 0,
        given: NDArray[np.intp] | None = None,
        given_labels: Sequence[str] = (),
        field: _Field | None = None,
        removed: frozenset[int] = frozenset(),
    ) -> None:
        super().__init__(partition)
        if partition.points is None:
            raise InputError(f"the strategy {self.name!r} learns from features, not from distances")
        n = partition.n_super_instances
        self.is_askable = np.ones(n, dtype=bool) if askable is None else askable
        self.max_groups = max_groups
        self.seed = seed
        self.given_labels = tuple(given_labels)
        self._field = field or _Field(partition, self.is_askable, seed, given)
        # Cells that joined later have no given group.
        self.given = None if given is None else self._field.learner.rows.given
        self.removed = removed
        self._gone = frozenset(cell for row, cell in self._position.items() if row in removed)
        self._is_there = self.is_askable.copy()
        self._is_there[list(self._gone)] = False
        self._cell_of = {row: cell for row, cell in self._position.items() if self.is_askable[cell]}
        self._log: list[tuple[int, int, Answer]] = []
        self._certain: set[int] = set()

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

    def fresh(self) -> Self:
        """Return the same strategy before its first record; what was computed of rows is shared."""
        return self._with(self.partition, self.is_askable, self.removed, self._field)

    def grown(self, rows: NDArray[Any], unasked: frozenset[int], removed: frozenset[int]) -> Self:
        """Return the strategy with further rows, each a cell of its own, to be asked about."""
        if self.partition.metric == "cosine" and len(rows):
            rows = unit_rows(rows)
        partition = self.partition.with_rows(rows)
        new = partition.representatives[self.partition.n_super_instances :]
        is_askable = np.append(self.is_askable, ~np.isin(new, sorted(unasked)))
        return self._with(partition, is_askable, removed)

    def _with(
        self,
        partition: SuperInstances,
        is_askable: NDArray[np.bool_],
        removed: frozenset[int],
        field: _Field | None = None,
    ) -> Self:
        return type(self)(
            partition,
            askable=is_askable,
            max_groups=self.max_groups,
            seed=self.seed,
            given=self.given,
            given_labels=self.given_labels,
            field=field or self._field.grown(partition, removed),
            removed=removed,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the partition, the askable cells and the options as plain values."""
        n_first = self._field.n_first
        return {
            **super().to_dict(),
            "askable": np.flatnonzero(self.is_askable).tolist(),
            "max_groups": self.max_groups,
            "seed": self.seed,
            **({} if self.given is None else {"given": self.given}),
            **({"given_labels": list(self.given_labels)} if self.given_labels else {}),
            **({"n_first": n_first} if n_first < self.partition.n_super_instances else {}),
            **({"removed": sorted(self.removed)} if self.removed else {}),
        }

    @classmethod
    def load(cls, plain: Mapping[str, Any], X: Any) -> Self:  # noqa: ARG003  (not needed here)
        """Return the strategy that `to_dict` wrote down."""
        partition = SuperInstances.from_dict(plain["partition"])
        askable = np.zeros(partition.n_super_instances, dtype=bool)
        askable[plain["askable"]] = True
        options: Any = {"max_groups": plain.get("max_groups", 1), "seed": plain.get("seed", 0)}
        n_first = plain.get("n_first", partition.n_super_instances)
        if plain.get("given") is not None:
            options["given"] = np.asarray(plain["given"], dtype=np.intp)[:n_first]
            options["given_labels"] = plain.get("given_labels", ())
        first = cls(partition.first_cells(n_first), askable=askable[:n_first], **options)
        removed = frozenset(map(int, plain.get("removed", ())))
        if n_first == partition.n_super_instances and not removed:
            return first
        return first._with(partition, askable, removed)

    def askable(self) -> NDArray[np.intp]:
        """Return the rows that stand for askable cells."""
        return self.partition.representatives[self._is_there]

    def given_groups(self) -> tuple[NDArray[np.intp], Sequence[str]] | None:
        """Return the numbers of the given groups of all rows, and the labels of these groups."""
        if self.given is None:
            return None
        labels = self.given_labels or list(map(str, range(int(self.given.max(initial=-1)) + 1)))
        return self.given[self.partition.assignment], labels

    def record(self, left: int, right: int, answer: Answer, *, is_certain: bool = False) -> None:
        """Take in an answer about two rows."""
        if answer.is_link:
            self.links.add(left, right, answer)
        self._log.append((left, right, answer))
        if is_certain:
            self._certain.add(len(self._log))
        for name in ("known", "learned", "chances"):
            self.__dict__.pop(name, None)

    # -- what to ask -----------------------------------------------------------------------------

    def next_question(self) -> tuple[int, Groups] | None:
        """Return a row beside its likeliest groups, or None when all is known."""
        known = self.known
        for cell in reversed(known.pending):
            if groups := known.comparable(cell, known.open_groups(cell)):
                return self._shown(cell, groups)
        if not known.shown_groups():
            first = self._next_cell(known.order)
            second = None if first is None else self._next_cell([*known.order, first])
            rows = self.partition.representatives
            return None if second is None else (int(rows[second]), ((int(rows[first]),),))
        passed_over: list[int] = []
        while (newcomer := self._next_cell(known.order, passed_over)) is not None:
            if groups := known.comparable(newcomer, known.shown_groups()):
                return self._shown(newcomer, groups)
            passed_over.append(newcomer)
        # Every row was asked about. Only groups that were never compared are left.
        for cell, *_ in filter(None, map(known.shown_cells, known.groups)):
            groups = known.comparable(cell, known.open_groups(cell))
            if groups and cell not in known.unsure:
                return self._shown(cell, groups)
        return None

    def _next_cell(self, met: Sequence[int], passed_over: Sequence[int] = ()) -> int | None:
        """Return the cell that is nearest to the most doubt, or None if all were asked about."""
        is_open = self._is_there.copy()
        is_open[[*met, *passed_over, *self.known.unsure]] = False
        if not is_open.any():
            return None
        learned = self.known.learned if len(met) >= N_FIRST else None
        doubt = None if learned is None else margin_doubt(learned.chances)
        if doubt is not None and (unmet := self._unmet()):
            # Given groups that no question was about come first.
            given = self._field.learner.rows.given
            is_unmet = is_open & np.isin(given, given[unmet])
            if is_unmet[self._field.asked.cells].any():
                doubt = is_unmet.astype(np.float64)
        return self._field.nearest_to_doubt(is_open, met, doubt)

    def _shown(self, cell: int, groups: Sequence[int]) -> tuple[int, Groups]:
        """Return a question about a cell beside the likeliest of some groups."""
        known = self.known
        likeliest = known.likeliest(cell, groups)[: self.max_groups]
        shown = [self._rows_of(known.shown_cells(known.groups[g]), cell) for g in likeliest]
        return int(self.partition.representatives[cell]), tuple(shown)

    def _rows_of(self, group: Sequence[int], cell: int) -> tuple[int, ...]:
        """Return the rows by which a group is shown: the nearest, or its first and the nearest."""
        points = self._field.learner.rows.own
        far = cdist(points[[cell]], points[list(group)])[0]
        near = [group[k] for k in np.argsort(far, kind="stable").tolist()]
        cells = near[:1]
        if self.max_groups > 1:
            # The first row of a group stands for it in the log, so that a row that is later found
            # to be misplaced takes no other with it.
            cells = list(dict.fromkeys([group[0], *near]))[:N_SHOWN]
        return tuple(self.partition.representatives[cells].tolist())

    # -- what is known ---------------------------------------------------------------------------

    @cached_property
    def known(self) -> Known:
        """What the answers say about cells."""
        learner = self._field.learner
        return read_log(self._log, self.links, self._cell_of, learner, self.max_groups, self._gone)

    @cached_property
    def learned(self) -> Learned | None:
        """What was learned from known cells, and from cells that are likely the first of groups.

        None before there are two groups.
        """
        known, field = self.known, self._field
        cells, groups = known.examples()
        own = self._unmet()
        if known.learned is not None:
            own += field.likely_new(known.learned, chance_of_new(len(known.groups), len(cells)))
        if not own or len(known.groups) + len(own) < 2:
            return known.learned
        further = len(known.groups) + np.arange(len(own))
        return field.learner.learn(np.append(cells, own), np.append(groups, further))

    def remaining(self) -> tuple[int, int | None]:
        """Return the number of undecided pairs of groups; how many will be asked is not planned."""
        there = self.known.shown_cells(self.known.order)
        rows = self.partition.representatives[there].tolist()
        roots = {self.links.find(row) for row in rows}
        n_groups = int(self._is_there.sum()) - len(rows) + len(roots)
        n_apart = sum(len(roots & self.links.differing(root)) for root in roots) // 2
        return n_groups * (n_groups - 1) // 2 - n_apart, None

    def group_of_representatives(self) -> NDArray[np.intp]:
        """Return, for every cell, the number of its group: as answered, else as learned."""
        groups, rows = self.known.groups, self.partition.representatives
        decided = {self.links.find(int(rows[cells[0]])): g for g, cells in enumerate(groups)}
        decided = decided if len(groups) > 1 else {}
        return respecting_groups(self.chances, self.links, decided, self._position)

    def guess_of_representatives(self) -> NDArray[np.intp]:
        """Return the group of every cell; while nothing is known, a guess from the rows alone."""
        guessed = self.guessed
        if guessed is None:
            return self.group_of_representatives()
        return np.asarray(guessed.chances.argmax(axis=1), dtype=np.intp)

    @property
    def guessed(self) -> Learned | None:
        """What is learned from groups that were guessed from the rows alone.

        None when something is known or given, and when the rows do not fall into groups.
        """
        if self.given is not None or self.known.groups or len(self.links):
            return None
        return self._field.guess

    @cached_property
    def chances(self) -> NDArray[np.float64]:
        """How likely each cell belongs to each group; 1 where that is known."""
        if self.learned is None:
            return np.ones((len(self._position), 1))
        chances = self.learned.known_chances()
        if unmet := self._unmet():
            given, known = self._field.learner.rows.given, self.known
            keep_together(chances, given, unmet, known.order, len(known.groups))
        return chances

    def _unmet(self) -> list[int]:
        """Return a cell of every given group that no question was about yet."""
        if self.given is None:
            return []
        return unmet_rows(self._field.learner.rows, *self.known.examples())

    def doubts(self) -> NDArray[np.float64]:
        """Return, for every row, the chance that its label is wrong, by the learner."""
        if self.learned is None:
            return np.ones(self.n_rows)
        doubt: NDArray[np.float64] = 1.0 - self.chances.max(axis=1)
        return doubt[self.partition.assignment]

    def completeness(self) -> Completeness | None:
        """Return how much of the grouping is right, or None while too little is known."""
        return self.known.completeness(n_groups=self.chances.shape[1])

    def is_enough(self) -> bool:
        """Return whether the last rows that were asked about changed few labels.

        Of rows that joined later, few may be in doubt, too.
        """
        known = self.known.examples()[0]
        if self._is_later_in_doubt(known):
            return False
        if len(known) >= min(MOST_ASKED, len(self._cell_of)):
            return True
        return len(known) > SPAN and self.known.share_changed(SPAN) < FEW_CHANGED

    def _is_later_in_doubt(self, known: NDArray[np.intp]) -> bool:
        """Return whether rows that joined later are in doubt, and not enough of them are known."""
        later = np.flatnonzero(self._is_there)
        later = later[later >= self._field.n_first]
        if np.isin(later, known).sum() >= min(MOST_ASKED, len(later)):
            return False
        return float((self.chances[later].max(axis=1) < SURE).mean()) >= FEW_CHANGED

    def suspects(self) -> list[Suspect]:
        """Return the links that put rows where others contradict them, the least credible first."""
        learned = self.known.learned
        if learned is None:
            return []
        # The answer that put a row into its group; for the first of a group, one that it differs.
        by_row: dict[int, int] = {}
        for number, (row, _, answer) in enumerate(self._log, start=1):
            is_link = answer.is_link and number not in self._certain
            if is_link and (answer is Answer.SAME or row not in by_row):
                by_row[row] = number
        suspects = []
        for k, credibility in contradicted_rows(learned.left_out, learned.groups):
            row = int(self.partition.representatives[learned.known[k]])
            if row in by_row and row not in self.removed:
                number = by_row[row]
                suspects.append(Suspect(number, *self._log[number - 1], credibility))
        return suspects


class _Field:
    """The cells as points, with what is computed of them once: the learner and distances."""

    def __init__(
        self,
        partition: SuperInstances,
        is_askable: NDArray[np.bool_],
        seed: int,
        given: NDArray[np.intp] | None,
    ) -> None:
        assert partition.points is not None
        self.learner = Learner(partition.points, partition.sizes(), given)
        self.points = partition.points
        self._askable, self._seed = np.flatnonzero(is_askable), seed
        self.n_first = len(self.points)
        cells = np.arange(self.n_first, dtype=np.intp)
        if self.n_first > MAX_CANDIDATES:
            cells = _drawn(self._askable, MAX_CANDIDATES, seed)
        self._first = self.asked = _Sample(self.points, cells, partition.sizes())

    def grown(self, partition: SuperInstances, removed: frozenset[int]) -> _Field:
        """Return the field with the further cells of a partition, without those of removed rows.

        Only what is asked next depends on them: labels follow from the first cells and the answers.
        """
        assert partition.points is not None
        other = copy(self)
        other.__dict__.pop("guess", None)
        if len(partition.points) > len(self.points):
            other.learner = self.learner.grown(partition.points[len(self.points) :])
        other.points = partition.points
        later = np.arange(self.n_first, len(other.points), dtype=np.intp)
        later = _drawn(later, MAX_CANDIDATES, self._seed)
        weights = partition.sizes() * ~np.isin(partition.representatives, sorted(removed))
        other.asked = _Sample(other.points, np.append(self._first.cells, later), weights)
        return other

    @cached_property
    def guess(self) -> Learned | None:
        """What is learned from Ward's tree, cut in its widest gap; None if that is one group."""
        cells = _drawn(self._askable, MOST_GUESSED, self._seed)
        tree = merge_tree(pdist(self.learner.rows.own[cells]), is_euclidean=True)
        names = join_by_guess(tree, [])
        while len(np.unique(names)) > 1:
            groups = np.unique(names, return_inverse=True)[1].astype(np.intp)
            learned = self.learner.learn(cells, groups)
            is_used = np.isin(groups, learned.chances[: self.n_first].argmax(axis=1))
            if is_used.all():
                return learned
            cells, names = cells[is_used], names[is_used]
        return None

    def nearest_to_doubt(
        self,
        is_open: NDArray[np.bool_],
        known: Sequence[int],
        doubt: NDArray[np.float64] | None,
    ) -> int:
        """Return the open cell from which the most doubt comes nearer; all doubts are 1 if None."""
        sample = self.asked
        candidates = np.flatnonzero(is_open[sample.cells])
        if not len(candidates):  # all of the sample was asked about
            return int(np.flatnonzero(is_open)[0])
        weights = sample.weights
        if doubt is not None:
            weights = weights * doubt[sample.cells].astype(np.float32)
        far = sample.to_nearest(known, self.points)
        gains = gain_of_rows(sample.apart, candidates, far, weights)
        return int(sample.cells[candidates[int(np.argmax(gains))]])

    def likely_new(self, learned: Learned, new: float) -> list[int]:
        """Return cells likely to be the first of groups not met yet, as many as are expected."""
        sample = self._first
        far = sample.to_nearest(learned.known.tolist(), self.points)
        rows = nearest_to_most(sample.apart, far, sample.weights)
        cells = sample.cells[list(islice(rows, round(new * learned.n_groups)))]
        is_new = new > (1.0 - new) * learned.chances[cells].max(axis=1)
        return [int(cell) for cell in cells[is_new & (self.learner.rows.given[cells] < 0)]]


class _Sample:
    """Some cells, how much each counts, and the distances between them."""

    def __init__(
        self, points: NDArray[Any], cells: NDArray[np.intp], sizes: NDArray[np.intp]
    ) -> None:
        self.cells = cells
        self.weights = sizes.astype(np.float32)[cells]
        self._points = points[cells]
        self._place = {int(cell): k for k, cell in enumerate(cells)}

    @cached_property
    def apart(self) -> NDArray[np.float32]:
        """The distances between the cells; see `root_distances`."""
        return root_distances(self._points, self._points)

    def to_nearest(self, known: Sequence[int], points: NDArray[Any]) -> NDArray[np.float32]:
        """Return how far each cell is from the nearest known one; `points` has those of all."""
        if not known:
            return np.full(len(self.cells), self.apart.max(), dtype=np.float32)
        places = [self._place[cell] for cell in known if cell in self._place]
        far = self.apart[places].min(axis=0, initial=np.inf)
        outside = [cell for cell in known if cell not in self._place]
        if outside:
            others = root_distances(self._points, points[outside]).min(axis=1)
            far = np.minimum(far, others)
        return np.asarray(far)


def _drawn(cells: NDArray[np.intp], n: int, seed: int) -> NDArray[np.intp]:
    """Return all cells or, of more than `n`, as many at random, increasing."""
    if len(cells) <= n:
        return cells
    return np.sort(np.random.default_rng(seed).choice(cells, n, replace=False))


def root_distances(rows: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.float32]:
    """Return square roots of distances; those too small for single precision are 0."""
    center = columns.mean(axis=0)
    one, other = (np.asarray(x - center, dtype=np.float32) for x in (rows, columns))
    with one_thread_each():
        squares = squared_distances(one, other)
    squares[squares < 1e-5 * squares.mean()] = 0.0
    return np.asarray(np.sqrt(np.sqrt(squares, out=squares), out=squares))


def margin_doubt(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 minus the difference of the two largest probabilities of every row."""
    two = np.partition(chances, -2, axis=1)[:, -2:]
    return np.asarray(1.0 - (two[:, 1] - two[:, 0]))


def gain_of_rows(
    apart: NDArray[np.float32],
    candidates: NDArray[np.intp],
    far: NDArray[np.float32],
    weights: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Return, for each candidate r, the sum over x of weights(x) max(0, far(x) - apart(x, r))."""
    gains = np.empty(len(candidates), dtype=np.float32)
    for start in range(0, len(candidates), BLOCK):
        rows = candidates[start : start + BLOCK]
        nearer = np.subtract(far, apart[rows])
        np.maximum(nearer, 0.0, out=nearer)
        gains[start : start + BLOCK] = nearer @ weights
    return gains


def nearest_to_most(
    apart: NDArray[np.float32], far: NDArray[np.float32], weights: NDArray[np.float32]
) -> Iterator[int]:
    """Yield the rows with the largest gain, one after the other, each known from then on.

    A gain only shrinks as more rows are known. So its last value bounds it, and only the blocks
    that may hold the largest gain are computed again.
    """
    rows = np.arange(len(far))
    gains = gain_of_rows(apart, rows, far, weights)
    is_new = np.ones(len(far), dtype=bool)
    while True:
        while not is_new[row := int(np.argmax(gains))]:
            block = rows[row // BLOCK * BLOCK :][:BLOCK]
            gains[block] = gain_of_rows(apart, block, far, weights)
            is_new[block] = True
        if far[row] <= 0.0:
            return
        yield row
        far = np.minimum(far, apart[row])
        is_new[:] = False
