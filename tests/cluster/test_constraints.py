import numpy as np
import pytest

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
