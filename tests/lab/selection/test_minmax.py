import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from likewise import Answer, LabelOracle, MinMax, MPCKMeans
from likewise.lab.selection.minmax import ExploreConsolidate


def similarity(X, sigma):
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    return np.exp(-squared / (2 * sigma**2))


def brute_force(X, y, n_clusters, train, first, sigma):
    """Explore and Consolidate word by word, all questions answered; return rows as chosen."""
    s = similarity(X, sigma)
    distance = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=-1))
    neighborhoods, visited, chosen, queries = [[first]], [first], [], []

    def place(x):
        order = sorted(range(len(neighborhoods)), key=lambda h: -max(s[x, neighborhoods[h]]))
        for rank, h in enumerate(order):
            is_last = len(neighborhoods) == n_clusters and rank == n_clusters - 1
            if not is_last:
                queries.append((x, h))
            if is_last or y[x] == y[neighborhoods[h][0]]:
                neighborhoods[h].append(x)
                return
        neighborhoods.append([x])

    while len(neighborhoods) < n_clusters and len(visited) < len(train):
        rest = [x for x in train if x not in visited]
        x = max(rest, key=lambda x: min(distance[x, visited]))
        visited.append(x)
        chosen.append(x)
        place(x)
    while rest := [x for x in train if not any(x in n for n in neighborhoods)]:
        skeleton = [x for n in neighborhoods for x in n]
        x = min(rest, key=lambda x: max(s[x, skeleton]))
        chosen.append(x)
        place(x)
    return chosen, len(queries)


@pytest.mark.parametrize("sigma", [0.4, 1.0, 5.0])
@pytest.mark.parametrize("seed", range(5))
def test_it_chooses_as_brute_force_does_whatever_sigma_is(seed, sigma):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 24)
    X = rng.normal(size=(24, 2)) + y[:, None]
    train = np.sort(rng.permutation(24)[:18])
    session = MinMax(3, random_state=seed).start(X, train_indices=train)
    assert isinstance(session.strategy, ExploreConsolidate)
    first = session.strategy.run(session.answers).neighborhoods[0][0]
    expected, n_queries = brute_force(X, y, 3, train.tolist(), first, sigma)
    chosen = []
    while (question := session.ask()) is not None:
        if question.left not in chosen:
            chosen.append(question.left)
        session.tell(LabelOracle(y).answer(question))
    assert chosen == expected
    assert len(session.events) == n_queries


def test_after_all_but_one_neighborhood_the_last_follows_without_a_question():
    X = np.array([[0.0], [10.0], [20.0], [1.0], [11.0], [19.0]])
    asking = MinMax(3, infer_last=False, random_state=0)
    sparing = MinMax(3, random_state=0)
    oracle = LabelOracle([2, 1, 0, 0, 1, 2])
    assert sparing.select(X, oracle=oracle) == asking.select(X, oracle=oracle)
    assert sparing.n_queries_ < asking.n_queries_
    per_row: dict[int, list[Answer]] = {}
    for left, _, answer in sparing.queries_:
        per_row.setdefault(left, []).append(answer)
    assert all(len(answers) <= 2 for answers in per_row.values())


def test_a_later_answer_that_disproves_an_inference_wins():
    X = np.array([[0.0], [10.0], [1.0], [2.0]])
    session = MinMax(2, random_state=0).start(X)
    while session.ask() is not None:
        session.tell(Answer.DIFFERENT)
    strategy = session.strategy
    assert isinstance(strategy, ExploreConsolidate)
    run = strategy.run(session.answers)
    row, place = run._supposed[0]
    seed = run.neighborhoods[place][0]
    assert strategy.run(session.answers).known().implied(row, seed) is Answer.SAME
    session.add_link(row, seed, Answer.DIFFERENT)
    assert strategy.run(session.answers).known().implied(row, seed) is Answer.DIFFERENT


def test_unsure_answers_are_followed_by_at_most_three_other_members():
    X = np.array([[0.0], [0.1], [0.2], [0.3], [0.4], [0.5], [50.0], [51.0]])
    session = MinMax(2, random_state=0).start(X)
    placed = {0: 0, 1: 0, 2: 0, 3: 0, 4: 0, 5: 0, 6: 1, 7: 1}
    # The truth, but for one row that nobody is sure about.
    assert isinstance(session.strategy, ExploreConsolidate)
    doubted = next(
        r for r in (5, 4, 3) if r not in session.strategy.run(session.answers).neighborhoods[0]
    )
    n_doubts = 0
    while (question := session.ask()) is not None:
        if doubted in (question.left, question.right):
            n_doubts += 1
            session.skip()
        else:
            same = placed[question.left] == placed[question.right]
            session.tell(Answer.SAME if same else Answer.DIFFERENT)
    assert 1 <= n_doubts <= 4
    assert doubted not in {
        row for n in session.strategy.run(session.answers).neighborhoods for row in n
    }
    assert session.links.n_answered_components == 2


def test_a_budget_that_ends_while_a_row_is_placed_keeps_its_answers():
    X = np.array([[0.0], [10.0], [20.0], [30.0], [29.0], [21.0], [9.0]])
    y = [0, 1, 2, 3, 3, 2, 1]
    for budget in range(1, 9):
        selector = MinMax(4, max_queries=budget, random_state=1)
        must, cannot = selector.select(X, oracle=LabelOracle(y))
        asked = {(min(a, b), max(a, b)) for a, b, answer in selector.queries_}
        assert asked <= {*must, *cannot}


def test_it_helps_mpckmeans_on_iris():
    X, y = load_iris(return_X_y=True)
    must, cannot = MinMax(3, max_queries=60, random_state=0).select(X, oracle=LabelOracle(y))
    model = MPCKMeans(3, random_state=0).fit(X, must_link=must, cannot_link=cannot)
    assert adjusted_rand_score(y, model.labels_) > 0.85
