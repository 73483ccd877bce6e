"""What is written outside the package works everywhere: the code of the guide, as a module."""

import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from likewise import Answer, LabelOracle, Likewise, Session, run
from likewise.cli import main
from likewise.core.strategy import STRATEGIES
from likewise.errors import InputError
from likewise.lab.experiments.methods import find_method
from likewise.lab.experiments.oracle import GuardedOracle
from likewise.lab.experiments.protocol import Trial
from likewise.learning.learner import Learner
from likewise.project import open_project
from likewise.testing import ItemsLaws, OracleLaws, StrategyLaws

GUIDE = Path(__file__).parents[2] / "docs" / "extending.md"
X = np.random.default_rng(0).normal(size=(12, 2))
Y = np.arange(12) % 3


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    """The Python of the guide in a module that is no part of the package."""
    folder = tmp_path_factory.mktemp("outside")
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.S)
    (folder / "from_the_guide.py").write_text("\n".join(blocks))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module("from_the_guide")
    del sys.modules["from_the_guide"]


def laws(suite):
    return [name for name in dir(suite) if name.startswith("test_")]


@pytest.mark.parametrize("law", laws(StrategyLaws))
def test_the_strategy_is_lawful(outside, law):
    getattr(outside.TestOneByOne(), law)()


@pytest.mark.parametrize("law", laws(OracleLaws))
def test_the_oracle_is_lawful(outside, law):
    getattr(outside.TestParity(), law)()


@pytest.mark.parametrize("law", laws(ItemsLaws))
def test_the_items_are_lawful(outside, law, tmp_path):
    getattr(outside.TestNotes(), law)(tmp_path)


def test_a_saved_session_finds_it_by_name(outside):
    session = run(Session(outside.OneByOne.from_rows(X)), LabelOracle(Y), max_queries=7)
    loaded = Session.from_dict(session.to_dict())
    assert type(loaded.strategy) is outside.OneByOne
    assert loaded.ask() == session.ask()


def test_the_page_asks_by_it(outside, tmp_path):
    np.save(tmp_path / "points.npy", X)
    opened = open_project(tmp_path / "points.npy", strategy="from_the_guide:OneByOne")
    question = opened.project.session.ask()
    assert (question.left, question.right) == (1, 0)
    opened.project.tell(Answer.DIFFERENT, number=1, position=opened.project.position)
    opened.project.close()
    again = open_project(tmp_path / "points.npy")
    assert type(again.project.session.strategy) is outside.OneByOne
    assert len(again.project.session.events) == 1
    again.project.close()


def test_another_process_is_told_where_it_is(outside, tmp_path, monkeypatch):
    np.save(tmp_path / "points.npy", X)
    address = "from_the_guide:OneByOne"
    opened = open_project(tmp_path / "points.npy", strategy=address)
    opened.project.close()
    known = {k: v for k, v in STRATEGIES._known.items() if k != outside.OneByOne.name}
    monkeypatch.setattr(STRATEGIES, "_known", known)
    command = ["export", str(opened.path), "-o", str(tmp_path / "groups.csv")]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 1
    assert "'one-by-one', which is not known here" in result.output
    assert "--strategy package.module:Class" in result.output
    # A module is imported once in a process, and its strategies are registered by that.
    monkeypatch.delitem(sys.modules, "from_the_guide")
    result = CliRunner().invoke(main, [*command, "--strategy", address])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("address", [":X", ":", ".mine:X", "..:X"])
def test_what_is_no_address_is_refused(tmp_path, address):
    np.save(tmp_path / "points.npy", X)
    with pytest.raises(InputError, match=r"is package\.module:Name or file\.py:Name, not"):
        open_project(tmp_path / "points.npy", strategy=address)


def test_the_experiment_runs_it(outside):
    rows = np.arange(12)
    trial = Trial(X, GuardedOracle(Y, rows), rows, None, 3, 5, 0)
    labels = np.asarray(find_method("from_the_guide:OneByOne").run(trial))
    assert len(set(zip(labels.tolist(), Y.tolist(), strict=True))) == 3


@pytest.mark.slow
def test_the_learner_votes_wherever_rows_are_learned(outside, tmp_path, monkeypatch):
    rings = np.random.default_rng(0).normal(size=(120, 2))
    inside = (np.linalg.norm(rings, axis=1) < 1.1).astype(int)
    np.save(tmp_path / "rings.npy", rings)

    def doubts():
        model = Likewise(40, random_state=0).fit(rings, oracle=LabelOracle(inside))
        project = open_project(tmp_path / "rings.npy", session=tmp_path / "any.likewise").project
        run(project.session, LabelOracle(inside), max_queries=20)
        project.close()
        return np.array([model.doubts_, project.session.assessment.doubts()])

    plain = doubts()
    monkeypatch.setattr(outside.VOTERS, "_known", dict(outside.VOTERS._known))
    outside.VOTERS.register("nearest", outside.Nearest)
    assert (np.abs(doubts() - plain).max(axis=1) > 0.01).all()
    learned = Learner(rings).learn(np.arange(40), inside[:40])
    assert set(learned.voters) == {"kernels", "discriminant", "nearest"}
    assert sum(learned.voters.values()) == pytest.approx(1.0)
    assert learned.proba.sum(axis=1) == pytest.approx(1.0)
    assert learned.voters["nearest"] > 0.1
