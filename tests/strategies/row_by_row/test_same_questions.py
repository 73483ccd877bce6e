"""`Likewise` asks and labels as it always did for the same seed.

``python tests/strategies/row_by_row/test_same_questions.py`` writes the expectations anew.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.preprocessing import scale

from likewise import Answer, Likewise, Session
from likewise.core.answers import Choice
from likewise.core.partition import SuperInstances
from likewise.rows.build import build_super_instances
from likewise.strategies import RowByRow

EXPECTED = Path(__file__).parent / "assets" / "questions.json"

DATA = {
    "iris": lambda: load_iris(return_X_y=True),
    "digits": lambda: [part[:300] for part in load_digits(return_X_y=True)],
    "blobs": lambda: make_blobs(200, centers=8, cluster_std=1.3, random_state=3),
}


def planned(budget, seed):
    """Return sessions as the estimator begins them."""
    return lambda X, train: Likewise(budget, error_rate=0.0, random_state=seed).start(
        X, train_indices=train
    )


def page(X, train):
    """Return a session as the page begins it: regions of single rows, then it is done."""
    each = np.arange(len(X))
    askable = None if train is None else np.isin(each, train)
    strategy = RowByRow(
        SuperInstances(each, each, points=X),
        max_groups=1,
        error_rate=0.0,
        askable=askable,
        n_regions=(12, 24, 48),
        to_the_end=False,
    )
    return Session(strategy)


def cells(X, train):
    """Return a session about cells of several rows."""
    partition = build_super_instances(X, 60, train_indices=train, seed=4)
    return Session(RowByRow(partition, max_groups=1, error_rate=0.0, budget=50, seed=4))


BEGINNINGS = {
    "budget-15": planned(15, 0),
    "budget-60": planned(60, 1),
    "page": page,
    "cells": cells,
}
MOST = 60


def answer(kind, y, left, right):
    if kind == "unsure" and (7 * left + 13 * right) % 6 == 0:
        return Answer.UNSURE
    return Answer.SAME if y[left] == y[right] else Answer.DIFFERENT


def outcome(beginning, data, kind):
    """Return the questions with their answers, and the labels early and late, as plain values."""
    X, y = DATA[data]()
    X = scale(X)
    train = np.flatnonzero(np.arange(len(X)) % 4 > 0) if kind == "unsure" else None
    session = BEGINNINGS[beginning](X, train)
    n_most = int(beginning.partition("-")[2]) if beginning.startswith("budget") else MOST
    asked: list[str] = []
    early = ""
    while (question := session.ask()) is not None and len(asked) < n_most:
        said = answer(kind, y, question.left, question.right)
        session.tell(said)
        asked.append(f"{question.left}-{question.right}{said.value[0]}")
        if len(asked) == 12:
            early = as_text(session.labels)
    return {"queries": " ".join(asked), "early": early, "labels": as_text(session.labels)}


def as_text(labels):
    return "".join(np.base_repr(label, 36)[-1] for label in labels)


def careful(**options):
    """Return sessions that expect wrong answers."""
    return lambda X: Likewise(random_state=0, **options).start(X)


CAREFUL = {
    "pairs": careful(max_queries=50, error_rate=0.1),
    "choices": careful(max_queries=50, questions="choices"),
    "choices to the end": careful(questions="choices", error_rate=0.2),
}


def careful_outcome(beginning, data):
    """Return questions, answers, how far it seemed to be, and what is thought of the answers.

    About one answer in eleven is wrong, one in seven is *not sure*, and one in nine is undone.
    """
    X, y = DATA[data]()
    session = CAREFUL[beginning](scale(X[:150]))
    told: list[str] = []
    for k in range(1, 61):
        if (question := session.ask()) is None:
            break
        if isinstance(question, Choice):
            row, groups = question.row, question.groups
        else:
            row, groups = question.left, ((question.right,),)
        fitting = [place for place, group in enumerate(groups) if y[group[0]] == y[row]]
        chosen = None if not fitting else fitting[0]
        if k % 11 == 0:
            chosen = None if chosen is not None else 0
        if k % 7 == 0:
            session.skip()
        elif isinstance(question, Choice):
            session.choose(chosen)
        else:
            session.tell(chosen is not None)
        shown = ",".join("+".join(map(str, group)) for group in groups)
        told.append(f"{row}:{shown}={chosen} {session.strategy.remaining()}")
        if k % 9 == 0:
            session.undo()
    strategy = session.strategy
    return {
        "told": told,
        "labels": as_text(session.labels),
        "overruled": strategy.overruled(),
        "suspects": [suspect.number for suspect in session.suspects],
        "open": [list(pair) for pair in session.open_pairs],
        "complete": str(session.completeness),
        "doubt": round(float(strategy.doubts().mean()), 4),
    }


def cases():
    for beginning in BEGINNINGS:
        for data in DATA:
            for kind in ("truth", "unsure"):
                yield beginning, data, kind


def careful_cases():
    for beginning in CAREFUL:
        for data in DATA:
            yield beginning, data


@pytest.mark.slow
@pytest.mark.parametrize(("beginning", "data", "kind"), list(cases()))
def test_questions_and_labels_stay_the_same(beginning, data, kind):
    expected = json.loads(EXPECTED.read_text())["/".join((beginning, data, kind))]
    assert outcome(beginning, data, kind) == expected


@pytest.mark.parametrize(("beginning", "data"), list(careful_cases()))
def test_questions_stay_the_same_where_answers_are_wrong(beginning, data):
    expected = json.loads(EXPECTED.read_text())["/".join((beginning, data, "wrong"))]
    assert careful_outcome(beginning, data) == expected


if __name__ == "__main__":
    found = {"/".join(case): outcome(*case) for case in cases()}
    found |= {"/".join((*case, "wrong")): careful_outcome(*case) for case in careful_cases()}
    EXPECTED.write_text(json.dumps(found, indent=0) + "\n")
