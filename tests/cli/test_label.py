import errno
import io
import itertools
import os
import re
import sys
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from click.testing import CliRunner

from likewise import Answer, LabelOracle, run
from likewise.cli import main
from likewise.cli.terminal import group_keys, run_terminal
from likewise.core.reports import Completeness, Merge
from likewise.project import open_project
from likewise.project.lives import key_of, keys_of


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "in" / "towns.csv"
    path.parent.mkdir()
    path.write_text("town,people,country\nA,10,x\nB,11,x\nC,900,y\nD,905,y\nE,12,x\n")
    return path


def label(path, keys, *options):
    args = ["label", str(path), "--terminal", "--super-instances", "5", *options]
    return CliRunner().invoke(main, args, input=keys)


def test_the_terminal_aligns_rows_and_marks_what_differs(table):
    result = label(table, "q\n")
    assert result.exit_code == 0
    lines = [line for line in result.output.splitlines() if line.startswith("  ")]
    columns = {line.index("≠") for line in lines if "≠" in line}
    assert len(columns) == 1
    assert any(line.split() == ["country", "x", "x"] for line in lines)


def test_groups_without_an_answer_are_called_a_first_guess(table):
    assert "0 answered, 5 groups before any answer" in label(table, "q\n").output
    assert "1 answered, 4 groups" in label(table, "s\nq\n").output


def test_the_terminal_has_the_keys_of_the_page(table):
    result = label(table, "s\nd\nu\nz\nz\nZ\n?\nq\n")
    assert result.exit_code == 0
    assert "undo, as often as you like" in result.output
    assert "2 answers are in" in result.output


def test_a_piped_line_that_is_no_key_ends_it_and_keeps_the_answers(table):
    result = label(table, "s\n!\nd\n")
    assert result.exit_code == 1
    assert "Error: '!' is none of the keys s d u" in result.output
    assert "1 answer is in" in result.output


def test_a_wrong_key_of_a_person_is_named_and_the_question_comes_again(table, capsys):
    keys = iter("!sq")
    with closing(open_project(table).project) as project:
        run_terminal(project, lambda: next(keys))
        assert len(project.session.events) == 1
    assert "'!' is none of the keys s d u" in capsys.readouterr().out


def test_the_same_command_goes_on_where_it_stopped(table):
    label(table, "s\ns\nq\n")
    result = label(table, "q\n")
    assert "goes on: 2 answers" in result.output
    assert "3. Do these two belong together?" in result.output


def test_the_end_is_a_screen_with_the_groups_and_can_be_undone(table):
    keys = "s\n" * 4
    result = label(table, keys + "z\ns\nq\n")
    assert result.output.count("Nothing is left to ask. These are the groups:") == 2
    assert "likewise export" in result.output


def test_choices_are_answered_by_number_in_the_terminal(tmp_path):
    path = tmp_path / "shops.csv"
    rows = [f"{k},{k % 3 * 50 + k / 10},{k % 3 * 20}" for k in range(60)]
    path.write_text("shop,sales,staff\n" + "\n".join(rows) + "\n")
    args = ["label", str(path), "--terminal", "--id", "shop"]
    keys = "d\n0\n1\nu\ng\nq\n"
    result = CliRunner().invoke(main, args, input=keys)
    assert result.exit_code == 0, result.output
    assert "[0] none of these  [/] find  [u]nsure" in result.output
    assert "To which of these does it belong?" in result.output
    assert "is none of the keys" not in result.output
    assert f"likewise export {path}.likewise -o shops-groups.csv" in result.output
    assert "4 answers are in" in result.output


@pytest.fixture
def many(tmp_path, monkeypatch):
    """A project about 60 numbers in a terminal of 80 columns, after 12 times *none of these*."""
    monkeypatch.setenv("COLUMNS", "80")
    path = tmp_path / "numbers.csv"
    path.write_text("id,n,m\n" + "".join(f"shop{k},{k * k},{k % 7}\n" for k in range(60)))
    project = open_project(path, options={"id": "id"}).project
    for _ in range(12):
        question = project.ask()
        chosen = question.place(Answer.NONE)
        project.choose(chosen, number=question.number, position=project.position)
    yield project
    project.close()


def type_in(project, *keys):
    """Press keys one after the other; a text stands for its letters and Enter."""
    letters = (one for key in keys for one in ((*key, "\r") if len(key) > 1 else (key,)))
    run_terminal(project, partial(next, letters, "q"))


