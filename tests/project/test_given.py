"""Sessions that begin from groups: a column, a file, folders; their names and ids last."""

import csv
import io

import numpy as np
import pytest
from click.testing import CliRunner

from likewise import Answer, Likewise
from likewise.cli import main
from likewise.errors import InputError
from likewise.project import export, open_project
from likewise.project.groups import group_ids

CENTERS = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
KINDS = np.repeat([0, 1, 2], 20)
NAMES = np.array(["ant", "bee", "cow"])


@pytest.fixture
def table(tmp_path):
    """A table of three kinds, with labels of which three are wrong and two are missing."""
    rng = np.random.default_rng(0)
    X = CENTERS[KINDS] + rng.normal(size=(60, 2))
    labels = NAMES[KINDS].astype(object)
    labels[[0, 25, 45]] = ["bee", "cow", "ant"]
    labels[[1, 2]] = ["noise", "-1"]
    path = tmp_path / "points.csv"
    rows = [f"p{k},{a:.6f},{b:.6f},{labels[k]}" for k, (a, b) in enumerate(X)]
    path.write_text("\n".join(["id,x,y,kind", *rows]) + "\n")
    return path


def begin(table, groups="kind", columns=None, **begun):
    options = {"id": "id", "columns": columns}
    return open_project(table, options=options, groups=groups, **begun).project


def answer(project, n):
    for _ in range(n):
        question = project.ask()
        heads = [KINDS[group[0]] for group in question.groups]
        own = KINDS[question.row]
        place = heads.index(own) if own in heads else Answer.NONE
        project.choose(place, number=question.number, position=project.position)


def exported(project, format="csv"):
    return list(csv.DictReader(io.StringIO(export(project, format).decode())))


def names_of(project):
    return {group.name: group.size for group in project.groups()}


def test_a_column_is_where_it_begins_and_neither_a_feature_nor_a_field(table):
    project = begin(table)
    assert project.features.X.shape == (60, 2)
    assert [name for name, _ in project.items.view(0)["fields"]] == ["x", "y"]
    assert set(names_of(project)) == set(NAMES)
    first = exported(project)
    assert [row["name"] for row in first[3:6]] == ["ant"] * 3
    assert first[0]["name"] == "bee"  # as it was given
    answer(project, 12)
    assert [row["name"] for row in exported(project)] == NAMES[KINDS].tolist()
    project.close()


def test_the_first_questions_are_about_suspicious_members(table):
    project = begin(table)
    asked = []
    for _ in range(3):
        asked.append(project.ask().row)
        answer(project, 1)
    assert set(asked) == {0, 25, 45}  # those whose labels are wrong
    # Each went to its group, and says nothing about the others of the one it was in.
    rows = exported(project)
    assert [row["name"] for row in rows[3:]] == NAMES[KINDS[3:]].tolist()
    project.close()


def test_by_pairs_a_suspicious_member_is_beside_a_typical_one_of_its_given_group(table):
    project = begin(table, questions="pairs")
    question = project.ask()
    given = project.session.strategy.given_groups()[0]
    assert question.left in {0, 25, 45} or question.right in {0, 25, 45}
    assert given[question.left] == given[question.right]
    assert KINDS[question.left] != KINDS[question.right]
    project.close()


def test_the_groups_are_kept_in_the_session_and_others_are_refused(table, tmp_path):
    project = begin(table)
    answer(project, 3)
    before = exported(project)
    project.close()
    text = table.read_text().replace(",cow", ",sheep")
    table.write_text(text)  # nobody reads them again
    project = open_project(table).project
    assert exported(project)[:1] == [before[0] | {"kind": "bee"}]
    assert set(names_of(project)) == set(NAMES)
    assert not project.items.columns().keys() - {"x", "y", "kind"}
    project.close()
    with pytest.raises(InputError, match="was begun with --groups kind, not folders"):
        begin(table, "folders")


