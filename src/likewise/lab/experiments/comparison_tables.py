"""Methods against each other at COBRA's numbers of questions: wins, ranks, gains, task by task.

The same tables for every configuration; each has one plain sentence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from likewise.lab.experiments.methods import CONTROL
from likewise.lab.experiments.results import WITHOUT, Results, complete, own_count
from likewise.lab.experiments.statistics import (
    Comparison,
    average_ranks,
    bootstrap,
    compare,
    friedman_aligned,
    post_hoc,
)
from likewise.lab.experiments.tables import (
    DIFFERS,
    IN_PART,
    SAME,
    Line,
    Table,
    printed,
    sentence,
    words,
)

SIGNIFICANT = 0.05
"""A difference with a smaller p-value gets a star, as in the paper."""
PAPER_STARS = 10
"""How many of the 12 differences in rank have a star in the paper."""
SHOWN = (10, 30, 100)
"""The numbers of questions at which methods are compared pair by pair."""
FAR_BELOW = 0.03
"""Tasks on which a method is further below COBRA than this are named."""


def duels(scores: pd.DataFrame, me: str) -> Iterator[tuple[str, Comparison, Line]]:
    """Yield every other method, how it compares on shared tasks, and that as columns of a line."""
    for method in scores.columns.drop(me) if me in scores else ():
        both = scores[[me, method]].dropna()
        if len(both):
            duel = compare(both[me], both[method])
            columns: Line = {"tasks": duel.n_tasks, "won": duel.wins, "lost": duel.losses}
            columns |= {"difference": duel.difference, "p": duel.p_value}
            yield method, duel, columns | duel.posterior._asdict()


def paired_table(results: Results) -> Table | None:
    """Return differences to the reference, task by task, at fixed numbers of questions."""
    me = results.plan.reference
    lines: list[Line] = [
        {"list": name, "questions": n, "against": method, **columns}
        for name, tasks in results.lists.items()
        for n in SHOWN
        for method, _, columns in duels(results.at(n, tasks), me)
    ]
    n_better = sum(line["difference"].low > 0 for line in lines)
    worse = [line for line in lines if line["difference"].high < 0]
    named = [f"{line['against']} at {line['questions']} ({line['list']})" for line in worse]
    verdict = (
        f"The interval of the difference is above zero in {n_better} of {len(lines)} "
        f"comparisons, below zero in {len(worse)}{': ' if named else ''}{', '.join(named)}."
    )
    return Table.of(lines, "paired", verdict, me=me)


def wins_table(results: Results) -> Table | None:
    """Return tasks won and lost by the reference (the paper's Table 2)."""
    me = results.plan.reference
    has_published = me == CONTROL
    lines: list[Line] = []
    for name, size, scores in results.comparisons():
        for method, duel, columns in duels(scores, me):
            line: Line = {
                "list": name,
                "size": size,
                "against": method + results.mark(method, size),
                **columns,
                "ties": duel.ties,
                "mean win": duel.win_margin,
                "mean loss": duel.loss_margin,
            }
            if has_published:
                line["paper, won : lost"] = printed("table_2", method, size)
            lines.append(line)
    whole = [line for line in lines if line["list"] != WITHOUT]
    verdict = _wins_text(me, whole)
    if has_published:
        stars = [(line["paper, won : lost"], line["p"] < SIGNIFICANT) for line in whole]
        agree = sum(("*" in text) == star for text, star in stars if text is not None)
        n_printed = sum(text is not None for text, _ in stars)
        more = sum(line["won"] > line["lost"] for line in whole)
        held = SAME if more == len(whole) and agree == n_printed else IN_PART
        verdict = (
            f"{held if more > len(whole) / 2 else DIFFERS}: {verdict} (paper: 12 and 7 of "
            f"12); whether a difference is significant agrees in {agree} of {n_printed}"
        )
    rest = [line for line in lines if line["list"] == WITHOUT]
    if rest:
        verdict += f". Without the face tasks: {_wins_text(me, rest)}"
    return Table.of(lines, "wins", f"{verdict}.", me=me)


def _wins_text(me: str, lines: Sequence[Line]) -> str:
    """Return in how many comparisons the reference wins, by size where they are significant."""
    ahead = [line for line in lines if line["won"] > line["lost"]]
    stars = Counter(line["size"] for line in ahead if line["p"] < SIGNIFICANT)
    by_size = ", ".join(f"{count} at {size}" for size, count in sorted(stars.items()))
    return (
        f"{me} wins more tasks than it loses in {len(ahead)} of {len(lines)} comparisons, "
        f"significantly in {stars.total()}" + (f" ({by_size})" if by_size else "")
    )


def ranks_table(results: Results, *, n_permutations: int = 100_000) -> Table | None:
    """Return average ranks, and which differ from the reference's (the paper's Table 3)."""
    me = results.plan.reference
    lines: list[Line] = []
    omnibus, best, stars, legacy_stars = [], [], 0, 0
    without: list[str] = []
    for name, size, scores in results.comparisons():
        shared = complete(scores)
        if me not in shared or len(shared.columns) < 3 or len(shared) < 2:
            continue
        ranks = average_ranks(shared)
        statistic, p = friedman_aligned(shared)
        omnibus.append(f"{name}, {size}: T = {statistic:.2f}, p = {p:.2g}, {len(shared)} tasks")
        place = list(shared.columns).index(me)
        tests = post_hoc(shared, place, n_permutations=n_permutations)
        first = str(shared.columns[int(np.argmin(ranks))])
        n_stars = sum(test.p_holm < SIGNIFICANT for test in tests.values())
        if name == WITHOUT:
            without.append(f"at {size} {first} is first, {n_stars} significant, p = {p:.2g}")
        else:
            best.append((size, first))
            stars += n_stars
            legacy_stars += sum(test.legacy_p_holm < SIGNIFICANT for test in tests.values())
        for j in np.argsort(ranks, kind="stable").tolist():
            method, test = str(shared.columns[j]), tests.get(j)
            line: Line = {
                "list": name,
                "size": size,
                "tasks": len(shared),
                "method": method + results.mark(method, size),
                "rank": float(ranks[j]),
                "z": None if test is None else test.z,
                "p (Holm)": None if test is None else test.p_holm,
                "p (Holm), legacy": None if test is None else test.legacy_p_holm,
                "p (permutation)": None if test is None else test.p_permutation,
            }
            if me == CONTROL:
                rank, star, _ = (printed("table_3", method, size) or "nan").partition("*")
                line["paper"], line["paper's star"] = float(rank), star
            lines.append(line)
    verdict = _rank_verdict(me, best, stars, legacy_stars)
    verdict += sentence(" Without the face tasks:", without)
    return Table.of(lines, "ranks", verdict, me=me, omnibus="; ".join(omnibus))


def _rank_verdict(me: str, best: list[tuple[int, str]], stars: int, legacy_stars: int) -> str:
    n_first = sum(method == me for _, method in best)
    others = [f"{method} at {size}" for size, method in best if method != me]
    text = f"{me} has the best average rank in {n_first} of {len(best)} comparisons"
    if others:
        text += f" (otherwise {words(others)})"
    text += (
        f". With the correct standard error {stars} of the differences to {me} are significant, "
        f"with the legacy one {legacy_stars}"
    )
    if me != CONTROL:
        return f"{text}."
    outcome = DIFFERS if others else SAME if stars == PAPER_STARS else IN_PART
    return f"{outcome}: {text} (paper: best at all sizes, {PAPER_STARS} of 12)."


def own_table(results: Results) -> Table | None:
    """Return the mean ARI at COBRA's own numbers of questions, and gains over it."""
    sizes, me = results.sizes, results.plan.reference
    if not sizes:
        return None
    lines: list[Line] = []
    verdict = []
    for name, tasks in results.lists.items():
        scores = {size: complete(results.at_own(size, tasks)) for size in sizes}
        if any(CONTROL not in table or table.empty for table in scores.values()):
            continue
        gains = {size: table.sub(table[CONTROL], axis=0) for size, table in scores.items()}
        for method in scores[sizes[0]].columns:
            if any(method not in table for table in scores.values()):
                continue
            line: Line = {"list": name, "method": method + results.mark(method)}
            line["tasks"] = len(scores[sizes[0]])
            line |= {f"ARI at {size}": bootstrap(scores[size][method]) for size in sizes}
            if method != CONTROL:
                shown = [bootstrap(gains[size][method], is_difference=True) for size in sizes]
                line |= {f"gain at {s}": gain for s, gain in zip(sizes, shown, strict=True)}
                worst, task, size = min(
                    (gains[s][method].min(), gains[s][method].idxmin(), s) for s in sizes
                )
                line["worst task"] = f"{worst:+.3f} {task} at {size}"
                if method == me:
                    gained = ", ".join(map(str, shown))
                    verdict.append(f"{name} {gained} (worst: {line['worst task']})")
            lines.append(line)
    counts = [
        f"{results.questions(own_count(size), results.tasks):.1f}"
        for size in sizes
        if size in results.own
    ]
    start = f"{me} against COBRA with {words(sizes)} super-instances and as many questions:"
    return Table.of(lines, "own", sentence(start, verdict), counts=words(counts or ["unknown"]))


def task_table(results: Results, size: int) -> Table | None:
    """Return the mean ARI task by task; beside another reference as differences to COBRA."""
    me = results.plan.reference
    scores = results.at_own(size)
    as_difference = me != CONTROL and CONTROL in scores
    shown = {method: f"{method}{results.mark(str(method), size)}" for method in scores}
    part_of = {task: name for name, tasks in results.parts.items() for task in tasks}
    lines: list[Line] = []
    for task, values in scores.iterrows():
        line: Line = {"task": task, "list": part_of[str(task)]}
        if size in results.own:
            line["questions"] = round(results.questions(own_count(size), [str(task)]))
        best = values.max()
        for method, value in values.items():
            text = f"{value:.3f}"
            if as_difference and method != CONTROL:
                text = f"{value - values[CONTROL]:+.3f}"
            star = " (best)" if value >= best - 1e-12 else ""
            line[shown[method]] = text + star if np.isfinite(value) else None
        lines.append(line)
    below = (scores[me] - scores[CONTROL]).dropna() if as_difference and me in scores else None
    what = ": COBRA, and the others' differences to it" if as_difference else ""
    verdict = "" if below is None or below.empty else _below_text(me, below)
    return Table.of(lines, "tasks", verdict, file=f"tasks-{size}", size=size, what=what)


def _below_text(me: str, differences: pd.Series[float]) -> str:
    far = differences[differences < -FAR_BELOW].sort_values()
    named = [f"{task} ({value:+.3f})" for task, value in far.items()]
    return (
        f"{me} is better on {int((differences > 0).sum())} of {len(differences)} tasks; the worst "
        f"is {differences.idxmin()} ({differences.min():+.3f}). More than {FAR_BELOW:.2f} below "
        f"COBRA: {', '.join(named) if named else 'none'}."
    )
