"""Tables beside the paper's three: groups found, wrong K, times, curves, what went wrong."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from likewise.datasets import task_names
from likewise.experiments.methods import CONTROL
from likewise.experiments.plan import MIDDLE_SIZE
from likewise.experiments.results import MARK, Results, common_curves, curve_of, grouped
from likewise.experiments.statistics import answers_to_reach, area_under
from likewise.experiments.store import Row
from likewise.experiments.tables import CellValue, Table

LAST_EARLY = 100


def estimate(size: int, n_classes: int) -> int:
    """Return the questions COBRA takes if super-instances are pure and classes far apart.

    Examples
    --------
    >>> estimate(25, 3)
    25
    """
    return size - n_classes + n_classes * (n_classes - 1) // 2


def estimate_table(results: Results) -> Table | None:
    """Return the paper's estimate of a lower bound beside the questions asked."""
    lines: list[list[CellValue]] = []
    ratios = []
    for size in results.sizes:
        for task, queries in results.mean(lambda row: row.queries, size=size).items():
            bound = estimate(size, results.n_classes(task))
            ratios.append(queries / bound)
            lines.append([size, task, results.n_classes(task), bound, queries, queries / bound])
    if not lines:
        return None
    within = float(np.mean(np.abs(np.log(ratios)) <= np.log(1.25)))
    return Table(
        "estimate",
        "Estimated lower bound and questions asked (mean of 5 folds)",
        ["size", "task", "classes", "estimate", "asked", "asked / estimate"],
        lines,
        verdict=(
            f"{'Held' if within > 0.5 else 'Did not hold'}: in {within:.0%} of the {len(ratios)} "
            f"cases COBRA asks within 25 % of the estimate (median {np.median(ratios):.2f} times, "
            f"at most {max(ratios):.2f} times); {sum(ratio < 1 for ratio in ratios)} lie below "
            "it, which a class without a representative makes possible."
        ),
    )


def groups_table(results: Results) -> Table | None:
    """Return how many groups COBRA found against the true number."""
    lines: list[list[CellValue]] = []
    exact, near, total = 0, 0, 0
    for size in results.sizes:
        rows = [
            row
            for row in results.of("main")
            if row.method == CONTROL and row.n_super_instances == size and row.groups is not None
        ]
        if not rows:
            continue
        off = np.array([(row.groups or 0) - row.n_classes for row in rows])
        exact, near, total = exact + sum(off == 0), near + sum(abs(off) <= 1), total + len(off)
        lines.append(
            [
                size,
                len(off),
                f"{np.mean(off == 0):.0%}",
                f"{np.mean(np.abs(off) <= 1):.0%}",
                f"{np.mean(off < 0):.0%}",
                f"{np.mean(off > 0):.0%}",
                int(off.min()),
                int(off.max()),
            ]
        )
    if not lines:
        return None
    return Table(
        "groups",
        "Groups that COBRA found, minus the true number",
        ["size", "runs", "right", "within 1", "too few", "too many", "least", "most"],
        lines,
        verdict=(
            f"Held: COBRA, which is not told the number, finds it in {exact / total:.0%} of all "
            f"runs and is off by at most one in {near / total:.0%} (paper, without figures: most "
            "often right, otherwise very close)."
        ),
    )


def wrong_k_table(results: Results) -> Table | None:
    """Return what a wrong number of clusters does to the competitors."""
    right = grouped(
        [row for row in results.of("main") if row.n_super_instances == MIDDLE_SIZE],
        lambda row: (row.method, row.task, row.fold),
    )
    lines: list[list[CellValue]] = []
    worse, total = 0, 0
    groups = grouped(results.of("wrong-k"), lambda row: (row.method, row.k_shift))
    for (method, shift), rows in sorted(groups.items()):
        changes = list(changes_by_task(rows, right).values())
        if not changes:
            continue
        worse, total = worse + sum(change < 0 for change in changes), total + len(changes)
        mark = MARK if any(row.status != "ok" for row in rows) else ""
        lines.append(
            [
                method + mark,
                f"K{shift:+d}",
                len(changes),
                float(np.mean(changes)),
                sum(change < 0 for change in changes),
                sum(change > 0 for change in changes),
                float(min(changes)),
                float(max(changes)),
            ]
        )
    if not lines:
        return None
    share = worse / total
    return Table(
        "wrong-k",
        f"Competitors told a wrong number of clusters: change of ARI ({MIDDLE_SIZE} "
        "super-instances)",
        ["method", "told", "tasks", "mean change", "worse", "better", "largest loss", "gain"],
        lines,
        verdict=(
            f"{'Held' if share > 0.5 else 'Did not hold'}: a wrong number makes {worse} of {total} "
            f"cases worse ({share:.0%}; paper, without figures: the majority, often by a "
            "significant amount)."
        ),
        notes=["K-1 only where there are more than two classes."],
    )


