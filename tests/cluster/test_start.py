"""Rows become a session in one place, whoever starts it."""

import ast
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import likewise
from likewise import COBRA, Likewise
from likewise.cluster.start import drawn_seed, start_session
from likewise.core.candidates import Candidates
from likewise.core.fingerprint import fingerprint
from likewise.errors import InputError
from likewise.lab.experiments.methods import find_method
from likewise.project import beginning, large, open_project
from likewise.rows import sample
from likewise.strategies import CandidatePairs, ClosestFirst, MostDoubt

X, Y = make_blobs(60, centers=3, random_state=0)


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(sample, "SAMPLE_ROWS", 20)


def test_no_other_module_makes_a_session_of_rows():
    package = Path(likewise.__file__).parent
    made = [
        file.relative_to(package).as_posix()
        for file in package.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Session"
    ]
    # The laws make sessions of strategies that are there already.
    assert {file for file in made if not file.startswith("testing/")} == {"cluster/start.py"}


def test_a_session_has_the_digest_the_ids_and_the_links_of_its_rows():
    names = [f"row {k}" for k in range(60)]
    session, rows = start_session(
        X,
        ClosestFirst.from_rows,
        seed=0,
        sample_ids=names,
        must_link=[("row 3", "row 4")],
        cannot_link=[(5, 6)],
        max_queries=7,
    )
    assert session.digest == fingerprint(X) == fingerprint(rows)
    assert list(session.sample_ids or ()) == names
    assert (session.row_numbers, session.max_queries) == (None, 7)
    assert session.links.implied(3, 4) is likewise.Answer.SAME
    assert session.links.implied(5, 6) is likewise.Answer.DIFFERENT


def test_of_many_rows_a_sample_keeps_its_ids_groups_and_links(few):
    names = [f"row {k}" for k in range(60)]
    session, rows = start_session(
        X,
        MostDoubt.from_rows,
        seed=0,
        sample_ids=names,
        groups=[f"group {y}" for y in Y],
        must_link=[(1, 59)],
        train_indices=np.arange(30, 60),
        takes_sample=True,
    )
    numbers = session.row_numbers
    assert {1, 59} <= set(numbers.tolist())
    assert np.array_equal(rows, X[numbers])
    assert list(session.sample_ids or ()) == [names[k] for k in numbers]
    given, labels = session.strategy.given_groups() or ([], ())
    assert [labels[k] for k in given] == [f"group {Y[k]}" for k in numbers]
    assert (numbers[session.strategy.askable()] >= 30).all()
    assert session.links.implied(*np.searchsorted(numbers, [1, 59])) is likewise.Answer.SAME
    nameless, _ = start_session(X, MostDoubt.from_rows, seed=0, takes_sample=True)
    assert list(nameless.sample_ids or ()) == nameless.row_numbers.tolist()
    with pytest.raises(InputError, match="sample_ids has 2 ids, but the data has 60 rows"):
        start_session(X, MostDoubt.from_rows, seed=0, sample_ids=["a", "b"], takes_sample=True)


def test_candidate_pairs_take_the_place_of_rows():
    pairs = Candidates.sorted(4, [0, 1, 2], [1, 2, 3], [0.3, 0.1, 0.2])
    session, rows = start_session(pairs, CandidatePairs.from_rows, seed=0)
    assert rows is pairs
    assert session.digest == fingerprint(pairs)
    question = session.ask()
    assert (question.left, question.right) == (1, 2)
    few, _ = start_session(pairs, CandidatePairs.from_rows, seed=0, train_indices=[0, 1])
    assert few.strategy.candidates.left.tolist() == [0]
    with pytest.raises(InputError, match="as a whole"):
        pairs.take(np.arange(2))
    with pytest.raises(InputError, match="be made from rows alone"):
        start_session(X, CandidatePairs.from_rows, seed=0)


def test_all_who_start_sessions_do_it_here(tmp_path, monkeypatch):
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header="a,b", comments="")
    homes = [beginning.__name__, large.__name__]
    homes += ["likewise.cluster.asking", "likewise.lab.experiments.session_methods"]
    started = []

    def note(*args, **options):
        started.append(args[1])
        return start_session(*args, **options)

    for home in homes:
        monkeypatch.setattr(f"{home}.start_session", note)
    Likewise(random_state=0).start(X)
    COBRA(5, random_state=0).start(X)
    for options in ({}, {"n_super_instances": 5}, {"strategy": "closest-first"}):
        session = tmp_path / f"{len(started)}.likewise"
        open_project(tmp_path / "x.csv", session=session, **options).project.close()
    trial = type("Trial", (), {"X": X, "train_indices": np.arange(60), "seed": 1})
    method: Any = find_method("closest-first")
    method.start(trial)
    assert len(started) == 6


def test_a_seed_is_drawn_as_scikit_learn_draws_it():
    first = COBRA(5, random_state=3).start(X)
    five = partial(ClosestFirst.from_rows, n_super_instances=5)
    again, _ = start_session(X, five, seed=drawn_seed(3))
    assert first == again
