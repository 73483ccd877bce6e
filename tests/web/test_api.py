import csv
import io
import json
from contextlib import closing

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from likewise import COBRA, Answer, Likewise, Session
from likewise.core.reports import EARLY, Completeness
from likewise.items import open_items
from likewise.page.calls import Call, reply, reply_to
from likewise.project import Project, open_project
from likewise.store import Store
from likewise.web import create_app

HOME = "http://127.0.0.1"


def test_a_question_has_two_items_and_a_line_of_progress(client):
    state = client.state()
    assert state["question"]["number"] == 1
    assert state["question"]["left"]["row"] != state["question"]["right"]["row"]
    assert state["progress"]["line"].startswith("0 answers")
    assert state["question"]["left"]["view"]["fields"][0][0] == "x"
    assert "distance" not in state["question"]


def test_how_complete_the_groups_are_is_said_where_the_strategy_can_tell(client, monkeypatch):
    assert client.get("/api/query").json()["completeness"] is None
    curve = ((10, 0.7), (30, 0.934))
    complete = Completeness(0.934, 0.811, changing=0.1, curve=curve)
    monkeypatch.setattr(Session, "completeness", complete)
    assert client.get("/api/query").json()["completeness"] == {
        "estimate": 0.934,
        "at_least": 0.811,
        "unmet": 0,
        "one_group": 0.0,
        "changing": 0.1,
        "curve": [[10, 0.7], [30, 0.934]],
        "foreseen": [0, 0],
        "is_said": True,
    }
    assert client.state()["outlook"] == {
        "quality": "about 93% right, at least 81%",
        "more": "about 10 questions to go",
        "can_stop": False,
        "can_rebuild": False,
        "line": "About 93% right, at least 81% · about 10 questions to go",
    }
    monkeypatch.setattr(Session, "completeness", None)
    assert client.get("/api/query").json()["completeness"] is None


def test_while_it_is_too_early_no_figure_is_given(tmp_path, truth, client_for, monkeypatch):
    project = open_project(tmp_path / "points.csv", options={"id": "name"}, seed=0).project
    client = client_for(project)
    early = Completeness(0.93, 0.81, 0.3, changing=0.1, curve=((10, 0.7), (EARLY - 1, 0.93)))
    monkeypatch.setattr(Session, "completeness", early)
    reply = client.get("/api/progress").json()
    assert reply["outlook"]["line"] == "Too early to say how much is right"
    assert reply["completeness"]["is_said"] is False
    assert client.get("/api/groups").json()["total"]["n_wrong"] is None
    later = Completeness(0.93, 0.81, 0.3, changing=0.1, curve=((10, 0.7), (EARLY, 0.93)))
    monkeypatch.setattr(Session, "completeness", later)
    assert "would move" in client.get("/api/progress").json()["outlook"]["more"]


def test_the_folder_of_an_item_is_not_told_where_it_is_the_given_group(tmp_path, client_for):
    image = pytest.importorskip("PIL.Image", reason='pip install "likewise[app]"')
    for k in range(12):
        folder = tmp_path / "fish" / ("cod" if k % 2 else "eel")
        folder.mkdir(parents=True, exist_ok=True)
        image.new("RGB", (30, 30), (20 * k, 90, 200 - 9 * k)).save(folder / f"tail-{k}.png")
    options = {"encoder": "layout"}
    plain = client_for(open_project(tmp_path / "fish", options=options).project)
    assert plain.get("/api/item/0").json()["item"]["title"] == "cod/tail-1.png"
    begun = open_project(
        tmp_path / "fish", options=options, groups="folders", session=tmp_path / "given.likewise"
    )
    item = client_for(begun.project).get("/api/item/0").json()["item"]
    assert (item["title"], item["heading"]) == ("tail-1.png", "tail-1.png")


