"""Every oracle of the package is under all laws."""

import inspect
from contextlib import ExitStack
from itertools import combinations
from typing import Any

import pytest
from tests.oracles.chat_server import served

from likewise import (
    Answer,
    BudgetedOracle,
    CallbackOracle,
    Gesture,
    LabelOracle,
    Link,
    NoisyOracle,
    Question,
    ReplayOracle,
    TerminalOracle,
    oracles,
)
from likewise.testing import OracleLaws

LABELS = [0, 1, 0, 2, 1, 0]


class ById:
    """Answers by sample ids, cannot choose, and is not sure about one of them."""

    def answer(self, query):
        if "f" in (query.left_id, query.right_id):
            return None
        left, right = ("abcdef".index(name) for name in (query.left_id, query.right_id))
        return LABELS[left] == LABELS[right]


class TestLabelOracle(OracleLaws):
    def make(self):
        return LabelOracle(LABELS)


class TestLabelOracleById(OracleLaws):
    sample_ids = "abcdef"

    def make(self):
        return LabelOracle(dict(zip("abcdef", LABELS, strict=True)))


class TestFunction(OracleLaws):
    def make(self):
        return lambda i, j: LABELS[i] == LABELS[j]


class TestCallbackOracle(OracleLaws):
    def make(self):
        def choose(row, groups):
            same = [k for k, group in enumerate(groups) if LABELS[group[0]] == LABELS[row]]
            return same[0] if same else Answer.UNSURE

        return CallbackOracle(lambda i, j: LABELS[i] == LABELS[j], choose)


class TestNoisyOracle(OracleLaws):
    errs = True

    def make(self):
        return NoisyOracle(LabelOracle(LABELS), 0.3, random_state=1)


class TestNoisyOracleWithoutNoise(OracleLaws):
    sample_ids = "abcdef"

    def make(self):
        return NoisyOracle(ById(), 0.0)


class TestBudgetedOracle(OracleLaws):
    sample_ids = "abcdef"

    def make(self):
        return BudgetedOracle(ById(), 100)


class TestReplayOracle(OracleLaws):
    def make(self):
        oracle = LabelOracle(LABELS)
        pairs = list(combinations(range(6), 2))[:9]
        links = [Link(*pair, oracle.answer(Question(1, pair[0], ((pair[1],),)))) for pair in pairs]
        return ReplayOracle([Gesture(1, (link,)) for link in links], otherwise=oracle)


class Person:
    """Reads what the terminal shows and types what is right."""

    def __init__(self):
        self.lines = []

    def write(self, line):
        if line.startswith("\n"):
            self.lines.clear()
        else:
            self.lines.append([int(word) for word in line.split()[1:] if word.isdigit()])

    def read(self, prompt):
        (row,), *groups = self.lines
        same = [any(LABELS[row] == LABELS[other] for other in group) for group in groups]
        if prompt.startswith("[s]ame"):
            return "s" if same[0] else "d"
        return str(1 + same.index(True)) if True in same else "0"


class TestTerminalOracle(OracleLaws):
    def make(self):
        person = Person()
        return TerminalOracle(str, read=person.read, write=person.write)


class TestRuleOracle(OracleLaws):
    def make(self):
        return oracles.RuleOracle(lambda i, j: LABELS[i] == LABELS[j] or None, "label")


class TestChatOracle(OracleLaws):
    at_end: ExitStack
    server: Any

    @classmethod
    def setup_class(cls):
        pytest.importorskip("httpx2", reason='needs the extra: pip install "likewise[model]"')
        cls.at_end = ExitStack()
        cls.server = cls.at_end.enter_context(served())

    @classmethod
    def teardown_class(cls):
        cls.at_end.close()

    replies = oracles.chat.cache.ReplyCache(None)

    def make(self):
        items = [f"{'abc'[label]} number {k}" for k, label in enumerate(LABELS)]
        url = self.server.base_url if hasattr(self, "server") else "http://localhost/v1"
        oracle = oracles.ChatOracle("llama3", url, "the same letter?", items)
        oracle._cache = self.replies  # so that few requests are made
        return oracle


def test_every_oracle_is_under_the_laws():
    suites = [s for s in globals().values() if inspect.isclass(s) and issubclass(s, OracleLaws)]
    held = {type(suite().make()) for suite in suites if suite is not OracleLaws}
    names = [name for name in oracles.__all__ if name.endswith("Oracle") and name != "Oracle"]
    assert {getattr(oracles, name) for name in names} <= held


def test_an_oracle_that_is_not_made_is_named():
    with pytest.raises(NotImplementedError, match="say how to make"):
        OracleLaws().make()
