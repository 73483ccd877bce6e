"""The figures of `Likewise` and its peers: one color for ours, black and gray for the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.experiments.figures import new_figure, spread
from likewise.experiments.flagship_results import (
    FlagshipResults,
    Line,
    control,
    fixed,
    own_count,
    shared,
)
from likewise.experiments.flagship_tables import FAR_BELOW, FLAGSHIP, line_of
from likewise.experiments.methods import CONTROL
from likewise.experiments.protocol import BUDGETS, NOISE, NOISE_BUDGETS, SIZES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ACCENT = "#0b62a8"
LOOKS: dict[str, dict[str, Any]] = {
    "Likewise": {"color": ACCENT, "marker": "o", "linewidth": 2.4, "markersize": 5, "zorder": 5},
    "Likewise-careful": {"color": "#5aa0d8", "marker": "o", "linestyle": "--", "mfc": "white"},
    "COBRA": {"color": "black", "marker": "s", "linewidth": 1.6, "markersize": 5, "zorder": 4},
    "COBRA-learned": {"color": "black", "marker": "s", "linestyle": "--", "mfc": "white"},
    "COBRAS": {"color": "0.45", "marker": "^", "mfc": "white"},
    "DSL": {"color": "0.6", "marker": "v", "mfc": "white"},
}
STROKES = {"COBRA 25": ":", "COBRA 50": "--", "COBRA 100": "-"}
OTHER = {"color": "0.3", "marker": "D", "linestyle": ":", "mfc": "white"}


Curve = tuple[list[float], list[float]]


def look(method: str) -> dict[str, Any]:
    """Return how a method is drawn."""
    found = {"linewidth": 1.2, "markersize": 4.5, **LOOKS.get(method_of(method), OTHER)}
    if method in STROKES:
        found |= {"linestyle": STROKES[method], "linewidth": 1.2}
    return found


def method_of(name: str) -> str:
    """Return the method of a line's name, without its number of super-instances."""
    method, _, size = name.rpartition(" ")
    return method if size.isdigit() else name


def anytime_figure(results: FlagshipResults) -> Figure | None:
    """Draw the mean ARI against the number of questions, a panel for each list."""
    panels = results.parts
    if not panels or not results.lines():
        return None
    figure, axes = new_figure(1, len(panels), figsize=(5.2 * len(panels), 4.0))
    for axis, (name, tasks) in zip(axes.flat, panels.items(), strict=True):
        curves = {method: _curve(results, method, tasks) for method in results.methods()}
        for method, (x, y) in curves.items():
            axis.plot(x, y, **look(method))
            if method == CONTROL:
                _write_sizes(axis, x, y)
        n_tasks = len(results.table(results.lines(), tasks, fixed(BUDGETS[0])).tasks)
        _finish(axis, f"{name}: {n_tasks} tasks", "questions")
        axis.set_xlim(0, BUDGETS[-1] * 1.02)
        axis.set_xticks([0, 25, 50, 75, 100, 150, 200])
        _label_lines(axis, curves)
    axes[0, 0].set_ylabel("mean ARI on the test parts")
    return figure


def _curve(results: FlagshipResults, method: str, tasks: list[str]) -> Curve:
    """Return numbers of questions and the mean ARI of a method."""
    x, y = [], []
    if line_of(method, SIZES[0]).size:
        # COBRA is made for all its questions; stopped on the way it is another method.
        for size in SIZES:
            scored = results.table(results.lines_at(size), tasks, own_count(size))
            if line_of(method, size) in scored.means():
                asked = [results.questions(task, own_count(size)) for task in scored.tasks]
                x.append(float(np.mean(asked)))
                y.append(scored.means()[line_of(method, size)])
        return x, y
    for budget in BUDGETS:
        means = results.table(results.lines(), tasks, fixed(budget)).means()
        if Line(method) in means:
            x.append(float(budget))
            y.append(means[Line(method)])
    return x, y


def _write_sizes(axis: Axes, x: Sequence[float], y: Sequence[float]) -> None:
    for size, at, height in zip(SIZES, x, y, strict=False):
        axis.annotate(
            *(str(size), (at, height)),
            xytext=(0, -11),
            textcoords="offset points",
            size=7,
            ha="center",
        )


def _finish(axis: Axes, title: str, label: str) -> None:
    axis.set_title(title[0].upper() + title[1:], size=10, loc="left", weight="bold")
    axis.set_xlabel(label)
    axis.grid(color="0.93", linewidth=0.8)
    axis.set_axisbelow(True)


def _label_lines(axis: Axes, curves: Mapping[str, Curve]) -> None:
    """Write names at the ends of lines: outside the panel, or where a line ends within it."""
    from matplotlib.patheffects import withStroke

    low, high = axis.get_ylim()
    right = axis.get_xlim()[1]
    ends = {name: (x[-1], y[-1]) for name, (x, y) in curves.items() if x}
    last = max((x for x, _ in ends.values()), default=right)
    outside = sorted((y, name) for name, (x, y) in ends.items() if x == last)
    heights = spread([y for y, _ in outside], (high - low) * 0.05)
    places = {
        name: (right * 1.01, height, "left")
        for height, (_, name) in zip(heights, outside, strict=True)
    }
    for name in ends:
        if name not in places:
            places[name] = _free_place(name, curves, (right, high - low))
    for name, (x, y, side) in places.items():
        method = method_of(name)
        axis.annotate(
            *(name, (x, y)),
            size=8.5,
            ha=side,
            va="center",
            color=look(method)["color"],
            weight="bold" if method == FLAGSHIP else "normal",
            annotation_clip=False,
            path_effects=[withStroke(linewidth=3, foreground="white")],
            zorder=10,
        )