def test_every_group_can_be_chosen_those_not_shown_by_their_key(many, capsys):
    query = many.ask()
    keys = group_keys(many, query)
    assert len(keys) > 6
    far = max(keys, key=lambda key: keys[key])
    type_in(many, *far)
    shown = capsys.readouterr().out
    assert all(len(line) <= 80 for line in shown.splitlines())
    listed = re.findall(r"(?:^  |   )(\w\w?) shop\d+", shown, re.M)
    header = next(line for line in shown.splitlines() if line.strip().startswith("it "))
    assert set(listed) | set(header.split()[1:]) >= {key.upper() for key in keys}
    said = many.session.events[-1]
    assert (said.left, said.right) == (query.row, query.groups[keys[far]][0])


def test_numbers_have_a_strip_with_the_spread_the_middle_and_the_item(many, capsys):
    type_in(many)
    shown = capsys.readouterr().out
    assert "┼ its middle" in shown
    lines = [line for line in shown.splitlines() if re.match(r"  [nm] ", line)]
    assert len(lines) == 2
    for line in lines:
        assert line.count("◆") >= 2
    # The item is at the same place in every strip.
    n_columns = {tuple(m.start() for m in re.finditer("◆", line)) for line in lines}
    gaps = [{b - a for a, b in itertools.pairwise(one)} for one in n_columns]
    assert all(len(one) == 1 for one in gaps)


def test_a_group_is_called_by_a_name_and_found_by_it(many, capsys):
    query = many.ask()
    keys = group_keys(many, query)
    key = min(keys, key=lambda key: keys[key])
    type_in(many, "c", f"{key} blue shops", "c", "? nothing", "/", "no such name", "/", "shop")
    shown = capsys.readouterr().out
    assert "there is no group '?'" in shown
    assert "no group fits 'no such name'" in shown
    assert "several groups fit: " in shown
    assert "blue shops" in {group.name for group in many.groups()}
    assert many.ask() == query
    type_in(many, "/", "LUE sh")
    said = many.session.events[-1]
    assert (said.left, said.right) == (query.row, query.groups[keys[key]][0])
    type_in(many, "c", "\x1b", "/", "\x1b")
    assert many.session.events[-1] == said


def test_groups_that_may_be_one_are_suggested_in_a_quiet_line(many, capsys, monkeypatch):
    query = many.ask()
    pair = query.groups[0][0], query.groups[1][0]
    suggested = property(lambda session: [Merge(*pair, 0.4)])
    monkeypatch.setattr(type(many.session), "merges", suggested)
    type_in(many, "+")
    shown = capsys.readouterr().out
    assert shown.count("Perhaps one: ") == 1  # they are one now
    assert "[+] merge them" in shown
    assert many.session.links.implied(*pair) is Answer.SAME
    many.undo(position=many.position)
    type_in(many, "-")
    assert many.session.links.implied(*pair) is Answer.DIFFERENT


def test_after_twenty_groups_keys_have_two_letters_typed_or_piped(tmp_path, capsys):
    path = tmp_path / "numbers.csv"
    path.write_text("n\n" + "".join(f"{k * k}\n" for k in range(60)))
    with closing(open_project(path, session=tmp_path / "typed").project) as project:

        def typed():
            """Say none of these until a group with two letters is shown; choose that one."""
            while not (long := [key for key in group_keys(project, project.ask()) if key[1:]]):
                yield "0" if group_keys(project, project.ask()) else "d"
            yield from (*long[0].upper(), "q")

        run_terminal(project, partial(next, typed()))
        chosen = project.session.events[-1]
        assert key_of(keys_of(project.session)[int(project.session.labels[chosen.left])]) == "w1"
        keys = "d\n" + "0\n" * (len(project.session.events) - 2) + "W1\nq\n"
        said = project.session.events
    args = ["label", str(path), "--terminal", "--session", str(tmp_path / "piped")]
    assert CliRunner().invoke(main, args, input=keys).exit_code == 0
    with closing(open_project(path, session=tmp_path / "piped").project) as project:
        assert [e.links for e in project.session.events] == [e.links for e in said]
        said_so_far = capsys.readouterr().out
        keys_typed = iter(["!", "q"])
        run_terminal(project, lambda: next(keys_typed))
        told = capsys.readouterr().out.splitlines()
        refused = told.index(next(line for line in told if "is none of the keys" in line))
        assert told[refused + 1].strip()
        assert all(len(line) <= 80 for line in told)
    assert "is none of the keys" not in said_so_far