@pytest.mark.slow
def test_a_session_of_likewise_can_be_served_too(tmp_path, truth, client_for):
    items = open_items(tmp_path / "points.csv", id="name")
    session = Likewise(random_state=0).start(items.features().X, sample_ids=items.ids)
    client = client_for(Project(session, items))
    client.finish(truth, most=33)
    state = client.state()
    assert state["completeness"]["estimate"] > 0.8
    assert "% right, at least" in state["outlook"]["line"]
    groups = client.get("/api/groups").json()
    assert groups["n"] >= 3
    n_wrong = (1 - state["completeness"]["estimate"]) * groups["total"]["size"]
    assert groups["total"]["n_wrong"] == round(n_wrong)
    assert abs(sum(g["n_wrong"] for g in groups["groups"]) - n_wrong) <= 0.5 * groups["n"]
    assert client.get("/api/ahead").status_code == 200


@pytest.mark.parametrize(
    ("seconds", "stored"),
    [(2.5, 2.5), (0, 0.0), (-1, None), (86401, None), ("2", None), (True, None), (None, None)],
)
def test_how_long_an_answer_took_is_kept_if_it_can_be(client, project, seconds, stored):
    body = {"position": 0, "question": 1, "answer": "same", "seconds": seconds}
    assert client.change("answer", **body).status_code == 200
    assert project.session.events[0].seconds == stored
    kept = client.get("/api/export/json").json()["log"][0]
    assert kept.get("seconds") == stored


def test_more_answers_are_told_in_the_time_this_person_takes(tmp_path, truth, client_for):
    found = open_project(tmp_path / "points.csv", options={"id": "name"}, questions="pairs", seed=0)
    client = client_for(found.project)
    for _ in range(EARLY):
        state = client.state()
        left, right = (state["question"][side]["row"] for side in ("left", "right"))
        body = {"position": state["position"], "question": state["question"]["number"]}
        word = "same" if truth[left] == truth[right] else "different"
        client.change("answer", answer=word, seconds=12, **body)
    assert "10 more answers (about 2 min) would move" in client.state()["outlook"]["more"]


def test_distances_come_only_when_asked_for(client):
    assert client.get("/api/query?distance=1").json()["question"]["distance"] > 0


def test_truthful_answers_lead_to_the_groups(client, truth):
    state = client.finish(truth)
    assert state["is_done"]
    assert state["question"] is None
    groups = client.get("/api/groups").json()
    assert groups["n"] == 3
    assert sorted(g["size"] for g in groups["groups"]) == [12, 12, 12]


def test_every_answer_is_in_the_file_before_the_next_question_comes(client, opened):
    client.answer("same")
    with Store.open(opened.path) as other:
        assert [e.op["links"][0][2] for e in other.read()] == ["same"]


def test_a_stale_answer_is_refused_and_changes_nothing(client):
    state = client.state()
    assert client.answer("same", state).status_code == 200
    reply = client.answer("different", state)
    assert reply.status_code == 409
    assert reply.json()["is_stale"]
    assert client.state()["progress"]["answered"] == 1


def test_two_processes_on_one_session_lose_and_double_nothing(client, client_for, tmp_path):
    other = open_project(tmp_path / "points.csv")
    second = client_for(other.project)
    old = second.state()
    client.answer("same")
    assert second.answer("same", old).status_code == 409
    assert second.state() == client.state()
    assert second.answer("different").status_code == 200
    assert client.state()["progress"]["answered"] == 2
    other.project.close()


def test_the_same_session_goes_on_after_a_restart(client, client_for, opened, tmp_path):
    for word in ("same", "unsure", "different"):
        client.answer(word)
    before = client.state()
    opened.project.close()
    again = open_project(tmp_path / "points.csv")
    assert not again.is_new
    assert client_for(again.project).state() == before
    again.project.close()


def test_undo_and_redo_lead_back_and_forth_without_limit(client, truth):
    states = [client.state()]
    states += [client.answer("same").json() and client.state() for _ in range(8)]
    for expected in reversed(states[:-1]):
        found = client.change("undo", position=client.state()["position"]).json()
        assert found["question"] == expected["question"]
        assert client.get("/api/progress").json()["progress"] == expected["progress"]
    assert not found["can_undo"]
    for expected in states[1:]:
        found = client.change("redo", position=client.state()["position"]).json()
        assert found["question"] == expected["question"]
    assert not found["can_redo"]


