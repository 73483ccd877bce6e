"""Which options there are, and when a session may be replaced."""

import os
from pathlib import Path

import pytest

from likewise.core.strategy import STRATEGIES
from likewise.errors import InputError, SessionFileError
from likewise.project import large, open_project
from likewise.project.options import (
    check_data,
    check_options,
    check_same,
    is_outdated,
    plain_options,
    remove_outdated,
    stored_options,
)
from likewise.project.paths import common_path, place_of_session, read_items
from likewise.store import Store

NOTHING = dict.fromkeys(("strategy", "questions", "n_super_instances", "groups", "seed"))


@pytest.fixture
def session(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "".join(f"{k},{k * k % 7}\n" for k in range(20)))
    opened = open_project(path, options={"cache": False})
    opened.project.close()
    return opened.path


def answer_once(session):
    project = open_project(session.with_suffix("")).project
    question = project.ask()
    chosen = 0 if len(question.groups) == 1 else 1
    project.choose(chosen, number=question.number, position=project.position)
    project.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strategy": "cobras", "n_super_instances": 5}, "--super-instances is for COBRA"),
        ({"strategy": None, "n_super_instances": 0}, "must be 1 or more, got 0"),
        ({"strategy": "cobras", "groups": "kind"}, "--groups is for Likewise"),
        ({"strategy": None, "questions": "riddles"}, "one of choices, pairs, got 'riddles'"),
        ({"strategy": "json:loads"}, "json:loads is not a strategy"),
    ],
)
def test_options_that_exclude_each_other_or_do_not_exist_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        check_options(**options)


def test_every_strategy_that_is_listed_is_an_option():
    for name in STRATEGIES.names:
        check_options(name)


def test_options_are_kept_as_json_gives_them_back(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {"columns": ("a", "b"), "features": Path("x.npy"), "id": None, "show": ()}
    features = os.path.join(os.getcwd(), "x.npy")
    assert plain_options(given) == {"columns": ["a", "b"], "features": features}
    assert plain_options(None) == {}
    with pytest.raises(InputError, match="nosuch"):
        plain_options({"kind": "nosuch"})


def test_options_in_a_file_name_no_place_to_write_and_no_source(tmp_path):
    file = tmp_path / "x.likewise"
    assert stored_options(file, {"options": {"cache": "/etc", "id": "a"}}) == {
        "cache": True,
        "id": "a",
    }
    damages: list[object] = [[], {"source": "x"}]
    for damaged in damages:
        with pytest.raises(SessionFileError, match="is damaged: its options are"):
            stored_options(file, {"options": damaged})


def test_a_session_is_outdated_if_it_has_no_answers_and_other_options(session):
    other = {**NOTHING, "n_super_instances": 3}
    with Store.open(session) as store:
        check_same(session, store.settings, {}, NOTHING)
        assert not is_outdated(store, {}, NOTHING)
        assert is_outdated(store, {}, other)
        assert is_outdated(store, {"columns": ["a"]}, NOTHING)
    answer_once(session)
    with (
        Store.open(session) as store,
        pytest.raises(InputError, match="begun without --super-instances, not with 3"),
    ):
        is_outdated(store, {}, other)


def test_only_an_outdated_session_is_removed(session):
    lines: list[str] = []
    remove_outdated(session, {}, NOTHING, lines.append)
    assert (session.exists(), lines) == (True, [])
    remove_outdated(session, {}, {**NOTHING, "seed": 9}, lines.append)
    assert not session.exists()
    assert "had no answers" in lines[0]


def test_a_sample_of_files_is_not_taken_for_data_in_memory(session, tmp_path):
    with Store.open(session) as store:
        assert not large.is_sample(store.settings)
        check_data(store, [session.with_suffix("")], {})
        check_data(store, [tmp_path / "moved.csv"], {})
        with pytest.raises(InputError, match="is a session about other data"):
            check_data(store, [tmp_path / "1.parquet", tmp_path / "2.parquet"], {})


def test_the_session_of_several_files_lies_beside_their_folder(tmp_path):
    one, two = tmp_path / "events" / "1.parquet", tmp_path / "events" / "2.parquet"
    assert common_path([one]) == one
    assert common_path([one, two]) == str(tmp_path / "events")
    place = place_of_session(common_path([one, two]), None, print)
    assert place == tmp_path / "events.likewise"


def test_what_was_left_out_of_the_items_is_said(session):
    lines: list[str] = []
    items = read_items(session.with_suffix(""), {"cache": False}, lines.append)
    assert lines[0] == f"20 rows from {session.with_suffix('')}"
    assert items.n == 20
