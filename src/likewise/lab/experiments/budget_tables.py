"""Tables by number of questions: any budget, half of COBRA's, and with wrong answers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pandas as pd

from likewise.lab.experiments.comparison_tables import SHOWN
from likewise.lab.experiments.methods import CONTROL
from likewise.lab.experiments.protocol import MEASURES, NOISE, NOISE_BUDGETS, PEOPLE, SIZES
from likewise.lab.experiments.results import (
    Results,
    complete,
    half,
    line_of,
    own_count,
    split_line,
)
from likewise.lab.experiments.statistics import bootstrap
from likewise.lab.experiments.tables import Line, Table, sentence, words

NOISY = NOISE_BUDGETS[-1]
"""After so many questions people who err are compared with others."""
TRUTHFUL = "truthful"
MEASURE_NAMES = {"ari": "ARI", "ami": "AMI", "v": "V-measure", "f1": "F1 of pairs"}


def measures_table(results: Results) -> Table | None:
    """Return all measures and what the answers cost, at fixed numbers of questions."""
    lines: list[Line] = []
    for (name, tasks), n in product(results.lists.items(), SHOWN):
        by_column = {c: results.at(n, tasks, column=c) for c in (*MEASURES, "rows_read")}
        scores = {column: complete(table) for column, table in by_column.items()}
        for line_name in scores["ari"]:
            line: Line = {"list": name, "questions": n, "method": line_name}
            line["tasks"] = len(scores["ari"])
            for column, shown in MEASURE_NAMES.items():
                has_it = line_name in scores[column] and len(scores[column])
                line[shown] = bootstrap(scores[column][line_name]) if has_it else None
            if line_name in (read := by_column["rows_read"].dropna(axis=1, how="all")):
                n_read = float(read[line_name].mean())
                asked = results.at(n, tasks, column="asked")[line_name].mean()
                line["rows read"] = round(n_read)
                line["minutes"] = results.seconds(float(asked), n_read) / 60
            lines.append(line)
    return Table.of(lines, "measures", seconds=results.seconds.text)


def budgets_table(results: Results) -> Table | None:
    """Return the mean ARI at fixed numbers of questions."""
    me = results.plan.reference
    lines: list[Line] = []
    lead = []
    for name, tasks in results.lists.items():
        scores = results.at_counts(tasks)
        for method in scores[results.counts[0]].columns:
            line: Line = {"list": name, "method": method, "tasks": len(scores[results.counts[0]])}
            for budget, table in scores.items():
                line[str(budget)] = bootstrap(table[method]) if method in table else None
            lines.append(line)
        best = [str(b) for b, s in scores.items() if len(s) and s.mean().idxmax() == me]
        if any(me in table for table in scores.values()):
            where = f"{words(best)} questions" if best else "none"
            is_all = len(best) == len(results.counts)
            lead.append(f"{name}: at {'every number of questions' if is_all else where}")
    return Table.of(lines, "budgets", sentence(f"{me} has the highest mean of all,", lead))


def sizes_table(results: Results) -> Table | None:
    """Return COBRA with the number of super-instances that is best for each number of questions.

    The size is chosen knowing the truth, by the mean over the list, so COBRA looks a little better
    than it can be used. A run is complete if COBRA had nothing left to ask.
    """
    me = results.plan.reference
    lines: list[Line] = []
    for (name, tasks), n in product(results.lists.items(), results.counts):
        scores, asked = results.at(n, tasks), results.at(n, tasks, column="asked")
        sized = [(split_line(str(line)), line) for line in scores]
        for method in dict.fromkeys(name for (name, size), _ in sized if size):
            of_method = [line for (name, _), line in sized if name == method]
            both = complete(scores[[*of_method, *([me] if me in scores else [])]])
            if both.empty or me not in both or me == method:
                continue
            best = str(both[of_method].mean().idxmax())
            lines.append(
                {
                    "list": name,
                    "questions": n,
                    "method": method,
                    "super-instances": split_line(best)[1],
                    "tasks": len(both),
                    "complete on": int((asked.loc[both.index, best] < n).sum()),
                    "ARI": bootstrap(both[best]),
                    f"{me} minus it": bootstrap(both[me] - both[best], is_difference=True),
                }
            )
    return Table.of(lines, "sizes")


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
    start = f"With half the questions {me} is, against COBRA {size} with all of them:"
    return Table.of(lines, "half", sentence(start, verdict), size=size)


def noise_scores(results: Results, tasks: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Return the scores of truthful people and of others, of the same folds, tasks and lines."""
    names = [name for name in (*NOISE, *PEOPLE) if len(results.of(name))]
    n_folds = min([results.n_folds, *map(results.folds_of, names)])
    scores = {TRUTHFUL: results.at(NOISY, tasks, n_folds=n_folds)}
    scores |= {name: results.at(NOISY, tasks, name, n_folds=n_folds) for name in names}
    tables = list(scores.values())
    lines = [n for n in tables[0] if all(n in other and other[n].notna().any() for other in tables)]
    whole = pd.concat([table[lines] for table in tables], axis=1).dropna().index
    if not names or not lines:
        return {}
    return {name: table.loc[whole, lines] for name, table in scores.items()}


def noise_table(results: Results) -> Table | None:
    """Return what people cost who are wrong or not sure."""
    me = results.plan.reference
    lines: list[Line] = []
    verdict = []
    for name, tasks in results.lists.items():
        scores = noise_scores(results, tasks)
        for condition, method in product(list(scores)[1:], scores.get(TRUTHFUL, ())):
            right, wrong = scores[TRUTHFUL][method], scores[condition][method]
            if right.empty:
                continue
            change = bootstrap(wrong - right, is_difference=True)
            lines.append(
                {
                    "list": name,
                    "people": condition,
                    "method": method,
                    "tasks": len(right),
                    TRUTHFUL: bootstrap(right),
                    "ARI": bootstrap(wrong),
                    "change": change,
                    "worst": f"{(wrong - right).min():+.3f} {(wrong - right).idxmin()}",
                }
            )
            if method == me and tasks == results.tasks:
                verdict.append(f"{condition} {change}")
    return Table.of(lines, "noise", sentence(f"{me} changes by:", verdict), n=NOISY)


def end_table(results: Results) -> Table | None:
    """Return where methods that are told no budget stop, and how good they are then."""
    points = results.points[results.points["experiment"] == "own-end"]
    last = results.counts[-1]
    lines: list[Line] = []
    for (name, tasks), method in product(results.lists.items(), results.lines):
        ends = points[(points["line"] == method) & points["task"].isin(tasks)]
        means = ends.groupby("task")[["asked", "rows_read", "ari"]].mean()
        then = results.at(last, tasks).reindex(columns=[method])[method].reindex(means.index)
        if len(means):
            lines.append(
                {
                    "list": name,
                    "method": method,
                    "tasks": len(means),
                    "questions": round(float(means["asked"].mean())),
                    "fewest": int(ends["asked"].min()),
                    "most": int(ends["asked"].max()),
                    "rows read": round(float(means["rows_read"].mean())),
                    "ARI": bootstrap(means["ari"]),
                    f"against {last} questions": bootstrap(
                        (means["ari"] - then).dropna(), is_difference=True
                    ),
                }
            )
    return Table.of(lines, "own-end")
