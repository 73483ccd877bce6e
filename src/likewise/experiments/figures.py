"""The figures: black on white, told apart by shape and line, with words at the lines themselves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import MissingExtraError
from likewise.experiments.methods import CONTROL
from likewise.experiments.other_tables import changes_by_task, curve_tasks, estimate
from likewise.experiments.plan import MIDDLE_SIZE
from likewise.experiments.results import Results, common_curves, curve_of, grouped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLES: dict[str, dict[str, Any]] = {
    "COBRA": {"marker": "o", "color": "black", "linestyle": "-", "linewidth": 2.0},
    "COBRA-guess": {"marker": "o", "color": "black", "linestyle": "--", "mfc": "white"},
    "MPCKM-MinMax": {"marker": "s", "color": "0.35", "linestyle": "-", "mfc": "white"},
    "MPCKM-NPU": {"marker": "s", "color": "0.35", "linestyle": "--"},
    "COSC-MinMax": {"marker": "^", "color": "0.55", "linestyle": "-", "mfc": "white"},
    "COSC-NPU": {"marker": "^", "color": "0.55", "linestyle": "--"},
}
OWN_STYLE = {"marker": "D", "color": "0.2", "linestyle": ":"}
SIZE_MARKERS = ("o", "^", "s", "D", "v", "P")


def new_figure(n_rows: int = 1, n_columns: int = 1, **options: Any) -> tuple[Figure, Any]:
    """Return an empty figure that needs no screen."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("a report with figures", "plot") from error
    figure = Figure(layout="constrained", **options)
    axes = figure.subplots(n_rows, n_columns, squeeze=False)
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=8)
        axis.xaxis.label.set_size(9)
        axis.yaxis.label.set_size(9)
    return figure, axes


def save(figure: Figure, folder: Path, name: str) -> str:
    """Write a figure as SVG and PNG; return the SVG, the same text for the same figure."""
    import matplotlib

    path = folder / f"{name}.svg"
    with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        figure.savefig(path, metadata={"Date": None})
        figure.savefig(folder / f"{name}.png", dpi=150, metadata={"Software": None})
    return path.read_text(encoding="utf-8")


def style(method: str) -> dict[str, Any]:
    """Return how a method is drawn."""
    return {"markersize": 5, "linewidth": 1.2, **STYLES.get(method, OWN_STYLE)}


def label_ends(axis: Axes, ends: Sequence[tuple[float, float, str]], gap: float) -> None:
    """Write names at the ends of lines, moved apart where they would overlap."""
    ordered = sorted(ends, key=lambda end: end[1])
    for (x, y, text), height in zip(ordered, spread([end[1] for end in ordered], gap), strict=True):
        axis.annotate(
            text,
            (x, y),
            xytext=(x, height),
            textcoords="data",
            fontsize=8,
            va="center",
            annotation_clip=False,
        )


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """Return increasing heights at least a gap apart, each block centered on where it was.

    Examples
    --------
    >>> spread([0.0, 3.0, 3.0, 8.0], gap=1.0)
    [0.0, 2.5, 3.5, 8.0]
    """
    blocks: list[tuple[float, int]] = []
    for height in heights:
        block = (height, 1)
        while blocks and block[0] - blocks[-1][0] < gap * (block[1] + blocks[-1][1]) / 2:
            center, count = blocks.pop()
            total = count + block[1]
            block = ((center * count + block[0] * block[1]) / total, total)
        blocks.append(block)
    return [
        center + gap * (place - (count - 1) / 2)
        for center, count in blocks
        for place in range(count)
    ]


def overview_figure(results: Results) -> Figure | None:
    """Draw the mean ARI over all tasks, by method and size."""
    sizes, methods = results.sizes, results.methods
    if not sizes or CONTROL not in methods:
        return None
    scores = {size: results.scores(size) for size in sizes}
    # The same tasks at every size, or the lines would mix tasks with sizes.
    everywhere = np.all([np.isfinite(s.table).all(axis=1) for s in scores.values()], axis=0)
    n_tasks = int(everywhere.sum())
    if n_tasks == 0:
        return None
    means = {size: scores[size].table[everywhere].mean(axis=0) for size in sizes}
    figure, axes = new_figure(figsize=(6.2, 3.6))
    axis = axes[0, 0]
    ends = []
    for j, method in enumerate(methods):
        values = [float(means[size][j]) for size in sizes]
        axis.plot(range(len(sizes)), values, **style(method))
        ends.append((len(sizes) - 0.92, values[-1], method))
    low, high = axis.get_ylim()
    label_ends(axis, ends, (high - low) * 0.055)
    queries = [np.mean(list(results.mean(lambda r: r.queries, size=s).values())) for s in sizes]
    axis.set_xticks(
        range(len(sizes)),
        [
            f"{size} super-instances\n{count:.0f} questions"
            for size, count in zip(sizes, queries, strict=True)
        ],
    )
    axis.set_xlim(-0.2, len(sizes) - 0.35)
    axis.set_ylabel("mean ARI on the test parts")
    axis.set_title(f"Quality with as many questions as COBRA asks, mean of {n_tasks} tasks", size=9)
    return figure


