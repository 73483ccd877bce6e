"""Write the figures in the documents, from the committed rows: python docs/make_figures.py.

A table stands between the lines ``<!-- figures: NAME -->`` and ``<!-- end -->``. The tests check
that none is out of date.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from likewise.lab.datasets import task_names
from likewise.lab.experiments.plan import profile
from likewise.lab.experiments.results import Results, complete
from likewise.lab.experiments.statistics import bootstrap, compare
from likewise.lab.experiments.store import read_results

DOCS = Path(__file__).parent
RESULTS = DOCS.parent / "benchmarks" / "results"
SIZES = (25, 50, 100)
N_FOLDS = 2
"""Folds of the rows of the flagship that all methods have."""
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
            lines += [[n, "30 and 100", *(cell(scores[n]) for scores in more)] for n in names]
    paper = results("paper")
    few, many = complete(paper.at_own(25)), complete(paper.at_own(100))
    asked = " and ".join(
        f"{paper.questions(lambda own, n=n: own[n], paper.tasks):.0f}" for n in (25, 100)
    )
    lines += [[n, asked, cell(few[n]), cell(many[n])] for n in few if n != "COBRA"]
    return table(["method", "questions", "mean ARI with the fewer", "with the more"], lines)


TABLES = {"gains": gains, "pairs": pairs, "budgets": budgets, "field": field}


def written(text):
    """Return a document with its tables as they are now."""
    return MARKED.sub(lambda m: f"{m[1]}\n{TABLES[m[2]]()}\n\n{m[3]}", text)


def documents():
    """Return the documents that have such tables."""
    return [path for path in sorted(DOCS.glob("*.md")) if MARKED.search(path.read_text("utf-8"))]


if __name__ == "__main__":
    for path in documents():
        path.write_text(written(path.read_text("utf-8")), "utf-8")
        print(f"wrote {path}")
