"""How long answers take a person, from sessions with times that were made up."""

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from likewise import Answer, Likewise, Link, TerminalOracle, run
from likewise.cli import main, terminal
from likewise.core.answers import Gesture
from likewise.errors import InputError
from likewise.lab.experiments.seconds import PUBLISHED, fit_seconds, n_shown, read_seconds
from likewise.project import open_project

LINK = (Link(0, 1, Answer.SAME),)
X = np.random.default_rng(0).normal(size=(30, 2)) + np.repeat([[0.0], [6.0], [12.0]], 10, axis=0)


def gesture(n_groups: int, seconds: float | None, **more: Any) -> Gesture:
    groups = tuple((k, k + 10) for k in range(n_groups))
    return Gesture(1, LINK, groups=groups, seconds=seconds, **more)


def test_the_model_is_what_made_the_times():
    told = [gesture(n, 2.0 + 0.5 * (1 + 2 * n)) for n in (2, 3, 5, 6)]
    found = fit_seconds([*told, gesture(0, 2.0 + 0.5 * 2)])
    assert (found.per_question, found.per_row) == pytest.approx((2.0, 0.5))
    assert found(10, 130) == pytest.approx(20 + 65)


def test_pauses_and_what_was_not_asked_do_not_count():
    pairs = [gesture(0, 8.0), gesture(0, 4.0)]
    others = [gesture(0, 61.0), gesture(0, None), gesture(0, 1.0, source="mended")]
    found = fit_seconds(pairs + others)
    assert (found.per_question, found.per_row) == pytest.approx((6.0, 0.0))
    assert "2 answers of 6.0 s" in found.source
    assert "1 with a pause" in found.source
    with pytest.raises(InputError, match="no answer with a time"):
        fit_seconds(others)


def test_a_pair_of_short_texts_takes_as_long_as_was_published():
    assert PUBLISHED(1, n_shown(gesture(0, None))) == pytest.approx(8.3)


def test_a_persons_sessions_become_the_model_of_the_report(tmp_path, monkeypatch):
    """Answers at the terminal have times, the file and its export keep them."""
    np.save(tmp_path / "points.npy", X)
    opened = open_project(tmp_path / "points.npy", session=tmp_path / "own.likewise")
    clock = iter(range(0, 1000, 5))
    # The clock of the terminal alone: the store waits for locks by the real one.
    stopped = SimpleNamespace(monotonic=lambda: next(clock))
    monkeypatch.setattr("likewise.cli.terminal.time", stopped)
    keys = iter("md000q")  # reading on belongs to the first answer
    terminal.run_terminal(opened.project, lambda: next(keys))
    opened.project.close()
    runner = CliRunner()
    exported = runner.invoke(
        main, ["export", str(tmp_path / "own.likewise"), "-o", str(tmp_path / "own.json")]
    )
    assert exported.exit_code == 0, exported.output
    took = [op["seconds"] for op in json.loads((tmp_path / "own.json").read_text())["log"]]
    assert took == [10.0, 5.0, 5.0, 5.0]
    for name in ("own.likewise", "own.json"):
        target = tmp_path / f"{name}.seconds.json"
        made = runner.invoke(main, ["bench", "seconds", str(tmp_path / name), "-o", str(target)])
        assert made.exit_code == 0, made.output
        assert "From 4 answers of 6.2 s on average" in made.output
        assert "From 4 answers" in read_seconds(target).source


def test_an_oracle_that_is_a_person_is_timed():
    answers = iter(["d", "u", "0", "q"])
    session = run(Likewise(10).start(X), TerminalOracle(read=lambda _: next(answers)))
    assert [event.seconds is not None for event in session.events] == [True] * 3
    other = run(Likewise(3).start(X), lambda left, right: False)
    assert {event.seconds for event in other.events} == {None}


@pytest.mark.parametrize(
    "text", ["nonsense", "[]", '{"per_question": -1, "per_row": 0, "source": ""}']
)
def test_what_is_no_model_is_refused(tmp_path, text):
    (tmp_path / "seconds.json").write_text(text)
    with pytest.raises(InputError, match=r"seconds\.json"):
        read_seconds(tmp_path / "seconds.json")


def test_what_is_no_session_is_named(tmp_path):
    (tmp_path / "other.json").write_text('{"a": 1}')
    made = CliRunner().invoke(main, ["bench", "seconds", str(tmp_path / "other.json")])
    assert made.exit_code == 1
    assert "other.json is not a session" in made.output