@pytest.mark.parametrize("word", ["same", "different", "unsure"])
def test_the_next_question_is_known_beforehand_under_each_answer(client, word):
    for said in ("same", "same", "different"):
        client.answer(said)
    ahead = client.get("/api/ahead").json()["next"][word]
    assert client.answer(word).json()["question"] == ahead


def test_the_history_comes_latest_first_and_in_pages(client):
    for _ in range(6):
        client.answer("same")
    page = client.get("/api/history?limit=4").json()
    assert [e["number"] for e in page["events"]] == [6, 5, 4, 3]
    rest = client.get("/api/history?limit=4&before=3").json()
    assert [e["number"] for e in rest["events"]] == [2, 1]
    assert page["n"] == 6


def test_a_revision_says_what_it_does_before_it_does_it(client, truth):
    client.finish(truth, wrong=(2,))
    before = client.state()
    event = client.get("/api/history").json()["events"][-2]
    other = "different" if event["answer"] == "same" else "same"
    body = {"number": 2, "answer": other, "position": before["position"]}
    preview = client.change("revise", **body).json()["preview"]
    n = client.get("/api/history").json()["n"]
    assert preview["n_kept"] + preview["n_dropped"] + 1 == n
    assert f"keeps {preview['n_kept']} other answer" in preview["words"]
    assert client.state() == before
    after = client.change("revise", **body, apply=True).json()
    assert after["progress"]["answered"] == preview["n_kept"] + 1
    client.finish(truth)
    assert client.get("/api/groups").json()["n"] == 3


def test_names_follow_their_group_through_merges_and_back(client, truth):
    state = client.state()
    row = state["question"]["left"]["row"]
    group = client.get(f"/api/item/{row}").json()["group"]
    reply = client.change("name", position=state["position"], group=group["id"], name="left <b>")
    assert reply.json()["group"]["name"] == "left <b>"
    merged = client.answer("same").json()
    assert client.get(f"/api/item/{row}").json()["group"]["name"] == "left <b>"
    client.change("undo", position=merged["position"])
    assert client.get(f"/api/item/{row}").json()["group"]["name"] == "left <b>"


def test_a_group_lists_all_its_members_typical_ones_first(client, truth):
    client.finish(truth)
    group = client.get("/api/groups").json()["groups"][0]
    found = client.get(f"/api/group/{group['id']}").json()
    rows = [m["row"] for m in found["members"]]
    assert len({truth[row] for row in rows}) == 1
    assert len(rows) == 12
    assert rows[0] == group["typical"][0]["row"]
    assert client.get("/api/group/99999").status_code == 400


def test_an_item_that_does_not_fit_is_asked_about_next(client, project, truth):
    client.finish(truth)
    standing = set(project.partition.representatives.tolist())
    row = next(i for i in range(len(truth)) if i not in standing)
    state = client.change("misfit", position=client.state()["position"], row=row).json()
    assert state["answers_behind"] == []
    assert state["question"]["left"]["row"] == row
    other = state["question"]["right"]["row"]
    client.answer("different", state)
    labels = project.session.labels
    assert labels[row] != labels[other]


def test_a_typical_item_that_does_not_fit_leads_to_the_answers_that_put_it_there(client):
    state = client.state()
    row = state["question"]["left"]["row"]
    after = client.answer("same").json()
    reply = client.change("misfit", position=after["position"], row=row).json()
    assert reply["answers_behind"] == [1]


def test_rebuilding_keeps_every_answer_and_asks_on(client, project, truth):
    assert client.change("rebuild", position=0).status_code == 400
    done = client.finish(truth)
    assert done["outlook"]["can_rebuild"]
    assert "nothing left" not in done["outlook"]["line"]
    state = client.change("rebuild", position=done["position"]).json()
    assert state["progress"]["answered"] == done["progress"]["answered"]
    assert not state["is_done"]
    client.finish(truth)
    assert client.get("/api/groups").json()["n"] == 3
    assert adjusted_rand_score(truth, project.session.labels) == 1.0


