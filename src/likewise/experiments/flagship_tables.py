"""The tables of `Likewise` and its peers, each with one plain sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from likewise.experiments.flagship_results import (
    HALF,
    FlagshipResults,
    Line,
    control,
    fixed,
    is_sized,
    own_count,
    shared,
)
from likewise.experiments.methods import CONTROL
from likewise.experiments.protocol import BUDGETS, NOISE, NOISE_BUDGETS, SIZES
from likewise.experiments.results import grouped
from likewise.experiments.tables import CellValue, Table

FLAGSHIP = "Likewise"
FAR_BELOW = 0.03
WHOLE = (
    "Mean adjusted Rand index (ARI) on the test parts of 5 folds, then over tasks. Only tasks "
    "that every method of the list has all folds of are in a mean."
)


def budgets_table(results: FlagshipResults) -> Table | None:
    """Return the mean ARI at fixed numbers of questions."""
    lines: list[list[CellValue]] = []
    lead: list[str] = []
    for name, tasks in results.lists.items():
        found = {b: results.table(results.lines(), tasks, fixed(b)) for b in BUDGETS}
        means = {budget: scored.means() for budget, scored in found.items()}
        for line in results.lines():
            if not any(line in by_line for by_line in means.values()):
                continue
            values: list[CellValue] = [means[b].get(line) for b in BUDGETS]
            lines.append([name, str(line), len(found[BUDGETS[0]].tasks), *values])
        best = [
            str(budget)
            for budget, by_line in means.items()
            if by_line and max(by_line, key=lambda line: by_line[line]).method == FLAGSHIP
        ]
        if any(Line(FLAGSHIP) in by_line for by_line in means.values()):
            lead.append(f"{name}: at {_counted(best, len(BUDGETS))}")
    if not lines:
        return None
    return Table(
        "flagship-budgets",
        "Mean ARI by the number of questions",
        ["list", "method", "tasks", *map(str, BUDGETS)],
        lines,
        verdict=f"{FLAGSHIP} has the highest mean of all, {'; '.join(lead)}." if lead else "",
        notes=[
            f"{WHOLE} One run is looked at on the way; COBRA, told a number of super-instances, "
            "leaves what is undecided apart when it is stopped early and stays as it is when it "
            "has nothing left to ask."
        ],
        digits=3,
    )


def own_table(results: FlagshipResults) -> Table | None:
    """Return the mean ARI at COBRA's own numbers of questions, and the worst task."""
    lines: list[list[CellValue]] = []
    verdict = []
    for name, tasks in results.lists.items():
        found = [
            (size, results.table(results.lines_at(size), tasks, own_count(size))) for size in SIZES
        ]
        if not all(control(size) in scored.means() for size, scored in found):
            continue
        for method in results.methods():
            at = {size: line_of(method, size) for size in SIZES}
            if not all(at[size] in scored.lines for size, scored in found):
                continue
            means: list[CellValue] = [float(scored.of(at[size]).mean()) for size, scored in found]
            gains, worst = _gains(
                [(size, s.tasks, s.of(at[size]) - s.of(control(size))) for size, s in found]
            )
            # COBRA is what the others are compared with.
            rest = [None] * (len(SIZES) + 1) if method == CONTROL else [*gains, worst]
            lines.append([name, method, len(found[0][1].tasks), *means, *rest])
            if method == FLAGSHIP:
                verdict.append(f"{name} {', '.join(gains)} (worst: {worst})")
    if not lines:
        return None
    return Table(
        "flagship-own",
        "At COBRA's own numbers of questions, fold by fold",
        [
            *("list", "method", "tasks"),
            *(f"ARI at {size}" for size in SIZES),
            *(f"gain at {size}" for size in SIZES),
            "worst task",
        ],
        lines,
        verdict=(
            f"{FLAGSHIP} against COBRA with {words(SIZES)} super-instances and as many "
            f"questions: {'; '.join(verdict)}."
            if verdict
            else ""
        ),
        notes=[f"{WHOLE} {_questions_text(results)}"],
        digits=3,
    )


