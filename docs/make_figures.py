"""Write the figures in the documents, from the committed rows: python docs/make_figures.py.

A table stands between the lines ``<!-- figures: NAME -->`` and ``<!-- end -->``. The tests check
that none is out of date.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

import pandas as pd

from likewise.lab.datasets import task_names
from likewise.lab.datasets.fourth import FOURTH
from likewise.lab.experiments.plan import profile
from likewise.lab.experiments.protocol import PEOPLE
from likewise.lab.experiments.results import Results, complete, own_count
from likewise.lab.experiments.results import half as half_of_largest
from likewise.lab.experiments.statistics import bootstrap, compare
from likewise.lab.experiments.store import read_results

DOCS = Path(__file__).parent
README = DOCS.parent / "README.md"
RESULTS = DOCS.parent / "benchmarks" / "results"
SIZES = (25, 50, 100)
N_FOLDS = 2
"""Folds of the rows of the flagship that all methods have."""
NO_FIGURES = re.compile(r"Python 3\.\d+|Blockeel 2017|BSD-3-Clause")
"""Numbers in README that measure nothing."""
MARKED = re.compile(r"(<!-- figures: ([\w-]+) -->\n).*?(<!-- end -->)", re.S)
SHOWN = {
    "Likewise": "**choices** (`Likewise`)",
    "Likewise-pairs": "pairs (`Likewise-pairs`)",
    "COBRA-learned": '`COBRA(labels="learned")`',
    "A3S": "A3S (a lower bound)",
}
OURS = ("Likewise", "Likewise-pairs", "COBRA-learned")
BUDGETS = (10, 30, 50, 100, 150)


@cache
def results(name):
    """Return the rows of a profile."""
    path = RESULTS / ("results.csv.gz" if name == "paper" else f"{name}/results.csv.gz")
    rows = [row for row in read_results(path) if name == "paper" or row.fold < N_FOLDS]
    return Results(rows, profile("rivals" if name == "field" else name))


def cell(values, *, is_difference=False):
    """Return a mean and its interval, without the zeros before the points."""
    return re.sub(r"\b0\.", ".", str(bootstrap(values, is_difference=is_difference)))


def number(value):
    """Return a difference, without the zero before the point."""
    return f"{value:+.3f}".replace("0.", ".", 1)


def table(head, lines):
    """Return a table of Markdown."""
    rule = "|" + "---|" * len(head)
    return "\n".join(
        ["| " + " | ".join(head) + " |", rule, *(f"| {' | '.join(x)} |" for x in lines)]
    )


def gains():
    """Return the gains over COBRA at its own numbers of questions."""
    found = results("flagship")
    lists = {name: tasks for name, tasks in found.lists.items() if name != "added"}
    lines = []
    for method in [name for name in found.methods if name != "COBRA"]:
        for name, tasks in lists.items():
            if method not in OURS and name != "all":
                continue
            scores = {size: complete(found.at_own(size, tasks)) for size in SIZES}
            if all(method in of_size for of_size in scores.values()):
                gained = [cell(s[method] - s["COBRA"], is_difference=True) for s in scores.values()]
                n_tasks = len(scores[SIZES[0]])
                lines.append([SHOWN.get(method, method), f"{name} ({n_tasks})", *gained])
    return table(["", "tasks", *(f"at {size}" for size in SIZES)], lines)


def pairs():
    """Return pairs against COBRA with the same learner, at its own numbers of questions."""
    found = results("flagship")
    lines = []
    for name, tasks in found.lists.items():
        line = [f"{name} ({len(tasks)})"]
        for size in SIZES:
            both = found.at_own(size, tasks)[["Likewise-pairs", "COBRA-learned"]].dropna()
            ours, theirs = both["Likewise-pairs"], both["COBRA-learned"]
            duel = compare(ours, theirs)
            line.append(f"{cell(ours - theirs, is_difference=True)}, {duel.wins}:{duel.losses}")
        lines.append(line)
    return table(["tasks", *(f"at {size}" for size in SIZES)], lines)


def budgets():
    """Return the mean ARI at numbers of questions, over all tasks."""
    found = results("flagship")
    scores = {n: complete(found.at(n)) for n in BUDGETS}
    names = [
        "Likewise",
        "Likewise-pairs",
        *(f"COBRA-learned {n}" for n in (25, 100)),
        "COBRA 25",
        "COBRA 100",
    ]
    lines = [[SHOWN.get(n, f"`{n}`"), *(cell(s[n]) for s in scores.values())] for n in names]
    return table(["", *map(str, BUDGETS)], lines)


def field():
    """Return the mean ARI of all methods that were run on the paper's tasks."""
    found = results("flagship")
    few, many = complete(found.at(30)), complete(found.at(100))
    lines = [[SHOWN.get(n, n), "30 and 100", cell(few[n]), cell(many[n])] for n in few if n in many]
    for name in ("field", "rivals"):
        if (RESULTS / name / "results.csv.gz").exists():
            more = [complete(results(name).at(n, task_names())) for n in (30, 100)]
            if min(map(len, more)) < len(task_names()):
                continue  # not all runs are there yet
            names = [n for n in more[0] if n in more[1] and n not in few]
            names = [n for n in names if not n.startswith("COBRA") or n == "COBRA-choices"]
            lines += [[n, "30 and 100", *(cell(scores[n]) for scores in more)] for n in names]
    paper = results("paper")
    few, many = complete(paper.at_own(25)), complete(paper.at_own(100))
    asked = " and ".join(
        f"{paper.questions(lambda own, n=n: own[n], paper.tasks):.0f}" for n in (25, 100)
    )
    lines += [[n, asked, cell(few[n]), cell(many[n])] for n in few if n != "COBRA"]
    return table(["method", "questions", "mean ARI with the fewer", "with the more"], lines)