def test_checks_are_blind_and_show_disagreement_with_its_interval(client, truth):
    done = client.finish(truth)
    found = client.get("/api/checks").json()
    assert len(found["checks"]) == 5
    assert all("expected" not in check for check in found["checks"])
    position = done["position"]
    for k, check in enumerate(found["checks"]):
        is_same = truth[check["left"]["row"]] == truth[check["right"]["row"]]
        word = "same" if is_same ^ (k == 0) else "different"
        rows = {"left": check["left"]["row"], "right": check["right"]["row"]}
        reply = client.change("checks", position=position, answer=word, **rows).json()
        position = reply["position"]
    assert (reply["n"], reply["n_wrong"]) == (5, 1)
    assert reply["interval"] == [0.036, 0.624]
    assert reply["checks"][0]["because"]
    assert client.state()["progress"] == done["progress"]


def test_what_stayed_unsure_is_listed_and_can_be_settled(client):
    state = client.state()
    while not state["is_done"]:
        state = client.answer("unsure", state).json()
    found = client.get("/api/unsure").json()
    assert found["n"] == 45
    left, right = (found["pairs"][0][side]["row"] for side in ("left", "right"))
    reply = client.change(
        "settle", position=state["position"], left=left, right=right, answer="same"
    )
    assert reply.json()["progress"]["n_groups"] == 9


def test_the_map_has_two_coordinates_and_the_group_of_every_item(client, truth):
    client.finish(truth)
    found = client.get("/api/map").json()
    points = np.array(found["points"])
    assert points[:, 0].tolist() == list(range(36))
    assert points[:, 1:3].min() == 0
    assert points[:, 1:3].max() == 1000
    assert adjusted_rand_score(truth, points[:, 3]) == 1.0


def test_every_export_holds_the_groups(client, truth):
    client.finish(truth)
    rows = list(csv.DictReader(io.StringIO(client.get("/api/export/csv").text)))
    assert adjusted_rand_score(truth, [row["group"] for row in rows]) == 1.0
    lines = [json.loads(line) for line in client.get("/api/export/jsonl").text.splitlines()]
    assert [line["id"] for line in lines] == [f"p{i}" for i in range(36)]
    session = Session.from_dict(client.get("/api/export/json").json())
    assert session.is_done
    assert "Session.from_dict" in client.get("/api/export/py").text
    reply = client.get("/api/export/parquet")
    assert reply.headers["content-disposition"] == (
        "attachment; filename=\"points-groups.parquet\"; filename*=UTF-8''points-groups.parquet"
    )
    arrow = pytest.importorskip("pyarrow.parquet", reason='pip install "likewise[tables]"')
    assert arrow.read_table(io.BytesIO(reply.content)).num_rows == 36
    assert client.get("/api/export/xls").status_code == 400


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("answer", {"position": 0, "question": 1, "answer": "maybe"}),
        ("answer", {"position": "0", "question": 1, "answer": "same"}),
        ("answer", {"question": 1, "answer": "same"}),
        ("settle", {"position": 0, "left": 0, "right": 0, "answer": "same"}),
        ("settle", {"position": 0, "left": 0, "right": 10**9, "answer": "same"}),
        ("revise", {"position": 0, "number": 7, "answer": "same"}),
        ("name", {"position": 0, "group": -4, "name": "x"}),
        ("name", {"position": 0, "group": 0, "name": "x" * 300}),
        ("misfit", {"position": 0, "row": -1}),
        ("instruction", {"position": 0, "instruction": 7}),
    ],
)
def test_bad_requests_get_a_message_and_change_nothing(client, path, body):
    reply = client.change(path, **body)
    assert reply.status_code == 400
    assert len(reply.json()["error"]) > 10
    assert client.state()["position"] == 0


def test_what_is_not_json_is_refused(client):
    headers = {"origin": HOME, "content-type": "application/json"}
    assert client.post("/api/answer", content=b"{", headers=headers).status_code == 400
    assert client.post("/api/answer", content=b"[1]", headers=headers).status_code == 400


