"""How figures look: one color for `Likewise`, black and gray for the others, names at the lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.optimize import isotonic_regression

from likewise.lab.experiments.results import split_line
from likewise.lab.experiments.tables import WARNINGS

ACCENT = "#0b62a8"
BEST_SIZE = "COBRA, best size"
"""COBRA with the number of super-instances that is best for each number of questions."""
STYLES: dict[str, dict[str, Any]] = {
    "Likewise": {"color": ACCENT, "marker": "o", "linewidth": 2.4, "zorder": 5},
    "Likewise-pairs": {"color": "#5aa0d8", "marker": "o", "linestyle": "--", "mfc": "white"},
    "COBRA": {"color": "black", "marker": "s", "linewidth": 1.8, "zorder": 4},
    BEST_SIZE: {"color": "black", "marker": "s", "linewidth": 1.2, "linestyle": "--"},
    "COBRA-guess": {"color": "black", "marker": "s", "linestyle": ":", "mfc": "white"},
    "COBRA-learned": {"color": "black", "marker": "s", "linestyle": "--", "mfc": "white"},
    "COBRAS": {"color": "0.45", "marker": "^", "mfc": "white"},
    "nCOBRAS": {"color": "0.45", "marker": "^", "linestyle": "--"},
    "DSL": {"color": "0.6", "marker": "v", "mfc": "white"},
    "ACDM": {"color": "0.7", "marker": "<", "mfc": "white"},
    "A3S": {"color": "0.7", "marker": ">", "linestyle": "--"},
    "MPCKM-MinMax": {"color": "0.35", "marker": "P", "mfc": "white"},
    "MPCKM-NPU": {"color": "0.35", "marker": "P", "linestyle": "--"},
    "COSC-MinMax": {"color": "0.55", "marker": "X", "mfc": "white"},
    "COSC-NPU": {"color": "0.55", "marker": "X", "linestyle": "--"},
}
OWN_STYLE = {"color": "0.2", "linestyle": ":", "mfc": "white"}
OWN_MARKERS = "DpHh*d8"
STROKES = {25: ":", 50: "--", 100: "-"}
EARLY = 0.8
"""A line that ends before this share of the x axis is named where it ends."""

ROOM = 0.08
"""A name takes this share of the height of a panel."""

Curve = tuple[Sequence[float], Sequence[float]]


def new_figure(n_columns: int = 1, n_rows: int = 1, **options: Any) -> tuple[Figure, list[Any]]:
    """Return an empty figure that needs no screen, and its panels row by row."""
    figure = Figure(layout="constrained", **options)
    axes = list(figure.subplots(n_rows, n_columns, squeeze=False).flat)
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=8)
        axis.xaxis.label.set_size(9)
        axis.yaxis.label.set_size(9)
        axis.grid(color="0.93", linewidth=0.8)
        axis.set_axisbelow(True)
    return figure, axes


def save(figure: Figure, folder: Path, name: str) -> str:
    """Write a figure as SVG and PNG; return the SVG, the same text for the same figure."""
    path = folder / f"{name}.svg"
    with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        figure.savefig(path, metadata={"Date": None})
        figure.savefig(folder / f"{name}.png", dpi=150, metadata={"Software": None})
    text = path.read_text(encoding="utf-8")
    return text[text.index("<svg") :]


def style(line: str) -> dict[str, Any]:
    """Return how a line is drawn: by its method, and its number of super-instances if any."""
    method, size = split_line(line)
    marker = OWN_MARKERS[crc32(method.encode()) % len(OWN_MARKERS)]
    own = {"marker": marker, **OWN_STYLE}
    plain = {"linewidth": 1.2, "markersize": 5, **STYLES.get(method, own)}
    return plain | ({"linestyle": STROKES.get(size, "-"), "linewidth": 1.2} if size else {})


def dots(method: str) -> dict[str, Any]:
    """Return how the dots of a method are drawn."""
    return {**style(method), "linestyle": "none", "mfc": "white"}


def draw_lines(
    axis: Axes, curves: Mapping[str, Curve], *, early: float = EARLY, **look: Any
) -> None:
    """Draw lines, with names beside the panel, or at the end of a line that ends early."""
    for name, curve in curves.items():
        axis.plot(*curve, **{**style(name), **look})
    low, high = axis.get_ylim()
    ends = {name: (x[-1], y[-1]) for name, (x, y) in curves.items() if len(x)}
    last = max((x for x, _ in ends.values()), default=0.0)
    beside = sorted((y, name) for name, (x, y) in ends.items() if x >= early * last)
    heights = spread([y for y, _ in beside], 0.055 * (high - low))
    places = {name: (1.01, y) for y, (_, name) in zip(heights, beside, strict=True)}
    for name, end in ends.items():
        place: dict[str, Any] = {"xytext": (2, 6), "textcoords": "offset points", "ha": "right"}
        if name in places:
            place = {"xycoords": axis.get_yaxis_transform(), "va": "center"}
        else:
            others = [curve for n, curve in curves.items() if n != name and len(curve[0])]
            above = [np.interp(end[0], *curve) - end[1] for curve in others]
            if any(0.0 < gap < ROOM * (high - low) for gap in above):
                place.update(xytext=(5, -10), ha="left")
        color = style(name)["color"]
        at = places.get(name, end)
        shown = f"{name} (a lower bound)" if name in WARNINGS else name
        axis.annotate(shown, at, size=8.5, color=color, annotation_clip=False, **place)


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """Return increasing heights at least a gap apart, as near as possible to the old ones."""
    if not heights:
        return []
    steps = gap * np.arange(len(heights))
    return [float(y) for y in isotonic_regression(np.asarray(heights) - steps).x + steps]


def entitle(axis: Axes, title: str, label: str) -> None:
    """Write what a panel shows, and what is on its x axis."""
    axis.set_title(title[:1].upper() + title[1:], size=10, loc="left", weight="bold")
    axis.set_xlabel(label)
