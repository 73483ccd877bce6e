"""A folder or a table that grew, shrank or changed goes on with the same session."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from likewise.core.answers import Answer, ordered
from likewise.core.session import Session
from likewise.errors import InputError, StaleQueryError
from likewise.project import formats, opening
from likewise.project.checking import check_file
from likewise.project.matching import match_items
from likewise.store import Store

COLORS = {"red": (200, 20, 20), "green": (20, 200, 20), "blue": (20, 20, 200)}


def picture(folder, name, seed):
    """Paint a picture in the color that its name begins with."""
    rng = np.random.default_rng(seed)
    pixels = rng.normal(COLORS[name.split("-")[0]], 25, (16, 16, 3)).clip(0, 255)
    Image.fromarray(pixels.astype(np.uint8)).save(folder / name)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for k in range(24):
        picture(folder, f"{('red', 'green')[k % 2]}-{k}.png", k)
    return folder


@pytest.fixture
def reopen():
    """Open a project, and close the one before."""
    opened: list[Any] = []

    def open_(path, **options):
        while opened:
            opened.pop().project.close()
        lines: list[str] = []
        options.setdefault("options", {"encoder": "layout", "cache": False})
        opened.append(opening.open_project(path, say=lines.append, **options))
        opened[-1].project.said = lines
        return opened[-1].project

    yield open_
    while opened:
        opened.pop().project.close()


def color(project, row):
    return project.ids[row].split("-")[0]


def answer(project, n):
    """Answer questions by the colors; return the pairs of rows that were asked about."""
    asked = []
    for _ in range(n):
        question = project.ask()
        if question is None:
            break
        heads = [group[0] for group in question.groups]
        asked += [ordered(question.row, head) for head in heads]
        same = [k for k, r in enumerate(heads) if color(project, r) == color(project, question.row)]
        chosen = same[0] if same else Answer.NONE
        project.choose(chosen, number=question.number, position=project.position)
    return asked


def groups_of(project):
    """Return the ids, groups and how they are known of all exported items."""
    columns = formats.columns_of(project)
    return {
        name: (group, how)
        for name, group, how in zip(columns["id"], columns["group"], columns["how"], strict=True)
    }


def test_new_ones_join_removed_ones_leave_and_changed_ones_are_asked_about_again(folder, reopen):
    project = reopen(folder)
    answer(project, 8)
    project.name(project.groups()[0].id, "first", position=project.position)
    before, names = groups_of(project), [(g.id, g.name) for g in project.groups()]
    said = [name for name, (_, how) in before.items() if how == "said"]
    changed, removed = said[0], said[1]
    picture(folder, changed, 99)
    (folder / removed).unlink()
    for k in range(3):
        picture(folder, f"red-new-{k}.png", 50 + k)
    project = reopen(folder)
    assert "3 new, 1 removed, 1 changed since last time" in project.said
    after = groups_of(project)
    assert after.keys() == {p.name for p in folder.iterdir()}
    assert after[changed][1] == "learned"
    assert {after[f"red-new-{k}.png"] for k in range(3)} == {(after["red-0.png"][0], "learned")}
    assert [(g.id, g.name) for g in project.groups()] == names
    for name in before.keys() - {changed, removed}:
        assert after[name] == before[name]
    everyone = {row for group in project.groups() for row in project.members(group).tolist()}
    assert everyone.isdisjoint(project.session.removed)
    assert sum(group.size for group in project.groups()) == len(after)
    answer(project, 40)
    assert groups_of(project)[changed][1] == "said"
    assert removed not in {project.ids[r] for g in project.session.events[8:] for r in g.rows}
    # It is said once.
    assert not any("since last time" in line for line in reopen(folder).said)
    assert check_file(project.path).is_good


def test_a_new_group_is_founded_and_what_was_rejected_is_never_proposed_again(folder, reopen):
    project = reopen(folder)
    asked = answer(project, 6)
    for k in range(4):
        picture(folder, f"blue-{k}.png", 70 + k)
    project = reopen(folder)
    rejected = {
        link.pair for g in project.session.events for link in g.links if link.answer.value != "same"
    }
    again = answer(project, 200)
    assert project.ask() is None
    assert rejected <= set(asked)
    assert rejected.isdisjoint(again)
    assert len(again) == len(set(again))
    assert len(project.groups()) == 3
    assert len({group for name, (group, _) in groups_of(project).items() if "blue" in name}) == 1


def test_files_that_were_renamed_swapped_or_moved_are_known_by_their_content(folder, reopen):
    project = reopen(folder)
    answer(project, 6)
    n_rows, labels = len(project.ids), project.session.labels
    (folder / "sub").mkdir()
    (folder / "red-0.png").rename(folder / "sub" / "red-x.png")
    (folder / "red-2.png").rename(folder / "tmp.png")
    (folder / "red-4.png").rename(folder / "red-2.png")
    (folder / "tmp.png").rename(folder / "red-4.png")
    project = reopen(folder)
    assert not any("since last time" in line for line in project.said)
    assert len(project.ids) == n_rows
    assert np.array_equal(project.session.labels, labels)
    assert groups_of(project).keys() == {
        p.relative_to(folder).as_posix() for p in folder.rglob("*.png")
    }


def test_what_comes_back_has_its_answers_again(folder, reopen):
    project = reopen(folder)
    answer(project, 8)
    before = groups_of(project)
    kept = {p.name: p.read_bytes() for p in sorted(folder.iterdir())[:10]}
    for name in kept:
        (folder / name).unlink()
    assert "10 removed since last time" in reopen(folder).said
    for name, data in kept.items():
        (folder / name).write_bytes(data)
    project = reopen(folder)
    assert "10 back since last time" in project.said
    assert groups_of(project) == before


def test_copies_follow_their_row_also_when_the_first_of_them_goes(folder, reopen):
    project = reopen(folder)
    answer(project, 6)
    (folder / "red-copy.png").write_bytes((folder / "red-0.png").read_bytes())
    project = reopen(folder)
    assert "1 new since last time" in project.said
    assert len(project.ids) == 24
    assert groups_of(project)["red-copy.png"] == groups_of(project)["red-0.png"]
    picture(folder, "red-0.png", 99)
    project = reopen(folder)
    assert "1 changed since last time" in project.said
    assert groups_of(project).keys() == {p.name for p in folder.iterdir()}
    assert project.session.sample_ids[-1] == "red-0.png (changed)"
    assert reopen(folder).ids[-1] == "red-0.png"


def test_a_picture_that_cannot_be_read_joins_but_is_never_asked_about(folder, reopen):
    project = reopen(folder)
    answer(project, 4)
    (folder / "red-broken.png").write_bytes(b"\x89PNG nothing")
    project = reopen(folder)
    assert groups_of(project)["red-broken.png"][1] == "open"
    row = project.ids.index("red-broken.png")
    assert not {row} & {r for pair in answer(project, 100) for r in pair}


def test_undo_takes_back_answers_and_what_joined_stays(folder, reopen):
    project = reopen(folder)
    answer(project, 3)
    picture(folder, "red-new.png", 50)
    project = reopen(folder)
    for n_left in (2, 1, 0):
        project.undo(position=project.position)
        assert len(project.session.events) == n_left
    assert not project.can_undo
    assert "red-new.png" in reopen(folder).ids
    project = reopen(folder)
    project.redo(position=project.position)
    assert len(project.session.events) == 1


def test_a_page_that_is_open_says_that_another_process_took_items_in(folder, reopen):
    old = opening.open_project(folder, options={"encoder": "layout", "cache": False})
    with closing(old.project) as page:
        answer(page, 2)
        picture(folder, "red-new.png", 50)
        reopen(folder)
        with pytest.raises(StaleQueryError, match="updated by another process"):
            answer(page, 1)


@pytest.mark.parametrize("table", ["settings", "items", "payloads", "log", "sums"])
def test_growing_is_one_transaction(folder, reopen, table, monkeypatch):
    project = reopen(folder)
    answer(project, 4)
    before = groups_of(project)
    path = project.path
    project.close()
    picture(folder, "red-new.png", 50)
    (folder / "green-1.png").unlink()

    def opened(self, path_, db):
        """Fail when the table is written to, as on a full disk."""
        real(self, path_, db)
        db.set_authorizer(
            lambda action, name, *_: (
                sqlite3.SQLITE_DENY
                if action in (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_DELETE) and name == table
                else sqlite3.SQLITE_OK
            )
        )

    real = Store.__init__
    with monkeypatch.context() as patch:
        patch.setattr(Store, "__init__", opened)
        with pytest.raises(Exception, match=r"not authorized|prohibited"):
            opening.open_project(folder, options={"cache": False})
    assert check_file(path).is_good
    with closing(opening.open_session_file(path).project) as old:
        assert "red-new.png" not in old.ids
        assert {k: v[0] for k, v in groups_of(old).items()} == {k: v[0] for k, v in before.items()}
    assert "1 new, 1 removed since last time" in reopen(folder).said


def test_by_its_file_alone_a_session_does_not_grow(folder, reopen):
    project = reopen(folder)
    answer(project, 4)
    path = project.path
    project.close()
    picture(folder, "red-new.png", 50)
    before = path.read_bytes()
    with closing(opening.open_session_file(path).project) as project:
        assert "red-new.png" not in project.ids
    assert path.read_bytes() == before


def write(path: Path, rows, header="name,mass,color"):
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")


ROWS = [(f"r{k}", 10 + 80 * (k % 2) + k / 10, ("red", "blue")[k % 2]) for k in range(20)]


def test_features_of_new_rows_are_made_as_those_of_the_first(tmp_path, reopen):
    path = tmp_path / "rows.csv"
    write(path, ROWS)
    project = reopen(path, options={"id": "name"})
    first = project.session.strategy.partition.points
    # A mass beyond the range, a color that was not there, and a missing one; the row with the
    # largest mass is gone.
    write(path, [("z", 200, "green"), *ROWS[:-1], ("y", 11, "")])
    project = reopen(path, options={"id": "name"})
    assert "2 new, 1 removed since last time" in project.said
    points = project.session.strategy.partition.points
    assert np.array_equal(points[: len(first)], first)
    low, high = 10, ROWS[-1][1]
    assert np.allclose(points[20], [(200 - low) / (high - low), 0, 0])
    assert np.allclose(points[21], [(11 - low) / (high - low), 0, 0])
    assert np.allclose(project.features.X[:19], first[:19])


def test_a_row_put_before_others_of_a_table_without_ids_is_one_new_row(tmp_path, reopen):
    path = tmp_path / "rows.csv"
    options = {"columns": ["mass", "color"]}
    write(path, ROWS)
    reopen(path, options=options)
    write(path, [("z", 50, "red"), *ROWS[:5], ("r5", 51, "red"), *ROWS[6:]])
    project = reopen(path, options=options)
    assert "2 new, 1 removed since last time" in project.said
    assert project.ids[0] == "1"
    assert formats.columns_of(project)["name_"] == ["z", *(row[0] for row in ROWS)]
    assert reopen(path, options=options).ids[0] == "1"


@pytest.mark.parametrize(
    ("rows", "header", "message"),
    [
        (ROWS, "name,mass,hue", "hue came, and color went"),
        ([*ROWS, ROWS[0]], "name,mass,color", "have the same id 'r0'"),
        ([*ROWS, ("z", "heavy", "red")], "name,mass,color", "'mass' of .* is not numbers"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_and_the_session_stays(
    tmp_path, reopen, rows, header, message
):
    path = tmp_path / "rows.csv"
    write(path, ROWS)
    project = reopen(path, options={"id": "name"})
    before = groups_of(project)
    project.close()
    file = project.path.read_bytes()
    write(path, rows, header)
    with pytest.raises(InputError, match=message):
        reopen(path, options={"id": "name"})
    assert project.path.read_bytes() == file
    write(path, ROWS)
    assert groups_of(reopen(path, options={"id": "name"})) == before


def test_texts_join_by_the_words_of_the_first_texts(tmp_path, reopen):
    words = ["river water fish boat", "engine wheel brake car"]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.permutation((words[k % 2] + f" word{k % 5}").split())) for k in range(30)]
    path = tmp_path / "texts.csv"
    path.write_text("\n".join(["text", *texts]) + "\n")
    project = reopen(path, options={"text": "text", "cache": False})
    points = project.session.strategy.partition.points
    path.write_text("\n".join(["text", *texts[5:], "fish boat river unheard", " "]) + "\n")
    project = reopen(path, options={"text": "text", "cache": False})
    grown = project.session.strategy.partition.points
    assert grown.shape == (len(points) + 2, points.shape[1])
    near = np.argsort(np.linalg.norm(points - grown[-2], axis=1))[:5]
    assert all("fish" in texts[row] for row in near)


def test_points_with_other_dimensions_are_refused(tmp_path, reopen):
    path = tmp_path / "points.npy"
    rng = np.random.default_rng(0)
    np.save(path, rng.normal(size=(12, 3)))
    reopen(path, options={})
    np.save(path, rng.normal(size=(14, 4)))
    with pytest.raises(InputError, match="X_new has 4 columns, but the rows of the session have 3"):
        reopen(path, options={})


def test_sessions_that_cannot_grow_go_on_and_say_why(tmp_path, reopen, monkeypatch):
    path = tmp_path / "rows.csv"
    write(path, ROWS)
    reopen(path, strategy="cobras", options={})
    write(path, [*ROWS, ("z", 50, "red")])
    project = reopen(path, options={})
    assert any(
        "1 new since last time, not taken in: the strategy 'cobras'" in s for s in project.said
    )
    assert len(project.ids) == 20
    # Of many items a sample is asked about.
    monkeypatch.setattr("likewise.rows.sample.SAMPLE_ROWS", 10)
    sample = tmp_path / "sample"
    reopen(path, options={}, session=sample)
    write(path, [*ROWS, ("z", 50, "red"), ("y", 51, "red")])
    project = reopen(path, options={}, session=sample)
    assert any("1 new since last time, not taken in: with so many items" in s for s in project.said)


def test_a_grown_session_is_exported_and_loaded(folder, reopen):
    project = reopen(folder)
    answer(project, 6)
    picture(folder, "red-new.png", 50)
    project = reopen(folder)
    session: Any = Session.from_dict(json.loads(formats.to_session(project)))
    assert session.labels.tolist() == project.session.labels.tolist()
    assert session.sample_ids[-1] == "red-new.png"


def test_cobra_takes_in_what_joins_and_does_not_ask_about_what_left(folder, reopen):
    project = reopen(folder, n_super_instances=6)
    answer(project, 4)
    asked = project.ask()
    (folder / project.ids[asked.row]).unlink()
    picture(folder, "red-new.png", 50)
    project = reopen(folder, n_super_instances=6)
    assert "1 new, 1 removed since last time" in project.said
    assert project.ids[-1] == "red-new.png"
    answer(project, 100)
    assert asked.row not in {row for g in project.session.events[4:] for row in g.rows}
    project.rebuild(position=project.position)
    answer(project, 100)
    assert len(project.groups()) == 2


def test_what_was_grown_and_lost_in_a_cut_log_is_new_again():
    found = match_items([["a"]], frozenset(), {"a": "1", "b": "2"}, {"a": "1", "b": "2"})
    assert found.newcomers == ["b"]
    assert str(found.changes) == "1 new"


def test_a_session_that_grew_without_answers_is_still_replaced_by_other_options(folder, reopen):
    reopen(folder)
    picture(folder, "red-new.png", 50)
    assert "1 new since last time" in reopen(folder).said
    project = reopen(folder, n_super_instances=5)
    assert any("a new one is begun" in line for line in project.said)
    assert project.partition.n_super_instances == 5