def test_an_app_can_be_made_of_a_session_and_items_and_mounted(tmp_path, truth, browse):
    from starlette.applications import Starlette
    from starlette.routing import Mount

    items = open_items(tmp_path / "points.csv", id="name")
    session = COBRA(10, random_state=0).start(items.features().X)
    app = create_app(session, items, has_own_login=True)
    client = browse(Starlette(routes=[Mount("/label", app)]))
    assert client.get("/label/").status_code == 200
    assert client.get("/label/static/main.js").status_code == 200
    state = client.get("/label/api/query").json()
    body = {"position": 0, "question": 1, "answer": "same"}
    assert client.post("/label/api/answer", json=body).json()["question"]["number"] == 2
    assert client.get("/label/api/progress").json()["progress"]["answered"] == 1
    assert len(session.events) == 1
    assert state["question"]["left"]["id"].startswith("p")


def test_an_item_that_is_gone_and_one_that_changed_are_told_apart(opened, client_for, tmp_path):
    opened.project.close()
    path = tmp_path / "points.csv"
    lines = path.read_text().splitlines()
    said: list[str] = []
    path.write_text("\n".join([lines[0], "p0,77,77", *lines[2:-1], "new,1,1"]) + "\n")
    again = open_project(path, say=said.append)
    assert "1 new, 1 removed, 1 changed since last time" in said
    client = client_for(again.project)
    gone = client.get("/api/item/35").json()["item"]
    assert gone["view"] == {"kind": "missing"}
    there = {*range(1, 35), 36, 37}
    assert {point[0] for point in client.get("/api/map").json()["points"]} == there
    assert {thing["row"] for thing in client.get("/api/find").json()["members"]} == there
    groups = client.get("/api/groups").json()["groups"]
    shown = [client.get(f"/api/group/{group['id']}").json()["members"] for group in groups]
    assert {thing["row"] for members in shown for thing in members} == there
    again.project.close()


def test_a_picture_that_cannot_be_shown_is_typical_of_nothing(tmp_path, client_for):
    image = pytest.importorskip("PIL.Image", reason='pip install "likewise[app]"')
    folder = tmp_path / "photos"
    folder.mkdir()
    for k in range(4):
        color = (255, 9 * k, 0) if k % 2 else (0, 9 * k, 255)
        image.new("RGB", (16, 16), color).save(folder / f"z{k}.png")
        (folder / f"broken{k}.png").write_bytes(f"not a picture {k}".encode())
    options = {"encoder": "layout", "cache": False}
    project = open_project(folder, options=options).project
    groups = client_for(project).get("/api/groups").json()["groups"]
    typical = [thing["id"] for group in groups for thing in group["typical"]]
    assert sum(group["size"] for group in groups) == 8
    assert [name for name in typical if name.startswith("broken")] == []
    assert len([name for name in typical if name.startswith("z")]) == 4
    project.close()


def test_the_result_is_mended_by_one_request_each_and_undone(client, truth):
    state = client.finish(truth)
    groups = client.get("/api/groups").json()["groups"]
    ids = [g["id"] for g in groups]
    members = client.get(f"/api/group/{ids[0]}").json()["members"]
    rows = [m["row"] for m in members[-2:]]

    def deed(name, **body):
        found = client.change(name, position=client.state()["position"], **body)
        assert found.status_code == 200, found.json()
        return found.json()

    deed("move", rows=rows, to=ids[1])
    inside = [m["row"] for m in client.get(f"/api/group/{ids[1]}").json()["members"]]
    assert set(rows) <= set(inside)
    deed("move", rows=rows, to=None)
    assert deed("merge", groups=ids[:2])["n_overruled"] >= 1
    merged = client.get("/api/groups").json()["groups"][0]["id"]
    shown = client.get(f"/api/group/{merged}/parts").json()["parts"]
    deed("split", parts=[[m["row"] for m in part["shown"]] for part in shown])
    for _ in range(4):
        client.change("undo", position=client.state()["position"])
    assert client.get("/api/groups").json()["groups"] == groups
    assert client.state()["progress"] == state["progress"]