def test_groups_to_choose_from_show_what_is_in_them_and_no_text_comes_twice(tmp_path):
    texts = tmp_path / "tickets.csv"
    kinds = ["the paper is stuck", "the password is old", "the bill is wrong"]
    rows = [f"{1000 + k},{kinds[k % 3]} again {k}" for k in range(60)]
    texts.write_text("number,body\n" + "\n".join(rows) + "\n")
    args = ["label", str(texts), "--terminal", "--text", "body"]
    said = CliRunner().invoke(main, [*args, "--id", "number"], input="d\nq\n").output
    assert re.search(r"^  1  10\d\d · the \w+ is \w+ again \d+$", said, re.M)
    other = str(tmp_path / "without.likewise")
    said = CliRunner().invoke(main, [*args, "--session", other], input="d\nq\n").output
    choice = said[said.index("To which of these") :]
    assert re.search(r"^  1  the \w+ is \w+ again \d+$", choice, re.M)
    assert len(re.findall(r"^     the \w+ is \w+ again \d+$", choice, re.M)) == 1

    series = tmp_path / "days.csv"
    shapes = [[0, 1, 0, 1, 0, 1], [0, 1, 2, 3, 4, 5]]
    rows = [
        ",".join(map(str, [f"day{k}", *(v + k / 99 for v in shapes[k % 2])])) for k in range(40)
    ]
    series.write_text("day,a,b,c,d,e,f\n" + "\n".join(rows) + "\n")
    args = ["label", str(series), "--terminal", "--series", "--id", "day"]
    said = CliRunner().invoke(main, args, input="d\nq\n").output
    # The item's curve and those of the groups are below each other, from end to end.
    choice = said[said.index("To which of these") :]
    assert re.search(r"^  1  day\d+ +[▁-█]{45}$", choice, re.M)
    assert {m.span() for m in map(re.compile("[▁-█]+").search, choice.splitlines()) if m} == {
        (34, 79)
    }


def test_what_is_known_already_is_not_asked(table, tmp_path):
    known = tmp_path / "known.csv"
    known.write_text("id,group\n0,small\n1,small\n4,small\n2,large\n")
    result = label(table, "q\n", "--known", str(known))
    assert "3 new links" in result.output
    assert "0 new links" in label(table, "q\n", "--known", str(known)).output
    known.write_text("id,group\n0,a\n1,a\n1,b\n")
    result = label(table, "q\n", "--known", str(known))
    assert result.exit_code != 0
    assert "line 4 puts 1 into group 'b', line 3 into 'a'" in result.output


def test_the_end_of_the_input_ends_the_session(table):
    assert label(table, "s\n").exit_code == 0


def test_texts_stand_side_by_side_and_steer_no_terminal(tmp_path):
    path = tmp_path / "mails.csv"
    path.write_text('body\n"hello \x1b[31mred world"\n"good\nbye now"\n"\u202eevil text"\n')
    result = label(path, "q\n", "--text", "body")
    assert result.exit_code == 0
    assert "\x1b" not in result.output
    assert "\u202e" not in result.output
    assert " │ " in result.output


def test_of_long_texts_more_is_read_on_and_of_short_ones_there_is_no_more(tmp_path):
    path = tmp_path / "mails.csv"
    path.write_text("body\n" + "\n".join(f"the {k}th letter " * 60 for k in range(3)) + "\n")
    said = label(path, "m\nq\n", "--text", "body", "--encoder", "words").output
    first, second = said.split("Do these two belong together?")[1:]
    assert "more lines: [m]" in first
    assert "[m] more" in first
    assert len(first.splitlines()) <= 24
    assert "[m]" not in second
    assert second.count("letter") == 120


def test_in_a_low_window_an_item_and_the_groups_are_seen_together(tmp_path, capsys, monkeypatch):
    path = tmp_path / "mails.csv"
    kinds = [f"{'abcdef'[k % 6] * 4} number {k} " * 90 for k in range(36)]
    path.write_text("body\n" + "\n".join(kinds) + "\n")
    project = open_project(path, options={"text": "body", "encoder": "words"}).project
    for _ in range(20):
        question = project.ask()
        fits = (k for k, g in enumerate(question.groups) if g[0] % 6 == question.row % 6)
        chosen = next(fits, Answer.NONE)
        project.choose(chosen, number=question.number, position=project.position)
    rows = [row for group in project.ask().groups for row in group]
    assert len(rows) > 6
    for lines, n_shown in ((24, 6), (60, len(rows))):
        size = os.terminal_size((80, lines))
        monkeypatch.setattr("shutil.get_terminal_size", lambda fallback, size=size: size)
        run_terminal(project, lambda: "q")
        shown = capsys.readouterr().out
        assert len(shown.splitlines()) <= lines
        groups = shown[re.search("^  1 ", shown, re.M).start() :]
        assert len(re.findall(r"^  [ 1-6]  \w{4} number", groups, re.M)) == n_shown
    project.close()