def on_third(n):
    """Return the scores of methods on the third list after `n` questions."""
    return complete(results("rivals").at(n, results("rivals").lists["third list"]))


def on_fourth(n):
    """Return the scores of methods on the fourth list after `n` questions."""
    return results("fourth").at(n, list(FOURTH)).dropna(subset=["Likewise", *FOURTH_RIVALS])


def unseen(n):
    """Return the scores on both lists of those methods that were run on both."""
    return pd.concat([on_third(n), on_fourth(n)], join="inner")


SIMPLEST = "half-margin-learner"
"""The simplest rival that has our learner."""
RELATIVE = "UHerding-learner"
"""Of the published rules, the one that is nearest to ours."""
AGAINST = {
    SIMPLEST: "half K-means medoids, half margin sampling, with our learner",
    "UHerding-learner": "Uncertainty Herding, with our learner",
    "MaxHerding-learner": "MaxHerding, with our learner",
    "medoids-learner": "K-means medoids, with our learner",
    "margin-learner": "margin sampling, with our learner",
    "margin-SVM": "margin sampling, with a tuned support vector machine",
    "medoids-SVM": "K-means medoids, with a tuned support vector machine",
}


def duel(name):
    """Return by how much `Likewise` is ahead of a method after 30 and 100 choices, in words."""
    pairs = [(scores["Likewise"], scores[name]) for scores in map(unseen, (30, 100))]
    gains = [cell(ours - theirs, is_difference=True) for ours, theirs in pairs]
    said = [compare(ours, theirs).posterior for ours, theirs in pairs]
    shares = [", ".join(f"{100 * share:.0f}" for share in posterior) for posterior in said]
    return f"{gains[0]} and {gains[1]} (probabilities: {shares[0]}% and {shares[1]}%)"


def headline():
    """Return the claims of the README, each with its figures."""
    lists = [[cell(on(n)["Likewise"]) for n in (30, 100)] for on in (on_third, on_fourth)]
    n_third, n_fourth = len(on_third(30)), len(on_fourth(30))
    n_seen = sum(task.kind != "tables" for task in FOURTH.values())
    lines = [
        f"- **{n_third + n_fourth} tasks that nobody developed on**, in two lists; all answers "
        "right. The mean ARI (1 is perfect, 0 is chance) after 30 and 100 choices is "
        f"{' and '.join(lists[0])} on {n_third} tables and shapes, {' and '.join(lists[1])} on "
        f"{n_fourth} harder ones, {n_seen} of them pictures and texts."
    ]
    lines.append(
        "- **Against rivals that have our learner**, on all of these: ahead of the simplest (half "
        f"K-means medoids, half margin sampling) by {duel(SIMPLEST)}; level with the nearest "
        f"published rule (Uncertainty Herding): {duel(RELATIVE)}. The probabilities are those of "
        "being better, equal in practice (within .01) and worse. The features and the learner "
        "bring most of the quality. What our rule adds: it needs no budget and is good after "
        "every answer."
    )
    best = [best_cobra(unseen(n)) for n in (30, 100)]
    lines.append(
        "- **Against COBRA**, which asks pairs, with the number of super-instances that is best "
        f"for each budget: {best[0][1]} after 30 questions (best: {best[0][0]}) and "
        f"{best[1][1]} after 100 (best: {best[1][0]})."
    )
    return "\n".join(lines)