def _free_place(
    name: str, curves: Mapping[str, Curve], span: tuple[float, float]
) -> tuple[float, float, str]:
    """Return where a name next to the end of its line covers the fewest others."""
    width, height = span
    x, y = curves[name][0][-1], curves[name][1][-1]
    length = 0.0135 * len(name) * width
    candidates = [
        (x + 0.02 * width, y, "left"),
        (x + 0.01 * width, y + 0.04 * height, "right"),
        (x - 0.01 * width, y + 0.05 * height, "left"),
        (x - 0.01 * width, y - 0.05 * height, "left"),
    ]

    def n_covered(place: tuple[float, float, str]) -> int:
        start = place[0] - (length if place[2] == "right" else 0.0)
        grid = np.linspace(start, start + length, 20)
        others = [
            np.interp(grid, *curve, left=np.nan, right=np.nan)
            for other, curve in curves.items()
            if curve[0] and other != name
        ]
        return sum(bool((np.abs(other - place[1]) < 0.025 * height).any()) for other in others)

    return min(candidates, key=n_covered)


def differences_figure(results: FlagshipResults) -> Figure | None:
    """Draw how far Likewise is from COBRA on every task, at COBRA's numbers of questions."""
    me = Line(FLAGSHIP)
    panels = {}
    for name, tasks in results.parts.items():
        found = {size: results.table([me, control(size)], tasks, own_count(size)) for size in SIZES}
        there = shared(found.values())
        if there and all(me in scored.lines for scored in found.values()):
            panels[name] = {
                task: [
                    float(s.on([task]).of(me)[0] - s.on([task]).of(control(size))[0])
                    for size, s in found.items()
                ]
                for task in there
            }
    if not panels:
        return None
    tallest = max(len(by_task) for by_task in panels.values())
    figure, axes = new_figure(1, len(panels), figsize=(5.0 * len(panels), 0.3 * tallest + 1.3))
    everything = [value for by_task in panels.values() for vs in by_task.values() for value in vs]
    reach = [min(0.0, *everything) - 0.02, max(0.0, *everything) + 0.02]
    shades = ("#a9cbe8", "#4f93cc", ACCENT)
    for axis, (name, by_task) in zip(axes.flat, panels.items(), strict=True):
        order = sorted(by_task, key=lambda task: float(np.mean(by_task[task])))
        for place, task in enumerate(order):
            axis.plot([min(by_task[task]), max(by_task[task])], [place] * 2, color="0.8", lw=1.2)
        for k, (size, shade) in enumerate(zip(SIZES, shades, strict=True)):
            axis.plot(
                [by_task[task][k] for task in order],
                range(len(order)),
                "o",
                color=shade,
                markersize=6,
                label=f"COBRA {size}",
            )
        axis.axvline(0, color="black", linewidth=1.0, zorder=1)
        axis.axvline(-FAR_BELOW, color="0.45", linewidth=1.0, linestyle=":", zorder=1)
        axis.locator_params(axis="x", nbins=6)
        axis.set_yticks(range(len(order)), order)
        axis.set_ylim(-0.7, len(order) - 0.3)
        axis.set_xlim(*reach)
        axis.grid(axis="x", color="0.93", linewidth=0.8)
        axis.set_axisbelow(True)
        axis.set_title(name.capitalize(), size=10, loc="left", weight="bold")
        axis.set_xlabel("ARI of Likewise minus ARI of COBRA, as many questions")
    axes[0, 0].legend(frameon=False, fontsize=8, loc="best")
    return figure


def noise_figure(results: FlagshipResults) -> Figure | None:
    """Draw the mean ARI at 100 questions against the share of wrong answers."""
    when = fixed(NOISE_BUDGETS[-1])
    everyone = results.lines(next(iter(NOISE)))
    panels = {}
    for name, tasks in results.parts.items():
        tables = [results.table(everyone, tasks, when, e) for e in ("budgets", *NOISE)]
        common = shared(tables)
        if common:
            panels[name] = (common, [table.on(common) for table in tables])
    if not panels:
        return None
    figure, axes = new_figure(1, len(panels), figsize=(4.4 * len(panels), 3.6))
    shares = [0.0, *(100 * share for share in NOISE.values())]
    for axis, (name, (common, tables)) in zip(axes.flat, panels.items(), strict=True):
        curves = {
            str(line): (shares, [table.of(line).mean() for table in tables])
            for line in tables[0].lines
            if all(line in table.lines for table in tables)
        }
        for name_of_line, curve in curves.items():
            axis.plot(*curve, **look(name_of_line))
        _finish(axis, f"{name}: {len(common)} tasks", "wrong answers in percent")
        axis.set_xticks(shares)
        axis.set_xlim(-0.4, 10.3)
        _label_lines(axis, curves)
    axes[0, 0].set_ylabel(f"mean ARI after {NOISE_BUDGETS[-1]} questions")
    return figure
