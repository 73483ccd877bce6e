"""The figures, the same for every configuration; each is None where there is nothing to draw."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from likewise.lab.experiments.budget_tables import NOISY, TRUTHFUL, noise_scores
from likewise.lab.experiments.comparison_tables import FAR_BELOW, SHOWN
from likewise.lab.experiments.drawing import (
    ACCENT,
    BEST_SIZE,
    Curve,
    dots,
    draw_lines,
    entitle,
    new_figure,
)
from likewise.lab.experiments.methods import CONTROL
from likewise.lab.experiments.paper_tables import (
    common_curves,
    curve_points,
    estimates,
    groups_off,
    wrong_k_changes,
)
from likewise.lab.experiments.plan import MIDDLE_SIZE
from likewise.lab.experiments.results import Results, complete, curve_of, is_sized, split_line
from likewise.lab.experiments.statistics import average_ranks, critical_difference
from likewise.lab.experiments.tasks import in_order

N_RIVALS = 4
"""How many rivals that ask choices are drawn, the best on average."""
SIZE_MARKERS = ("o", "^", "s", "D", "v", "P")


def quality_figure(results: Results) -> Figure | None:
    """Draw the mean ARI against the number of questions, a panel for each list of tasks."""
    panels = results.parts
    figure, axes = new_figure(len(panels), figsize=(5.4 * len(panels) + 0.8, 4.0))
    for axis, (name, tasks) in zip(axes, panels.items(), strict=True):
        curves = {line: _curve(results, line, tasks) for line in shown_lines(results)}
        for size, at, height in zip(results.sizes, *curves.get(CONTROL, ((), ())), strict=False):
            place = {"xytext": (0, -11), "textcoords": "offset points"}
            axis.annotate(str(size), (at, height), size=7, ha="center", **place)
        draw_lines(axis, curves)
        entitle(axis, f"{name}: {len(tasks)} tasks", "questions")
    axes[0].set_ylabel("mean ARI on the test parts")
    return figure


def shown_lines(results: Results) -> list[str]:
    """Return what curves are drawn of: all methods, or `Likewise`, COBRA and the best rivals.

    COBRA stopped before its last question is another method, so where there is a number of
    questions for all, it has the size that is best for each.
    """
    if not results.own.empty or not results.is_by_budget:
        return results.methods
    means = {n: scores.mean() for n, scores in results.at_counts().items()}
    order = pd.DataFrame(means).mean(axis=1).sort_values(ascending=False)
    always = [line for line in order.index if line.startswith(results.plan.reference)]
    rivals = [line for line in order.index if not line.startswith((CONTROL, *always))]
    shown = [line for line in results.lines if line in (*always, *rivals[:N_RIVALS])]
    return [*shown, BEST_SIZE] if _sizes_of(order.index) else shown


def _sizes_of(lines: Iterable[str]) -> list[str]:
    """Return the lines of COBRA, one for each number of super-instances."""
    return [line for line in lines if split_line(line)[0] == CONTROL]


def _curve(results: Results, method: str, tasks: Sequence[str], column: str = "budget") -> Curve:
    """Return the mean of a column of the points and the mean ARI of a method, point by point."""
    # COBRA is meant to ask all its questions; stopped earlier, it is another method.
    is_fixed = results.is_by_budget and (results.own.empty or not is_sized(method))
    table = results.at if is_fixed else results.at_own
    numbers = results.counts if is_fixed else [n for n in results.sizes if n in results.own]
    at: list[float] = []
    means: list[float] = []
    for n in numbers:
        scores = complete(table(n, tasks))
        is_best = method == BEST_SIZE and len(scores)
        line = str(scores[_sizes_of(scores.columns)].mean().idxmax()) if is_best else method
        values = table(n, tasks, column=column).reindex(index=scores.index, columns=[line])[line]
        if line in scores and len(scores) and values.notna().all():
            at.append(float(values.mean()))
            means.append(float(scores[line].mean()))
    return at, means


def costs_figure(results: Results) -> Figure | None:
    """Draw the mean ARI against the rows read and against a person's minutes, list by list."""
    if not results.points["rows_read"].notna().any():
        return None
    figure, axes = new_figure(2, len(results.parts), figsize=(11.6, 4.0 * len(results.parts)))
    panels = zip(axes[::2], axes[1::2], results.parts.items(), strict=True)
    for left, right, (name, tasks) in panels:
        by_rows, by_minutes = {}, {}
        for method in shown_lines(results):
            rows, means = _curve(results, method, tasks, "rows_read")
            asked, _ = _curve(results, method, tasks, "asked")
            if rows:
                by_rows[method] = (rows, means)
                minutes = [results.seconds(*pair) / 60 for pair in zip(asked, rows, strict=True)]
                by_minutes[method] = (minutes, means)
        for axis, curves in ((left, by_rows), (right, by_minutes)):
            axis.set_xscale("log")  # most is decided in the first minutes
            draw_lines(axis, curves, early=0.0)
        entitle(left, f"{name}: {len(tasks)} tasks", "rows read")
        entitle(right, "", "minutes, by the model below")
        left.set_ylabel("mean ARI on the test parts")
    return figure


