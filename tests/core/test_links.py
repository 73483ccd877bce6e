from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise import Answer
from likewise.core.links import LinkGraph
from likewise.errors import ContradictionError, InputError

N = 7
answers = st.lists(
    st.tuples(
        st.integers(0, N - 1),
        st.integers(0, N - 1),
        st.sampled_from([Answer.SAME, Answer.DIFFERENT]),
    ).filter(lambda t: t[0] != t[1]),
    max_size=14,
)


def brute_force(given_answers):
    """Close a list of consistent answers under both rules, until nothing changes."""
    known = {frozenset((i, j)): answer for i, j, answer in given_answers}
    is_changed = True
    while is_changed:
        is_changed = False
        for i in range(N):
            for j in range(N):
                for k in range(N):
                    if len({i, j, k}) < 3 or known.get(frozenset((i, j))) is not Answer.SAME:
                        continue
                    follows = known.get(frozenset((j, k)))
                    if follows is not None and frozenset((i, k)) not in known:
                        known[frozenset((i, k))] = follows
                        is_changed = True
    return known


def accepted(given_answers):
    links = LinkGraph(N)
    kept = []
    for i, j, answer in given_answers:
        try:
            links.add(i, j, answer)
        except ContradictionError:
            continue
        kept.append((i, j, answer))
    return links, kept


def state(links):
    relations = tuple(links.implied(i, j) for i, j in combinations(range(N), 2))
    counts = links.n_decided, links.n_answered_components
    return relations, counts, tuple(links)


@given(answers)
def test_the_closure_equals_brute_force(given_answers):
    links, kept = accepted(given_answers)
    known = brute_force(kept)
    for i, j in combinations(range(N), 2):
        assert links.implied(i, j) is known.get(frozenset((i, j)))
    assert links.n_decided == len(known)
    for pairs, answer in zip(links.closure(), (Answer.SAME, Answer.DIFFERENT), strict=True):
        assert pairs == sorted(tuple(sorted(p)) for p, a in known.items() if a is answer)
    answered = {links.find(i) for i, _, _ in kept} | {links.find(j) for _, j, _ in kept}
    assert links.n_answered_components == len(answered)


@given(answers)
def test_an_explanation_is_the_shortest_chain_that_proves_it(given_answers):
    links, _ = accepted(given_answers)
    for i, j in combinations(range(N), 2):
        chain = links.explain(i, j)
        known = links.implied(i, j)
        if known is None:
            assert chain == ()
            continue
        assert (chain[0].left, chain[-1].right) == (i, j)
        assert all(a.right == b.left for a, b in pairwise(chain))
        n_different = sum(step.answer is Answer.DIFFERENT for step in chain)
        assert n_different == (known is Answer.DIFFERENT)
        for shorter in combinations(list(links), len(chain) - 1):
            fewer, _ = accepted([(g.left, g.right, g.answer) for g in shorter])
            assert fewer.implied(i, j) is None


@given(answers)
def test_a_contradiction_changes_nothing_and_carries_a_cycle_with_one_different(given_answers):
    links = LinkGraph(N)
    for i, j, answer in given_answers:
        if links.implied(i, j) in (None, answer):
            links.add(i, j, answer)
            continue
        before = state(links)
        with pytest.raises(ContradictionError) as raised:
            links.add(i, j, answer)
        assert state(links) == before
        cycle = [raised.value.answer, *raised.value.chain]
        assert sum(step.answer is Answer.DIFFERENT for step in cycle) == 1
        assert {cycle[1].left, cycle[-1].right} == {i, j}


@given(answers)
def test_the_items_put_together_with_one_are_its_component(given_answers):
    links, _ = accepted(given_answers)
    for group in links.components():
        for item in group:
            assert sorted([item, *links.same_as(item, len(group))]) == group
            assert links.same_as(item, 1) == links.same_as(item, 9)[:1]
    assert all(links.same_as(a, 3) == [] for a in range(links.n_items) if links.size(a) == 1)


def test_a_chain_of_20_000_must_links_does_not_recurse():
    n = 20_001
    links = LinkGraph(n)
    for i in range(n - 1):
        links.add(i, i + 1, Answer.SAME)
    assert links.implied(0, n - 1) is Answer.SAME
    assert links.n_answered_components == 1
    assert len(links.explain(0, n - 1)) == n - 1


@pytest.mark.parametrize(
    ("pair", "words"),
    [((0, 0), "paired with itself"), ((0, 9), "item 9 is out of range"), ((-1, 2), "item -1")],
)
def test_impossible_pairs_are_named(pair, words):
    with pytest.raises(InputError, match=words):
        LinkGraph(3).add(pair[0], pair[1], Answer.SAME)


def test_unsure_is_no_link():
    with pytest.raises(InputError, match="unsure"):
        LinkGraph(3).add(0, 1, Answer.UNSURE)
