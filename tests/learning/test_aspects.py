"""Several aspects: what predicts the answers counts most."""

from functools import partial

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from likewise import LabelOracle, Likewise, run
from likewise.cluster.start import start_session
from likewise.core.reports import Aspect, grouped_by
from likewise.errors import InputError
from likewise.learning.aspects import find_columns
from likewise.learning.learner import Learner
from likewise.learning.views import views_by_aspect
from likewise.strategies.most_doubt import MostDoubt

ALL = np.arange(12)
TWO = {"shape": ALL[:4], "color": ALL[4:]}


@pytest.fixture(scope="module")
def things():
    """Rows that fall into three groups by shape, and into three others by color."""
    rng = np.random.default_rng(0)
    shapes, colors = rng.integers(0, 3, (2, 240))
    shape = 3.0 * np.eye(3, 4)[shapes] + rng.normal(size=(240, 4))
    color = 90.0 * np.eye(3, 8)[colors] + rng.normal(scale=30.0, size=(240, 8))
    return np.hstack([shape, color]), shapes, colors


def asked(X, y, n, **options):
    session = Likewise(n, random_state=0, **options).start(X)
    return run(session, LabelOracle(y))


def test_one_aspect_changes_no_bit(things):
    X, shapes, _ = things
    plain, named = Learner(X), Learner(X, aspects={"all": ALL})
    known = np.arange(0, 240, 9)
    one, other = (learner.learn(known, shapes[known]) for learner in (plain, named))
    assert np.array_equal(one.proba, other.proba)
    assert np.array_equal(one.left_out, other.left_out)
    assert one.voters == other.voters
    without = asked(X, shapes, 25)
    within = asked(X, shapes, 25, aspects={"all": slice(None)})
    assert within.log == without.log
    assert np.array_equal(within.assessment.doubts(), without.assessment.doubts())
    assert (without.aspects, within.aspects) == (None, {"all": 1.0})


@pytest.mark.parametrize("by", ["shape", "color"])
def test_the_aspect_that_predicts_the_answers_counts_most(things, by):
    X, shapes, colors = things
    y = {"shape": shapes, "color": colors}[by]
    session = asked(X, y, 40, aspects=TWO)
    weights = session.aspects
    assert weights[by] == max(weights.values()) > 0.6
    assert sum(weights.values()) == pytest.approx(1.0)
    assert session.grouped_by.replace("mostly ", "").startswith(f"grouped by {by}")
    side_by_side = asked(X, y, 40)
    found = adjusted_rand_score(y, session.labels)
    assert found > adjusted_rand_score(y, side_by_side.labels) - 0.03


def test_the_main_aspect_weighs_most_until_the_answers_tell(things):
    X, shapes, _ = things
    learner = Learner(X, aspects=TWO, main="color")
    assert learner.first_weights == pytest.approx([0.15, 0.85])
    # Nothing shows yet which rows are alike.
    one_of_each = np.unique(shapes, return_index=True)[1]
    few = learner.learn(one_of_each, shapes[one_of_each])
    assert few.aspects == pytest.approx([0.15, 0.85])
    many = np.arange(0, 240, 6)
    assert learner.learn(many, shapes[many]).aspects[0] > 0.4
    assert Learner(X, aspects=TWO).first_weights == pytest.approx([0.5, 0.5])


def test_the_main_aspect_is_kept_with_the_session(things):
    X, shapes, _ = things
    begin = partial(MostDoubt.from_rows, aspects=find_columns(TWO, 12), main_aspect="shape")
    session, _ = start_session(X, begin, seed=0, max_queries=8)
    assert session.assessment.aspects()[0].weight is None
    run(session, LabelOracle(shapes))
    again = type(session).from_dict(session.to_dict())
    assert again.aspects == session.aspects
    without, _ = start_session(X, partial(begin, main_aspect=None), seed=0, max_queries=8)
    run(without, LabelOracle(shapes))
    assert without.log != session.log
    session.switch("shape", is_on=False)
    assert session.aspects == {"shape": 0.0, "color": 1.0}
    with pytest.raises(InputError, match=r"must be an aspect \(shape, color\), got \['x'\]"):
        begin(X, main_aspect=["x"])


