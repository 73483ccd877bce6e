"""A group keeps its key: from the log alone, through merges, moves, splits and undo."""

import csv
import io
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from likewise.core.answers import Answer, Gesture, Link
from likewise.errors import InputError
from likewise.project import export, open_project
from likewise.project.lives import Founding, key_of, keys_of
from likewise.project.mending import changed_rows, split


def said(*links, source="asked", groups=()):
    return Gesture(1, tuple(Link(a, b, Answer(word)) for a, b, word in links), source, groups)


def founded(gestures):
    return Founding(0, gestures).numbers


def test_no_key_begins_another_and_none_is_given_twice():
    keys = [key_of(number) for number in range(400)]
    assert len(set(keys)) == 400
    assert not [a for a in keys for b in keys if a != b and b.startswith(a)]
    assert not set("".join(keys)) & set("sduzbocgmq0")


def test_groups_are_numbered_in_the_order_in_which_answers_found_them():
    first = said((5, 3, "different"))
    assert founded([first]) == {5: 0, 3: 1}
    none_of_these = said((9, 5, "different"), (9, 3, "different"), groups=((5,), (3,)))
    assert founded([first, none_of_these])[9] == 2
    assert founded([said((1, 2, "unsure"))]) == {}


def test_no_two_groups_have_one_id_however_often_groups_are_split(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(12, 2)))
    with closing(open_project(tmp_path / "x.npy", n_super_instances=10).project) as project:
        left, right = project.partition.representatives.tolist()[:2]

        def both(_):
            return [Link(left, right, Answer.SAME)]

        for _ in range(15):
            project.mend(both, position=project.position)
            project.mend(lambda _: split([[left], [right]]), position=project.position)
        ids = [group.id for group in project.groups()]
        assert len(set(ids)) == len(ids) == 10


def test_of_two_merged_groups_the_larger_number_stays_else_the_older_and_later_rows_get_it():
    log = [said((0, 1, "different")), said((0, 1, "same"), source="mended"), said((7, 1, "same"))]
    assert founded(log)[7] == 0
    log = [said((0, 1, "different")), said((2, 1, "same")), said((0, 1, "same"), source="mended")]
    book = Founding(0, [*log, said((7, 0, "same"))])
    assert book.numbers[7] == 1
    assert book.merged == {0: 1}


def test_a_moved_row_takes_the_number_of_its_new_group():
    log = [said((0, 1, "different")), said((2, 0, "same")), said((3, 0, "same"))]
    moved = said((2, 1, "same"), (3, 1, "same"), (1, 0, "different"), source="mended")
    assert founded([*log, moved]) == {0: 0, 1: 1, 2: 1, 3: 1}


def test_the_first_part_of_a_split_group_keeps_the_number():
    log = [said((0, 1, "same")), said((2, 0, "same")), said((4, 0, "different"))]
    parted = Gesture(4, tuple(split([[0, 2], [1, 8]])), "mended")
    assert founded([*log, parted]) == {0: 0, 1: 2, 2: 0, 4: 1, 8: 2}


