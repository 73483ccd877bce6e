"""What changed in groups that were given, and ids that last through merges and splits."""

import csv
import io
import json
from contextlib import closing

import numpy as np
import pytest
from click.testing import CliRunner

from likewise import Answer, Likewise
from likewise.cli import main
from likewise.core.answers import Link
from likewise.errors import InputError
from likewise.page.calls import formats
from likewise.project import export, mended_labels, open_project
from likewise.project.groups import group_ids
from likewise.project.lives import lives_of, shown_key
from likewise.project.mending import split

CENTERS = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0]])
KINDS = np.repeat([0, 1, 2, 3], 20)


def rows_of(project, format):
    return list(csv.DictReader(io.StringIO(export(project, format).decode())))


def answer(project, n):
    for _ in range(n):
        question = project.ask()
        if question is None:
            break
        # Given groups of one kind are beside each other: both are the answer, so they are one.
        places = [k for k, g in enumerate(question.groups) if KINDS[g[0]] == KINDS[question.row]]
        project.choose(places or Answer.NONE, number=question.number, position=project.position)


@pytest.fixture
def project(tmp_path):
    """Given: kind 0 in two groups, kinds 1 and 2 in one, kind 3 right but for one without."""
    rng = np.random.default_rng(0)
    X = CENTERS[KINDS] + rng.normal(size=(80, 2))
    labels = np.array(["a & b", "both", "both", "rest"], dtype=object)[KINDS]
    labels[:9] = "<a>"
    labels[79] = ""
    path = tmp_path / "points.csv"
    rows = [f"p{k},{a:.6f},{b:.6f},{labels[k]}" for k, (a, b) in enumerate(X)]
    path.write_text("\n".join(["id,x,y,kind", *rows]) + "\n")
    project = open_project(path, options={"id": "id"}, groups="kind").project
    yield project
    project.close()


def test_before_an_answer_nothing_changed_and_all_is_as_given(project):
    items, groups = rows_of(project, "changes-csv"), rows_of(project, "changes-groups-csv")
    assert {item["how"] for item in items[:79]} == {"given"}
    assert {item["change"] for item in items[:79]} == {"stayed"}
    assert [group["change"] for group in groups] == ["kept"] * 4
    assert [int(group["n_before"]) for group in groups] == [9, 11, 40, 19]


def test_merged_split_kept_and_placed_are_told_with_counts(project):
    answer(project, 20)
    items = rows_of(project, "changes-csv")
    assert [item["before"] for item in items[:10]] == ["<a>"] * 9 + ["a & b"]
    assert items[79]["change"] == "placed"
    plain = json.loads(export(project, "changes-json"))
    groups = {group["before"]: group for group in plain["groups"] if group["before"]}
    assert groups["<a>"]["change"] == groups["a & b"]["change"] == "merged"
    assert groups["<a>"]["merged_with"] == ["a & b"]
    assert groups["<a>"]["after"] == groups["a & b"]["after"]
    assert groups["both"]["change"] == "split"
    assert groups["rest"]["change"] == "kept"
    assert groups["rest"]["n_after"] == 20
    off = [group for group in plain["groups"] if group["change"] == "split off"]
    assert [(group["split_from"], group["n_after"]) for group in off] == [("both", 20)]
    assert groups["both"]["split_into"] == [off[0]["after"]]
    assert plain["counts"]["groups"] == {"merged": 2, "split": 1, "kept": 1, "split off": 1}
    assert plain["counts"]["items"] == {"stayed": 59, "moved": 20, "placed": 1}
    for item, row in zip(plain["items"], rows_of(project, "csv"), strict=True):
        assert (item["id"], item["after"], item["name"]) == (
            row["id"], row["group"], row["name"],
        )  # fmt: skip
    ancestors = {
        row["group"]: (row["merged"], row["split_from"]) for row in rows_of(project, "csv")
    }
    numbers = {label: str(k) for k, label in enumerate(["<a>", "a & b", "both", "rest"], 1)}
    assert ancestors[numbers["a & b"]] == (numbers["<a>"], "")
    assert ancestors[str(off[0]["after"])] == ("", numbers["both"])