def test_the_scale_of_an_aspect_says_nothing(things):
    X, shapes, _ = things
    other = X * np.where(ALL < 4, 1024.0, 1.0)
    one, scaled = asked(X, shapes, 20, aspects=TWO), asked(other, shapes, 20, aspects=TWO)
    assert scaled.log == one.log


def test_new_rows_are_seen_as_the_first_ones(things):
    X, shapes, _ = things
    learned = Learner(X, aspects=TWO).learn(np.arange(0, 240, 9), shapes[::9])
    assert learned.for_new_rows().predict_proba(X) == pytest.approx(learned.proba, abs=1e-9)
    rows = views_by_aspect(X, TWO)(X)
    assert [one.scaled.shape[1] for one in rows.mixes] == [12, 4, 8]
    padded = rows.take(slice(5)).followed_by([rows.take([7])]).padded(9)
    assert np.array_equal(padded.alone[1].scaled[5], rows.alone[1].scaled[7])
    assert not padded.alone[0].axes[6:].any()


def test_rows_that_join_have_the_same_aspects(things):
    X, shapes, _ = things
    session = asked(X[:200], shapes[:200], 30, aspects=TWO)
    before = session.labels
    session.grow(X[200:])
    assert np.array_equal(session.labels[:200], before)
    assert adjusted_rand_score(shapes[200:], session.labels[200:]) > 0.5
    session.extend(5)
    run(session, LabelOracle(shapes))
    assert type(session).from_dict(session.to_dict()).labels.tolist() == session.labels.tolist()


def test_a_column_is_in_one_aspect():
    names = ["num__age", "num__height", "cat__red"]
    found = {"num": [0, 1], "cat": [2]}
    for aspects in (
        "prefix",
        {"num": slice(0, 2), "cat": slice(2, None), "remainder": slice(0, 0)},
        {"num": ["num__age", "num__height"], "cat": "cat__red"},
        {"num": np.array([0, 1]), "cat": (2,)},
    ):
        columns = find_columns(aspects, 3, names)
        assert {name: places.tolist() for name, places in columns.items()} == found
    assert find_columns(None, 3) == {}


@pytest.mark.parametrize(
    ("aspects", "names", "words"),
    [
        ({"a": [0, 1]}, None, "column 2 is in no aspect"),
        ({"a": [0, 1], "b": [1, 2]}, None, "column 1 is in the aspects 'a' and 'b'"),
        ({"a": [0, 0, 1, 2]}, None, "column 0 is in 'a' twice"),
        ({"a": [0, 1, 5]}, None, "has column 5, but there are only columns 0 to 2"),
        ({"a": [-1]}, None, "has column -1"),
        ({"a": 3}, None, "a slice, column numbers or column names, got 3"),
        ({"a": [0.5]}, None, "a slice, column numbers or column names"),
        ({"a": [True, False, True]}, None, "a slice, column numbers or column names"),
        ({"a": ["x"]}, None, "the columns of X have none"),
        ({"a": ["heights"]}, ["height", "age", "red"], "no column of X. Did you mean height?"),
        ({"a": [0, "age"]}, ["height", "age", "red"], "has 0, which is no column of X"),
        ({3: slice(None)}, None, "the name of an aspect is a text"),
        ("prefix", None, "needs columns with names such as num__age"),
        ("prefix", ["num__age", "red", "x__y"], "there is 'red'"),
    ],
)
def test_what_names_no_columns_is_refused(aspects, names, words):
    with pytest.raises(InputError, match=words):
        find_columns(aspects, 3, names)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ({}, ""),
        ({"content": 1.0}, ""),
        ({"content": None, "layout": None}, ""),
        ({"content": 1.0, "layout": 0.0}, "grouped by content"),
        ({"content": 0.3, "layout": 0.7}, "grouped mostly by layout, a little by content"),
        ({"content": 0.5, "layout": 0.5}, "grouped by content and layout"),
        (
            {"numbers": 0.45, "words": 0.45, "dates": 0.1},
            "grouped by numbers and words, a little by dates",
        ),
        (
            {"numbers": 0.7, "words": 0.15, "dates": 0.15},
            "grouped mostly by numbers, a little by words and dates",
        ),
        ({"a": 0.4, "b": 0.3, "c": 0.3}, "grouped by a, b and c"),
    ],
)
def test_weights_in_words(weights, words):
    aspects = [Aspect(name, weight, is_on=True) for name, weight in weights.items()]
    assert grouped_by(aspects) == words
