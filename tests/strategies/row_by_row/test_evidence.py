"""Which answers count where some contradict others."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.core.answers import Answer
from likewise.core.links import LinkGraph
from likewise.strategies.row_by_row.evidence import overruled_after

S, D = Answer.SAME, Answer.DIFFERENT


def overruled(log, certain=(), n_rows=10):
    """Return what is overruled after each answer of a log."""
    found: list[frozenset[int]] = [frozenset()]
    for n in range(1, len(log) + 1):
        before = {k for k in certain if k < n}
        found.append(overruled_after(log[:n], found[-1], before, n_rows))
    return found[-1]


def star(center, *rows):
    return [(row, center, S) for row in rows]


TWO_GROUPS = [*star(0, 1, 2), (5, 0, D), *star(5, 6, 7)]


def test_what_fits_together_is_never_overruled():
    assert overruled(TWO_GROUPS) == frozenset()


def test_a_row_moves_with_the_last_answer_and_back_with_the_next():
    moved = [*TWO_GROUPS, (1, 6, S)]
    assert overruled(moved) == {0}
    assert overruled([*moved, (1, 2, S)]) == {len(moved) - 1}
    assert overruled([*moved, (1, 7, S)]) == {0}


def test_none_of_these_takes_a_row_out_of_its_group():
    assert overruled([*TWO_GROUPS, (1, 5, D), (1, 2, D)]) == {0}


def test_one_answer_does_not_join_two_groups_but_two_do():
    once = [*TWO_GROUPS, (5, 1, S)]
    assert overruled(once) == {len(TWO_GROUPS)}
    assert overruled([*once, (5, 2, S)]) == {TWO_GROUPS.index((5, 0, D))}


def test_misplaced_rows_do_not_join_their_groups():
    log = [*TWO_GROUPS, (1, 6, S), (1, 7, S), (2, 6, S), (2, 7, S)]
    links = LinkGraph(10)
    for k, said in enumerate(log):
        if k not in overruled(log):
            links.add(*said)
    assert links.implied(0, 5) is D
    assert links.find(1) == links.find(2) == links.find(5)


def test_what_is_certain_is_not_overruled_by_any_number_of_answers():
    log = [(1, 0, D), *[(1, 0, S)] * 9]
    assert overruled(log, certain=[0]) == set(range(1, 10))


def test_a_certain_link_overrules_answers():
    log = [*star(0, 1, 2), (1, 2, D)]
    assert overruled(log, certain=[2]) in ({0}, {1})


@pytest.mark.parametrize("n_certain", [0, 2])
@given(st.lists(st.tuples(*[st.integers(0, 6)] * 2, st.sampled_from(Answer)), max_size=15))
def test_what_counts_fits_together_and_nothing_else_would(n_certain, log):
    log = [said for said in log if said[0] != said[1] and said[2] in (S, D)]
    certain = list(range(min(n_certain, len(log))))
    if any(a[:2] in (b[:2], b[1::-1]) for a, b in pairwise(log[:n_certain])):
        return
    out = overruled(log, certain, 7)
    assert not out & set(certain)
    links = LinkGraph(7)
    for k in np.setdiff1d(range(len(log)), sorted(out)).tolist():
        links.add(*log[k])
    assert all(links.implied(*log[k][:2]) not in (None, log[k][2]) for k in out)