@pytest.fixture
def project(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    centers = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
    np.save(tmp_path / "points.npy", centers[y] + rng.normal(size=(60, 2)))
    project = open_project(tmp_path / "points.npy").project
    yield project, y
    project.close()


def test_the_key_of_a_group_is_the_same_after_every_answer_and_after_undo(project):
    project, y = project
    seen: dict[Any, Any] = {}
    for _ in range(14):
        question = project.ask()
        if question is None:
            break
        keys, labels = keys_of(project.session), project.session.labels
        for label, number in keys.items():
            founders = np.flatnonzero(labels == label)
            kind = int(np.bincount(y[founders]).argmax())
            if len(project.session.events) > 3:
                assert seen.setdefault(number, kind) == kind
        heads = [int(y[group[0]]) for group in question.groups]
        own = int(y[question.row])
        chosen = heads.index(own) if own in heads else Answer.NONE
        project.choose(chosen, number=question.number, position=project.position)
    before = keys_of(project.session)
    project.undo(position=project.position)
    project.redo(position=project.position)
    assert keys_of(project.session) == before
    assert sorted(g.number for g in project.groups()) == sorted(before.values())


def test_rows_that_change_groups_are_those_outside_of_the_largest_part():
    assert changed_rows(np.array([0, 0, 0, 1]), np.array([1, 1, 1, 0])).tolist() == []
    merged = changed_rows(np.array([0, 0, 0, 1]), np.array([0, 0, 0, 0]))
    assert merged.tolist() == [3]


def test_a_group_goes_on_with_the_rows_that_nobody_moved():
    before, halved = np.zeros(4, dtype=int), np.array([0, 0, 1, 1])
    assert changed_rows(before, halved, [0, 1]).tolist() == [0, 1]
    assert changed_rows(before, halved, [2, 3]).tolist() == [2, 3]
    most = changed_rows(before, np.array([1, 1, 1, 0]), [0, 1, 2])
    assert most.tolist() == [0, 1, 2]
    followed = changed_rows(before, np.array([1, 1, 1, 0]), [0])
    assert followed.tolist() == [0, 1, 2]
    joined = changed_rows(np.array([0, 0, 0, 1]), np.array([0, 0, 0, 0]), [0, 1, 2])
    assert joined.tolist() == [0, 1, 2]


def test_a_preview_changes_nothing_and_says_what_follows(project):
    project, y = project
    for _ in range(8):
        question = project.ask()
        heads = [int(y[group[0]]) for group in question.groups]
        own = int(y[question.row])
        chosen = heads.index(own) if own in heads else Answer.NONE
        project.choose(chosen, number=question.number, position=project.position)
    before = project.session.labels.tolist()
    groups = project.groups()
    foreseen = project.foresee(lambda mending: mending.merge(groups[:2]))
    assert project.session.labels.tolist() == before
    project.mend(lambda mending: mending.merge(groups[:2]), position=project.position)
    changed = changed_rows(np.array(before), project.session.labels)
    assert foreseen.tolist() == changed.tolist()
    assert len(changed) >= min(g.size for g in groups[:2])


def test_copies_are_one_row_and_each_is_exported(tmp_path):
    lines = ["name,size,color"] + [
        f"n{k},{k % 4}.5,{'red' if k % 4 < 2 else 'blue'}" for k in range(40)
    ]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    project = open_project(tmp_path / "rows.csv", options={"id": "name"}).project
    assert len(project.ids) == 4
    assert sum(g.size for g in project.groups()) == 40
    project.close()
    again = open_project(tmp_path / "rows.csv").project
    table = list(csv.DictReader(io.StringIO(export(again, "csv").decode())))
    assert [line["id"] for line in table] == [f"n{k}" for k in range(40)]
    groups = {line["id"]: line["group"] for line in table}
    assert all(groups[f"n{k}"] == groups[f"n{k % 4}"] for k in range(40))
    assert {len(ids) for ids in again.copies.values()} == {9}
    again.close()


def test_an_instruction_is_kept_changed_and_exported(tmp_path):
    (tmp_path / "rows.csv").write_text("size\n1\n2\n9\n")
    project = open_project(tmp_path / "rows.csv", instruction="the same  person?").project
    assert project.instruction == "the same person?"
    project.close()
    project = open_project(tmp_path / "rows.csv").project
    assert "the same person?" in export(project, "csv").decode().splitlines()[1]
    project.instruction = ""
    assert "instruction" not in export(project, "csv").decode()
    project.close()


def test_what_cannot_be_shown_is_open_and_a_renamed_picture_is_the_same_one(tmp_path):
    image = pytest.importorskip("PIL.Image", reason='pip install "likewise[app]"')
    folder = tmp_path / "photos"
    folder.mkdir()
    for k in range(8):
        picture = image.new("RGB", (24, 24), (255 * (k % 2), 10 * k, 0))
        picture.save(folder / f"{k}.png")
    (folder / "broken.png").write_bytes(b"no picture")
    options = {"encoder": "layout"}
    project = open_project(folder, options=options).project
    row = project.ids.index("broken.png")
    for _ in range(3):
        question = project.ask()
        own = int(project.ids[question.row][0]) % 2
        heads = [int(project.ids[group[0]][0]) % 2 for group in question.groups]
        chosen = heads.index(own) if own in heads else Answer.NONE
        project.choose(chosen, number=question.number, position=project.position)
    assert project.how_known()[0][row] == "open"
    assert sum(g.n_open for g in project.groups()) >= 1
    project.close()
    (folder / "3.png").rename(folder / "other.png")
    (folder / "5.png").unlink()
    again = open_project(folder).project
    assert again.ids.index("other.png") == project.ids.index("3.png")
    gone = again.ids.index("5.png")
    assert again.where[gone] is None
    assert again.how_known()[0][gone] in ("open", "said")
    again.close()


@pytest.mark.parametrize("content", [None, "", "\n", "size,color\n"])
def test_an_empty_source_is_refused_before_a_page_is_announced(tmp_path, content):
    path = tmp_path / ("photos" if content is None else "rows.csv")
    if content is None:
        (path / "inside").mkdir(parents=True)
    else:
        path.write_text(content)
    announced: list[Any] = []
    with pytest.raises(InputError):
        open_project(path, checked=announced.append)
    assert announced == []