def ranks_figure(results: Results) -> Figure | None:
    """Draw critical-difference diagrams: average ranks, and bars over what cannot be told apart."""
    panels: dict[str, pd.DataFrame] = {}
    for n in SHOWN if results.is_by_budget else results.sizes:
        table = results.at(n) if results.is_by_budget else results.at_own(n)
        scores = complete(table)
        if len(scores.columns) > 2 and len(scores) > 1:
            panels[f"{n} {'questions' if results.is_by_budget else 'super-instances'}"] = scores
    if not panels:
        return None
    n_lines = max(len(scores.columns) for scores in panels.values())
    figure, axes = new_figure(len(panels), figsize=(4.2 * len(panels), 0.24 * n_lines + 1.3))
    for axis, (name, scores) in zip(axes, panels.items(), strict=True):
        ranks = dict(zip(map(str, scores.columns), average_ranks(scores), strict=True))
        order = sorted(ranks, key=lambda line: -ranks[line])
        needed = critical_difference(len(ranks), len(scores))
        for place, line in enumerate(order):
            axis.plot([ranks[line]], [place], **dots(line))
        for offset, (first, last) in enumerate(not_told_apart([ranks[n] for n in order], needed)):
            at = max(ranks.values()) + 0.5 + 0.3 * offset
            axis.plot([at, at], [first, last], color="black", linewidth=2.5)
        axis.set_yticks(range(len(order)), order)
        entitle(
            axis, f"{name}, {len(scores)} tasks", f"average rank; critical difference {needed:.2f}"
        )
    return figure


def not_told_apart(ranks: Sequence[float], needed: float) -> list[tuple[int, int]]:
    """Return the longest runs of falling ranks that span less than the critical difference."""
    runs: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = max(k for k in range(first, len(ranks)) if ranks[first] - ranks[k] < needed)
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs


def differences_figure(results: Results) -> Figure | None:
    """Draw how far the reference is from COBRA on every task, at COBRA's numbers of questions."""
    me, sizes = results.plan.reference, results.sizes
    scores = {size: results.at_own(size) for size in sizes}
    if (
        not sizes
        or me == CONTROL
        or any(me not in table or CONTROL not in table for table in scores.values())
    ):
        return None
    gains = pd.DataFrame({size: table[me] - table[CONTROL] for size, table in scores.items()})
    panels = {name: gains.reindex(tasks).dropna() for name, tasks in results.parts.items()}
    panels = {name: table for name, table in panels.items() if len(table)}
    if not panels:
        return None
    tallest = max(map(len, panels.values()))
    figure, axes = new_figure(len(panels), figsize=(5.0 * len(panels), 0.3 * tallest + 1.3))
    shades = ("#a9cbe8", "#4f93cc", ACCENT, "black")
    for axis, (name, unsorted) in zip(axes, panels.items(), strict=True):
        gained = unsorted.loc[unsorted.mean(axis=1).sort_values(kind="stable").index]
        for place, ends in enumerate(gained.to_numpy().tolist()):
            axis.plot([min(ends), max(ends)], [place] * 2, color="0.8", lw=1.2)
        for size, shade in zip(sizes, shades, strict=False):
            look = {"color": shade, "markersize": 6, "label": f"COBRA {size}"}
            axis.plot(gained[size], range(len(gained)), "o", **look)
        axis.axvline(0, color="black", linewidth=1.0, zorder=1)
        axis.axvline(-FAR_BELOW, color="0.45", linewidth=1.0, linestyle=":", zorder=1)
        axis.set_yticks(range(len(gained)), gained.index)
        entitle(axis, name, f"ARI of {me} minus ARI of COBRA, as many questions")
    reach = [value for axis in axes for value in axis.get_xlim()]
    for axis in axes:
        axis.set_xlim(min(reach), max(reach))
    axes[0].legend(frameon=False, fontsize=8, loc="best")
    return figure


