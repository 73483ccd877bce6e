"""Which text may be stored and shown: one rule, whatever it comes from."""

import json
import os
import sys
from contextlib import closing

import numpy as np
import pytest
from click.testing import CliRunner

from likewise import COBRA, Session
from likewise.cli import main
from likewise.errors import InputError, SessionFileError
from likewise.items import Items, open_items
from likewise.project import Project, open_project
from likewise.store import Store
from likewise.words import check_text, escaped, is_fit

UNFIT = ["caf\udce9?", "a\ud800b", "a\0b", "\x1b[31mred", "\x9b2J", "a\x7f"]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n2\n7\n8\n")
    return path


@pytest.fixture
def session():
    return COBRA(4, random_state=0).start(np.array([[1.0], [2.0], [7.0], [8.0]]))


@pytest.mark.parametrize("text", UNFIT)
def test_control_characters_and_lone_surrogates_are_not_fit(text):
    assert not is_fit(text)
    assert not is_fit(text, in_lines=True)
    assert is_fit(escaped(text))
    with pytest.raises(InputError, match=r"a note has no control characters.*Leave them out"):
        check_text(text, "a note", in_lines=True)


def test_line_breaks_and_tabs_are_for_texts_of_several_lines():
    text = "one\r\ntwo\tthree"
    assert is_fit(text, in_lines=True)
    assert not is_fit(text)
    assert escaped(text, in_lines=True) == text


def test_letters_of_any_script_are_fit():
    text = "Käse, 北京, עברית, 👩‍👩‍👧, \u202e, \u00a0"
    assert is_fit(text)
    assert escaped(text) == text


@pytest.mark.skipif(os.name == "nt", reason="such names of files are those of POSIX")
def test_no_command_sends_what_a_file_is_called_to_the_terminal_as_it_is(table, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(table.parent / "cache"))
    odd = table.rename(table.with_name("bell\x07\x1b]0;caf\udce9.csv"))
    session = table.with_name(f"{odd.name}.likewise")
    out = table.with_name("out\x07.csv")
    away = table.with_name("away.likewise")
    for arguments, code in (
        (["label", odd, "--terminal"], 0),
        (["check", session], 0),
        (["check", odd], 1),
        (["check", "--repair", odd], 1),
        (["update", odd], 0),
        (["backup", session, away], 0),
        (["backup", session, away], 1),
        (["backup", session, out], 0),
        (["export", session, "-o", out, "--format", "csv"], 1),
        (["export", session, "-o", out.with_suffix(".xlsx")], 0),
        (["export", session, "-o", out.with_suffix(".zzz")], 1),
        (["export", odd, "-o", out], 1),
        (["agreement", odd], 1),
    ):
        result = CliRunner().invoke(main, list(map(str, arguments)), input="")
        assert result.exit_code == code, result.output
        assert is_fit(result.output, in_lines=True), arguments
        assert "\\x07" in result.output or arguments[-1] == away
    with Store.open(away) as store:  # as a stranger may have it
        store.set("path", "/nowhere\x07.csv")
    result = CliRunner().invoke(main, ["export", str(away), "-o", str(table)])
    assert "nowhere\\x07.csv" in result.output


def test_escapes_say_which_byte_or_character_it_was():
    assert escaped("caf\udce9 \x07 \ud800") == "caf\\xe9 \\x07 \\ud800"


@pytest.mark.parametrize("text", UNFIT)
def test_an_instruction_is_refused_by_the_command_and_in_python(text, table, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(table.parent / "cache"))
    result = CliRunner().invoke(main, ["label", str(table), "--terminal", "--instruction", text])
    assert result.exit_code == 1
    assert "an instruction has no control characters" in result.output
    with closing(open_project(table, options={"cache": False}).project) as project:
        assert project.instruction == ""
        with pytest.raises(InputError, match="an instruction has no control"):
            project.instruction = text


@pytest.mark.parametrize("text", UNFIT)
def test_an_instruction_in_a_file_is_damage_that_shows_when_it_is_opened(text, table):
    opened = open_project(table, options={"cache": False})
    opened.project.close()
    with Store.open(opened.path) as store:
        store.set("instruction", text)
    with pytest.raises(SessionFileError, match="is damaged: the instruction has no control"):
        open_project(table)


@pytest.mark.parametrize("text", UNFIT)
def test_names_and_signatures_are_refused_in_python(text, session):
    question = session.ask()
    before = session.to_dict()
    with pytest.raises(InputError, match="a name has no control"):
        session.name({0: text})
    with pytest.raises(InputError, match="'by' has no control"):
        session.tell("same", by=text)
    with pytest.raises(InputError, match="'at' has no control"):
        session.mark(question.row, at=text)
    assert session.to_dict() == before


@pytest.mark.parametrize("text", UNFIT)
def test_names_and_signatures_are_refused_in_a_file(text, session):
    session.ask()
    session.tell("same", by="Ada")
    session.name({0: "cats"})
    saved = json.dumps(session.to_dict())
    assert Session.from_dict(json.loads(saved)).names == {0: "cats"}
    for good in ("Ada", "cats"):
        forged = json.loads(saved.replace(json.dumps(good), json.dumps(text)))
        with pytest.raises(SessionFileError, match="entry that cannot be read"):
            Session.from_dict(forged)


@pytest.mark.parametrize("text", UNFIT)
def test_ids_are_refused_in_python_and_from_other_kinds_of_items(text, table):
    with pytest.raises(InputError, match="an id has no control"):
        COBRA(2, random_state=0).start(np.eye(3), sample_ids=["a", "b", text])

    class Things(Items):
        kind = "things"

        def view(self, i):
            return {"kind": self.kind}

        def content_hash(self, i):
            return str(i)

        def _make_features(self, progress):
            raise NotImplementedError

    with pytest.raises(InputError, match="an id has no control"):
        Things(table, ["a", text])


@pytest.mark.parametrize("text", UNFIT)
def test_somebody_who_answers_has_a_name_that_can_be_shown(text, table, session):
    items = open_items(table, cache=False)
    with pytest.raises(InputError, match="by has no control"):
        Project(session, items, by=text)


def test_cells_and_ids_of_a_table_are_shown_with_escapes(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"id": "a\\u001b", "t": "\\ud800 x"}\n{"id": "b", "t": "two\\nlines"}\n')
    items = open_items(path, id="id", cache=False)
    assert items.ids == ("a\\x1b", "b")
    assert items.view(0)["fields"] == [["t", "\\ud800 x"]]
    assert items.view(1)["fields"] == [["t", "two\nlines"]]


@pytest.mark.skipif(sys.platform != "linux", reason="names there are any bytes")
def test_a_table_with_a_name_of_any_bytes_opens_and_opens_again(table):
    path = os.fsdecode(os.fsencode(table.parent) + b"/caf\xe9\n.csv")
    os.rename(table, path)
    for _ in range(2):
        opened = open_project(path, questions="pairs", options={"cache": False})
        opened.project.ask()
        opened.project.close()
    assert opened.path.name == "caf\udce9\n.csv.likewise"