def best_cobra(scores, method="Likewise"):
    """Return the size with which COBRA is best, and what a method has more."""
    sizes = [name for name in scores if re.fullmatch(r"COBRA \d+", name)]
    best = scores[sizes].mean().idxmax()
    return best.split()[1], cell(scores[method] - scores[best], is_difference=True)


def rivals():
    """Return `Likewise` on the unseen tasks, and how far others are behind."""
    head = ["ARI on the unseen tasks", *(f"{n} questions" for n in BUDGETS)]
    found = {n: on_third(n) for n in BUDGETS}
    lines = [["`Likewise`, choices", *(cell(found[n]["Likewise"]) for n in BUDGETS)]]
    for name, words in AGAINST.items():
        if all(name in found[n] for n in BUDGETS):
            gains = [
                cell(found[n]["Likewise"] - found[n][name], is_difference=True) for n in BUDGETS
            ]
            lines.append([f"minus {words}", *gains])
    for method, words in (("Likewise", ""), ("Likewise-pairs", "`Likewise-pairs` ")):
        best = ["{1} ({0})".format(*best_cobra(found[n], method)) for n in BUDGETS]
        lines.append([f"{words}minus COBRA with its best size (in brackets)", *best])
    return table(head, lines)


def others():
    """Return what the table of rivals leaves out: few rows, and the paper's tasks."""
    found = results("rivals")
    points = found.points[found.points["task"].isin(found.lists["third list"])]
    points = points[(points["experiment"] == "rivals") & (points["line"] == "margin-learner")]
    few = [points[(points["budget"] == n) & (points["asked"] < n)] for n in (100, 150)]
    gains = []
    for n in (10, 20, *BUDGETS[1:]):
        scores = complete(found.at(n, task_names()))
        gains.append(cell(scores["Likewise"] - scores[RELATIVE], is_difference=True))
    counts = " and ".join(str(rows["task"].nunique()) for rows in few)
    return (
        f"- On {counts} of these tasks there are fewer rows to ask about than 100 and 150 "
        f"questions.\n- On the paper's {len(scores)} tasks, the difference to Uncertainty Herding "
        f"with our learner is {', '.join(gains[:-1])} and {gains[-1]} after 10, 20, 30, 50, 100 "
        "and 150 questions.\n- Another processor changes some rows: "
        f"{changed_by_kernel('rivals')}."
    )


def read():
    """Return what choices cost: rows read, and the ARI that they reach, on the unseen tasks."""
    tasks = results("rivals").lists["third list"]
    lines = []
    for name in ("Likewise", "Likewise-pairs", SIMPLEST, "medoids-learner", "margin-learner"):
        line = [f"`{name}`"]
        for n in BUDGETS:
            shown = results("rivals").at(n, tasks, column="rows_read")
            line.append(f"{shown[name].mean():.0f} rows: {cell(on_third(n)[name]).split()[0]}")
        lines.append(line)
    return table(["rows read, and the ARI reached", *(f"{n} questions" for n in BUDGETS)], lines)


def classes():
    """Return the ARI of choices by the number of groups, on all tasks with rivals."""
    found = results("rivals")
    n_classes = found.rows.groupby("task")["n_classes"].first()
    lines = []
    for low, high in ((2, 2), (3, 3), (4, 6), (7, 99)):
        tasks = [name for name in found.tasks if low <= n_classes[name] <= high]
        scores = [
            found.at(n, tasks, n_folds=1)["Likewise"].dropna() for n in (10, 20, *BUDGETS[1:])
        ]
        words = f"{low}" if low == high else f"{low} to {high}" if high < 99 else f"{low} and more"
        lines.append([words, str(len(scores[0])), *map(cell, scores)])
    head = ["groups", "tasks", *(str(n) for n in (10, 20, *BUDGETS[1:]))]
    return table(head, lines)


