"""Wins, losses and ranks of `Likewise` against COBRA and its peers, with the paper's tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from likewise.experiments.flagship_results import FlagshipResults, Line, Scored, fixed, own_count
from likewise.experiments.flagship_tables import FLAGSHIP
from likewise.experiments.protocol import BUDGETS, SIZES
from likewise.experiments.statistics import (
    Comparison,
    average_ranks,
    compare,
    friedman_aligned,
    post_hoc,
)
from likewise.experiments.tables import CellValue, Table

SIGNIFICANT = 0.05
ME = Line(FLAGSHIP)
STAR = "* p < 0.05, Wilcoxon's signed ranks, two-sided, not corrected for the number of tests."


def wins_table(results: FlagshipResults) -> Table | None:
    """Return wins and losses at COBRA's own numbers of questions."""
    lines: list[list[CellValue]] = []
    better, significant = 0, 0
    for name, tasks in results.lists.items():
        for size in SIZES:
            for line in results.lines_at(size):
                scored = results.table([ME, line], tasks, own_count(size))
                found = _against(scored, line)
                if found is None:
                    continue
                lines.append(
                    [
                        *(name, size, line.method, len(scored.tasks)),
                        *(found.wins, found.losses, found.ties),
                        *(_margin(found.win_margin), _margin(found.loss_margin)),
                        float((scored.of(ME) - scored.of(line)).mean()),
                        found.p_value,
                    ]
                )
                better += found.wins > found.losses
                significant += found.wins > found.losses and found.p_value < SIGNIFICANT
    if not lines:
        return None
    return Table(
        "flagship-wins",
        f"{FLAGSHIP} against each method at COBRA's own numbers of questions",
        [
            *("list", "size", "against", "tasks", "won", "lost", "ties"),
            *("mean win", "mean loss", "difference", "p"),
        ],
        lines,
        verdict=(
            f"{FLAGSHIP} wins more tasks than it loses in {better} of {len(lines)} comparisons, "
            f"significantly in {significant}."
        ),
        notes=["p is of Wilcoxon's signed ranks, two-sided, not corrected for their number."],
        digits=3,
    )


def budget_wins_table(results: FlagshipResults) -> Table | None:
    """Return wins and losses at fixed numbers of questions, on all tasks."""
    lines: list[list[CellValue]] = []
    n_tasks = set()
    for line in results.lines():
        texts: list[CellValue] = []
        for budget in BUDGETS:
            scored = results.table([ME, line], results.tasks, fixed(budget))
            found = _against(scored, line)
            if found is not None:
                n_tasks.add(len(scored.tasks))
                star = "*" if found.p_value < SIGNIFICANT else ""
                texts.append(f"{found.wins} : {found.losses}{star}")
        if len(texts) == len(BUDGETS):
            lines.append([str(line), *texts])
    if not lines:
        return None
    counts = " or ".join(map(str, sorted(n_tasks)))
    return Table(
        "flagship-budget-wins",
        f"Tasks won : lost by {FLAGSHIP}, by the number of questions",
        ["against", *map(str, BUDGETS)],
        lines,
        notes=[f"{counts} tasks; what is missing to that number are ties. {STAR}"],
    )


def ranks_table(results: FlagshipResults, *, n_permutations: int = 100_000) -> Table | None:
    """Return average ranks and the tests of the differences to Likewise."""
    lines: list[list[CellValue]] = []
    omnibus = []
    for name, tasks in results.lists.items():
        for size in SIZES:
            scored = results.table(results.lines_at(size), tasks, own_count(size))
            if ME not in scored.lines or len(scored.lines) < 3 or len(scored.tasks) < 2:
                continue
            ranks = average_ranks(scored.scores)
            statistic, p = friedman_aligned(scored.scores)
            omnibus.append(f"{name}, {size}: T = {statistic:.2f}, p = {p:.2g}")
            place = scored.lines.index(ME)
            tests = post_hoc(scored.scores, place, n_permutations=n_permutations)
            for j in np.argsort(ranks, kind="stable").tolist():
                test = tests.get(j)
                figures: Sequence[CellValue] = (None, None, None)
                if test is not None:
                    figures = (test.z, test.p_holm, test.p_permutation)
                method = scored.lines[j].method
                lines.append([name, size, len(scored.tasks), method, float(ranks[j]), *figures])
    if not lines:
        return None
    return Table(
        "flagship-ranks",
        f"Average ranks (1 is best) and the test against {FLAGSHIP}",
        ["list", "size", "tasks", "method", "rank", "z", "p (Holm)", "p (permutation)"],
        lines,
        notes=[
            "Friedman's test on aligned ranks: " + "; ".join(omnibus) + ". Where its p is 0.05 or "
            "more, what follows it is exploratory.",
            f"z is positive where the method is worse than {FLAGSHIP}; its standard error is "
            "sqrt(k (kn + 1) / 6). The permutation p shuffles methods within tasks and is not "
            "corrected for the number of tests.",
        ],
        digits=3,
    )


def _against(scored: Scored, line: Line) -> Comparison | None:
    if line == ME or {ME, line} - set(scored.lines) or not scored.tasks:
        return None
    return compare(scored.of(ME), scored.of(line))


def _margin(value: float) -> float | None:
    return None if np.isnan(value) else value