def estimate_figure(results: Results) -> Figure | None:
    """Draw the questions COBRA asked over the paper's estimate, one dot per task and size."""
    points = {
        size: [
            (task, estimate(size, results.n_classes(task)), queries)
            for task, queries in results.mean(lambda row: row.queries, size=size).items()
        ]
        for size in results.sizes
    }
    if not any(points.values()):
        return None
    figure, axes = new_figure(figsize=(5.2, 4.4))
    axis = axes[0, 0]
    for (size, dots), marker in zip(points.items(), SIZE_MARKERS, strict=False):
        axis.plot(
            [bound for _, bound, _ in dots],
            [asked for _, _, asked in dots],
            marker,
            color="black",
            mfc="white",
            ms=6,
            label=f"{size} super-instances",
        )
    everything = [dot for dots in points.values() for dot in dots]
    limits = [0.85 * min(dot[1] for dot in everything), 1.25 * max(dot[2] for dot in everything)]
    axis.plot(limits, limits, color="0.6", linewidth=1, zorder=0)
    axis.text(150, 130, "asked = estimate", size=8, va="top")
    for task, x, y in sorted(everything, key=lambda dot: dot[2] / dot[1])[-2:]:
        axis.annotate(task, (x, y), xytext=(-5, 4), textcoords="offset points", size=8, ha="right")
    axis.set(xscale="log", yscale="log", xlabel="estimated lower bound: N - K + K(K-1)/2")
    axis.set_ylabel("questions asked (mean of 5 folds)")
    axis.legend(frameon=False, fontsize=8, loc="upper left")
    _plain_log(axis.xaxis, (25, 50, 100, 200, 300))
    _plain_log(axis.yaxis, (25, 50, 100, 200, 300))
    return figure


def _plain_log(axis: Any, ticks: Sequence[int]) -> None:
    from matplotlib.ticker import NullFormatter

    axis.set_ticks(ticks, [str(tick) for tick in ticks])
    axis.set_minor_formatter(NullFormatter())