def half():
    """Return on how many tasks half of COBRA's questions exceed what all of them reach."""
    found = results("flagship")
    few, many = found.at(half_of_largest), found.at(own_count(max(SIZES)))
    words = []
    for name, said in (("Likewise", "choices"), ("Likewise-pairs", "pairs")):
        both = few[[name]].join(many[f"COBRA {max(SIZES)}"].rename("goal")).dropna()
        n_reached = int((both[name] >= both["goal"] - 1e-12).sum())
        n_exceed = int((both[name] > both["goal"] + 1e-12).sum())
        words.append(
            f"with {said} it is reached on {n_reached} of {len(both)} tasks, exceeded on {n_exceed}"
        )
    asked = [
        round(found.questions(when, found.tasks)) for when in (half_of_largest, own_count(100))
    ]
    return (
        f"- **Half of COBRA's questions** ({asked[0]} instead of {asked[1]}) are often enough for "
        f"COBRA's ARI: {'; '.join(words)} ([half.md](../benchmarks/results/flagship/half.md))."
    )


def losses():
    """Return where COBRA is ahead by most, at its own numbers of questions."""
    found = results("flagship")
    words = []
    for name, said in (("Likewise", "choices"), ("Likewise-pairs", "pairs")):
        scores = {size: found.at_own(size, found.tasks) for size in SIZES}
        gains = pd.DataFrame({size: s[name] - s["COBRA"] for size, s in scores.items()}).stack()
        worst = gains[gains < -0.05].sort_values()
        places = [f"{task} at {size} ({number(gain)})" for (task, size), gain in worst.items()]
        words.append(f"with {said} on {', '.join(places)}")
    return f"- **It loses** more than .05 to COBRA {', and '.join(words)}."


def waits():
    """Return the time to the next question, and how many rows a choice shows."""
    found = results("flagship")
    rows = {name: found.of("budgets", method=name) for name in ("Likewise", "Likewise-pairs")}
    usual, largest = [], []
    for of_method in rows.values():
        usual.append(f"{of_method['ms_p95'].median():.0f}")
        slowest = of_method.loc[of_method["ms_p95"].idxmax()]
        largest.append(f"{slowest['ms_p95']:.0f} ms on {slowest['task']}")
    shown = []
    for n in (10, 100):
        read, asked = (
            found.at(n, found.tasks, column=c)["Likewise"] for c in ("rows_read", "asked")
        )
        each = read / asked
        shown.append(f"{each.min():.0f} to {each.max():.0f}")
    return (
        f"A choice shows {shown[0]} rows, by task, in the first 10 questions and {shown[1]} in the "
        "first 100; a pair shows two. The 95th percentile of processor time to the next question "
        f"is {usual[0]} ms for choices and {usual[1]} ms for pairs (medians over tasks and folds), "
        f"and at most {' and '.join(largest)} "
        "([times.md](../benchmarks/results/flagship/times.md))."
    )


def kernels():
    """Return how many rows of the paper's experiments another processor changes."""
    return (
        f"- **Another processor changes some rows**: {changed_by_kernel('paper')}. So a p value of "
        "COSC near .05 says little."
    )


def changed_by_kernel(name):
    """Return how many rows differ if they are made with the linear algebra of another processor."""
    rows = pd.read_csv(RESULTS / name / "kernels.csv").set_index("method")
    moved = rows[rows["mean change of ARI"].abs() >= 0.0005]
    words = [
        f"{method} {number(row['mean change of ARI'])} ({row['differ']:.0f} of "
        f"{row['rows']:.0f} rows)"
        for method, row in moved.iterrows()
    ]
    means = f"mean ARI changes for {', '.join(words)}" if words else "no mean ARI changes"
    return f"{rows['differ'].sum():.0f} of {rows['rows'].sum():.0f} drawn at random; {means}"


def people():
    """Return what people who err cost, and how far `Likewise` is ahead of three rivals then."""
    found = results("rivals")
    rivals_ = ("medoids-learner", "margin-learner", "margin-SVM")
    lines = []
    for condition in PEOPLE:
        if condition not in set(found.points["experiment"]):
            continue
        scores = found.at(100, experiment=condition, n_folds=1)
        ours = scores["Likewise"].dropna()
        truthful = found.at(100, list(ours.index), n_folds=1)["Likewise"]
        line = [f"`{condition}`", str(len(ours)), cell(ours)]
        line.append(cell(ours - truthful, is_difference=True))
        for name in rivals_:
            gain = (ours - scores[name]).dropna() if name in scores else []
            line.append(cell(gain, is_difference=True) if len(gain) == len(ours) else "-")
        lines.append(line)
    head = ["people", "tasks", "`Likewise`", "minus right answers"]
    return table([*head, *(f"minus `{name}`" for name in rivals_)], lines)