def _gains(
    differences: Sequence[tuple[int, Sequence[str], NDArray[np.float64]]],
) -> tuple[list[str], str]:
    """Return the mean difference at each size, and the worst of all with its task."""
    worst, task, size = min(
        (float(value), task, size)
        for size, tasks, values in differences
        for task, value in zip(tasks, values, strict=True)
    )
    gains = [f"{values.mean():+.3f}" for _, _, values in differences]
    return gains, f"{worst:+.3f} {task} at {size}"


def task_tables(results: FlagshipResults) -> list[Table]:
    """Return, for each number of super-instances, all differences to COBRA task by task."""
    found = []
    for size in SIZES:
        others = [line for line in results.lines_at(size) if line != control(size)]
        lines: list[list[CellValue]] = []
        below = []
        for name, tasks in results.parts.items():
            for task in tasks:
                base = results.score(control(size), task, own_count(size))
                if base is None:
                    continue
                scores = [results.score(line, task, own_count(size)) for line in others]
                differences = [None if s is None else s - base for s in scores]
                asked = round(results.questions(task, own_count(size)))
                shown = [None if d is None else f"{d:+.3f}" for d in differences]
                lines.append([task, name, asked, base, *shown])
                mine = dict(zip(others, differences, strict=True)).get(Line(FLAGSHIP))
                if mine is not None:
                    below.append((mine, task))
        if not lines:
            continue
        found.append(
            Table(
                f"flagship-tasks-{size}",
                f"Difference to COBRA with {size} super-instances, task by task",
                ["task", "list", "questions", "COBRA", *(line.method for line in others)],
                lines,
                verdict=_below_text(below),
                notes=["Mean ARI on the test parts of 5 folds; the others are differences to it."],
                digits=3,
            )
        )
    return found


def half_table(results: FlagshipResults) -> Table | None:
    """Return what is reached with half the questions of COBRA with 100 super-instances."""
    size = max(SIZES)
    lines: list[list[CellValue]] = []
    verdict = []
    for name, tasks in results.lists.items():
        full = results.table([control(size)], tasks, own_count(size))
        half = results.table([li for li in results.lines() if li.size != size], tasks, HALF)
        common = shared([full, half])
        if not common:
            continue
        goal = full.on(common).of(control(size))
        asked = [
            round(np.mean([results.questions(task, when) for task in common]))
            for when in (own_count(size), HALF)
        ]
        for line in half.lines:
            reached = half.on(common).of(line)
            gain = f"{(reached - goal).mean():+.3f}"
            enough = f"{int((reached >= goal - 1e-12).sum())} of {len(common)}"
            means = [float(goal.mean()), float(reached.mean())]
            lines.append([name, str(line), *asked, *means, gain, enough])
            if line.method == FLAGSHIP:
                verdict.append(f"{name} {gain} (reached on {enough} tasks)")
    if not lines:
        return None
    return Table(
        "flagship-half",
        f"Half the questions of COBRA with {size} super-instances",
        [
            *("list", "method", "questions of COBRA", "half"),
            *(f"ARI of COBRA {size}", "ARI at half", "difference", "reached on"),
        ],
        lines,
        verdict=(
            f"With half the questions {FLAGSHIP} is, against COBRA {size} with all of them: "
            f"{'; '.join(verdict)}."
            if verdict
            else ""
        ),
        notes=[WHOLE],
        digits=3,
    )


