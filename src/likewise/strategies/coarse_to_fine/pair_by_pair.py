"""Coarse regions first, then finer ones, then where the learner is in doubt.

The data are cut into a few regions, and what stands for them is asked about, the closest pairs
first, as COBRA does. Then the regions are cut finer; those that already hold an answered row need
no new one, and every answer so far counts. Once the regions are fine, newcomers come one by one
from where the learner (`likewise.learning.kernel_vote`) is in doubt about many rows; each is
compared with the groups found so far, likeliest first. The learner also says where all other rows
belong, so the labels are sensible after every answer.

All of it follows from the data and the log of answers alone: taking an answer back leaves no
trace.
"""

from __future__ import annotations

from typing import Any, ClassVar

from likewise.core.answers import Answer
from likewise.core.partition import SuperInstances
from likewise.strategies.coarse_to_fine.base import RegionStrategy
from likewise.strategies.coarse_to_fine.budget import Stage, next_cut
from likewise.strategies.coarse_to_fine.closest import closest_between, closest_open
from likewise.strategies.coarse_to_fine.groups import Known, read_log
from likewise.strategies.coarse_to_fine.merges import plainly_different

TOO_COARSE = 0.75
"""With so many answers *different* for each of its regions, a cut that was not planned is too
coarse."""


class CoarseToFine(RegionStrategy):
    """Place one representative after another at its likeliest group, where it teaches most.

    Parameters
    ----------
    partition : SuperInstances
        Fine cells, at best one per row, and the rows that stand for them.
    **options
        Those of `RegionStrategy`.
    """

    name: ClassVar[str] = "coarse-to-fine"
    estimator: ClassVar[str] = "Likewise"

    def __init__(self, partition: SuperInstances, **options: Any) -> None:
        super().__init__(partition, **options)
        self._progress = [Stage()]
        self._known: Known | None = None
        self._settled: tuple[tuple[int, ...], tuple[int, int] | None] | None = None
        self._next: tuple[int, int] | None = None
        self._is_current = False

    # -- what a session needs --------------------------------------------------------------------

    def record(self, left: int, right: int, answer: Answer, *, is_certain: bool = False) -> None:  # noqa: ARG002
        """Take in an answer about two rows."""
        sizes, _ = self._at_level()
        is_between = self._are_groups(left, right)
        if answer.is_link:
            self.links.add(left, right, answer)
        self._log.append((left, right, answer))
        self._progress.append(self._progress[-1].after(sizes, answer, len(self._log), is_between))
        self._forget()

    def rewind(self) -> None:
        """Take back the last record."""
        _, _, answer = self._log.pop()
        self._progress.pop()
        if answer.is_link:
            self.links.pop()
        self._forget()

    def next_pair(self) -> tuple[int, int] | None:
        """Return the two rows to ask about now, or None when nothing is left to ask."""
        if not self._is_current:
            self._next = self._find_next()
            self._is_current = True
        return self._next

    def remaining(self) -> tuple[int, int]:
        """Return how many pairs may still be asked about, and about how many will be."""
        known = self._what_is_known()
        roots = set(known.cells)
        apart = sum(len(roots & self.links.differing(root)) for root in roots) // 2
        sizes, _ = self._at_level()
        waiting = len(self._regions.newcomers(sizes[-1], known.order)) if sizes else 0
        n_unmet = len(self._cell_of) - len(known.order)
        likely = waiting
        if not self.to_the_end and self.budget is None:
            later = [n for n in self.n_regions if not sizes or n > sizes[-1]]
            n_unmet = min(n_unmet, waiting + sum(later))
            likely = min(n_unmet, max(waiting, self.n_regions[-1] - len(known.order)))
            apart += (
                sum(
                    a not in self.links.differing(b)
                    for a, b in self._plainly_different(known.cells)
                )
                // 2
            )
        n = n_unmet + len(roots)
        undecided = n * (n - 1) // 2 - apart
        return undecided, min(undecided, likely + len(known.pending))

    def open_pairs(self) -> list[tuple[int, int]]:
        """Return the closest pair of rows of every two undecided groups of askable rows."""
        known = self._what_is_known()
        closed = set() if self.to_the_end else self._plainly_different(known.cells)
        return self._open_pairs(known, closed)

    # -- inside ----------------------------------------------------------------------------------

    def _forget(self) -> None:
        self._known = None
        self._settled = None
        self._groups = None
        self._next = None
        self._is_current = False

    def _what_is_known(self) -> Known:
        if self._known is None:
            self._known = read_log(
                self._log,
                self.links,
                self._cell_of,
                n_earlier=self._progress[-1].n_earlier,
                plainly_different=self._plainly_different,
            )
        return self._known

    def _find_next(self) -> tuple[int, int] | None:
        known = self._what_is_known()
        _, pair = self._at_level()
        if pair is not None or not self.to_the_end:
            return pair
        newcomer = self._newcomer(known)
        if newcomer is None:
            return self._leftover(known)
        if known.groups:
            return self._against_likeliest(known, [newcomer], known.groups)
        second = self._newcomer(known, [newcomer])
        return None if second is None else self._rows(newcomer, second)

    def _at_level(self) -> tuple[tuple[int, ...], tuple[int, int] | None]:
        """Return how many regions there were at every level, and what to ask about now.

        Past the last level only what was begun is brought to an end.
        """
        if self._settled is None:
            known = self._what_is_known()
            progress = self._progress[-1]
            sizes = progress.sizes
            pair = self._closest_of_level(known, sizes)
            # Regions that have little in common are too coarse: finer ones lie closer together.
            is_too_coarse = (
                self.budget is None and bool(sizes) and progress.n_in_vain >= TOO_COARSE * sizes[-1]
            )
            while pair is None or is_too_coarse:
                size = self._next_size(known, sizes)
                if size is None:
                    break
                sizes, is_too_coarse = (*sizes, size), False
                pair = self._closest_of_level(known, sizes)
            if pair is None:
                pair = self._placing(known) or self._closest_open(known, [])
            self._settled = sizes, pair
        return self._settled

    def _closest_of_level(self, known: Known, sizes: tuple[int, ...]) -> tuple[int, int] | None:
        if not sizes:
            return None
        return self._closest_open(known, self._regions.newcomers(sizes[-1], known.order))

    def _next_size(self, known: Known, sizes: tuple[int, ...]) -> int | None:
        """Return how many regions to cut next, or None if they are fine enough."""
        n_askable, n_cells = len(self._cell_of), self.partition.n_super_instances
        if sizes and sizes[-1] >= n_cells:
            return None
        n: int | None
        if self.budget is None:
            n = next((n for n in self.n_regions if not sizes or n > sizes[-1]), None)
        else:
            n = next_cut(
                self.budget,
                n_cuts=len(sizes),
                n_asked=len(self._log),
                n_met=len(known.order),
                n_components=len(known.cells),
                n_proofs=self._progress[-1].n_proofs,
            )
        return n if n is None or n < n_askable else n_cells

    def _placing(self, known: Known) -> tuple[int, int] | None:
        """Return the next question about the last newcomer that is not placed, if there is one."""
        for root in reversed(known.pending):
            apart = self.links.differing(root)
            left = [g for g in known.groups if g not in apart and (root, g) not in known.unsure]
            if left:
                return self._against_likeliest(known, known.cells[root], left)
        return None

    def _closest_open(self, known: Known, heads: list[int]) -> tuple[int, int] | None:
        """Return the closest two rows of asked and new cells whose relation is open.

        Groups that are plainly different are not asked about.
        """
        closed = known.unsure
        cells = closest_open(self._views[0], known.cells, heads, self.links, closed=closed)
        if cells is not None and self._are_groups(*self._rows(*cells)):
            closed = closed | self._plainly_different(known.cells)
            cells = closest_open(self._views[0], known.cells, heads, self.links, closed=closed)
        return None if cells is None else self._rows(*cells)

    def _are_groups(self, left: int, right: int) -> bool:
        """Return whether both rows are known to be the same as some other row."""
        cells = self._what_is_known().cells
        return all(len(cells.get(self.links.find(row), ())) > 1 for row in (left, right))

    def _plainly_different(self, cells: dict[int, list[int]]) -> set[tuple[int, int]]:
        """Return the pairs of groups that need no question."""
        return plainly_different(
            self._views,
            cells,
            n_apart=self._progress[-1].n_apart,
            n_questions=self.budget or len(self._log),
        )

    def _against_likeliest(
        self, known: Known, cells: list[int], groups: list[int]
    ) -> tuple[int, int]:
        """Return the closest two rows of some cells and the likeliest group."""
        near = [closest_between(self._views[0], cells, known.cells[g]) for g in groups]
        if len(known.groups) > 1:
            chances = self._chances(known)[cells].mean(axis=0)
            number = {g: k for k, g in enumerate(known.groups)}
            scores = [(-chances[number[g]], near[k][0]) for k, g in enumerate(groups)]
        else:
            scores = [(0.0, distance) for distance, _ in near]
        best = min(range(len(groups)), key=lambda k: scores[k])
        return self._rows(*near[best][1])
