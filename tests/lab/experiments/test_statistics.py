"""Statistics against values worked out by hand, by enumeration and by permutation."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from scipy.stats import chi2, norm, rankdata

from likewise.errors import InputError
from likewise.lab.experiments.protocol import MEASURES
from likewise.lab.experiments.statistics import (
    aligned_ranks,
    answers_to_reach,
    area_under,
    average_ranks,
    bootstrap,
    compare,
    critical_difference,
    friedman_aligned,
    holm,
    permutation_p,
    post_hoc,
    signed_rank_p,
    signed_rank_posterior,
)

# Three tasks, four methods. Task means are 5, 5 and 6; aligned:
#   3  1 -1 -3
#   4 -2  2 -4
#   5  0 -6  1      -> the value 1 occurs twice
# Ranks, 1 for the largest: 5:1, 4:2, 3:3, 2:4, 1:5.5 (twice), 0:7, -1:8, -2:9, -3:10, -4:11, -6:12
TABLE = np.array([[8.0, 6, 4, 2], [9, 3, 7, 1], [11, 6, 0, 7]])
RANKS = np.array([[3, 5.5, 8, 10], [2, 9, 4, 11], [1, 7, 12, 5.5]])
# Column sums 6, 21.5, 24, 26.5 (squares 36, 462.25, 576, 702.25: 1776.5); row sums 26.5, 26, 25.5
# (squares 702.25, 676, 650.25: 2028.5). Sum of squared ranks 650 - 0.5 for the tie = 649.5.
# T = 3 (1776.5 - 4*9/4*13^2) / (649.5 - 2028.5/4) = 3 * 255.5 / 142.375
STATISTIC = 3 * 255.5 / 142.375


def test_aligned_ranks_of_a_hand_worked_table():
    np.testing.assert_allclose(aligned_ranks(TABLE), RANKS)


def test_friedman_aligned_statistic_of_a_hand_worked_table():
    statistic, p = friedman_aligned(TABLE)
    assert statistic == pytest.approx(STATISTIC)
    assert p == pytest.approx(chi2.sf(STATISTIC, 3))


@pytest.mark.slow
def test_friedman_aligned_p_is_near_the_permutation_p():
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(12, 4)) + np.array([0.7, 0, 0, 0])
    statistic, p = friedman_aligned(scores)
    shuffled = [friedman_aligned(rng.permuted(scores, axis=1))[0] for _ in range(2000)]
    assert p == pytest.approx(np.mean(np.array(shuffled) >= statistic), abs=0.03)


def test_friedman_aligned_of_equal_scores_finds_nothing():
    assert friedman_aligned(np.ones((5, 3))) == (0.0, 1.0)


def test_post_hoc_of_a_hand_worked_table_with_both_standard_errors():
    tests = post_hoc(TABLE, n_permutations=100)
    # Mean ranks 2, 43/6, 8, 53/6; k = 4, n = 3: sqrt(4*13/6) and sqrt(4*4/6).
    differences = np.array([43 / 6 - 2, 6.0, 53 / 6 - 2])
    z, legacy_z = differences / np.sqrt(52 / 6), differences / np.sqrt(16 / 6)
    assert [test.z for test in tests.values()] == pytest.approx(z.tolist())
    assert [test.legacy_z for test in tests.values()] == pytest.approx(legacy_z.tolist())
    p, legacy_p = (holm(2 * norm.sf(values)).tolist() for values in (z, legacy_z))
    assert [test.p_holm for test in tests.values()] == pytest.approx(p)
    assert [test.legacy_p_holm for test in tests.values()] == pytest.approx(legacy_p)


def test_permutation_p_equals_full_enumeration():
    ranks = aligned_ranks(TABLE[:2])
    observed = abs(ranks[:, 1].sum() - ranks[:, 0].sum())
    everything = [
        abs(a[1] + b[1] - a[0] - b[0]) >= observed - 1e-9
        for a, b in product(permutations(ranks[0]), permutations(ranks[1]))
    ]
    found = permutation_p(ranks, n_permutations=20_000)[0]
    assert found == pytest.approx(np.mean(everything), abs=0.02)


def test_standard_error_of_21_tasks_and_5_methods():
    scores = np.random.default_rng(0).normal(size=(21, 5))
    test = post_hoc(scores, n_permutations=10)[1]
    control, other, *_ = aligned_ranks(scores).mean(axis=0)
    assert (other - control) / test.z == pytest.approx(9.40, abs=0.005)
    assert (other - control) / test.legacy_z == pytest.approx(4.28, abs=0.005)


def test_holm_of_hand_worked_values():
    # Sorted .01 .02 .03 .04 times 4 3 2 1 is .04 .06 .06 .04; made monotone .04 .06 .06 .06.
    np.testing.assert_allclose(holm([0.03, 0.01, 0.04, 0.02]), [0.06, 0.04, 0.06, 0.06])
    np.testing.assert_allclose(holm([0.5, 0.9]), [1.0, 1.0])


def test_ranks_of_a_task_sum_to_the_triangular_number():
    scores = np.random.default_rng(1).integers(0, 4, size=(21, 5))
    assert average_ranks(scores).sum() == pytest.approx(15)
    assert aligned_ranks(scores).sum() == pytest.approx(105 * 106 / 2)


def test_average_ranks_share_ties_and_give_1_to_the_best():
    np.testing.assert_allclose(average_ranks([[3, 1, 1], [2, 1, 0]]), [1, 2.25, 2.75])


@pytest.mark.parametrize("n", [3, 6, 10])
def test_signed_rank_p_equals_full_enumeration(n):
    difference = np.random.default_rng(n).normal(0.4, size=n)
    ranks = rankdata(np.abs(difference))
    observed = min(ranks[difference > 0].sum(), ranks[difference < 0].sum())
    smaller = [
        min(up := ranks[np.array(signs)].sum(), ranks.sum() - up)
        for signs in product([False, True], repeat=n)
    ]
    assert signed_rank_p(difference) == pytest.approx(np.mean(np.array(smaller) <= observed))


def test_signed_rank_p_with_many_ties_uses_the_corrected_normal():
    difference = np.repeat([1.0, -1.0], [20, 10])
    # All ranks are 15.5; minus is 155, mean 232.5, variance reduced by (30^3 - 30) / 48.
    z = (155 - 232.5 + 0.5) / np.sqrt(30 * 31 * 61 / 24 - (30**3 - 30) / 48)
    assert signed_rank_p(difference) == pytest.approx(2 * norm.cdf(z))


def test_compare_counts_what_differs_and_no_more():
    found = compare([0.5, 0.5, 0.9], [0.5, 0.6, 0.5 + 1e-15])
    assert (found.wins, found.losses, found.ties) == (1, 1, 1)
    assert found.win_margin == pytest.approx(0.4)
    assert compare([1.0], [1.0]).p_value == 1.0


def test_ari_equals_brute_force_pair_counting():
    rng = np.random.default_rng(3)
    for _ in range(20):
        u, v = rng.integers(0, 3, 12), rng.integers(0, 4, 12)
        pairs = [(u[i] == u[j], v[i] == v[j]) for i, j in combinations(range(12), 2)]
        both = sum(a and b for a, b in pairs)
        first, second = sum(a for a, _ in pairs), sum(b for _, b in pairs)
        chance = first * second / len(pairs)
        expected = (both - chance) / ((first + second) / 2 - chance)
        assert MEASURES["ari"](u, v) == pytest.approx(expected)


def test_area_counts_a_score_until_the_next_one():
    assert area_under([0, 1, 3], [0.0, 0.5, 1.0], end=4) == pytest.approx((0 + 1.0 + 1.0) / 4)
    assert area_under([0], [0.3], end=0) == pytest.approx(0.3)
    assert area_under([0, 10], [0.2, 1.0], end=5) == pytest.approx(0.2)


def test_answers_to_reach_a_share_of_the_final_score():
    assert answers_to_reach([0, 5, 9], [0.1, 0.96, 1.0]) == 5
    assert answers_to_reach([0, 5], [0.5, 0.5]) == 0
    assert answers_to_reach([0, 5], [0.5, -0.1]) == 0


def test_scores_that_are_not_a_table_are_refused():
    with pytest.raises(InputError, match="tasks by methods"):
        average_ranks([[0.1, np.nan]])


DIFFERENCES = [
    *(0.0513, -0.0221, 0.0807, 0.0043, -0.0061, 0.0302),
    *(0.1219, -0.0404, 0.0611, 0.0097, 0.0206, -0.0108),
]


@pytest.mark.parametrize(
    ("rope", "better", "same", "worse"),
    [(0.01, 0.9153, 0.0625, 0.0222), (0.0, 0.9471, 0.0, 0.0529), (0.05, 0.0295, 0.9705, 0.0)],
)
def test_the_bayesian_signed_rank_test_agrees_with_baycomp(rope, better, same, worse):
    # By SignedRankTest.probs of baycomp 1.0.3, with 400 000 samples.
    found = signed_rank_posterior(DIFFERENCES, rope)
    assert found == pytest.approx((better, same, worse), abs=0.005)


@pytest.mark.parametrize(
    ("n_methods", "n_tasks", "expected"),
    [(3, 10, 1.04814), (5, 21, 1.33101), (9, 21, 2.62145), (12, 20, 3.72620)],
)
def test_the_critical_difference_agrees_with_autorank(n_methods, n_tasks, expected):
    # By autorank 1.3.0, whose quantiles are rounded.
    assert critical_difference(n_methods, n_tasks) == pytest.approx(expected, abs=2e-4)


def test_a_bootstrap_interval_is_about_two_standard_errors_each_way():
    values = np.random.default_rng(1).normal(0.3, 0.2, size=400)
    found = bootstrap(values)
    error = 1.96 * values.std() / np.sqrt(400)
    assert found.mean == pytest.approx(values.mean())
    ends = (found.mean - error, found.mean + error)
    assert (found.low, found.high) == pytest.approx(ends, abs=3e-3)
    assert bootstrap([0.4, 0.4])[:3] == pytest.approx((0.4, 0.4, 0.4))
