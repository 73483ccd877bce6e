"""The tables of the practice sets, from the rows that were measured."""

import csv

import numpy as np

from benchmarks.practice import merges, models, statements, stop, unseen

AT = (30, 60, 100)


def write_report(folder):
    """Write README.md beside the rows."""
    parts = [f(_rows(folder / f"{name}.csv")) for name, f in TABLES.items()]
    text = "# `Likewise` on the practice sets\n\nMade by `python -m benchmarks.practice`.\n\n"
    (folder / "README.md").write_text(text + "\n".join(part for part in parts if part))


def quality(rows):
    """Set by set, choices and pairs."""
    if not rows:
        return ""
    lines = ["## Test ARI, two folds\n", "| set | choices 30 / 60 / 100 | pairs 30 / 60 / 100 |"]
    lines += ["|---|---|---|"]
    sets = list(dict.fromkeys(row["set"] for row in rows))
    for name in [*sets, "**mean**"]:
        cells = []
        for method in ("choices", "pairs"):
            chosen = [
                r for r in rows if r["method"] == method and r["set"] in (name, *_all(name, sets))
            ]
            cells.append(" / ".join(_mean(chosen, f"ari{n}") for n in AT))
        lines.append(f"| {name} | {cells[0]} | {cells[1]} |")
    return "\n".join(lines) + "\n"


def people(rows):
    """Conditions, and suspects."""
    if not rows:
        return ""
    lines = ["## People who are not sure, or wrong\n"]
    lines += [
        "| condition | choices 30 / 60 / 100 | pairs 30 / 60 / 100 | suspects of choices: per "
    ]
    lines[-1] += "run, share of them wrong, share of the wrong ones named |"
    lines += ["|---|---|---|---|"]
    for condition in dict.fromkeys(row["what"] for row in rows):
        cells = []
        for method in ("choices", "pairs"):
            chosen = [r for r in rows if r["method"] == method and r["what"] == condition]
            cells.append(" / ".join(_mean(chosen, f"ari{n}") for n in AT))
        chosen = [r for r in rows if r["method"] == "choices" and r["what"] == condition]
        n, wrong, hits = (
            sum(int(r[k] or 0) for r in chosen) for k in ("suspects", "wrong", "hits")
        )
        named = f"{n / len(chosen):.1f}"
        if wrong:
            named += f", {hits / max(1, n):.2f}, {hits / wrong:.2f}"
        lines.append(f"| {condition} | {cells[0]} | {cells[1]} | {named} |")
    return "\n".join(lines) + "\n"


def cobra(rows):
    """Pairs against COBRA with the same learner, with an interval over sets."""
    if not rows:
        return ""
    lines = ["## Pairs against `COBRA(labels='learned')`, at COBRA's own number of questions\n"]
    lines += [
        "| super-instances | questions | COBRA | pairs | difference, 95 % interval over sets |"
    ]
    lines += ["|---|---|---|---|---|"]
    for size in dict.fromkeys(row["size"] for row in rows):
        chosen = [row for row in rows if row["size"] == size]
        by_set = {}
        for row in chosen:
            by_set.setdefault(row["set"], []).append(float(row["pairs"]) - float(row["cobra"]))
        gains = np.array([np.mean(values) for values in by_set.values()])
        rng = np.random.default_rng(0)
        means = rng.choice(gains, (10_000, len(gains))).mean(axis=1)
        low, high = np.percentile(means, [2.5, 97.5])
        lines.append(
            f"| {size} | {_mean(chosen, 'questions', 0)} | {_mean(chosen, 'cobra')} | "
            f"{_mean(chosen, 'pairs')} | {gains.mean():+.3f} [{low:+.3f}, {high:+.3f}] |"
        )
    return "\n".join(lines) + "\n"


def end(rows):
    """Where a session without a budget ends, and how true its statements are."""
    if not rows:
        return ""
    ends = {row["set"]: row for row in rows if row["what"] == "end"}
    lasts = {row["set"]: row for row in rows if row["what"] == "last"}
    lost = [float(lasts[s]["ari"]) - float(ends[s]["ari"]) for s in ends if s in lasts]
    stops = [int(row["questions"]) for row in ends.values()]
    lines = [
        "## Without a budget\n",
        f"It ends after {np.mean(stops):.0f} choices on average ({min(stops)} to {max(stops)}; "
        f"{len(stops)} sets) and loses {np.mean(lost):.3f} ARI against 200 "
        f"(at worst {max(lost):.3f}).\n",
    ]
    return "\n".join(lines) + "\n"


def groups(rows):
    """Groups that are there: alone, and after some answers, beside nothing."""
    if not rows:
        return ""
    n_sets = len({row["set"] for row in rows})
    at = (10, 30, 60)
    nothing = {row["set"]: row for row in rows if row["what"] == "nothing"}
    lines = [
        f"## Beginning from groups that are there ({n_sets} sets, ARI of all rows, choices)\n",
        "| groups | alone | after 10 / 30 / 60 answers | sets better : worse than from nothing, by "
        ".01 |",
        "|---|---|---|---|",
    ]
    for what in dict.fromkeys(row["what"] for row in rows):
        chosen = [row for row in rows if row["what"] == what]
        alone = "-" if what == "nothing" else _mean(chosen, "ari0")
        scores = " / ".join(_mean(chosen, f"ari{n}") for n in at)
        cells = []
        for n in at:
            gains = [float(r[f"ari{n}"]) - float(nothing[r["set"]][f"ari{n}"]) for r in chosen]
            cells.append(f"{sum(g > 0.01 for g in gains)}:{sum(g < -0.01 for g in gains)}")
        lines.append(f"| {what} | {alone} | {scores} | {' / '.join(cells)} |")
    truth = [row for row in rows if row["what"] == "truth"]
    lost = {n: max((1.0 - float(r[f"ari{n}"]), r["set"]) for r in truth) for n in at}
    worst = ", ".join(f"{loss:.3f} ({name}) after {n}" for n, (loss, name) in lost.items())
    lines.append(f"\nThe most that exactly right groups lost on one set: {worst} answers.")
    return "\n".join(lines) + "\n"


def _all(name, sets):
    return sets if name == "**mean**" else ()


def _mean(rows, field, digits=3):
    by_set = {}
    for row in rows:
        if row[field]:
            by_set.setdefault(row["set"], []).append(float(row[field]))
    if not by_set:
        return "-"
    return f"{np.mean([np.mean(values) for values in by_set.values()]):.{digits}f}".lstrip("0")


def _rows(path):
    rows = list(csv.DictReader(path.read_text().splitlines())) if path.exists() else []
    return [row for row in rows if row.get("code") == rows[-1].get("code")]


TABLES = {
    "quality": quality,
    "people": people,
    "cobra": cobra,
    "end": end,
    "statements": statements.table,
    "stop": stop.table,
    "unseen": unseen.table,
    "merges": merges.table,
    "groups": groups,
    "models": models.table,
    "at_once": models.at_once_table,
}