def test_pictures_are_paths(tmp_path):
    image = pytest.importorskip("PIL.Image", reason='pip install "likewise[app]"')
    folder = tmp_path / "photos"
    folder.mkdir()
    for k in range(4):
        image.new("RGB", (8, 8), (k * 60, 0, 0)).save(folder / f"{k}.png")
    result = label(folder, "q\n", "--encoder", "layout")
    assert result.exit_code == 0
    assert result.output.count(f"{folder}{os.sep}") == 2
    assert (tmp_path / "photos.likewise").exists()


def test_a_session_stays_with_the_features_it_was_begun_with(tmp_path, monkeypatch):
    image = pytest.importorskip("PIL.Image", reason='pip install "likewise[app]"')
    for k in range(4):
        image.new("RGB", (8, 8), (k * 60, 0, 0)).save(tmp_path / f"{k}.png")
    from likewise.items.images import recipes

    monkeypatch.setattr(recipes, "installed", lambda name: False)
    begun = open_project(tmp_path, session=tmp_path / "s.likewise").project
    begun.close()
    monkeypatch.setattr(recipes, "installed", lambda name: True)
    later = open_project(tmp_path, session=tmp_path / "s.likewise").project
    assert "without a network" in later.features.description
    later.close()


def test_a_session_stays_with_the_options_it_was_begun_with(table):
    label(table, "s\nq\n", "--id", "town")
    assert CliRunner().invoke(main, ["label", str(table), "--terminal"], input="q\n").exit_code == 0
    result = label(table, "q\n", "--id", "country")
    assert result.exit_code == 1
    assert "was begun with --id town, not country" in result.output
    assert "--session FILE" in result.output


def test_the_session_can_be_put_elsewhere(table, tmp_path):
    label(table, "s\nq\n", "--session", str(tmp_path / "mine.likewise"))
    assert (tmp_path / "mine.likewise").exists()
    assert not table.with_name("towns.csv.likewise").exists()


def test_a_place_that_cannot_be_written_to_is_said(table, tmp_path, monkeypatch):
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and real(path, mode))
    result = label(table, "s\nq\n")
    assert "so the session is kept in" in result.output
    assert len(list((tmp_path / "cache" / "likewise" / "sessions").iterdir())) == 1


def test_an_answer_given_elsewhere_meanwhile_is_not_lost(table, capsys):
    first = open_project(table, n_super_instances=5).project
    second = open_project(table).project
    keys = iter(["s", "q"])

    def read():
        key = next(keys)
        if key == "s":
            second.undo(position=second.position)
            query = second.ask()
            from likewise import Answer

            second.tell(Answer.DIFFERENT, number=query.number, position=second.position)
        return key

    run_terminal(first, read)
    assert "Somebody answered elsewhere" in capsys.readouterr().out
    assert [e.answer.value for e in first.session.events] == ["different"]
    first.close()
    second.close()


def test_the_terminal_says_how_complete_the_groups_are(table, capsys, monkeypatch):
    project = open_project(table, n_super_instances=5).project
    made = project.session.assessment
    complete = partial(Completeness, 0.95, 0.8)
    for is_enough, words in ((False, "About 95% right"), (True, "You can stop here · about 95%")):
        said = replace(made, completeness=complete, is_enough=partial(bool, is_enough))
        monkeypatch.setattr(project.session.strategy, "assess", Mock(return_value=said))
        project.session.name({0: f"name {is_enough}"})  # nothing is kept from the state before
        run_terminal(project, lambda: "q")
        assert words in capsys.readouterr().out
    project.close()


def test_the_terminal_shows_the_groups_and_how_they_are_known(table):
    result = label(table, "s\nd\ng\nq\n")
    assert re.search(r"^  1  2 items \(2 said\)", result.output, re.M)
    assert re.search(r"^       town [A-E] · people \d+ · country [xy]$", result.output, re.M)
    assert " open)" in result.output


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "json", "py", "parquet"])
def test_export_writes_every_format(table, tmp_path, suffix):
    if suffix == "parquet":
        pytest.importorskip("pyarrow", reason='pip install "likewise[tables]"')
    label(table, "s\n" * 4)
    session = table.with_name("towns.csv.likewise")
    target = tmp_path / f"out.{suffix}"
    result = CliRunner().invoke(main, ["export", str(session), "-o", str(target)])
    assert result.exit_code == 0, result.output
    assert "5 items in 1 group" in result.output
    assert target.stat().st_size > 0


