"""Projects about candidate pairs: read, asked about, kept, mended and exported."""

import csv
import io
import json
from typing import Any

import numpy as np
import pytest

from likewise import Answer, Session
from likewise.errors import InputError
from likewise.page import calls
from likewise.project import export, open_project, open_session_file

PEOPLE = """key,name,city
a1,Ann Smith,Bonn
a2,Anne Smith,Bonn
a3,A. Smith,Bonn
b1,Bob Jones,Rome
b2,Robert Jones,Rome
c1,Carl Maier,Ulm
"""
lines: dict[object, list[str]] = {}
"""What was told when a project was opened."""

PAIRS = [
    ("a1", "a2", 0.995),
    ("a2", "a3", 0.8),
    ("a1", "a3", 0.7),
    ("b1", "b2", 0.6),
    ("a1", "b1", 0.1),
    ("a2", "a1", 0.5),
    ("c1", "c1", 1.0),
]


def as_csv(names, pairs=PAIRS):
    return "\n".join([",".join(names), *(",".join(map(str, pair)) for pair in pairs)]) + "\n"


@pytest.fixture
def begin(tmp_path):
    """Open pairs in a file of some name as a project, closed in the end."""
    (tmp_path / "people.csv").write_text(PEOPLE)
    opened = []

    def begin(name="pairs.csv", content=None, **options):
        path = tmp_path / name
        said: list[str] = []
        if isinstance(content, str):
            path.write_text(content)
        elif content is not None:
            np.save(path, content)
        wanted = {"items": tmp_path / "people.csv", "id": "key", "pairs": "auto", **options}
        opened.append(open_project(path, options=wanted, say=said.append).project)
        lines[opened[-1]] = said
        return opened[-1]

    yield begin
    for project in opened:
        project.close()


def reply_to(*request) -> Any:
    return calls.reply_to(*request)


def answer(project, *words):
    for word in words:
        query = project.ask()
        project.tell(Answer(word), number=query.number, position=project.position)


def asked(project):
    query = project.ask()
    return None if query is None else (query.left_id, query.right_id)


def test_pairs_are_asked_the_likeliest_first_and_what_follows_is_not(begin):
    project = begin(content=as_csv(("left", "right", "score")))
    questions = []
    while project.ask() is not None:
        questions.append(asked(project))
        answer(project, "same" if questions[-1][0][0] == questions[-1][1][0] else "different")
    assert questions == [("a1", "a2"), ("a2", "a3"), ("b1", "b2"), ("a1", "b1")]
    assert project.session.labels.tolist() == [0, 0, 0, 1, 1, 2]
    assert "features: 1 pair of an item and itself left out" in lines[project]
    assert "features: 1 pair listed again: the best score counts" in lines[project]


SPLINK = as_csv(("unique_id_l", "unique_id_r", "match_probability"))
DEDUPE = np.array(
    [((a, b), score) for a, b, score in PAIRS], dtype=[("pairs", "U8", 2), ("score", "f4")]
)


@pytest.mark.parametrize(
    ("name", "content", "pairs"),
    [
        ("pairs.csv", SPLINK, "auto"),
        ("scores.npy", DEDUPE, "auto"),
        ("pairs.csv", as_csv(("id_1", "id_2", "score")), "auto"),
        ("pairs.csv", as_csv(("p", "q", "alike")), ["p", "q", "alike"]),
    ],
)
def test_the_output_of_other_tools_opens_as_it_is(begin, name, content, pairs):
    project = begin(name, content, pairs=pairs)
    assert asked(project) == ("a1", "a2")
    assert project.session.progress.at_most == 5


def test_parquet_with_whole_numbers_as_ids(begin, tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason='pip install "likewise[tables]"')
    from pyarrow import parquet

    columns = {"left": [12, 12], "right": [7, 9], "score": [0.5, 0.9], "other": ["x", "y"]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "pairs.parquet")
    (tmp_path / "numbers.csv").write_text("key,name\n7,a\n9,b\n12,c\n")
    project = begin("pairs.parquet", items=tmp_path / "numbers.csv")
    assert asked(project) == ("9", "12")


def test_what_is_certain_by_its_score_is_not_asked_and_can_be_mended(begin):
    project = begin(content=SPLINK, same_above=0.99, different_below=0.2)
    assert project.session.labels.tolist() == [0, 0, 1, 2, 3, 4]
    assert "features: 1 item joined with others above 0.99" in lines[project]
    assert "features: 1 pair below 0.2 left out" in lines[project]
    assert asked(project) == ("a1", "a3")  # the better of its two scores with a1 and a2
    answer(project, "same", "different")
    assert asked(project) is None
    assert project.session.labels.tolist() == [0, 0, 0, 1, 2, 3]
    project.mend(lambda mending: mending.take_out([1]), position=project.position)
    assert project.session.labels[0] == project.session.labels[2] != project.session.labels[1]


