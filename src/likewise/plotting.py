"""Figures of a model or a session: a map of its groups, and how they grew with the answers.

Both functions draw with matplotlib on the axes that they are passed, and return these axes.
"""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.validation import check_is_fitted

from likewise.core.session import Session, refuse_session
from likewise.errors import InputError, needs_extra
from likewise.rows.projection import Layout
from likewise.words import plural

COLORS = (
    *("#2f7fbf", "#d9534f", "#3f9e68", "#e09a20", "#8a5bb5", "#22a3a0"),
    *("#5470c6", "#b8622a", "#54803f", "#c0a000", "#c2528b", "#7a7f87"),
)
"""Twelve colors that can be told apart; further groups have them again with other markers."""

MARKERS = "os^DvPX*"
"""One for every twelve groups."""

MOST_NAMED = 12
"""With more groups than this there is no legend."""

PALEST = 0.25
"""How opaque the most doubtful row is drawn."""

DOTS = 110
"""Of the pictures in a notebook, per inch."""


def plot_map(model: Any, X: ArrayLike | None = None, *, ax: Any = None) -> Any:
    """Draw all rows as points, so that the groups lie apart.

    A color stands for a group, a ring for a row that answers are about, and a pale point for a row
    whose group is in doubt. The axes are the two directions that separate the groups best.

    Parameters
    ----------
    model : Likewise, COBRA or Session
        A fitted model, or a session at any point.
    X : array-like of shape (n_rows, n_features), optional
        The rows. By default, what the session keeps of them: all rows of `Likewise`, and for
        `COBRA` those that stand for super-instances, as points of their size.
    ax : matplotlib axes, optional
        Where to draw. By default on a new figure.

    Returns
    -------
    matplotlib axes
        What was drawn on.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from likewise import LabelOracle, Likewise
    >>> from likewise.plotting import plot_map
    >>> X, y = load_iris(return_X_y=True)
    >>> model = Likewise(20, random_state=0).fit(X, oracle=LabelOracle(y))
    >>> plot_map(model).get_title()  # doctest: +SKIP
    '150 rows · 20 questions · 3 groups'
    """
    session = _session_of(model)
    rows, points, sizes = _points(session, X)
    labels = _labels_of(model, session)
    ax = _axes(ax)
    layout = Layout.of(points, are_distances=points is session.strategy.partition.distances)
    shown, place = rows[layout.rows], layout.places(labels[rows])
    doubts = session.assessment.doubts()
    opacity = np.ones(len(shown)) if doubts is None else 1.0 - (1.0 - PALEST) * doubts[shown]
    area = 22.0 * sizes[layout.rows] / sizes.mean() if len(sizes) else sizes
    numbers, counts = np.unique(labels, return_counts=True)
    for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
        inside = labels[shown] == number
        ax.scatter(
            *place[inside].T,
            s=area[inside],
            c=COLORS[number % len(COLORS)],
            marker=MARKERS[number // len(COLORS) % len(MARKERS)],
            alpha=opacity[inside],
            linewidths=0,
            label=f"{number} ({count})",
        )
    is_asked = np.isin(shown, _asked_rows(session))
    style: Any = {"facecolors": "none", "edgecolors": "black", "linewidths": 0.9}
    ax.scatter(*place[is_asked].T, s=area[is_asked] + 45.0, label="asked about", **style)
    if len(numbers) <= MOST_NAMED:
        # Beside the map only where a layout makes room for it; else it would cover the neighbor.
        beside: Any = {"loc": "center left", "bbox_to_anchor": (1, 0.5)}
        has_layout = ax.figure.get_layout_engine() is not None
        ax.legend(title="group (rows)", fontsize="small", **(beside if has_layout else {}))
    n_rows, n_groups = plural(len(labels), "row"), plural(len(numbers), "group")
    ax.set_title(f"{n_rows} · {plural(session.n_asked, 'question')} · {n_groups}")
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    return ax


def plot_curve(
    model: Any, y: ArrayLike | None = None, *, ax: Any = None, label: str | None = None
) -> Any:
    """Draw how good the groups were after every answer.

    Parameters
    ----------
    model : Likewise, COBRA or Session
        A fitted model, or a session at any point.
    y : array-like of shape (n_rows,), optional
        The true groups. With them the curve is the adjusted Rand index after every answer. Without
        them it is the share of rows in the right group as it is estimated, roughly for fewer than
        30 rows asked about. `COBRA` has no such estimate.
    ax : matplotlib axes, optional
        Where to draw. By default on a new figure.
    label : str, optional
        What the line is called in a legend, for several on one figure.

    Returns
    -------
    matplotlib axes
        What was drawn on.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from likewise import LabelOracle, Likewise
    >>> from likewise.plotting import plot_curve
    >>> X, y = load_iris(return_X_y=True)
    >>> model = Likewise(20, random_state=0).fit(X, oracle=LabelOracle(y))
    >>> plot_curve(model, y).get_ylabel()  # doctest: +SKIP
    'adjusted Rand index'
    """
    session = _session_of(model)
    if y is None:
        completeness = session.completeness
        if completeness is None:
            raise InputError(
                "there is no estimate of what is right: it needs answers that tell two groups "
                "apart, and COBRA makes none. plot_curve(model, y) draws the adjusted Rand index."
            )
        points = list(completeness.curve) or [(session.n_asked, completeness.estimate)]
        measure, counted = "rows in the right group (estimate)", "rows asked about"
    else:
        points = _indices(session, y)
        measure, counted = "adjusted Rand index", "answers"
    ax = _axes(ax)
    ax.plot(*zip(*points, strict=True), linewidth=2.0, label=label)
    ax.set(xlabel=counted, ylabel=measure, xlim=(0, None), ylim=(min(0.0, *ax.get_ylim()), 1.02))
    ax.spines[["top", "right"]].set_visible(False)
    if y is None:
        ax.yaxis.set_major_formatter("{x:.0%}")
    return ax


def as_html(model: Any) -> str:
    """Return the map as a picture in HTML; "" where there is nothing to draw or no matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return ""
    session = _session_of(model)
    partition = session.strategy.partition
    if session.n_groups < 2 or (partition.points is None and partition.distances is None):
        return ""
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    plot_map(model, ax=figure.subplots())
    picture = BytesIO()
    figure.savefig(picture, format="png", dpi=DOTS)
    data = b64encode(picture.getvalue()).decode()
    return f'<img alt="map of the groups" width="640" src="data:image/png;base64,{data}">'


def _session_of(model: Any) -> Session:
    if isinstance(model, Session):
        return model
    if not hasattr(model, "adopt"):
        raise InputError(
            "figures are of a fitted Likewise or COBRA, or of a session, got "
            f"{type(model).__name__}"
        )
    check_is_fitted(model, "session_")
    refuse_session(model.session_)
    session: Session = model.session_
    return session


def _labels_of(model: Any, session: Session) -> NDArray[np.intp]:
    """Return the groups of the session's rows, as the model numbers them."""
    is_whole = session.row_numbers is None and not isinstance(model, Session)
    labels: NDArray[np.intp] = model.labels_ if is_whole else session.labels
    return labels


def _points(session: Session, X: Any) -> tuple[NDArray[np.intp], NDArray[Any], NDArray[np.intp]]:
    """Return rows, what is known of each to draw it, and how many rows each stands for."""
    partition = session.strategy.partition
    if X is not None:
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or len(rows) != partition.n_rows:
            raise InputError(
                f"X must have the {partition.n_rows} rows of the session, got an array of shape "
                f"{rows.shape}"
            )
        return np.arange(len(rows)), rows, np.ones(len(rows), dtype=np.intp)
    points = partition.distances if partition.points is None else partition.points
    if points is None:
        raise InputError("there is no map of candidate pairs: the other pairs have no distance")
    return partition.representatives, points, partition.sizes()


def _asked_rows(session: Session) -> list[int]:
    """Return the rows that were asked about, without those that they were compared with."""
    asked = (gesture for gesture in session.events if gesture.source == "asked")
    return [row for g in asked for row in ((g.left,) if g.groups else (g.left, g.right))]


def _indices(session: Session, y: ArrayLike) -> list[tuple[int, float]]:
    """Return the number of answers and the adjusted Rand index, from the first answer on."""
    truth = np.asarray(y)
    n_rows = session.strategy.n_rows
    if session.row_numbers is not None and len(truth) > max(session.row_numbers):
        truth = truth[np.asarray(session.row_numbers)]
    if truth.shape != (n_rows,):
        raise InputError(f"y must have one group for each of {n_rows} rows, got {truth.shape}")
    earlier = Session.from_dict(session.to_dict())
    curve = dict[int, float]()
    while True:
        # Of several entries after one answer, such as names, the last one counts.
        labels = earlier.labels
        if earlier.n_asked not in curve:
            curve[earlier.n_asked] = float(adjusted_rand_score(truth[: len(labels)], labels))
        if earlier.undo() is None:
            return sorted(curve.items())


def _axes(ax: Any) -> Any:
    """Return the axes, or those of a new figure."""
    with needs_extra("likewise.plotting", "plot"):
        import matplotlib.pyplot as plt
    return plt.subplots(layout="constrained")[1] if ax is None else ax