def test_the_exported_snippet_loads_the_exported_session(table, tmp_path, monkeypatch):
    label(table, "s\n" * 4, "--id", "town")
    session = str(table.with_name("towns.csv.likewise"))
    for name in ("towns-session.json", "load.py"):
        CliRunner().invoke(main, ["export", session, "-o", str(tmp_path / name)])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setattr(sys, "argv", ["load.py"])
    scope: dict[str, Any] = {}
    exec((tmp_path / "load.py").read_text(), scope)
    assert scope["groups"] == dict.fromkeys("ABCDE", "1")
    assert scope["model"].n_clusters_ == 1


def test_export_refuses_what_it_does_not_know(table, tmp_path):
    label(table, "q\n")
    session = str(table.with_name("towns.csv.likewise"))
    result = CliRunner().invoke(main, ["export", session, "-o", str(tmp_path / "x.xls")])
    assert result.exit_code == 1
    assert "must end in one of .csv" in result.output
    args = ["export", session, "-o", str(tmp_path / "x.csv")]
    result = CliRunner().invoke(main, [*args, "--format", "xls"])
    assert "there is no export format 'xls', only csv" in result.output
    result = CliRunner().invoke(main, [*args, "--format", "csv", "--only-new"])
    assert "nothing joined" in result.output
    table.unlink()
    result = CliRunner().invoke(main, ["export", session, "-o", str(tmp_path / "x.csv")])
    assert "is no longer there" in result.output


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = label(tmp_path / "t.parquet", "q\n")
    assert result.exit_code == 1
    assert 'pip install "likewise[tables]"' in result.output
    assert "Traceback" not in result.output


def test_the_first_line_is_a_row_if_one_says_so(tmp_path):
    path = tmp_path / "flowers.csv"
    path.write_text("flower,kind\n4.9,setosa\n6.3,virginica\n6.1,virginica\n")
    assert "3 rows from" in label(path, "q\n", "--session", str(tmp_path / "s")).output
    result = label(path, "q\n", "--no-header")
    assert "4 rows from" in result.output
    assert "column 2" in result.output
    assert "goes on" in label(path, "q\n", "--no-header").output
    assert "had no answers" in label(path, "s\nq\n", "--header").output
    assert "was begun with --header True" in label(path, "q\n", "--no-header").output


def test_export_never_replaces_the_file_that_the_items_come_from(table):
    label(table, "s\nq\n")
    before = table.read_bytes()
    result = CliRunner().invoke(main, ["export", f"{table}.likewise", "-o", str(table)])
    assert result.exit_code == 1
    assert "is the file that the items come from" in result.output
    assert "towns-groups.csv" in result.output
    assert table.read_bytes() == before
    session = table.with_name("towns.csv.likewise")
    before = session.read_bytes()
    args = ["export", str(session), "-o", str(session), "--format", "csv"]
    result = CliRunner().invoke(main, args)
    assert "is the session, and would be replaced" in result.output
    assert session.read_bytes() == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
def test_export_never_replaces_another_session_or_a_device(table, tmp_path):
    label(table, "s\nq\n")
    session = table.with_name("towns.csv.likewise")
    other = tmp_path / "other.db"  # whatever it is called
    other.write_bytes(session.read_bytes())
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    for path, why in ((other, "is another session"), (pipe, "is a pipe, not a regular file")):
        before = _as_written(path)
        args = ["export", str(session), "-o", str(path), "--format", "csv"]
        result = CliRunner().invoke(main, args)
        assert result.exit_code == 1
        assert why in result.output
        assert _as_written(path) == before


def _as_written(path):
    """Return what changes when a file is written or replaced, but not when it is read."""
    now = path.lstat()
    return now.st_ino, now.st_mode, now.st_size, now.st_mtime_ns


