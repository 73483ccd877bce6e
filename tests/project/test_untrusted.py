"""A session file could come from a stranger: it runs no code and takes no memory."""

import json
import sqlite3
import sys
from contextlib import closing

import pytest
from click.testing import CliRunner

from likewise.cli import main
from likewise.core.strategy import STRATEGIES
from likewise.errors import InputError, LikewiseError, SessionFileError
from likewise.items import KINDS
from likewise.learning.learner import VOTERS
from likewise.project import FORMATS, checksums, open_project, open_session_file
from likewise.registry import Registry

EVIL = "import pathlib\npathlib.Path(__file__).with_name('ran').touch()\n"


@pytest.fixture
def session(tmp_path, monkeypatch):
    """A session file in the current folder, which also holds a module that must not be imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p != str(tmp_path)])
    monkeypatch.setattr(KINDS, "_by_address", {})
    sys.modules.pop("evil", None)
    (tmp_path / "evil.py").write_text(EVIL + "from likewise.items.rows import RowItems as X\n")
    path = tmp_path / "rows.csv"
    path.write_text("x,text\n" + "".join(f"{k},word{k % 3}\n" for k in range(12)))
    opened = open_project(path, n_super_instances=5, options={"columns": ("x",), "cache": False})
    opened.project.close()
    return opened.path


def edited(session, setting, value):
    """Write a setting into a file as somebody would who knows its checksums."""
    with closing(sqlite3.connect(session)) as db, db:
        db.execute("UPDATE settings SET value = ? WHERE name = ?", (json.dumps(value), setting))
        checksums.sign_content(db)


@pytest.mark.parametrize("kind", ["evil:X", "evil:", ":evil", "evil", 5, ["evil:X"]])
def test_a_kind_that_a_file_names_is_not_imported(session, kind):
    edited(session, "options", {"kind": kind})
    before = list(sys.path)
    with pytest.raises(LikewiseError, match=r"which is not known here.*is imported"):
        open_session_file(session)
    result = CliRunner().invoke(main, ["export", str(session), "-o", "groups.csv"])
    assert result.exit_code == 1
    assert "nothing that it names is imported" in result.output
    assert not (session.parent / "ran").exists()
    assert sys.path == before


def test_a_kind_that_a_person_names_is(session):
    edited(session, "options", {"kind": "evil:X"})
    args = ["export", str(session), "-o", "groups.csv", "--kind", "evil:X"]
    result = CliRunner().invoke(main, args)
    assert result.exit_code == 0, result.output
    assert (session.parent / "ran").exists()


@pytest.mark.parametrize("registry", [KINDS, STRATEGIES, FORMATS, VOTERS])
def test_a_name_from_a_file_is_only_looked_up(registry, session):
    for name in ("evil:X", "json:JSONDecoder", "evil", "", None, {}):
        with pytest.raises(SessionFileError, match="is not known here"):
            registry.known(name)
    for name in registry.names:
        assert registry.known(name) is registry.find(name)
    assert not (session.parent / "ran").exists()


def test_an_address_that_a_person_gave_is_known_from_then_on(session):
    things = Registry("thing", {}, group="none.at.all")
    found = things.find("evil:X")
    assert things.known("evil:X") is found
    assert things.names == []
    assert str(session.parent) in sys.path


def test_what_is_built_in_is_loaded_without_the_current_folder(session):
    things = Registry("thing", {"decoder": "json:JSONDecoder"}, group="none.at.all")
    assert things.find("decoder") is json.JSONDecoder
    assert str(session.parent) not in sys.path


def test_a_model_that_only_a_file_names_is_not_loaded(session, monkeypatch):
    edited(session, "options", {"text": "text", "text_features": "evil-model", "cache": False})
    monkeypatch.setattr("likewise.items.texts._load", lambda name: pytest.fail(f"loads {name}"))
    with closing(open_session_file(session).project) as project:
        assert project.ids
        with pytest.raises(InputError, match="--text-features evil-model"):
            _ = project.features


def test_a_file_does_not_say_where_features_are_kept(session, tmp_path):
    edited(session, "options", {"columns": ["x"], "cache": str(tmp_path / "elsewhere")})
    with closing(open_session_file(session).project) as project:
        assert len(project.features.X) == 12
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("options", [5, "x", ["kind"], {"source": "/etc/passwd"}, {"moon": 1}])
def test_options_that_make_no_sense_are_named(session, options):
    edited(session, "options", options)
    with pytest.raises(LikewiseError):
        open_session_file(session)