def test_the_page_to_read_says_it_in_words_and_runs_nothing(project):
    answer(project, 20)
    page = export(project, "changes-html").decode()
    assert "59 stayed, 20 moved, and 1 had no group and got one" in page
    assert "merged into &lt;a&gt; / a &amp; b (2) with a &amp; b" in page
    assert "<a>" not in page
    assert "http" not in page


def test_a_renamed_group_is_told_and_a_session_from_nothing_has_no_before(project, tmp_path):
    rest = next(group for group in project.groups() if group.name == "rest")
    project.name(rest.id, "others", position=project.position)
    last = rows_of(project, "changes-groups-csv")[-1]
    assert (last["before"], last["change"], last["name"]) == ("rest", "renamed", "others")
    assert "changes-html" in {entry["format"] for entry in formats(project, {})["formats"]}
    np.save(tmp_path / "other.npy", CENTERS[KINDS] + np.random.default_rng(1).normal(size=(80, 2)))
    nothing = open_project(tmp_path / "other.npy").project
    with pytest.raises(InputError, match="did not begin from given groups"):
        export(nothing, "changes-html")
    listed = {entry["format"] for entry in formats(nothing, {})["formats"]}
    assert "csv" in listed
    assert not [name for name in listed if name.startswith("changes")]
    nothing.close()


def test_a_given_group_whose_items_all_left_is_left_out(project, tmp_path):
    answer(project, 6)
    path = tmp_path / "points.csv"
    kept = [line for line in path.read_text().splitlines() if not line.endswith(("rest", ","))]
    path.write_text("\n".join(kept) + "\n")
    with closing(open_project(path, options={"id": "id"}, groups="kind").project) as again:
        before = {row["before"] for row in rows_of(again, "changes-groups-csv")}
    assert before - {""} == {"<a>", "a & b", "both"}


def test_the_command_exports_changes_by_name(project, tmp_path):
    project.close()
    out = tmp_path / "what.html"
    session = str(tmp_path / "points.csv.likewise")
    run = CliRunner().invoke(main, ["export", session, "--format", "changes-html", "-o", str(out)])
    assert run.exit_code == 0, run.output
    assert out.read_text().startswith("<!doctype html>")
    refused = CliRunner().invoke(main, ["export", session, "-o", str(out)])
    assert "or --format must be given" in refused.output


def test_ids_last_through_answers_merges_splits_and_undo(tmp_path):
    X = CENTERS[KINDS] + np.random.default_rng(1).normal(size=(80, 2))
    np.save(tmp_path / "points.npy", X)
    project = open_project(tmp_path / "points.npy").project
    seen: dict[int, int] = {}
    for _ in range(16):
        answer(project, 1)
        for group in project.groups():
            if group.n_said > 1:
                kind = int(KINDS[project.members(group)[0]])
                assert seen.setdefault(kind, group.id) == group.id
    first, second = sorted(project.groups(), key=lambda g: -g.n_said)[:2]
    smaller, larger = sorted((part.tolist() for part in project.parts(first)), key=len)
    project.mend(lambda _: split([smaller, larger]), position=project.position)
    ids = group_ids(project.session)
    new = int(ids[smaller[0]])
    assert set(ids[larger].tolist()) == {first.id}
    assert new > max(seen.values())
    assert lives_of(project.session).split_from == {new: first.id}
    project.undo(position=project.position)
    project.mend(lambda mending: mending.merge([first, second]), position=project.position)
    assert lives_of(project.session).merged == {first.id: [second.id]}
    header, *lines = list(csv.reader(io.StringIO(export(project, "csv").decode())))
    row = dict(zip(header, lines[first.standing[0]], strict=True))
    assert (row["group"], row["merged"]) == (shown_key(first.number), shown_key(second.number))
    project.undo(position=project.position)
    assert {group.id for group in project.groups()} == {*seen.values()}
    project.close()


def test_a_new_group_gets_no_label_that_a_given_one_has():
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1]])
    session = Likewise(random_state=0).start(X, groups=["new 1"] * 5)
    session.add_links([Link(0, 3, Answer.DIFFERENT), Link(3, 4, Answer.SAME)])
    assert mended_labels(session) == ["new 1"] * 3 + ["new 2"] * 2