def noise_figure(results: Results) -> Figure | None:
    """Draw the mean ARI of people who err beside that of truthful ones."""
    panels = {name: noise_scores(results, tasks) for name, tasks in results.parts.items()}
    panels = {name: tables for name, tables in panels.items() if tables and len(tables[TRUTHFUL])}
    if not panels:
        return None
    figure, axes = new_figure(len(panels), figsize=(4.8 * len(panels), 3.6))
    for axis, (name, tables) in zip(axes, panels.items(), strict=True):
        places = list(range(len(tables)))
        lines = tables[TRUTHFUL].columns
        curves = {str(n): (places, [float(t[n].mean()) for t in tables.values()]) for n in lines}
        draw_lines(axis, curves)
        axis.set_xticks(places, list(tables), rotation=30)
        entitle(axis, f"{name}: {len(tables[TRUTHFUL])} tasks", "")
    axes[0].set_ylabel(f"mean ARI after {NOISY} questions")
    return figure


def estimate_figure(results: Results) -> Figure | None:
    """Draw COBRA's questions against the paper's estimate, one dot per task and size."""
    counts = estimates(results)
    if counts.empty:
        return None
    figure, (axis,) = new_figure(figsize=(5.2, 4.4))
    for (size, of_size), marker in zip(counts.groupby("size"), SIZE_MARKERS, strict=False):
        look = {"color": "black", "mfc": "white", "ms": 6, "label": f"{size} super-instances"}
        axis.plot(of_size["estimate"], of_size["asked"], marker, **look)
    limits = [0.85 * counts["estimate"].min(), 1.25 * counts["asked"].max()]
    axis.plot(limits, limits, color="0.6", linewidth=1, zorder=0)
    axis.text(150, 130, "asked = estimate", size=8, va="top")
    for far in counts.nlargest(2, "asked / estimate").itertuples():
        place = {"xytext": (-5, 4), "textcoords": "offset points", "ha": "right"}
        axis.annotate(far.task, (far.estimate, far.asked), size=8, **place)
    ticks = (25, 50, 100, 200, 300)
    axis.set(xscale="log", yscale="log")
    for which in (axis.xaxis, axis.yaxis):
        which.set_ticks(ticks, [str(tick) for tick in ticks])
        which.set_ticks([], minor=True)
    axis.set(xlabel="estimated lower bound: N - K + K(K-1)/2", ylabel="questions asked")
    axis.legend(frameon=False, fontsize=8, loc="upper left")
    return figure


