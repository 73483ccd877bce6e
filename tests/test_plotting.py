"""The figures: what is drawn is what the session knows."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from likewise import COBRA, LabelOracle, Likewise, Session, run
from likewise.errors import InputError, MissingExtraError
from likewise.plotting import as_html, plot_curve, plot_map


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    return np.eye(4)[y] * 3 + 0.4 * rng.normal(size=(60, 4)), y


@pytest.fixture(scope="module")
def model(blobs):
    return Likewise(max_queries=15, random_state=0).fit(blobs[0], oracle=LabelOracle(blobs[1]))


@pytest.fixture
def ax():
    figure = pytest.importorskip("matplotlib.figure", reason='pip install "likewise[plot]"')
    return figure.Figure().subplots()


def test_the_map_has_every_row_in_the_color_of_its_group(model, ax):
    assert plot_map(model, ax=ax) is ax
    groups: list[Any] = list(ax.collections[:-1])
    asked = ax.collections[-1]
    assert sorted(len(one.get_offsets()) for one in groups) == sorted(np.bincount(model.labels_))
    colors = {tuple(one.get_facecolors()[0][:3]) for one in groups}
    assert len(colors) == model.n_clusters_
    about = {row for row, _, _ in model.queries_}
    assert len(asked.get_offsets()) >= len(about)
    assert ax.get_title() == "60 rows · 15 questions · 3 groups"


def test_groups_lie_apart_on_the_map(model, ax):
    *groups, _ = plot_map(model, ax=ax).collections
    centers = np.array([one.get_offsets().mean(axis=0) for one in groups])
    spread = max(one.get_offsets().std() for one in groups)
    between = np.linalg.norm(centers[:, None] - centers, axis=2)[~np.eye(3, dtype=bool)]
    assert between.min() > spread


def test_rows_in_doubt_are_paler(blobs, ax):
    session = Likewise(random_state=0).start(blobs[0])
    run(session, LabelOracle(blobs[1]), max_queries=4)
    *groups, _ = plot_map(session, ax=ax).collections
    opacity = np.concatenate([np.atleast_1d(one.get_alpha()) for one in groups])
    doubts = session.assessment.doubts()
    assert opacity.min() == pytest.approx(1.0 - 0.75 * doubts.max())
    assert opacity.max() == 1.0


def test_cobra_is_drawn_by_its_super_instances_or_by_all_rows(blobs):
    figure = pytest.importorskip("matplotlib.figure", reason='pip install "likewise[plot]"')
    X, y = blobs
    model = COBRA(10, random_state=0).fit(X, oracle=LabelOracle(y))
    one, other = figure.Figure().subplots(1, 2)

    def n_points(ax: Any) -> int:
        return sum(len(group.get_offsets()) for group in ax.collections[:-1])

    assert n_points(plot_map(model, ax=one)) == 10
    assert n_points(plot_map(model, X, ax=other)) == 60
    assert one.get_title() == other.get_title()


@pytest.mark.parametrize("layout", [None, "constrained"])
def test_the_legend_covers_no_neighbor(layout, model):
    figures = pytest.importorskip("matplotlib.figure", reason='pip install "likewise[plot]"')
    agg = import_module("matplotlib.backends.backend_agg")
    figure = figures.Figure(layout=layout)
    agg.FigureCanvasAgg(figure)
    one, other = figure.subplots(1, 2)
    legend = plot_map(model, ax=one).get_legend()
    figure.draw_without_rendering()
    assert legend.get_window_extent().x1 <= other.get_window_extent().x0 + 1


def test_more_groups_than_colors_have_other_markers(ax):
    X = np.arange(26.0)[:, None] * 10
    session = Likewise(random_state=0).start(X, groups=np.arange(26))
    plot_map(session, ax=ax)
    looks = {
        (tuple(one.get_facecolors()[0]), len(one.get_paths()[0].vertices))
        for one in ax.collections[:-1]
    }
    assert len(looks) == session.n_groups == 26
    assert ax.get_legend() is None


def test_the_curve_is_the_index_after_every_answer(blobs, model, ax):
    X, y = blobs
    session = Likewise(random_state=0).start(X)
    indices = [adjusted_rand_score(y, session.labels)]
    for _ in range(15):
        run(session, LabelOracle(y), max_queries=1)
        indices.append(adjusted_rand_score(y, session.labels))
    (line,) = plot_curve(model, y, ax=ax, label="ours").lines
    assert line.get_xdata().tolist() == list(range(16))
    assert line.get_ydata() == pytest.approx(indices)
    assert line.get_label() == "ours"


def test_the_curve_of_a_sample_is_about_its_rows(blobs, ax):
    X, y = blobs
    about = Likewise(5, random_state=0).start(X[::2])
    plain = {**about.to_dict(), "row_numbers": list(range(0, 60, 2))}
    session = Session.from_dict(plain)
    run(session, LabelOracle(y))
    (line,) = plot_curve(session, y, ax=ax).lines
    assert line.get_ydata()[-1] == pytest.approx(adjusted_rand_score(y[::2], session.labels))


def test_without_true_groups_the_curve_is_the_estimate(model, ax):
    (line,) = plot_curve(model, ax=ax).lines
    assert line.get_ydata()[-1] == model.completeness_.estimate
    assert np.all(np.diff(line.get_xdata()) > 0)
    assert "estimate" in ax.get_ylabel()


def test_what_cannot_be_drawn_says_why(blobs, ax):
    X, y = blobs
    cobra = COBRA(10, random_state=0).fit(X, oracle=LabelOracle(y))
    with pytest.raises(InputError, match=r"plot_curve\(model, y\)"):
        plot_curve(cobra, ax=ax)
    with pytest.raises(InputError, match="got ndarray"):
        plot_map(X, ax=ax)
    with pytest.raises(InputError, match="60 rows of the session, got an array of shape"):
        plot_map(cobra, X[:5], ax=ax)
    with pytest.raises(InputError, match="one group for each of 60 rows"):
        plot_curve(cobra, y[:5], ax=ax)
    with pytest.raises(ValueError, match="not fitted"):
        plot_map(Likewise(), ax=ax)


def test_a_notebook_shows_the_map(model):
    pytest.importorskip("matplotlib", reason='pip install "likewise[plot]"')
    shown = model.session_._repr_html_()
    assert "<img" in shown
    # The budget is spent, which is not the end of all questions.
    assert "more questions available" in shown
    assert "session.extend(20)" in shown
    assert "<th>asks</th>" not in shown
    assert "<img" in model._repr_mimebundle_()["text/html"]
    assert "<img" not in Likewise()._repr_mimebundle_()["text/html"]


def test_without_matplotlib_a_notebook_shows_no_map(model, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    assert as_html(model) == ""
    with pytest.raises(MissingExtraError, match=r"likewise\[plot\]"):
        plot_map(model)
