"""Answers on disk as they come, and a fit that goes on from them."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from likewise import COBRA, LabelOracle, Likewise
from likewise.errors import InputError, InterruptedFitError, SessionFileError, StaleQueryError
from likewise.project.checking import check_file
from likewise.store import Store

X, Y = load_iris(return_X_y=True)


class Crashing:
    """Answers by labels, and fails after some answers."""

    def __init__(self, n):
        self.n_left = n
        self.oracle = LabelOracle(Y)

    def answer(self, question):
        if not self.n_left:
            raise RuntimeError("the power is gone")
        self.n_left -= 1
        return self.oracle.answer(question)


def n_entries(path):
    finding = check_file(path)
    assert finding.is_good, finding.fault
    return finding.n_entries


@pytest.mark.parametrize(
    "estimator",
    [Likewise(20, random_state=0), Likewise(20), COBRA(15), COBRA(15, labels="learned")],
)
def test_a_fit_goes_on_where_it_was_interrupted(estimator, tmp_path):
    path = tmp_path / "iris.likewise"
    with pytest.raises(InterruptedFitError, match="or fit again, which writes answers to the ch"):
        estimator.fit(X, oracle=Crashing(7), checkpoint=path)
    earlier = estimator.session_.events
    assert len(earlier) == 7
    assert n_entries(path) == 7
    counted = Crashing(1000)
    estimator.fit(X, oracle=counted, checkpoint=path)
    assert [e.links for e in estimator.session_.events[:7]] == [e.links for e in earlier]
    assert estimator.n_queries_ == 7 + 1000 - counted.n_left
    assert n_entries(path) == estimator.n_queries_


def test_the_groups_are_those_of_one_fit(tmp_path):
    model = Likewise(30, random_state=0)
    with pytest.raises(InterruptedFitError):
        model.fit(X, oracle=Crashing(11), checkpoint=tmp_path / "a")
    model.fit(X, oracle=Crashing(100), checkpoint=tmp_path / "a")
    whole = Likewise(30, random_state=0).fit(X, oracle=Crashing(100))
    assert np.array_equal(model.labels_, whole.labels_)
    assert model.queries_ == whole.queries_


def test_a_finished_fit_asks_nothing_and_a_larger_budget_goes_on(tmp_path):
    path = tmp_path / "a"
    Likewise(10, random_state=0).fit(X, oracle=LabelOracle(Y), checkpoint=path)
    assert Likewise(10).fit(X, oracle=Crashing(0), checkpoint=path).n_queries_ == 10
    assert Likewise(15).fit(X, oracle=LabelOracle(Y), checkpoint=path).n_queries_ == 15
    assert n_entries(path) == 15


def test_links_given_beforehand_are_kept(tmp_path):
    path = tmp_path / "a"
    Likewise(3).fit(X, oracle=LabelOracle(Y), checkpoint=path, cannot_link=[(0, 100)])
    model = Likewise(6).fit(X, oracle=LabelOracle(Y), checkpoint=path)
    assert model.session_.events[0].source == "known"
    assert model.n_queries_ == 6


@pytest.mark.parametrize(
    ("name", "value", "other"),
    [
        ("groups", Y, 1 - Y),
        ("must_link", [(0, 1)], [(0, 2)]),
        ("train_indices", range(100), np.arange(90)),
        ("sample_ids", [f"a{i}" for i in range(150)], [f"b{i}" for i in range(150)]),
        ("group_names", ["one"], ["two"]),
    ],
)
def test_other_arguments_about_the_rows_are_refused_by_name(tmp_path, name, value, other):
    def fit(path, n_queries, **passed):
        return Likewise(n_queries).fit(X, oracle=LabelOracle(Y), checkpoint=path, **passed)

    for path, had, first in (
        (tmp_path / "a", "another", {name: value}),
        (tmp_path / "b", "no", {}),
    ):
        fit(path, 3, **first)
        with pytest.raises(InputError, match=f"the checkpoint of a fit with {had} {name}=: choose"):
            fit(path, 4, **{name: other})
    assert fit(tmp_path / "a", 4, **{name: value}).n_queries_ == 4
    assert fit(tmp_path / "a", 5).n_queries_ == 5


def test_links_may_come_from_an_iterator(tmp_path):
    model, options = Likewise(3), {"oracle": LabelOracle(Y), "checkpoint": tmp_path / "a"}
    model.fit(X, must_link=iter([(0, 1), (0, 2)]), **options)
    model.fit(X, must_link=[(0, 1), (0, 2)], **options)
    assert [gesture.source for gesture in model.session_.events[:2]] == ["known", "known"]


@pytest.mark.parametrize("other", [X[::-1], X[:100], X[:, :3], X + 1.0])
def test_other_rows_are_refused(tmp_path, other):
    Likewise(3).fit(X, oracle=LabelOracle(Y), checkpoint=tmp_path / "a")
    with pytest.raises(SessionFileError, match=r"a cannot be continued: .* other data"):
        Likewise(5).fit(other, oracle=LabelOracle(Y[: len(other)]), checkpoint=tmp_path / "a")


def test_ids_that_json_cannot_hold_are_refused_before_a_question(tmp_path):
    ids = [frozenset([i]) for i in range(150)]
    with pytest.raises(InputError, match="sample_ids that are texts or numbers"):
        Likewise(5).fit(X, oracle=Crashing(0), sample_ids=ids, checkpoint=tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_a_sample_of_large_data_goes_on_with_the_same_sample(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(25_000) % 3
    rows = rng.normal(4.0 * y[:, None], 1.0, (25_000, 2))
    path = tmp_path / "a"
    first = Likewise(5).fit(rows, oracle=LabelOracle(y), checkpoint=path)
    model = Likewise(10).fit(rows, oracle=LabelOracle(y), checkpoint=path)
    assert model.queries_[: len(first.queries_)] == first.queries_
    assert len(model.labels_) == 25_000
    with pytest.raises(SessionFileError, match="cannot be continued"):
        Likewise(10).fit(rows[:100], oracle=LabelOracle(y[:100]), checkpoint=path)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (COBRA(5), "with estimator='Likewise', not estimator='COBRA'"),
        (Likewise(5, random_state=1), "with random_state=0, not random_state=1"),
        (Likewise(4, random_state=0), "with max_queries=5; with max_queries=4 it cannot go on"),
        (Likewise(5, metric="cosine"), "with metric='euclidean', not metric='cosine'"),
    ],
)
def test_other_parameters_are_refused_by_name(tmp_path, other, message):
    path = tmp_path / "a"
    Likewise(5, random_state=0).fit(X, oracle=LabelOracle(Y), checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(InputError, match=message):
        other.fit(X, oracle=Crashing(0), checkpoint=path)
    assert path.read_bytes() == before


def test_what_no_question_depends_on_may_differ(tmp_path):
    path = tmp_path / "a"
    three: Any = np.int64(3)
    Likewise(5, random_state=three).fit(X, oracle=LabelOracle(Y), checkpoint=path)
    model = Likewise(6, random_state=3, verbose=False, warm_start=True)
    assert model.fit(X, oracle=LabelOracle(Y), checkpoint=path).n_queries_ == 6


@pytest.mark.parametrize(
    "content", [b"my notes, without an end of line", b"", b"SQLite format 3\0" + bytes(4080)]
)
def test_a_file_that_is_not_ours_is_left_alone(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    before = path.stat()
    with pytest.raises(SessionFileError, match=r"notes.txt: it is "):
        Likewise(8).fit(X, oracle=Crashing(0), checkpoint=path)
    assert path.read_bytes() == content
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]


def test_a_session_of_the_command_line_is_not_a_checkpoint(tmp_path):
    path = tmp_path / "a.likewise"
    Store.create(path).close()
    with pytest.raises(InputError, match="not the checkpoint of a fit"):
        Likewise(8).fit(X, oracle=Crashing(0), checkpoint=path)


def test_damage_is_named(tmp_path):
    path = tmp_path / "a"
    Likewise(8, random_state=0).fit(X, oracle=LabelOracle(Y), checkpoint=path)
    data = bytearray(path.read_bytes())
    data[data.index(b'"links"') + 3] ^= 1
    path.write_bytes(data)
    with pytest.raises(SessionFileError, match=r"entry \d of 8 is damaged; .* check --repair"):
        Likewise(8).fit(X, oracle=LabelOracle(Y), checkpoint=path)


def test_two_fits_do_not_mix_their_answers(tmp_path):
    path = tmp_path / "a"
    Likewise(3, random_state=0).fit(X, oracle=LabelOracle(Y), checkpoint=path)
    once: list[object] = []

    class Meddling(LabelOracle):
        def answer(self, question):
            if not once:
                once.append(question)
                Likewise(8).fit(X, oracle=LabelOracle(Y), checkpoint=path)
            return super().answer(question)

    with pytest.raises(StaleQueryError, match="nothing was saved"):
        Likewise(8).fit(X, oracle=Meddling(Y), checkpoint=path)
    assert n_entries(path) == 8


def test_a_fit_with_a_generator_goes_on_with_any(tmp_path):
    def model(n, seed):
        return Likewise(n, random_state=np.random.RandomState(seed))

    first = model(4, 0).fit(X, oracle=LabelOracle(Y), checkpoint=tmp_path / "a")
    second = model(8, 1).fit(X, oracle=LabelOracle(Y), checkpoint=tmp_path / "a")
    assert second.n_queries_ == 8
    assert second.queries_[: len(first.queries_)] == first.queries_