def curves_figure(results: Results) -> Figure | None:
    """Draw ARI against the number of questions, a panel for each task."""
    points = curve_points(results)
    tasks = in_order(points["task"])
    if not tasks:
        return None
    n_columns = min(3, len(tasks))
    n_rows = -(-len(tasks) // n_columns)
    figure, axes = new_figure(n_columns, n_rows, figsize=(3.6 * n_columns, 2.6 * n_rows))
    for axis, task in zip(axes, tasks, strict=False):
        of_task = points[points["task"] == task].groupby("method")
        axis.set_ylim(-0.05, 1.02)
        curves = {str(m): (f["questions"].tolist(), f["ARI"].tolist()) for m, f in of_task}
        draw_lines(axis, curves)
        entitle(axis, task, "questions")
    for axis in axes[len(tasks) :]:
        axis.set_visible(False)
    axes[0].set_ylabel("ARI")
    return figure


def times_figure(results: Results) -> Figure | None:
    """Draw the processor time of every method on every task."""
    size = 0 if results.is_by_budget else MIDDLE_SIZE
    rows = results.of(results.scored)
    rows = rows[(rows["cpu_seconds"] > 0) & rows["n_super_instances"].isin([size, MIDDLE_SIZE])]
    if rows.empty:
        return None
    means = rows.groupby(["method", "task"])["cpu_seconds"].mean()
    methods = [name for name in reversed(results.methods) if name in means.index]
    figure, (axis,) = new_figure(figsize=(6.2, 0.45 * len(methods) + 1.0))
    for place, method in enumerate(methods):
        seconds = means.loc[method]
        axis.plot(seconds, [place] * len(seconds), **dots(method))
        where = {"xytext": (6, 0), "textcoords": "offset points", "va": "center"}
        axis.annotate(seconds.idxmax(), (seconds.max(), place), fontsize=7, **where)
    axis.axvline(10, color="0.7", linewidth=1, zorder=0)
    axis.set_xscale("log")
    axis.set_yticks(range(len(methods)), methods)
    axis.set_xlim(None, axis.get_xlim()[1] * 4)
    axis.set_xlabel("seconds on the processor; a dot is a task")
    return figure


def groups_figure(results: Results) -> Figure | None:
    """Draw by how many the number of groups that COBRA found is wrong, and how often."""
    runs = groups_off(results)
    if runs.empty:
        return None
    sizes = results.sizes
    figure, axes = new_figure(len(sizes), figsize=(2.3 * len(sizes), 2.4))
    span = range(runs["off"].min(), runs["off"].max() + 1)
    for axis, size in zip(axes, sizes, strict=True):
        off = runs.loc[runs["n_super_instances"] == size, "off"]
        counts = [int((off == value).sum()) for value in span]
        bars = axis.bar(list(span), counts, color="0.75", edgecolor="black", linewidth=0.6)
        axis.bar_label(bars, [str(count) if count else "" for count in counts], fontsize=7)
        axis.set_ylim(0, 1.1 * len(off))
        entitle(axis, f"{size} super-instances", "groups found - true")
    axes[0].set_ylabel("runs")
    return figure


def wrong_k_figure(results: Results) -> Figure | None:
    """Draw the change of ARI by a wrong number of clusters, a dot for every task."""
    groups = list(wrong_k_changes(results).groupby(["method", "k_shift"])["change"])
    if not groups:
        return None
    figure, (axis,) = new_figure(figsize=(6.2, 0.4 * len(groups) + 0.9))
    for place, ((method, _), changes) in enumerate(reversed(groups)):
        axis.plot(changes, [place] * len(changes), **dots(method))
        axis.plot([changes.mean()], [place], "|", color="black", ms=16, mew=2)
    axis.axvline(0, color="0.7", linewidth=1, zorder=0)
    names = [f"{method}, K{shift:+d}" for (method, shift), _ in reversed(groups)]
    axis.set_yticks(range(len(groups)), names)
    axis.set_xlabel("change of ARI against the true K; a dot is a task, the bar their mean")
    return figure


def anytime_figure(results: Results) -> Figure | None:
    """Draw the mean ARI over all tasks after every answer."""
    rows = common_curves(results)
    if rows.empty:
        return None
    grid = np.arange(int(np.percentile(rows["queries"], 90)) + 1)
    figure, (axis,) = new_figure(figsize=(6.4, 3.4))
    curves = {}
    for method, of_method in rows.groupby("method"):
        mean = np.mean([held(*curve_of(text), grid) for text in of_method["curve"]], axis=0)
        curves[str(method)] = (grid.tolist(), mean.tolist())
    draw_lines(axis, curves, marker=None)
    entitle(axis, f"{rows['task'].nunique()} tasks", "answers")
    axis.set_ylabel("mean ARI")
    return figure


def held(answers: ArrayLike, scores: ArrayLike, grid: ArrayLike) -> NDArray[np.float64]:
    """Return a curve on a grid; every score holds until the next one, the last to the end."""
    places = np.searchsorted(np.asarray(answers), np.asarray(grid), side="right") - 1
    return np.asarray(scores, dtype=float)[places]