def curves_figure(results: Results) -> Figure | None:
    """Draw ARI against the number of questions, task by task."""
    rows = [row for row in results.of("curves") if row.ari_test is not None]
    if not rows:
        return None
    tasks = curve_tasks(results)
    n_columns = 2 if len(tasks) > 1 else 1
    n_lines = -(-len(tasks) // n_columns)
    figure, axes = new_figure(n_lines, n_columns, figsize=(3.7 * n_columns, 2.7 * n_lines))
    by_line = grouped(rows, lambda row: (row.task, row.method))
    for axis, task in zip(axes.flat, tasks, strict=False):
        ends = []
        for method in ("COBRA", "MPCKM-MinMax", "COSC-MinMax"):
            groups = grouped(
                by_line.get((task, method), []), lambda row: row.budget or row.n_super_instances
            )
            if not groups:
                continue
            x = [np.mean([row.queries or 0 for row in group]) for group in groups.values()]
            y = [np.mean([row.ari_test or 0.0 for row in group]) for group in groups.values()]
            order = np.argsort(x)
            given = style(method) | ({"linestyle": "none"} if method == CONTROL else {})
            axis.plot(np.array(x)[order], np.array(y)[order], **given)
            ends.append((max(x), float(np.array(y)[order][-1]), f" {method}"))
        axis.set_ylim(-0.05, 1.02)
        right = axis.get_xlim()[1]
        label_ends(axis, [(right, y, text) for _, y, text in ends], 0.1)
        axis.set_title(task, size=9)
        axis.set_xlabel("questions", size=8)
        axis.set_ylabel("ARI", size=8)
    for axis in list(axes.flat)[len(tasks) :]:
        axis.set_visible(False)
    return figure


def times_figure(results: Results) -> Figure | None:
    """Draw the processor time of every method on every task."""
    rows = [
        row
        for row in results.of("main")
        if row.n_super_instances == MIDDLE_SIZE and row.cpu_seconds > 0
    ]
    if not rows:
        return None
    figure, axes = new_figure(figsize=(6.2, 0.45 * len(results.methods) + 1.0))
    axis = axes[0, 0]
    for place, method in enumerate(reversed(results.methods)):
        groups = grouped([row for row in rows if row.method == method], lambda row: row.task)
        means = {t: float(np.mean([r.cpu_seconds for r in rs])) for t, rs in groups.items()}
        if not means:
            continue
        look = {**style(method), "linestyle": "none", "mfc": "white"}
        axis.plot(list(means.values()), [place] * len(means), **look)
        slowest = max(means, key=lambda task: means[task])
        axis.annotate(
            slowest,
            (means[slowest], place),
            xytext=(6, 0),
            textcoords="offset points",
            fontsize=7,
            va="center",
        )
    axis.axvline(10, color="0.7", linewidth=1, zorder=0)
    axis.set_xscale("log")
    axis.set_yticks(range(len(results.methods)), list(reversed(results.methods)))
    axis.set_ylim(-0.6, len(results.methods) - 0.4)
    low, high = axis.get_xlim()
    axis.set_xlim(low, high * 4)
    axis.set_xlabel(f"seconds on the processor, {MIDDLE_SIZE} super-instances; a dot is a task")
    return figure


def groups_figure(results: Results) -> Figure | None:
    """Draw how often COBRA found how many groups too few or too many."""
    sizes = results.sizes
    rows = [r for r in results.of("main") if r.method == CONTROL and r.groups is not None]
    if not rows:
        return None
    figure, axes = new_figure(1, len(sizes), figsize=(2.3 * len(sizes), 2.4))
    off = {
        size: [(r.groups or 0) - r.n_classes for r in rows if r.n_super_instances == size]
        for size in sizes
    }
    everything = [value for values in off.values() for value in values]
    span = range(min(everything), max(everything) + 1)
    for axis, size in zip(axes.flat, sizes, strict=True):
        counts = [off[size].count(value) for value in span]
        bars = axis.bar(list(span), counts, color="0.75", edgecolor="black", linewidth=0.6)
        axis.bar_label(bars, [str(c) if c else "" for c in counts], fontsize=7)
        axis.set_title(f"{size} super-instances", size=9)
        axis.set_xlabel("groups found - true", size=8)
        axis.set_ylim(0, 1.1 * len(off[size]))
    axes[0, 0].set_ylabel("runs (21 tasks, 5 folds)" if len(rows) > 300 else "runs", size=8)
    return figure


def wrong_k_figure(results: Results) -> Figure | None:
    """Draw the change of ARI by a wrong number of clusters, a dot for every task."""
    right = grouped(
        [row for row in results.of("main") if row.n_super_instances == MIDDLE_SIZE],
        lambda row: (row.method, row.task, row.fold),
    )
    groups = grouped(results.of("wrong-k"), lambda row: (row.method, row.k_shift))
    lines = [
        (f"{method}, K{shift:+d}", method, list(changes_by_task(rows, right).values()))
        for (method, shift), rows in sorted(groups.items())
    ]
    lines = [line for line in lines if line[2]]
    if not lines:
        return None
    figure, axes = new_figure(figsize=(6.2, 0.4 * len(lines) + 0.9))
    axis = axes[0, 0]
    for place, (_, method, changes) in enumerate(reversed(lines)):
        look = {**style(method), "linestyle": "none", "mfc": "white"}
        axis.plot(changes, [place] * len(changes), **look)
        axis.plot([np.mean(changes)], [place], "|", color="black", ms=16, mew=2)
    axis.axvline(0, color="0.7", linewidth=1, zorder=0)
    axis.set_yticks(range(len(lines)), [line[0] for line in reversed(lines)])
    axis.set_ylim(-0.6, len(lines) - 0.4)
    axis.set_xlabel("change of ARI against the true K; a dot is a task, the bar their mean")
    return figure


def anytime_figure(results: Results) -> Figure | None:
    """Draw the mean ARI over all tasks after every answer."""
    groups = grouped(common_curves(results), lambda row: row.method)
    if not groups:
        return None
    longest = int(np.percentile([r.queries or 0 for rs in groups.values() for r in rs], 90))
    grid = np.arange(longest + 1)
    figure, axes = new_figure(figsize=(6.2, 3.4))
    axis = axes[0, 0]
    ends = []
    for method, rows in groups.items():
        mean = np.mean([held(*curve_of(row), grid) for row in rows], axis=0)
        look = {**style(method), "marker": None}
        axis.plot(grid, mean, **look)
        ends.append((longest * 1.01, float(mean[-1]), method))
    low, high = axis.get_ylim()
    label_ends(axis, ends, (high - low) * 0.06)
    n_tasks = len({row.task for rows in groups.values() for row in rows})
    axis.set_xlim(0, longest)
    axis.set_xlabel("answers")
    axis.set_ylabel(f"mean ARI over {n_tasks} tasks")
    return figure


def held(
    answers: NDArray[np.float64], scores: NDArray[np.float64], grid: NDArray[Any]
) -> NDArray[np.float64]:
    """Return a curve on a grid; every score holds until the next one, the last for good.

    Examples
    --------
    >>> held(np.array([0.0, 2.0]), np.array([0.1, 0.7]), np.arange(4)).tolist()
    [0.1, 0.1, 0.7, 0.7]
    """
    return scores[np.searchsorted(answers, grid, side="right") - 1]