@pytest.mark.parametrize(
    ("name", "body", "words"),
    [
        ("move", {"rows": [], "to": "new"}, "no items"),
        ("move", {"rows": [99], "to": "new"}, "no item 99"),
        ("move", {"rows": "all", "to": "new"}, "a list"),
        ("move", {"rows": [1], "to": 1.5}, "whole number"),
        ("merge", {"groups": [0]}, "two groups"),
        ("split", {"parts": [[1]]}, "two parts"),
        ("split", {"parts": [[1, 2], [2, 3]]}, "in one part only"),
        ("confirm", {"group": 0, "right": [1], "wrong": [1]}, "right and wrong"),
        ("confirm", {"group": 10**6, "right": [], "wrong": []}, "no group"),
    ],
)
def test_what_cannot_be_mended_is_named_and_changes_nothing(client, name, body, words):
    before = client.state()
    if name == "merge":
        body = {"groups": [client.get("/api/groups").json()["groups"][0]["id"]]}
    if body.get("group") == 0:
        body = {**body, "group": client.get("/api/groups").json()["groups"][0]["id"]}
    reply = client.change(name, position=before["position"], **body)
    assert reply.status_code == 400
    assert words in reply.json()["error"]
    assert client.state() == before


def test_an_answer_that_does_not_fit_the_question_is_the_callers_mistake(tmp_path, truth):
    project = open_project(tmp_path / "points.csv", options={"id": "name"}, seed=0).project
    with closing(project):
        while (question := project.session.ask()).is_pair:
            is_same = truth[question.left] == truth[question.right]
            said = Answer.SAME if is_same else Answer.DIFFERENT
            project.tell(said, number=question.number, position=project.position)
        project.choose(0, number=question.number, position=project.position)
        status, found = reply_to(project, "revise", {"number": question.number, "answer": "same"})
    assert status == 400
    assert isinstance(found, dict)
    assert "Answer.NONE for none of these" in found["error"]


def test_a_contradiction_is_the_callers_mistake(project):
    question = project.ask()

    def contradict(project, _):
        for answer in ("same", "different"):
            project.session.add_link(question.left, question.right, answer)

    status, found = reply(project, Call("contradict", contradict, changes=True), {})
    assert status == 400
    assert isinstance(found, dict)
    assert "contradicts earlier answers" in found["error"]


def test_items_are_found_by_text_by_how_they_are_known_and_by_number(client, truth):
    client.finish(truth)
    every = client.get("/api/find").json()
    assert every["n"] == len(truth)
    first = every["members"][0]
    named = client.get("/api/find", params={"text": first["id"].upper()}).json()
    assert first["row"] in [one["row"] for one in named["members"]]
    said = client.get("/api/find?how=said").json()
    assert 0 < said["n"] < every["n"]
    assert {one["how"] for one in said["members"]} == {"said"}
    assert [one["row"] for one in client.get("/api/find?rows=5,2").json()["members"]] == [5, 2]
    assert client.get("/api/find?rows=4000").status_code == 400
    group = client.get("/api/groups").json()["groups"][0]
    found = client.get(f"/api/group/{group['id']}?how=said&order=name").json()
    names = [one["id"] for one in found["members"]]
    assert names == sorted(names)
    assert {one["key"] for one in found["members"]} == {group["key"]}


def test_a_preview_of_mending_says_both_numbers_and_changes_nothing(client, truth):
    before = client.finish(truth)
    groups = client.get("/api/groups").json()["groups"]
    body = {"groups": [groups[0]["id"], groups[1]["id"]], "position": before["position"]}
    preview = client.change("merge", preview=True, **body).json()["preview"]
    assert client.state() == client.state()
    assert client.get("/api/groups").json()["n"] == len(groups)
    done = client.change("merge", **body).json()["changes"]
    assert done == preview
    assert done["n"] == min(groups[0]["size"], groups[1]["size"])
    assert done["n_following"] == 0


def test_a_preview_names_the_half_that_was_moved(client, truth):
    state = client.finish(truth)
    group = client.get("/api/groups").json()["groups"][0]
    members = client.get(f"/api/group/{group['id']}").json()["members"]
    rows = sorted(member["row"] for member in members)
    assert len(rows) == 12
    for half in (rows[:6], rows[6:]):
        body = {"rows": half, "to": "new", "position": state["position"], "preview": True}
        preview = client.change("move", **body).json()["preview"]
        assert preview["n"] - preview["n_following"] == 6
