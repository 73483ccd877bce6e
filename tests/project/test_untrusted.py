"""A session file could come from a stranger: it runs no code and takes no memory."""

import base64
import json
import sqlite3
import sys
import tracemalloc
import zlib
from contextlib import closing, contextmanager

import numpy as np
import pytest
from click.testing import CliRunner

from likewise import Session
from likewise.cli import main
from likewise.core.arrays import array_to_json, deflated, from_json
from likewise.core.strategy import STRATEGIES
from likewise.errors import InputError, LikewiseError, SessionFileError
from likewise.items import KINDS
from likewise.learning.learner import VOTERS
from likewise.project import FORMATS, open_project, open_session_file
from likewise.registry import Registry
from likewise.store import Store, schema
from likewise.store.database import LIMITS
from likewise.store.packing import pack

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
        db.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (setting, json.dumps(value)))
        schema.sign_content(db)


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
    names: list[object] = ["evil:X", "json:JSONDecoder", "evil", "", None, {}]
    for name in names:
        with pytest.raises(SessionFileError, match="is not known here"):
            registry.known(name)
    for name in registry.names:
        assert registry.known(name) is registry.find(name)
    assert not (session.parent / "ran").exists()


def test_an_address_that_a_person_gave_is_known_from_then_on(session):
    things: Registry[object] = Registry("thing", {}, group="none.at.all")
    found = things.find("evil:X")
    assert things.known("evil:X") is found
    assert things.names == []
    assert str(session.parent) in sys.path


def test_what_is_built_in_is_loaded_without_the_current_folder(session):
    things: Registry[object] = Registry(
        "thing", {"decoder": "json:JSONDecoder"}, group="none.at.all"
    )
    assert things.find("decoder") is json.JSONDecoder
    assert str(session.parent) not in sys.path


def test_an_encoder_that_only_a_file_names_is_not_loaded(session, monkeypatch):
    edited(session, "options", {"text": "text", "encoder": "evil.onnx", "cache": False})
    load = "likewise.items.texts.text_encoder"
    monkeypatch.setattr(load, lambda name: pytest.fail(f"loads {name}"))
    with closing(open_session_file(session).project) as project:
        assert project.ids
        with pytest.raises(InputError, match=r"--encoder evil\.onnx"):
            _ = project.features


@pytest.mark.parametrize(
    "recipe",
    [
        None,
        {},
        {"columns": 5, "table": ["text", "x"]},
        {"columns": {}, "table": ["text", "x"]},
        {"columns": {"x": {"low": "a"}}, "table": ["text", "x"]},
        {"columns": {"text": {"letters": {"of": 1, "by": 2, "terms": 3}}}, "table": ["text", "x"]},
    ],
)
def test_a_recipe_that_makes_no_sense_is_damage(session, recipe):
    aspect = {"name": "a", "description": "", "better": "", "columns": None, "recipe": recipe}
    with closing(sqlite3.connect(session)) as db, db:
        db.execute(
            "UPDATE payloads SET data = ? WHERE name = 'aspects'", (deflated(pack([aspect])),)
        )
        schema.sign_content(db)
    with (
        closing(open_session_file(session).project) as project,
        pytest.raises(SessionFileError, match="payload 'aspects' is damaged"),
    ):
        _ = project.features


def test_a_file_does_not_say_where_features_are_kept(session, tmp_path):
    edited(session, "options", {"columns": ["x"], "cache": str(tmp_path / "elsewhere")})
    with closing(open_session_file(session).project) as project:
        assert len(project.features.X) == 12
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    "options",
    [
        5, "x", ["kind"], {"source": "/etc/passwd"}, {"moon": 1}, {"columns": 1.5}, {"show": True},
        {"encoding": []}, {"delimiter": 5}, {"encoder": [None]}, {"encoder": 5}, {"features": []},
        {"items": 5}, {"sheet": []}, {"kind": []}, {"header": "x", "text": 5},
    ],
)  # fmt: skip
def test_options_that_make_no_sense_are_named(session, options):
    edited(session, "options", options)
    with pytest.raises(LikewiseError):
        open_session_file(session)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("unshown", ["zz"]),
        ("unshown", [True]),
        ("unshown", [99]),
        ("unshown", [-1]),
        ("joined", [[]]),
        ("renamed", {"0": []}),
        ("copies", {"0": [5]}),
        ("paths", [5]),
        ("groups", []),
        ("group_names", [None]),
        ("low", ["x"]),
    ],
)
def test_what_is_in_a_setting_is_checked(session, setting, value):
    edited(session, setting, value)
    with pytest.raises(LikewiseError, match=setting):
        open_session_file(session)