def test_export_never_replaces_a_picture_of_the_folder(tmp_path):
    image = pytest.importorskip("PIL.Image", reason='pip install "likewise[app]"')
    folder = tmp_path / "pictures"
    (folder / "in").mkdir(parents=True)
    for k in range(4):
        image.new("RGB", (8, 8), (60 * k, 0, 0)).save(folder / "in" / f"{k}.png")
    result = label(folder, "s\nq\n", "--encoder", "layout")
    assert result.exit_code == 0, result.output
    before = (folder / "in" / "2.png").read_bytes()
    for name, code in (("in/2.png", 1), ("in/groups.png", 0)):
        args = ["export", f"{folder}.likewise", "-o", str(folder / name), "--format", "csv"]
        result = CliRunner().invoke(main, args)
        assert result.exit_code == code
        assert ("is one of the items" in result.output) == bool(code)
    assert (folder / "in" / "2.png").read_bytes() == before


def test_a_session_is_not_what_is_labeled(table):
    label(table, "q\n")
    result = label(table.with_name("towns.csv.likewise"), "q\n")
    assert result.exit_code == 1
    assert "is a session. To go on with it, give what it is about" in result.output


def test_a_session_without_an_answer_says_so(table):
    result = label(table, "q\n")
    assert f"No answer was given; the session is in {table}.likewise. Run the same" in result.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--strategy", "os:path"], "os:path is not a strategy: it must be a subclass of"),
        (["--strategy", "random-order"], "choose another one, such as 'most-doubt'"),
        (["--kind", "os:path"], "os:path is not a kind of items"),
        (["--columns", " , "], "name at least one column"),
    ],
)
def test_options_that_cannot_be_used_are_refused_with_the_remedy(table, options, message):
    result = CliRunner().invoke(main, ["label", str(table), "--terminal", *options])
    assert result.exit_code != 0
    assert not result.output.startswith("Traceback")
    assert message in result.output
    assert not list(table.parent.glob("*.likewise"))


def test_several_files_that_are_not_parquet_are_refused(table):
    result = CliRunner().invoke(main, ["label", str(table), str(table), "--terminal"])
    assert "is not a Parquet file, so it cannot be read together" in result.output


def test_a_session_in_memory_has_no_use_for_a_cluster(table, tmp_path):
    label(table, "q\n")
    where = ["export", f"{table}.likewise", "-o", str(tmp_path / "x.csv")]
    result = CliRunner().invoke(main, [*where, "--cluster", "tcp://127.0.0.1:1"])
    assert "--cluster is for data that is read in batches" in result.output
    assert not (tmp_path / "x.csv").exists()


def test_a_place_that_cannot_be_written_is_named_with_the_remedy(tmp_path, monkeypatch):
    monkeypatch.setattr("likewise.cli.demo.ANSWERS", 1)
    (tmp_path / "file").write_text("")
    result = CliRunner().invoke(main, ["demo", "--auto", "-o", str(tmp_path / "file" / "x.html")])
    assert result.exit_code == 1
    assert "x.html cannot be written: its folder is a file" in result.output
    assert "choose a folder that can be written and try again" in result.output


def test_what_the_system_says_about_a_file_is_told_with_the_remedy(tmp_path, monkeypatch):
    def refused(path, text):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr("likewise.cli.demo.ANSWERS", 1)
    monkeypatch.setattr("likewise.cli.demo.write_whole", refused)
    result = CliRunner().invoke(main, ["demo", "--auto", "-o", str(tmp_path / "x.html")])
    assert result.exit_code == 1
    assert "x.html: Permission denied. Choose a place that can be read" in result.output


def test_a_package_that_is_missing_is_said_before_an_address_is_printed(table, monkeypatch):
    pytest.importorskip("starlette", reason='pip install "likewise[app]"')
    monkeypatch.setitem(sys.modules, "sparse_dot_topn", None)
    result = CliRunner().invoke(main, ["label", str(table), "--names", "town", "--no-browser"])
    assert result.exit_code != 0
    assert 'pip install "likewise[names]"' in result.output
    assert "http" not in result.output


def test_the_terminal_says_by_which_aspects_items_are_grouped(tmp_path):
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 2, 40)
    rows = [f"{9.0 * kind + rng.normal():.3f},{rng.choice(['red', 'blue'])}" for kind in kinds]
    (tmp_path / "things.csv").write_text("\n".join(["size,color", *rows]) + "\n")
    project = open_project(tmp_path / "things.csv").project
    run(project.session, LabelOracle(kinds), max_queries=12)
    words = project.session.grouped_by
    assert words.startswith("grouped ")
    with pytest.MonkeyPatch.context() as patch:
        said: list[str] = []
        patch.setattr("click.echo", lambda text="", **_: said.append(str(text)))
        run_terminal(project, read=lambda: "q")
    assert words in "\n".join(said)
    project.close()
