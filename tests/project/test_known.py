"""What is known before the first question, from a file."""

import pytest

from likewise.core.answers import Answer
from likewise.errors import InputError
from likewise.project import add_known, export, open_project, read_known

IDS = ("a", "b", "c", "d", "e")


@pytest.fixture
def known(tmp_path):
    def write(text, name="known.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.fixture
def project(tmp_path):
    path = tmp_path / "rows.csv"
    rows = [f"{name},{k % 2 * 10 + k / 10}" for k, name in enumerate("abcdefgh")]
    path.write_text("id,x\n" + "\n".join(rows) + "\n")
    opened = open_project(path, options={"id": "id"})
    yield opened.project
    opened.project.close()


def test_pairs_contradict_each_other_by_their_lines(known):
    path = known("left,right,answer\na,b,same\nb,c,Same\nd,e,different\nc,a,different\n")
    with pytest.raises(
        InputError, match="line 5 says that c and a are different, but by lines 2, 3"
    ):
        read_known(path, IDS)


def test_an_item_in_two_groups_is_named_with_its_lines(known):
    path = known("id,group\na,x\nb,y\na,y\n")
    with pytest.raises(InputError, match="line 4 puts a into group 'y', line 2 into 'x'"):
        read_known(path, IDS)
    path = known("old,new\nnot here,z\na,x\na,y\n", "names.csv")
    with pytest.raises(InputError, match="line 4 puts a into group 'y', line 3 into 'x'"):
        read_known(path, IDS)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,group\nz,x\n", "line 2: there is no item 'z'"),
        ("left,right,answer\na,b,maybe\n", "line 2: 'maybe' is not an answer"),
        ("id,kind\na,x\n", "needs id and group, old and new, or left, right and answer"),
    ],
)
def test_what_cannot_be_understood_is_said_with_its_place(known, text, words):
    with pytest.raises(InputError, match=words):
        read_known(known(text), IDS)


def test_items_without_a_group_are_not_known(known):
    found = read_known(known("id,group\na,1\nb,\nc,1\nd,2\n"), IDS)
    said = [(link.left, link.right, link.answer) for link in found.links]
    assert said == [(0, 2, Answer.SAME), (0, 3, Answer.DIFFERENT)]
    assert found.names == {}


def test_a_project_takes_it_once_as_one_gesture_and_names_the_groups(project, known):
    path = known("id,group\na,even\nc,even\nb,odd\nd,odd\n")
    assert add_known(project, path) == 3
    assert add_known(project, path) == 0
    labels = project.session.labels
    assert labels[0] == labels[2] != labels[1] == labels[3]
    assert {g.name for g in project.groups()} >= {"even", "odd"}
    assert [len(e.links) for e in project.session.events] == [3]
    clash = known("left,right,answer\na,b,same\n", "other.csv")
    with pytest.raises(InputError, match="by the answers so far they are different"):
        add_known(project, clash)
    assert len(project.session.events) == 1


def test_an_exported_table_is_known_again_by_what_was_said(project, known, tmp_path):
    add_known(project, known("id,group\na,even\nc,even\nb,odd\n"))
    table = tmp_path / "groups.csv"
    table.write_bytes(export(project, "csv"))
    found = read_known(table, project.ids)
    assert sorted(found.names.values()) == ["even", "odd"]
    rows = {row for link in found.links for row in link.pair}
    assert rows == {0, 1, 2}


def test_keys_in_an_exported_file_name_no_group(tmp_path):
    file = tmp_path / "x-groups.csv"
    file.write_text("id,group,name,how\na,A,,said\nb,A,,said\nc,B,cats,said\nd,C,,learned\n")
    known = read_known(file, ["a", "b", "c", "d"])
    assert known.names == {2: "cats"}
    mine = tmp_path / "mine.csv"
    mine.write_text("id,group\na,A\nb,A\nc,B\n")
    assert read_known(mine, ["a", "b", "c"]).names == {0: "A", 2: "B"}