# -- SQLite ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON log BEGIN DELETE FROM payloads; END",
        "CREATE VIEW v AS SELECT * FROM settings",
        "CREATE TABLE more (x)",
        "CREATE VIRTUAL TABLE f USING fts5(x)",
        "CREATE INDEX i ON log (load_extension('x'))",
        "DROP TRIGGER log_keeps_entries",
        "ALTER TABLE settings ADD COLUMN x DEFAULT (randomblob(10))",
    ],
)
def test_tables_views_and_triggers_of_a_stranger_are_refused(session, statement):
    with closing(sqlite3.connect(session)) as db, db:
        try:
            db.execute(statement)
        except sqlite3.OperationalError:  # an index may not call a function that is not constant
            db.execute("CREATE INDEX i ON log (op)")
    with pytest.raises(SessionFileError, match="is not that of a project file"):
        Store.open(session)


def test_a_file_cannot_make_sqlite_call_functions_or_take_much(session):
    with Store.open(session) as store:
        assert store._db.execute("PRAGMA trusted_schema").fetchone() == (0,)
        assert store._db.execute("PRAGMA cell_size_check").fetchone() == (1,)
        for limit, most in LIMITS.items():
            assert store._db.getlimit(limit) <= most


# -- bombs -------------------------------------------------------------------------------------


def bomb(size):
    """Return bytes that unpack to `size` zeros, made without that many."""
    packing = zlib.compressobj(9)
    head = packing.compress(bytes(1 << 20)) + packing.flush(zlib.Z_FULL_FLUSH)
    block = packing.compress(bytes(1 << 20)) + packing.flush(zlib.Z_FULL_FLUSH)
    return head + block * (size >> 20)


@contextmanager
def little_memory(n_bytes):
    """Fail where more memory is taken than this at any time."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < n_bytes
    finally:
        tracemalloc.stop()


def test_a_payload_that_unpacks_to_gigabytes_is_refused_before_it_does(session):
    data = bomb(2 << 30)
    with closing(sqlite3.connect(session)) as db, db:
        db.execute("UPDATE payloads SET data = ?", (data,))
        schema.sign_content(db)
    with (
        little_memory(400 << 20),
        pytest.raises(SessionFileError, match="compressed bytes would become more than"),
    ):
        open_session_file(session)


@pytest.mark.parametrize("shape", [[1 << 28], [1 << 14, 1 << 14], [10**30]])
def test_an_array_is_no_larger_than_its_bytes_allow(shape):
    array = {"base64": base64.b64encode(bomb(1 << 28)).decode(), "dtype": "<f8", "shape": shape}
    with little_memory(100 << 20), pytest.raises(SessionFileError, match="cannot hold an array"):
        from_json(array)


@pytest.mark.parametrize(
    "change",
    [
        {"dtype": "|O"}, {"dtype": "V8"}, {"dtype": "U4"}, {"dtype": "M8[s]"}, {"dtype": 5},
        {"shape": [-1]}, {"shape": [3.0]}, {"shape": "3"}, {"shape": [True]}, {"shape": [4]},
        {"base64": "!"}, {"base64": ""}, {"base64": None}, {"base64": "eJwDAAAAAAE="},
    ],
)  # fmt: skip
def test_an_array_that_is_not_what_it_says_is_refused(change):
    good = array_to_json(np.arange(3.0))
    assert from_json(good).tolist() == [0, 1, 2]
    with pytest.raises(SessionFileError):
        from_json({**good, **change})


def test_a_json_session_with_a_bomb_or_without_end_is_refused():
    deep: object = []
    for _ in range(100_000):
        deep = [deep]
    array = {"base64": base64.b64encode(bomb(1 << 28)).decode(), "dtype": "<f8", "shape": [1 << 25]}
    for strategy in (array, deep):
        plain = {"format": "likewise-session", "schema": 1, "strategy": strategy, "log": []}
        with pytest.raises(SessionFileError):
            Session.from_dict(plain)