def changes_by_task(
    rows: Sequence[Row], right: dict[tuple[str, str, int], list[Row]]
) -> dict[str, float]:
    """Return for every task the mean difference to the run with the right number."""
    differences: dict[str, list[float]] = {}
    for row in rows:
        same = right.get((row.method, row.task, row.fold), [])
        if row.ari_test is not None and same and same[0].ari_test is not None:
            differences.setdefault(row.task, []).append(row.ari_test - same[0].ari_test)
    return {task: float(np.mean(values)) for task, values in differences.items()}


def curve_tasks(results: Results) -> list[str]:
    """Return the tasks of the curves, in the paper's order."""
    found = {row.task for row in results.of("curves")}
    return [task for task in task_names() if task in found]


def curves_table(results: Results) -> Table | None:
    """Return ARI against the number of questions, and whether COBRA stays ahead."""
    lines: list[list[CellValue]] = []
    points: dict[tuple[str, str], list[tuple[int, float, float]]] = {}
    groups = grouped(
        results.of("curves"),
        lambda row: (row.task, row.method, row.budget or row.n_super_instances),
    )
    for task in curve_tasks(results):
        for (at, method, step), rows in sorted(groups.items()):
            scored = [row.ari_test for row in rows if row.ari_test is not None]
            if at != task or not scored:
                continue
            asked = float(np.mean([row.queries or 0 for row in rows]))
            mark = MARK if any(row.status != "ok" for row in rows) else ""
            score = float(np.mean(scored))
            points.setdefault((task, method), []).append((step, asked, score))
            lines.append([task, method + mark, step, asked, score])
    if not lines:
        return None
    return Table(
        "curves",
        "ARI against the number of questions (mean of 5 folds)",
        ["task", "method", "super-instances or budget", "questions", "ARI"],
        lines,
        verdict=_curves_verdict(points),
        notes=["COBRA's super-instances end where there are more of them than training rows."],
    )


def _curves_verdict(points: dict[tuple[str, str], list[tuple[int, float, float]]]) -> str:
    """Check the paper's claim that who is ahead with few questions stays ahead with many."""
    early_wins, late_wins = 0, 0
    gains: dict[str, list[float]] = {}
    for (task, method), line in points.items():
        gains.setdefault(method, []).append(line[-1][2] - line[0][2])
        others = [other for (at, name), other in points.items() if at == task and name != CONTROL]
        if method != CONTROL or not others:
            continue
        ahead = [
            score
            > max(float(np.interp(asked, [p[1] for p in o], [p[2] for p in o])) for o in others)
            for _, asked, score in line
        ]
        early = [a for a, (step, _, _) in zip(ahead, line, strict=True) if step <= LAST_EARLY]
        late = [a for a, (step, _, _) in zip(ahead, line, strict=True) if step > LAST_EARLY]
        if late and all(early):
            early_wins += 1
            late_wins += all(late)
    gain = ", ".join(f"{method} {np.mean(values):+.2f}" for method, values in gains.items())
    return (
        f"{'Held' if early_wins and early_wins == late_wins else 'Not clear'}: of the {early_wins} "
        f"tasks on which COBRA is ahead with 25, 50 and 100 super-instances, it stays ahead at "
        f"every larger size on {late_wins}. From the first to the last point the ARI changes on "
        f"average by: {gain} (paper: MPCKMeans levels off early, COBRA and COSC go on on several)."
    )


