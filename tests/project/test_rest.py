"""A session begins with some of many items; the others are described meanwhile, and join it."""

import signal
import subprocess
import sys
import threading
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from likewise.cli import bar, main
from likewise.cli.terminal import run_terminal
from likewise.core.answers import Answer
from likewise.errors import InputError, StaleQueryError
from likewise.items.images import recipes
from likewise.page.calls import reply_to
from likewise.project import beginning, growing, open_project, open_session_file, rest
from likewise.project.formats import FORMATS, written
from likewise.project.pace import Pace

Image = pytest.importorskip("PIL.Image", reason='pip install "likewise[page]"')

COLORS = ((220, 40, 40), (40, 200, 60), (50, 60, 220))
N, FIRST, PIECE = 60, 20, 8
LAYOUT = {"encoder": "layout"}


def draw(path, k, color):
    pixels = np.random.default_rng(k).integers(0, 30, (16, 16, 3)) + np.array(color) * 0.85
    Image.fromarray(pixels.astype(np.uint8)).save(path)


def truth(name):
    return int(name[:1])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(beginning, "FIRST", FIRST)
    monkeypatch.setattr(rest, "PIECE", PIECE)
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for k in range(N):
        draw(pictures / f"{k % 3}-{k:02}.png", k, COLORS[k % 3])
    return pictures


@pytest.fixture
def described(monkeypatch):
    """A list that gets the number of pictures of every call of the encoder."""
    calls = []

    def describe(pictures, own=recipes.describe):
        calls.append(len(pictures))
        return own(pictures)

    monkeypatch.setattr(recipes, "describe", describe)
    return calls


@pytest.fixture
def begin(folder):
    opened = []

    def open_it(**options):
        opened.append(open_project(folder, options=LAYOUT, **options).project)
        return opened[-1]

    yield open_it
    for project in opened:
        project.close()


def answer(project, position=None):
    """Answer the open question as the names of the pictures say; return it."""
    question = project.ask()
    kind = truth(project.ids[question.row])
    alike = [k for k, rows in enumerate(question.groups) if truth(project.ids[rows[0]]) == kind]
    position = project.position if position is None else position
    chosen = alike[0] if alike else Answer.NONE
    if question.is_pair:
        said = Answer.SAME if alike else Answer.DIFFERENT
        project.tell(said, number=question.number, position=position)
    else:
        project.choose(chosen, number=question.number, position=position)
    return question


def let_all_join(project):
    while project.rest is not None:
        project.rest.step()


def exported(project):
    return written(project, FORMATS.find("csv"))


def test_the_first_question_comes_when_the_first_items_are_described(begin, described):
    project = begin()
    assert sum(described) == len(project.ids) == FIRST
    assert project.ask() is not None
    assert project.rest.line.startswith("20 of 60 pictures so far; the others join automatically")
    assert project.features.X.shape == (FIRST, 1956)
    assert sum(described) == FIRST


def test_which_items_are_first_depends_on_the_seed_alone(folder, begin):
    first, question = begin().ids, begin().ask()
    others = begin(session=folder.parent / "b.likewise")
    assert others.ids == first  # now all of these are in the cache
    let_all_join(others)
    again = begin(session=folder.parent / "c.likewise")  # and now those of all pictures
    assert again.ids == first
    assert again.ask() == question
    assert begin(session=folder.parent / "d.likewise", seed=1).ids != first


def test_questions_and_results_are_the_same_whenever_the_others_join(folder, begin):
    seen = []
    for when in (0, 1, 5, 12):
        project = begin(session=folder.parent / f"{when}.likewise")
        questions = []
        for n in range(12):
            if n == when:
                let_all_join(project)
            questions.append(answer(project))
        let_all_join(project)
        seen.append((questions, exported(project)))
    assert all(one == seen[0] for one in seen)
    assert seen[0][1].count(b"\n") == N + 1


def test_no_question_is_about_what_joined_but_its_groups_are_learned(begin):
    project = begin()
    let_all_join(project)
    asked = [answer(project) for _ in range(FIRST - 1) if project.ask() is not None]
    shown = {row for question in asked for row in (question.row, *sum(question.groups, ()))}
    assert max(shown) < FIRST
    groups = {name: project.session.labels[row] for row, name in enumerate(project.ids)}
    assert len(groups) == N
    assert len({(truth(name), label) for name, label in groups.items()}) == 3


def test_what_was_described_is_kept_when_the_process_ends(begin, described):
    project = begin()
    project.rest.step()
    project.rest.step()
    project.close()
    described.clear()
    again = begin()
    assert again.rest.n == N - FIRST
    let_all_join(again)
    assert sum(described) == N - FIRST - 2 * PIECE
    assert [entry.op["do"] for entry in again.store.read()] == ["grow"]
    again.close()
    described.clear()
    last = begin()
    assert last.rest is None
    assert set(last.ids) == {path.name for path in last.items.source.iterdir()}
    assert not described


