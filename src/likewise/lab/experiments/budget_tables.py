"""Methods by the number of questions: any budget, half of COBRA's, and with wrong answers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

from likewise.lab.experiments.comparison_tables import SHOWN, WHOLE
from likewise.lab.experiments.measures import MEASURES
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
from likewise.lab.experiments.statistics import bootstrap
from likewise.lab.experiments.tables import Line, Table, sentence, words

if TYPE_CHECKING:
    import pandas as pd


MEASURE_NAMES = {"ari": "ARI", "ami": "AMI", "v": "V-measure", "f1": "F1 of pairs"}


def measures_table(results: Results) -> Table | None:
    """Return all measures and what the answers cost, at fixed numbers of questions."""
    lines: list[Line] = []
    for (name, tasks), n in product(results.lists.items(), SHOWN):
        by_column = {c: results.at(fixed(n), tasks, column=c) for c in (*MEASURES, "rows_read")}
        scores = {column: complete(found) for column, found in by_column.items()}
        for line_name in scores["ari"]:
            line: Line = {"list": name, "questions": n, "method": line_name}
            line["tasks"] = len(scores["ari"])
            for column, shown in MEASURE_NAMES.items():
                has_it = line_name in scores[column] and len(scores[column])
                line[shown] = bootstrap(scores[column][line_name]) if has_it else None
            if line_name in (read := by_column["rows_read"].dropna(axis=1, how="all")):
                n_read = float(read[line_name].mean())
                asked = results.at(fixed(n), tasks, column="asked")[line_name].mean()
                line["rows read"] = round(n_read)
                line["minutes"] = results.seconds(float(asked), n_read) / 60
            lines.append(line)
    return Table.of(
        lines,
        "measures",
        "Other measures than ARI, and what the answers cost a person",
        notes=[
            f"{WHOLE.replace('adjusted Rand index (ARI)', 'value')} AMI is adjusted mutual "
            "information; F1 is that of pairs put together. A dash: the rows were made before the "
            f"measure was stored. Rows read: all that the questions showed. {results.seconds.text}"
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
                line[str(budget)] = bootstrap(found[method]) if method in found else None
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
            gain = bootstrap(scores - goal, is_difference=True)
            enough = f"{int((scores >= goal - 1e-12).sum())} of {len(scores)}"
            lines.append(
                {
                    "list": name,
                    "method": method,
                    "questions of COBRA": round(results.questions(own_count(size), shared)),
                    "half": round(results.questions(half, shared)),
                    f"ARI of COBRA {size}": bootstrap(goal),
                    "ARI at half": bootstrap(scores),
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
            line["none wrong"] = bootstrap(right[method])
            changes = []
            for share, found in zip(NOISE.values(), wrong, strict=True):
                change = found[method] - right[method]
                changes.append(bootstrap(change, is_difference=True))
                line[f"{share:.0%} wrong"] = bootstrap(found[method])
                line[f"change at {share:.0%}"] = changes[-1]
                line[f"worst at {share:.0%}"] = f"{change.min():+.3f} {change.idxmin()}"
            lines.append(line)
            if method == me:
                verdict.append(f"{name} {' and '.join(map(str, changes))}")
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
        line |= {str(budget): bootstrap(found[method]) for budget, found in scores.items()}
        for share, found in zip(NOISE.values(), wrong, strict=True):
            has_noise = method in found and len(found)
            line[f"{share:.0%} wrong"] = bootstrap(found[method]) if has_noise else None
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