def noise_table(results: FlagshipResults) -> Table | None:
    """Return what wrong answers cost at 100 questions."""
    lines: list[list[CellValue]] = []
    verdict = []
    when = fixed(NOISE_BUDGETS[-1])
    everyone = results.lines(next(iter(NOISE)))
    for name, tasks in results.lists.items():
        right = results.table(everyone, tasks, when)
        wrong = [results.table(everyone, tasks, when, experiment) for experiment in NOISE]
        common = shared([right, *wrong])
        if not common:
            continue
        for line in right.lines:
            if not all(line in scored.lines for scored in wrong):
                continue
            before = right.on(common).of(line)
            cells: list[CellValue] = [name, str(line), len(common), float(before.mean())]
            changes = []
            for scored in wrong:
                change = scored.on(common).of(line) - before
                place = int(np.argmin(change))
                changes.append(f"{change.mean():+.3f}")
                worst = f"{change[place]:+.3f} {common[place]}"
                cells += [float((before + change).mean()), changes[-1], worst]
            lines.append(cells)
            if line.method == FLAGSHIP:
                verdict.append(f"{name} {' and '.join(changes)}")
    if not lines:
        return None
    shares = [f"{share:.0%}" for share in NOISE.values()]
    return Table(
        "flagship-noise",
        f"Wrong answers: mean ARI after {NOISE_BUDGETS[-1]} questions",
        [
            *("list", "method", "tasks", "none wrong"),
            *(w for s in shares for w in (f"{s} wrong", f"change at {s}", f"worst at {s}")),
        ],
        lines,
        verdict=(
            f"With {words(shares)} wrong answers {FLAGSHIP} changes by: {'; '.join(verdict)}."
            if verdict
            else ""
        ),
        notes=[
            "Of every hundred different pairs asked about, exactly 5 or 10 are answered wrongly, "
            "for all methods at the same places in the order of their questions. COBRA with few "
            "super-instances asks fewer than 100 questions, and so gets fewer wrong answers."
        ],
        digits=3,
    )


def times_table(results: FlagshipResults) -> Table | None:
    """Return the time from an answer to the next question."""
    rows = [r for r in results.rows if r.experiment == "budgets" and r.ms_p95 is not None]
    groups = grouped(rows, lambda row: Line(row.method, row.n_super_instances))
    lines: list[list[CellValue]] = []
    for line in results.lines():
        found = groups.get(line, [])
        if not found:
            continue
        slowest = max(found, key=lambda row: row.ms_p95 or 0.0)
        longest = max(found, key=lambda row: row.cpu_seconds)
        lines.append(
            [
                str(line),
                len({row.task for row in found}),
                float(np.median([row.ms_median or 0.0 for row in found])),
                float(np.median([row.ms_p95 or 0.0 for row in found])),
                f"{slowest.ms_p95:.1f} {slowest.task}, {slowest.n_rows} rows",
                float(np.median([row.cpu_seconds for row in found])),
                f"{longest.cpu_seconds:.1f} {longest.task}",
            ]
        )
    if not lines:
        return None
    return Table(
        "flagship-times",
        "From an answer to the next question: milliseconds on the processor",
        [
            *("method", "tasks", "median", "p95", "largest p95"),
            *("seconds for a run", "longest run"),
        ],
        lines,
        notes=[
            "One thread. Medians over tasks and folds of a run's own median and 95th percentile; "
            "the time before the first question is not in them. A run has up to 200 questions or "
            "COBRA's own number if that is larger, and is scored at all budgets."
        ],
        digits=1,
    )


def _below_text(below: Sequence[tuple[float, str]]) -> str:
    if not below:
        return ""
    worst, task = min(below)
    far = [f"{name} ({value:+.3f})" for value, name in sorted(below) if value < -FAR_BELOW]
    return (
        f"{FLAGSHIP} is better on {sum(value > 0 for value, _ in below)} of {len(below)} tasks; "
        f"the worst is {task} ({worst:+.3f}). More than {FAR_BELOW:.2f} below COBRA: "
        f"{', '.join(far) if far else 'none'}."
    )


def _questions_text(results: FlagshipResults) -> str:
    tasks = results.tasks
    counts = [
        f"{np.mean([results.questions(t, own_count(size)) for t in tasks]):.1f}" for size in SIZES
    ]
    return f"COBRA's mean number of questions is {words(counts)}."


def _counted(budgets: Sequence[str], total: int) -> str:
    if len(budgets) == total:
        return "every number of questions"
    return f"{words(budgets)} questions" if budgets else "none"


def line_of(method: str, size: int) -> Line:
    """Return a method as it is compared with COBRA of this size."""
    return Line(method, size if is_sized(method) else 0)


def words(items: Sequence[object]) -> str:
    """Return items as they stand in a sentence."""
    texts = [str(item) for item in items]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