def test_a_file_and_folders_say_the_same_as_a_column(table, tmp_path):
    by_column = begin(table, session=tmp_path / "column.likewise")
    rows = list(csv.DictReader(table.read_text().splitlines()))
    file = tmp_path / "groups.csv"
    file.write_text("id,group\n" + "".join(f"{r['id']},{r['kind']}\n" for r in rows))
    by_file = begin(table, str(file), ["x", "y"], session=tmp_path / "file.likewise")
    lines = ["id,x,y"]
    for r in rows:
        folder = "" if r["kind"] in ("noise", "-1") else f"{r['kind']}/"
        lines.append(f"{folder}{r['id']},{r['x']},{r['y']}")
    (tmp_path / "files.csv").write_text("\n".join(lines) + "\n")
    by_folder = begin(tmp_path / "files.csv", "folders")
    for other in (by_file, by_folder):
        answer(other, 5)
    answer(by_column, 5)
    for other in (by_file, by_folder):
        assert other.session.labels.tolist() == by_column.session.labels.tolist()
        assert names_of(other) == names_of(by_column)
        other.close()
    by_column.close()


@pytest.mark.parametrize(
    ("groups", "begun", "words"),
    [
        ("shade", {}, "has no such column, and there is no such file; its columns are x, y, kind"),
        ("kind", {"n_super_instances": 9}, "--groups is for Likewise"),
        ("kind", {"columns": ["x", "kind"]}, "'kind' of .* has the groups.*out of --columns"),
    ],
)
def test_what_cannot_be_done_is_said(table, groups, begun, words):
    columns = {"columns": begun.pop("columns")} if "columns" in begun else {}
    with pytest.raises(InputError, match=words):
        open_project(table, options={"id": "id", **columns}, groups=groups, **begun)


def test_the_command_says_from_how_many_groups_it_begins(table):
    options = ["label", str(table), "--id", "id", "--groups", "kind", "--terminal"]
    run = CliRunner().invoke(main, options, input="q\n")
    assert "starts from 3 groups by kind, and 2 rows in none" in run.stderr


def test_python_names_groups_as_they_were_given_and_all_noise_is_from_nothing():
    X = CENTERS[KINDS] + np.random.default_rng(0).normal(size=(60, 2))
    session = Likewise(random_state=0).start(X, groups=NAMES[KINDS])
    assert session.labels.tolist() == KINDS.tolist()
    given = session.strategy.given_groups()
    assert given is not None
    numbers, labels = given
    assert [labels[k] for k in numbers] == NAMES[KINDS].tolist()
    noise = Likewise(random_state=0).start(X, groups=np.full(60, -1))
    nothing = Likewise(random_state=0).start(X)
    for _ in range(8):
        question = noise.ask()
        assert question == nothing.ask()
        heads = [KINDS[group[0]] for group in question.groups]
        place = heads.index(KINDS[question.row]) if KINDS[question.row] in heads else Answer.NONE
        noise.choose(place)
        nothing.choose(place)
    assert noise.labels.tolist() == nothing.labels.tolist()


def test_a_name_is_changed_taken_away_and_follows_the_larger_part(table):
    project = begin(table)
    ids = {group.name: group.id for group in project.groups()}
    project.name(ids["cow"], "ox", position=project.position)
    project.name(ids["bee"], "", position=project.position)
    assert set(names_of(project)) == {"ant", "", "ox"}
    ants = np.flatnonzero(group_ids(project.session) == ids["ant"]).tolist()
    project.mend(lambda mending: mending.move(ants[:5], None), position=project.position)
    given = np.flatnonzero(project.session.strategy.given_groups()[0] == 0)
    parts = np.bincount(group_ids(project.session)[given])
    assert len(parts[parts > 0]) > 1
    assert int(parts.argmax()) == ids["ant"]
    assert project.group(ids["ant"]).name == "ant"
    project.close()