def anytime_table(results: Results) -> Table | None:
    """Return the area under the curves, and the answers it takes to get nearly there."""
    lines: list[list[CellValue]] = []
    everything = grouped(results.of("anytime"), lambda row: row.method)
    for method, usable in grouped(common_curves(results), lambda row: row.method).items():
        curves = [curve_of(row) for row in usable]
        areas = [
            area_under(at, values, end=float(row.allowed or at[-1]))
            for row, (at, values) in zip(usable, curves, strict=True)
        ]
        reach = [answers_to_reach(at, values) for at, values in curves]
        share = [r / max(at[-1], 1) for r, (at, _) in zip(reach, curves, strict=True)]
        mark = MARK if len(usable) < len(everything[method]) else ""
        lines.append(
            [
                method + mark,
                len({row.task for row in usable}),
                float(np.mean(areas)),
                float(np.mean([values[-1] for _, values in curves])),
                float(np.median(reach)),
                f"{np.median(share):.0%}",
            ]
        )
    if not lines:
        return None
    best = max(lines, key=lambda line: float(str(line[2])))
    return Table(
        "anytime",
        f"Stopped after any answer ({MIDDLE_SIZE} super-instances): area under the curve and "
        "answers to 95 % of the final ARI",
        ["method", "tasks", "area", "final ARI", "answers to 95 %", "of all answers"],
        lines,
        verdict=(
            f"Of the methods that can be stopped, {best[0]} has the largest area "
            f"({float(str(best[2])):.2f})."
        ),
        notes=[
            "The area is the mean ARI on the test part over all numbers of answers from none to "
            "COBRA's own number; the last two columns are medians over tasks and folds. COBRA "
            "leaves undecided groups apart when it is stopped; COBRA-guess joins them by a guess. "
            "Methods that cluster anew were stopped at twelve points."
        ],
    )


def times_table(results: Results) -> Table | None:
    """Return run times and memory."""
    lines: list[list[CellValue]] = []
    slowest = 0.0
    medians: dict[str, float] = {}
    for method in results.methods:
        rows = [row for row in results.of("main") if row.method == method]
        ran = [row for row in rows if row.cpu_seconds > 0]
        middle = [row for row in ran if row.n_super_instances == MIDDLE_SIZE]
        by_task = [
            float(np.mean([row.cpu_seconds for row in group]))
            for group in grouped(middle, lambda row: row.task).values()
        ]
        if not by_task:
            continue
        if method in (CONTROL, "MPCKM-MinMax"):
            slowest = max(slowest, *by_task)
        medians[method] = float(np.median(by_task))
        mark = MARK if any(row.status != "ok" for row in rows) else ""
        settings = "; ".join(sorted({row.settings for row in rows if row.settings}))
        lines.append(
            [
                method + mark,
                medians[method],
                max(by_task),
                max(row.peak_mb for row in rows),
                settings,
            ]
        )
    if not lines:
        return None
    return Table(
        "times",
        f"Processor time by task in seconds ({MIDDLE_SIZE} super-instances, mean of 5 folds)",
        ["method", "median", "largest", "peak memory in MB", "settings"],
        lines,
        verdict=(
            f"{'Held' if slowest < 10 else 'Did not hold'}: COBRA and MPCKM-MinMax take at most "
            f"{slowest:.1f} s on any task (paper: always under 10 s). From the quickest to the "
            f"slowest by their medians: {', '.join(sorted(medians, key=lambda m: medians[m]))} "
            "(paper: COBRA and MPCKM-MinMax, then COSC-MinMax, then both with NPU)."
        ),
        notes=[
            "One thread. Time on the processor, not on the clock: the machine did other work at "
            "the same time. Peak memory is the largest resident memory of the whole process, the "
            "data and the libraries (about 200 MB) included."
        ],
    )


def trouble_table(results: Results) -> Table:
    """Return all cells that were capped or failed."""
    lines: list[list[CellValue]] = [
        [
            row.experiment,
            row.method,
            row.task,
            row.n_super_instances,
            row.fold,
            row.status,
            None if row.queries is None else row.queries,
            None if row.allowed is None else row.allowed,
            row.error,
        ]
        for row in results.not_ok()
    ]
    statuses = [row.status for row in results.rows]
    return Table(
        "trouble",
        "Cells that were capped or failed",
        ["experiment", "method", "task", "size", "fold", "status", "asked", "allowed", "why"],
        lines,
        verdict=(
            f"Of {len(statuses)} cells {statuses.count('capped')} were capped by the time limit "
            f"and {statuses.count('failed')} failed."
        ),
    )


def versions_text(results: Results) -> str:
    """Return what the results were made with."""
    seen: dict[str, set[str]] = {}
    for text in {row.versions for row in results.rows if row.versions}:
        for name, version in json.loads(text).items():
            seen.setdefault(name, set()).add(version)
    parts = [f"{name} {', '.join(sorted(found))}" for name, found in sorted(seen.items())]
    machines = sorted({row.machine for row in results.rows if row.machine})
    return "; ".join([*parts, *machines])
