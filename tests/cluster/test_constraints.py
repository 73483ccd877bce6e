import numpy as np
import pytest

from likewise import COBRA, LabelOracle, Likewise, open_items
from likewise.cluster.constraints import checked_links, checked_pairs
from likewise.core.answers import Answer
from likewise.errors import ContradictionError, InputError


@pytest.mark.parametrize(
    "pairs",
    [
        [(0, 1), (2, 3)],
        ((0, 1), (2, 3)),
        [[0, 1], [2, 3]],
        np.array([[0, 1], [2, 3]]),
        np.array([[0, 1], [2, 3]], dtype=np.uint8),
        np.array([[0.0, 1.0], [2.0, 3.0]]),
        ((i, i + 1) for i in (0, 2)),
        {(0, 1): None, (2, 3): None}.keys(),
    ],
    ids=["list", "tuple", "lists", "array", "unsigned", "whole-floats", "generator", "keys"],
)
def test_pairs_are_taken_in_every_usual_form(pairs):
    assert checked_pairs(4, pairs, "must_link").tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize("nothing", [(), [], np.empty((0, 2)), np.array([]), set()])
def test_no_links_are_taken_in_every_usual_form(nothing):
    links = checked_links(3, nothing, nothing)
    assert len(links) == 0
    assert links.n_items == 3


def test_the_closure_is_built():
    links = checked_links(6, [(0, 1), (1, 2)], [(2, 3)])
    assert links.implied(0, 3) is Answer.DIFFERENT
    assert links.implied(0, 2) is Answer.SAME
    assert links.implied(4, 5) is None


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, 1), (2, 9)], r"cannot_link\[1\] = \(2, 9\) names row 9, but X has rows 0 to 3"),
        ([(-1, 2)], r"names row -1"),
        ([(0, 1), (2, 2)], r"cannot_link\[1\] = \(2, 2\) pairs row 2 with itself"),
        ([0, 1], r"shape \(2,\)"),
        ([(0, 1, 2)], r"shape \(1, 3\)"),
        ([(0, 1), (2,)], "different lengths"),
        ([("a", "b")], "integers"),
        ([(0.5, 1)], "integers"),
        ([(np.nan, 1)], "integers"),
        ([(True, False)], "integers"),
        (None, r"For no links pass \(\)"),
        (3, "got int"),
        ("01", "got str"),
    ],
)
def test_bad_pairs_are_named(pairs, message):
    with pytest.raises(InputError, match=message):
        checked_links(4, (), pairs)


def test_a_contradiction_shows_the_chain():
    with pytest.raises(ContradictionError) as caught:
        checked_links(5, [(0, 1), (1, 2), (3, 4)], [(0, 2)])
    chain = [(g.left, g.right, g.answer) for g in caught.value.chain]
    assert chain == [(0, 1, Answer.SAME), (1, 2, Answer.SAME)]
    assert "0 same 1, 1 same 2" in str(caught.value)


def test_a_long_chain_of_must_links_needs_no_recursion():
    n = 5000
    links = checked_links(n, [(i, i + 1) for i in range(n - 1)])
    assert links.implied(0, n - 1) is Answer.SAME


def frame_of_people():
    pandas = pytest.importorskip("pandas", reason='pip install "likewise[tables]"')
    names = ["Ann", "Bob", "Cem", "Dai", "Eva", "Fay"]
    return pandas.DataFrame({"age": [20.0, 21.0, 50.0, 51.0, 80.0, 81.0]}, index=names)


@pytest.mark.parametrize("estimator", [Likewise(3, random_state=0), COBRA(3, random_state=0)])
def test_links_name_rows_by_the_index_of_a_data_frame(estimator):
    frame = frame_of_people()
    links = {"must_link": [("Ann", "Fay")], "cannot_link": [("Ann", "Bob"), ("Cem", "Dai")]}
    numbers = {"must_link": [(0, 5)], "cannot_link": [(0, 1), (2, 3)]}
    assert estimator.start(frame, **links).events == estimator.start(frame, **numbers).events
    labels = estimator.fit(frame, oracle=LabelOracle([0, 1, 2, 3, 4, 0]), **links).labels_
    assert labels[0] == labels[5] != labels[1]


def test_links_name_rows_by_their_ids():
    items = open_items(frame_of_people())
    session = Likewise().start(items, must_link=[("Ann", "Bob")])
    assert session.links.implied(0, 1) is Answer.SAME
    session = Likewise().start([[0.0], [1.0], [2.0]], sample_ids="xyz", must_link=[("x", "z")])
    assert session.links.implied(0, 2) is Answer.SAME


def test_whole_numbers_are_row_numbers_also_where_the_index_has_numbers():
    frame = frame_of_people().set_index(np.array([5, 4, 3, 2, 1, 0]))
    session = Likewise().start(frame, must_link=[(0, 1)])
    assert session.links.implied(0, 1) is Answer.SAME


def test_labels_that_are_missing_or_occur_twice_are_refused():
    frame = frame_of_people()
    with pytest.raises(InputError, match=r"must_link\[1\] = .* 'Joe' is not among the labels"):
        Likewise().start(frame, must_link=[("Ann", "Bob"), ("Ann", "Joe")])
    frame.index = ["Ann", "Ann", "Cem", "Dai", "Eva", "Fay"]
    with pytest.raises(InputError, match=r"'Ann' occurs 2 times in the labels"):
        Likewise().start(frame, cannot_link=[("Cem", "Ann")])