def test_going_on_and_exporting_need_no_pairs(begin, tmp_path):
    project = begin(content=SPLINK)
    answer(project, "same")
    before = project.session.labels.tolist()
    project.close()
    (tmp_path / "pairs.csv").unlink()
    project = open_session_file(tmp_path / "pairs.csv.likewise").project
    try:
        assert asked(project) == ("a2", "a3")
        assert project.session.labels.tolist() == before
        assert project.features.X[0, 1] == pytest.approx(0.005)
        exported = Session.from_dict(json.loads(export(project, "json")))
        rows = list(csv.DictReader(io.StringIO(export(project, "csv").decode())))
    finally:
        project.close()
    assert exported.labels.tolist() == before
    groups = [row["group"] for row in rows]
    assert groups[0] == groups[1]
    assert len(set(groups)) == 5


def test_items_that_are_added_are_not_taken_in_and_the_way_is_told(begin, tmp_path):
    project = begin(content=SPLINK)
    answer(project, "same")
    project.close()
    with (tmp_path / "people.csv").open("a") as file:
        file.write("d1,Dora,Ulm\n")
    again = begin()
    assert asked(again) == ("a2", "a3")
    assert len(again.ids) == 6
    assert any("'candidate-pairs' cannot take further rows" in line for line in lines[again])


@pytest.mark.parametrize("questions", ["pairs", "choices"])
def test_every_view_of_the_page_works_without_features(begin, tmp_path, questions):
    (tmp_path / "pairs.csv").write_text(SPLINK)
    options = {"items": tmp_path / "people.csv", "id": "key", "pairs": "auto"}
    project = open_project(tmp_path / "pairs.csv", questions=questions, options=options).project
    try:
        state = reply_to(project, "query?distance=1")[1]
        assert state["has_map"] is False
        assert (
            state["outlook"]["line"] == f"About {5 if questions == 'pairs' else 4} questions to go"
        )
        for chosen in (0, 0, None):
            body = {"question": project.ask().number, "position": project.position}
            assert (
                reply_to(project, "answer", {**body, "chosen": chosen, "distance": True})[0] == 200
            )
            assert reply_to(project, "ahead")[0] == 200
        group = reply_to(project, "groups")[1]["groups"][0]
        for call in (
            "progress",
            "history",
            f"group/{group['id']}",
            "find?text=smith",
            "item/0",
            f"group/{group['id']}/parts",
            "checks",
            "unsure",
            "export/csv",
        ):
            assert reply_to(project, call)[0] == 200, call
        assert reply_to(project, "find?text=smith")[1]["n"] == 3
        assert reply_to(project, "map")[0] == 400
        assert "no map" in reply_to(project, "map")[1]["error"]
        done = reply_to(project, "move", {"rows": [2], "to": "new", "position": project.position})
        assert done[0] == 200
        misfit = reply_to(project, "misfit", {"row": 1, "position": project.position})
        assert misfit[0] == 200
    finally:
        project.close()


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        (SPLINK + "a1,zz,0.5\n", {}, r"pair 8: there is no item 'zz'.*--id COLUMN"),
        (SPLINK + "a1,b2,\n", {}, r"pair 8 \('a1' and 'b2'\) has the score nan"),
        (as_csv(("a", "b", "c")), {}, "Name those of the two ids and the score"),
        (SPLINK, {"pairs": ["left", "right", "score"]}, "has no column 'left'"),
        (SPLINK, {"pairs": ["left", "right"]}, "three columns"),
        (SPLINK, {"items": None, "id": None}, "say by --items what they are"),
        (SPLINK, {"same_above": 0.2, "different_below": 0.9}, "a pair would be both"),
        ("left,right,score\na1,a2,high\n", {}, "is not numbers"),
    ],
)
def test_bad_pairs_are_refused_and_no_session_is_begun(begin, tmp_path, content, options, words):
    with pytest.raises(InputError, match=words):
        begin(content=content, **options)
    assert not (tmp_path / "pairs.csv.likewise").exists()


def test_an_array_without_scores_is_refused(begin):
    with pytest.raises(InputError, match="Save what dedupe's score"):
        begin("pairs.npy", np.zeros((3, 2)))
