"""COBRAS, DSL, MinMax, NPU and Random ask and label as they always did for the same seed.

``python tests/cluster/test_baseline_questions.py`` writes the expectations anew.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import scale
from sklearn.utils import check_random_state

from likewise import COSC, NPU, Answer, MinMax, Random, Session, run
from likewise.cluster.asking import asked_links
from likewise.lab.peers.cobras import SplitAndMerge
from likewise.lab.peers.dsl import SkeletonTree

EXPECTED = Path(__file__).parent / "assets" / "baseline_questions.json"

CLUSTERERS = {
    "cobras-10": (SplitAndMerge, 10, 0),
    "cobras-45": (SplitAndMerge, 45, 1),
    "cobras-all": (SplitAndMerge, None, 2),
    "dsl-10": (SkeletonTree, 10, 0),
    "dsl-45": (SkeletonTree, 45, 0),
    "dsl-all": (SkeletonTree, None, 0),
}
SELECTORS = {
    "minmax-30": lambda: MinMax(3, 30, random_state=0),
    "minmax-few": lambda: MinMax(2, 40, infer_last=False, random_state=1),
    "minmax-all": lambda: MinMax(3, random_state=2),
    "npu-20": lambda: NPU(3, 20, random_state=0),
    "npu-infer": lambda: NPU(3, 12, infer_last=True, random_state=1),
    "npu-cosc": lambda: NPU(3, 8, clusterer=COSC(3, mode="fast"), random_state=0),
    "random-40": lambda: Random(40, random_state=0),
}
LONG = ("cobras-all", "npu-20")
"""These are asked about one set of data."""


def rows(data):
    X, y = load_iris(return_X_y=True) if data == "iris" else load_wine(return_X_y=True)
    return scale(X), y


def oracle(kind, y):
    """Return who answers: the truth, with some pairs unsure or wrong."""

    def answer(left, right):
        if kind == "unsure" and (7 * left + 13 * right) % 5 == 0:
            return Answer.UNSURE
        is_wrong = kind == "wrong" and (5 * left + 3 * right) % 10 == 0
        return Answer.SAME if bool(y[left] == y[right]) != is_wrong else Answer.DIFFERENT

    return answer


def outcome(method, data, kind):
    """Return the questions with their answers, and what came of them, as plain values."""
    X, y = rows(data)
    train = np.flatnonzero(np.arange(len(X)) % 3 > 0) if kind != "truth" else None
    result: str | list[int]
    if method in CLUSTERERS:
        procedure, max_queries, random_state = CLUSTERERS[method]
        seed = int(check_random_state(random_state).randint(2**31 - 1))
        strategy = procedure.from_rows(X, train_indices=train, seed=seed)
        session = run(Session(strategy, max_queries=max_queries), oracle(kind, y))
        labels = strategy.labels_as_published(session.answers)
        result = "".join(np.base_repr(label, 36)[-1] for label in labels)
    else:
        model = SELECTORS[method]()
        must, cannot = model.select(X, oracle=oracle(kind, y), train_indices=train)
        session = model.session_
        result = [len(must), len(cannot)]
    return {
        "queries": " ".join(f"{i}-{j}{a.value[0]}" for i, j, a in asked_links(session)),
        "result": result,
    }


def cases():
    for method in (*CLUSTERERS, *SELECTORS):
        for data in ("iris", "wine"):
            for kind in ("truth", "unsure", "wrong"):
                if method.endswith("all") and kind == "wrong":
                    continue
                if data == "iris" or method not in LONG:
                    yield method, data, kind


@pytest.mark.slow
@pytest.mark.parametrize(("method", "data", "kind"), list(cases()))
def test_questions_and_labels_stay_the_same(method, data, kind):
    expected = json.loads(EXPECTED.read_text())["/".join((method, data, kind))]
    assert outcome(method, data, kind) == expected


if __name__ == "__main__":
    outcomes = {"/".join(case): outcome(*case) for case in cases()}
    EXPECTED.write_text(json.dumps(outcomes, indent=0) + "\n")