KILLED = """
import os, signal, sys
from likewise.project import beginning, open_project, rest
beginning.FIRST, rest.PIECE = 20, 8
project = open_project(sys.argv[1], options={"encoder": "layout"}).project
project.rest.step()
own = project.items._cache.keep
def keep(*arguments):
    own(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)
project.items._cache.keep = keep
project.rest.step()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal here")
def test_a_kill_loses_nothing_that_was_described(folder, begin, described):
    ended = subprocess.run([sys.executable, "-c", KILLED, folder], check=False)
    assert ended.returncode == -signal.SIGKILL
    project = begin()
    assert not described
    let_all_join(project)
    assert sum(described) == N - FIRST - 2 * PIECE


def test_an_answer_from_before_they_joined_is_taken(begin):
    project = begin()
    for _ in range(3):
        answer(project)
    question, position = project.ask(), project.position
    let_all_join(project)
    assert project.position == position + 1
    assert project.ask() == question
    answer(project, position=position)
    with pytest.raises(StaleQueryError, match="Somebody answered in another window"):
        answer(project, position=position)


def test_what_was_undone_can_be_redone_after_they_joined(begin):
    project = begin()
    for _ in range(4):
        answer(project)
    project.undo(position=project.position)
    let_all_join(project)
    assert project.session.can_redo
    project.redo(position=project.position)
    project.undo(position=project.position)
    project.undo(position=project.position)
    assert len(project.session.events) == 2
    assert len(project.ids) == N
    again = begin()
    assert again.session.log == project.session.log
    assert again.session.can_redo
    assert again.ask() == project.ask()


def test_two_processes_that_describe_the_same_items_let_them_join_once(begin):
    one, other = begin(), begin()
    answer(one)
    while not (one.rest.is_described and other.rest.is_described):
        one.rest.step(), other.rest.step()
    question = other.ask()
    one.rest.step()
    assert other.rest is not None
    other.rest.step()
    assert other.rest is None
    assert [entry.op["do"] for entry in one.store.read()] == ["tell", "grow"]
    answer(other)
    one.refresh()
    assert one.session == other.session
    assert (one.where, one.ids, one.unshown) == (other.where, other.ids, other.unshown)
    assert exported(one) == exported(other)
    assert question.number == 1


def test_a_process_that_only_answers_takes_in_what_another_let_join(begin):
    one, other = begin(), begin()
    position = other.position
    let_all_join(one)
    answer(other, position=position)
    assert other.rest is None
    assert len(other.ids) == N
    assert other.features.X.shape == (N, 1956)


def test_items_that_change_while_others_wait_are_taken_in(folder, begin):
    project = begin()
    for _ in range(3):
        answer(project)
    first, later = project.ids[0], next(n for n in project.items.ids if n not in project.ids)
    project.close()
    (folder / first).unlink()
    draw(folder / later, 77, COLORS[truth(later)])
    draw(folder / "1-new.png", 78, COLORS[1])
    (folder / "1-copy.png").write_bytes((folder / project.ids[1]).read_bytes())
    project = begin()
    assert project.where[0] is None
    let_all_join(project)
    again = begin()
    for one in (project, again):
        names = {name for name, _, _ in one.listed()}
        assert names == {path.name for path in folder.iterdir()}
        assert one.copies == {1: ("1-copy.png",)}
    assert not open_project(folder, options=LAYOUT).changes


def test_broken_pictures_among_the_others_are_open(folder, begin):
    project = begin()
    late = [name for name in project.items.ids if name not in project.ids]
    for name in late[: 2 * PIECE]:  # whole pieces of them
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(whole[:-100])
    project.close()
    (folder.parent / "pictures.likewise").unlink()
    project = begin()
    for _ in range(6):
        answer(project)
    let_all_join(project)
    how = project.how_known()[0]
    broken = [row for row, name in enumerate(project.ids) if name in late[: 2 * PIECE]]
    assert len(broken) == 2 * PIECE
    assert set(how[broken]) == {"open"}
    assert begin().unshown == project.unshown


def test_a_page_that_exports_too_early_is_told_what_is_missing(begin):
    project = begin()
    reply: Any
    status, reply = reply_to(project, "export/csv")
    assert status == 400
    assert reply["error"].startswith("nothing is exported yet: 20 of 60 pictures so far")
    project.rest.step()
    found: Any = reply_to(project, "rest")[1]
    found = found["rest"]
    counts = {"n": N, "n_so_far": FIRST, "n_described": FIRST + PIECE}
    assert {name: found[name] for name in counts} == counts
    assert found["seconds_left"] is not None
    let_all_join(project)
    assert reply_to(project, "rest") == (200, {"rest": None})
    assert reply_to(project, "export/csv")[0] == 200


@pytest.mark.parametrize("command", ["export", "update"])
def test_commands_without_questions_wait_for_all(folder, begin, command):
    project = begin()
    answer(project)
    project.close()
    out = folder.parent / "groups.csv"
    arguments = [str(project.path), "-o", str(out)] if command == "export" else [str(folder)]
    result = CliRunner().invoke(main, [command, *arguments])
    assert result.exit_code == 0, result.output
    with closing(open_session_file(project.path).project) as after:
        assert after.rest is None
        assert len(after.ids) == N
    if command == "export":
        assert len(out.read_text().splitlines()) == N + 1


def test_in_the_background_all_join_while_questions_are_answered(begin, monkeypatch):
    project, has_joined = begin(), threading.Event()

    def let_join(*arguments, own=growing.let_join):
        own(*arguments)
        has_joined.set()

    monkeypatch.setattr(rest, "let_join", let_join)
    with rest.in_background(project):
        answer(project)
        assert has_joined.wait(60)
    assert project.rest is None
    assert len(project.ids) == N


def test_the_background_ends_after_a_piece(begin, monkeypatch):
    project, has_begun = begin(), threading.Event()

    def features_of(*arguments, own=project.items.features_of, **options):
        has_begun.set()
        return own(*arguments, **options)

    monkeypatch.setattr(project.items, "features_of", features_of)
    ended = rest.in_background(project)
    with ended:
        assert has_begun.wait(60)
    names = {thread.name for thread in threading.enumerate()}
    assert not {"describing", "joining"} & names


def test_why_the_others_cannot_join_is_said(begin, monkeypatch):
    project, has_failed = begin(), threading.Event()

    def features_of(*arguments, **options):
        has_failed.set()
        raise InputError("the disk is gone")

    monkeypatch.setattr(project.items, "features_of", features_of)
    with rest.in_background(project):
        assert has_failed.wait(60)
    assert project.rest.line == (
        "20 of 60 pictures; the others cannot be described: the disk is gone"
    )


@pytest.mark.parametrize(
    "options", [{"n_super_instances": 5}, {"groups": "folders"}, {"strategy": "most-doubt"}]
)
def test_other_sessions_begin_with_all_items(folder, begin, options):
    if "groups" in options:
        for k, path in enumerate(sorted(folder.iterdir())):
            (folder / f"{k % 2}").mkdir(exist_ok=True)
            path.rename(folder / f"{k % 2}" / path.name)
    project = begin(**options)
    assert project.rest is None
    assert len(project.ids) == N


def test_copies_of_the_first_items_do_not_wait(folder, begin):
    for path in sorted(folder.iterdir()):
        (folder / f"copy-{path.name}").write_bytes(path.read_bytes())
    project = begin()
    assert len(project.copies) == FIRST
    assert project.rest.n == 2 * (N - FIRST)
    let_all_join(project)
    assert len(project.ids) == len(project.copies) == N
    assert len(begin().copies) == N


def test_the_terminal_says_how_many_the_groups_are_about(begin, capsys):
    project = begin()
    run_terminal(project, iter(["q"]).__next__, way=None)
    assert "20 of 60 pictures so far; the others join automatically" in capsys.readouterr().out
    let_all_join(project)
    run_terminal(project, iter(["q"]).__next__, way=None)
    assert "so far" not in capsys.readouterr().out


def test_the_bar_says_how_long_is_left(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    seconds = iter([0.0, 300.0, 600.0])
    monkeypatch.setattr(bar, "Pace", lambda: Pace(lambda: next(seconds)))
    with bar.bar() as progress:
        for done in (0, 1000, 2000):
            progress("Describing pictures", done, 2000)
    shown = capsys.readouterr().err.split("\r")
    assert "Describing pictures [############------------] 1000 of 2000, about 5 min left" in shown
    assert not shown[-1].strip()  # an empty line, for what is printed next


def test_the_page_that_opens_says_how_long_is_left(monkeypatch):
    app = pytest.importorskip("likewise.web.app", reason='pip install "likewise[page]"')
    seconds = iter([0.0, 30.0])
    monkeypatch.setattr(app, "Pace", lambda: Pace(lambda: next(seconds)))
    readiness = app.Readiness("pictures")
    readiness.progress("Describing pictures", 0, 2000)
    readiness.progress("Describing pictures", 500, 2000)
    assert readiness.reply()[1]["left"] == "about 2 min left"