def speed():
    """Return the times of the page, and what they were measured with."""
    rows = pd.read_csv(RESULTS / "page.csv").set_index(["what", "unit"])["value"]
    lines = []
    for what, unit in rows.index:
        if what.startswith("key to paint, ") and unit == "ms, median":
            said = what.removeprefix("key to paint, ")
            both = (rows[what, unit], rows[what, "ms, p95"])
            lines.append([said, *(f"{ms:.0f} ms" for ms in both)])
    first = [
        [re.sub("^first question of ", "", what), f"{rows[what, 's']:.1f}"]
        for what, unit in rows.index
        if unit == "s" and not what.startswith("from the command to the page")
    ]
    size = rows["page without items", "kB"]
    return (
        table(["from a key to the next question on the screen", "median", "95%"], lines)
        + f"\n\nThe page itself is {size:.0f} kB. From the command to the first question:\n\n"
        + table(["", "seconds"], first)
    )


def fourth():
    """Return `Likewise` on the fourth list, and how far others are behind: all, by kind."""
    found = {n: on_fourth(n) for n in BUDGETS}
    lines = []
    for kind in ("all", "pictures", "texts", "tables"):
        of_kind = [n for n, task in FOURTH.items() if kind in ("all", task.kind)]
        some = [scores[scores.index.isin(of_kind)] for scores in found.values()]
        label = f"{kind} ({len(some[0])})"
        lines.append([label, "`Likewise`", *(cell(scores["Likewise"]) for scores in some)])
        shown = FOURTH_RIVALS if kind == "all" else (SIMPLEST, RELATIVE)
        for name in (*shown, *["Likewise-aspects"][: kind == "pictures"]):
            gains = [cell(s["Likewise"] - s[name], is_difference=True) for s in some]
            lines.append(["", f"minus `{name}`", *gains])
        if kind == "all":
            best = ["{1} ({0})".format(*best_cobra(scores)) for scores in some]
            lines.append(["", "minus COBRA with its best size (in brackets)", *best])
    return table(["tasks", "ARI", *(f"{n} questions" for n in BUDGETS)], lines)


FOURTH_RIVALS = ("half-margin-learner", "UHerding-learner", "medoids-learner", "medoids-SVM")
TABLES = {
    "kernels": kernels,
    "losses": losses,
    "others": others,
    "speed": speed,
    "waits": waits,
    "classes": classes,
    "half": half,
    "people": people,
    "fourth": fourth,
    "headline": headline,
    "rivals": rivals,
    "read": read,
    "gains": gains,
    "pairs": pairs,
    "budgets": budgets,
    "field": field,
}


def written(text):
    """Return a document with its tables as they are now."""
    return MARKED.sub(lambda m: f"{m[1]}\n{TABLES[m[2]]()}\n\n{m[3]}", text)


def documents():
    """Return the documents that have such tables."""
    pages = [README, *sorted(DOCS.glob("*.md"))]
    return [path for path in pages if MARKED.search(path.read_text("utf-8"))]


def unsourced(text):
    """Return the numbers in the prose of a text that no script wrote."""
    prose = MARKED.sub("", re.sub(r"```.*?```|`[^`\n]*`|\]\([^)]*\)", "", text, flags=re.S))
    return re.findall(r"[\d.,]*\d(?: ?%)?", NO_FIGURES.sub("", prose))


def faults(text):
    """Return what is wrong with the figures of README, a sentence each."""
    found = unsourced(text)
    lines = (
        [f"README.md has figures that no script wrote from rows: {', '.join(found)}"]
        if found
        else []
    )
    if written(text) != text:
        lines.append("README.md has other figures than the rows: run python docs/make_figures.py")
    return lines


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        lines = faults(README.read_text("utf-8"))
        print("\n".join(lines) or "Every figure in README.md is made from rows")
        sys.exit(bool(lines))
    for path in documents():
        path.write_text(written(path.read_text("utf-8")), "utf-8")
        print(f"wrote {path}")
