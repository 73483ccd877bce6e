"""Methods by the number of questions: any budget, half of COBRA's, and with wrong answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from likewise.lab.experiments.comparison_tables import SIGNIFICANT, TEST, WHOLE, duels
from likewise.lab.experiments.methods import CONTROL
from likewise.lab.experiments.protocol import BUDGETS, NOISE, NOISE_BUDGETS, SIZES
from likewise.lab.experiments.results import (
    Results,
    complete,
    fixed,
    frames,
    half,
    line_of,
    own_count,
    split_line,
)
from likewise.lab.experiments.tables import Line, Table, sentence, words

if TYPE_CHECKING:
    import pandas as pd


def budget_wins_table(results: Results) -> Table | None:
    """Return wins and losses at fixed numbers of questions, on all tasks."""
    me = results.plan.reference
    lines: dict[str, Line] = {}
    n_tasks = set()
    for budget in BUDGETS:
        for name, both, found in duels(results.at(fixed(budget)), me):
            n_tasks.add(len(both))
            star = "*" if found.p_value < SIGNIFICANT else ""
            line = lines.setdefault(name, {"against": name})
            line[str(budget)] = f"{found.wins} : {found.losses}{star}"
    return Table.of(
        [line for line in lines.values() if len(line) == len(BUDGETS) + 1],
        "budget-wins",
        f"Tasks won : lost by {me}, by the number of questions",
        notes=[
            f"{' or '.join(map(str, sorted(n_tasks)))} tasks; what is missing to that number are "
            f"ties. * p < 0.05, {TEST}"
        ],
    )


def budgets_table(results: Results) -> Table | None:
    """Return the mean ARI at fixed numbers of questions."""
    me = results.plan.reference
    lines: list[Line] = []
    lead = []
    for name, tasks in results.lists.items():
        scores = {budget: complete(results.at(fixed(budget), tasks)) for budget in BUDGETS}
        for method in scores[BUDGETS[0]].columns:
            line: Line = {"list": name, "method": method, "tasks": len(scores[BUDGETS[0]])}
            for budget, found in scores.items():
                line[str(budget)] = float(found[method].mean()) if method in found else None
            lines.append(line)
        best = [str(b) for b, s in scores.items() if len(s) and s.mean().idxmax() == me]
        if any(me in found for found in scores.values()):
            where = f"{words(best)} questions" if best else "none"
            is_all = len(best) == len(BUDGETS)
            lead.append(f"{name}: at {'every number of questions' if is_all else where}")
    return Table.of(
        lines,
        "budgets",
        "Mean ARI by the number of questions",
        verdict=sentence(f"{me} has the highest mean of all,", lead),
        notes=[
            f"{WHOLE} COBRA, told a number of super-instances, leaves what is undecided apart when "
            "it is stopped early and stays as it is when it has nothing left to ask."
        ],
    )


def half_table(results: Results) -> Table | None:
    """Return what is reached with half the questions of the largest COBRA."""
    size, me = max(SIZES), results.plan.reference
    control = line_of(CONTROL, size)
    lines: list[Line] = []
    verdict = []
    for name, tasks in results.lists.items():
        reached = results.at(half, tasks)
        others = [n for n in reached if not str(n).endswith(f" {size}")]
        reached = complete(reached[others])
        scored = complete(results.at(own_count(size), tasks).filter([control]))
        shared = [task for task in reached.index if task in scored.index]
        if control not in scored or not shared:
            continue
        goal = scored.loc[shared, control]
        for method, scores in reached.loc[shared].items():
            gain = f"{(scores - goal).mean():+.3f}"
            enough = f"{int((scores >= goal - 1e-12).sum())} of {len(scores)}"
            lines.append(
                {
                    "list": name,
                    "method": method,
                    "questions of COBRA": round(results.questions(own_count(size), shared)),
                    "half": round(results.questions(half, shared)),
                    f"ARI of COBRA {size}": float(goal.mean()),
                    "ARI at half": float(scores.mean()),
                    "difference": gain,
                    "reached on": enough,
                }
            )
            if method == me:
                verdict.append(f"{name} {gain} (reached on {enough} tasks)")
    return Table.of(
        lines,
        "half",
        f"Half the questions of COBRA with {size} super-instances",
        verdict=sentence(
            f"With half the questions {me} is, against COBRA {size} with all of them:", verdict
        ),
        notes=[WHOLE],
    )


def noise_scores(results: Results, tasks: Sequence[str]) -> list[pd.DataFrame]:
    """Return the scores without and with wrong answers, of the same tasks and lines."""
    when = fixed(NOISE_BUDGETS[-1])
    found = [results.at(when, tasks, name) for name in ("budgets", *NOISE)]
    lines = [n for n in found[0] if all(n in other and other[n].notna().any() for other in found)]
    found = [table[lines].dropna() for table in found]
    shared = [task for task in found[0].index if all(task in other.index for other in found)]
    return [table.loc[shared] for table in found]


def noise_table(results: Results) -> Table | None:
    """Return what wrong answers cost at 100 questions."""
    me = results.plan.reference
    lines: list[Line] = []
    verdict = []
    for name, tasks in results.lists.items():
        right, *wrong = noise_scores(results, tasks)
        for method in right.columns if len(right) else ():
            line: Line = {"list": name, "method": method, "tasks": len(right)}
            line["none wrong"] = float(right[method].mean())
            changes = []
            for share, found in zip(NOISE.values(), wrong, strict=True):
                change = found[method] - right[method]
                changes.append(f"{change.mean():+.3f}")
                line[f"{share:.0%} wrong"] = float(found[method].mean())
                line[f"change at {share:.0%}"] = changes[-1]
                line[f"worst at {share:.0%}"] = f"{change.min():+.3f} {change.idxmin()}"
            lines.append(line)
            if method == me:
                verdict.append(f"{name} {' and '.join(changes)}")
    shares = [f"{share:.0%}" for share in NOISE.values()]
    return Table.of(
        lines,
        "noise",
        f"Wrong answers: mean ARI after {NOISE_BUDGETS[-1]} questions",
        verdict=sentence(f"With {words(shares)} wrong answers {me} changes by:", verdict),
        notes=[
            "Of every hundred different questions, exactly 5 or 10 are answered wrongly, "
            "for all methods at the same places in the order of their questions. COBRA with few "
            "super-instances asks fewer than 100 questions, and so gets fewer wrong answers."
        ],
    )


def leaderboard(results: Results, name: str, tasks: Sequence[str]) -> Table | None:
    """Return all methods on a named list of tasks, the best average rank first.

    Only tasks that all methods have are counted.
    """
    scores = {budget: complete(results.at(fixed(budget), tasks)) for budget in BUDGETS}
    methods = [m for m in scores[BUDGETS[0]] if all(m in found for found in scores.values())]
    if not methods:
        return None
    _, *wrong = noise_scores(results, tasks)
    every = frames().concat([found[methods] for found in scores.values()])
    ranks = every.rank(axis=1, ascending=False).mean().sort_values(kind="stable")
    best = every.eq(every.max(axis=1), axis=0).mean()
    budgets = results.of("budgets")
    lines: list[Line] = []
    for method in ranks.index:
        plain, size = split_line(method)
        rows = budgets[(budgets["method"] == plain) & budgets["n_super_instances"].isin([0, size])]
        rows = rows[rows["task"].isin(list(tasks))]
        line: Line = {"method": method + results.mark(plain, size or None)}
        line["rank"] = float(ranks[method])
        line["best"] = f"{best[method]:.0%}"
        line |= {str(budget): float(found[method].mean()) for budget, found in scores.items()}
        for share, found in zip(NOISE.values(), wrong, strict=True):
            has_noise = method in found and len(found)
            line[f"{share:.0%} wrong"] = float(found[method].mean()) if has_noise else None
        line["ms"] = float(rows["ms_p95"].dropna().median())
        line["seconds"] = float(rows["cpu_seconds"].median())
        lines.append(line)
    return Table.of(
        lines,
        f"leaderboard-{name.replace(' ', '-')}",
        f"Leaderboard, {name}",
        notes=[
            f"Mean ARI on the test parts after so many questions, on {len(scores[BUDGETS[0]])} "
            "tasks that all methods have. Rank: the mean over tasks and budgets, 1 is best. Best: "
            "the share of tasks and budgets on which no other is better. Wrong: after "
            f"{NOISE_BUDGETS[-1]} questions, so many of which were answered wrongly. Ms: 95th "
            "percentile of the milliseconds to the next question; seconds: of a whole run; both "
            "on the processor, medians."
        ],
    )
