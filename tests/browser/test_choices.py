"""Choices on the page: one item, and the groups it may belong to."""

import re
import threading

import pytest

from likewise.core.session import Session
from likewise.items import open_items
from likewise.project import Project
from likewise.rows import build_super_instances
from likewise.strategies import ClosestFirst
from likewise.web.readiness import Readiness

pytestmark = [pytest.mark.browser, pytest.mark.slow]


class ByGroups(ClosestFirst):
    """Asks to which of the groups so far the next representative belongs."""

    name = "by-groups-of-the-test"

    def next_choice(self):
        heads: list[int] = []
        rows = self.partition.representatives.tolist()
        for row in rows:
            open_heads = [h for h in heads if self.links.implied(row, h) is None]
            is_asked = any(row == left for left, _, _ in self._log)
            if open_heads and not is_asked:
                return row, tuple((head,) for head in open_heads[:6])
            if all(self.links.implied(row, head) is not None for head in heads):
                heads += (
                    [] if any(self.links.find(row) == self.links.find(h) for h in heads) else [row]
                )
        return None


@pytest.fixture
def served(digits):
    serving = pytest.importorskip("likewise.web.serving", reason='pip install "likewise[app]"')
    folder, _ = digits
    items = open_items(folder, image_features="descriptors")
    partition = build_super_instances(items.features().X, 12, seed=0)
    project = Project(Session(ByGroups(partition), sample_ids=items.ids), items)
    served = serving.prepare(Readiness("digits", project), port=0)
    thread = threading.Thread(target=served.run)
    thread.start()
    yield served
    served.server.should_exit = True
    thread.join()


@pytest.fixture
def chooser(served, person):
    return person(served), served.readiness.project


def test_a_choice_is_answered_by_number_by_click_and_by_none_of_these(chooser):
    someone, project = chooser
    page = someone.page
    someone.expect(page.get_by_role("heading", level=1)).to_have_text("Where does it belong?")
    someone.expect(page.locator(".option")).to_have_count(1)
    page.keyboard.press("s")
    someone.press("0")
    someone.expect(page.locator(".option")).to_have_count(2)
    someone.press("2")
    assert [e.answer.value for e in project.session.events] == ["different", "same"]
    before = someone.position
    page.locator(".choose").nth(0).click()
    someone.expect(page.locator("body")).not_to_have_attribute("data-position", str(before))
    someone.press("u")
    someone.press("z")
    someone.press("z")
    assert [e.answer.value for e in project.session.events] == ["different", "same"]
    before = someone.position
    page.get_by_role("button", name="None of these").click()
    someone.expect(page.locator("body")).not_to_have_attribute("data-position", str(before))
    assert [len(e.links) for e in project.session.events] == [1, 1, 2]


def test_a_group_to_choose_opens_and_the_item_is_large(chooser):
    someone, _ = chooser
    page = someone.page
    page.set_viewport_size({"width": 1280, "height": 720})
    box = page.locator(".choice .frame").bounding_box()
    assert box["height"] > 360
    page.get_by_role("button", name=re.compile("^All .* members of Group 1")).click()
    someone.expect(page.get_by_role("dialog").locator(".members li").first).to_be_visible()
    page.keyboard.press("Escape")
    someone.press("0")


def test_who_prefers_pairs_gets_a_choice_as_pairs_and_it_is_one_gesture(chooser):
    someone, project = chooser
    page = someone.page
    someone.press("0")
    page.keyboard.press("?")
    page.get_by_label(re.compile("Two at a time")).check()
    page.get_by_role("button", name="Close").click()
    why = page.locator("#why")
    someone.expect(why).to_contain_text("group 1 of 2")
    page.keyboard.press("d")
    someone.expect(why).to_contain_text("group 2 of 2")
    page.keyboard.press("z")
    someone.expect(why).to_contain_text("group 1 of 2")
    page.reload()
    someone.expect(why).to_contain_text("group 1 of 2")
    page.keyboard.press("d")
    someone.expect(why).to_contain_text("group 2 of 2")
    someone.press("d")
    assert len(project.session.events) == 2
    assert [link.answer.value for link in project.session.events[1].links] == ["different"] * 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_choice_breaks_no_rule_of_accessibility(served, person, scheme, axe):
    someone = person(served, color_scheme=scheme, reduced_motion="reduce")
    someone.press("0")
    someone.expect(someone.page.locator("#strip .card").first).to_be_visible()
    axe(someone.page, "choice")


def test_a_choice_is_answered_on_a_phone_and_fits_it(served, person):
    phone = {"viewport": {"width": 375, "height": 740}, "has_touch": True, "is_mobile": True}
    someone = person(served, **phone)
    page = someone.page
    for _ in range(2):
        someone.do(page.get_by_role("button", name="None of these").tap)
    someone.expect(page.locator(".option")).to_have_count(3)
    for option in page.locator(".choose").all():
        box = option.bounding_box()
        assert box["height"] >= 44
        assert 0 <= box["x"] < box["x"] + box["width"] <= 375
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    someone.do(page.locator(".choose").last.tap)
    assert served.readiness.project.session.events[-1].answer.value == "same"


def test_rows_to_choose_from_show_their_fields_beside_the_names(table, serve, person, axe):
    path, truth = table
    someone = person(serve(path, questions="choices"), truth)
    while (question := someone.fetch("api/query")["question"])["kind"] == "pair":
        someone.answer(1)
    shown = question["groups"][0]["shown"]
    lines = someone.page.locator(".option").first.locator(".values > span")
    fields = [thing["view"]["fields"] for thing in shown]
    expected = {name: [value] for name, value in fields[0]}
    for name, value in (field for others in fields[1:] for field in others):
        expected[name].append(value)
    # Those that tell the groups apart come first, so the order is not that of the file.
    someone.expect(lines).to_have_count(sum(len(values) + 1 for values in expected.values()))
    texts = iter(lines.all_inner_texts())
    found = {name: [next(texts) for _ in shown] for name in texts}
    assert found == expected
    axe(someone.page, "choice of rows")


def test_a_group_without_a_name_says_what_it_is_about(tmp_path, serve, person):
    words = {
        "a": "rocket orbit moon probe",
        "b": "goal hockey puck ice",
        "c": "engine wheel gear tire",
    }
    kinds = [kind for kind in words for _ in range(20)]
    texts = [
        " ".join(words[kind].split()[(k + j) % 4] for j in range(3)) + f" note {k}"
        for k, kind in enumerate(kinds)
    ]
    (tmp_path / "posts.csv").write_text("text\n" + "\n".join(texts) + "\n")
    someone = person(serve(tmp_path / "posts.csv", questions="choices", text="text"), kinds)
    someone.answer(4)
    assert len(someone.fetch("api/query")["question"]["groups"]) == 3
    about = someone.page.locator(".option-about").first
    someone.expect(about).to_contain_text(re.compile("orbit|puck|gear"))


def test_a_preview_says_which_group_would_be_chosen(served, person):
    someone = person(served)
    for _ in range(3):
        someone.do(someone.page.get_by_role("button", name="None of these").click)
    someone.go("History")
    someone.page.locator(".event").first.click()
    other = someone.page.locator(".revise button").first
    wanted = other.inner_text()
    other.click()
    words = someone.page.locator(".revise .words")
    someone.expect(words).to_contain_text(f"to “{wanted}”")


def test_the_group_that_was_chosen_is_not_offered_as_a_change(served, person):
    someone = person(served)
    for _ in range(2):
        someone.do(someone.page.get_by_role("button", name="None of these").click)
    someone.press("1")
    someone.go("History")
    someone.page.locator(".event").first.click()
    event = someone.fetch("api/history")["events"][0]
    others = [f"the group of {group[0]['title']}" for group in event["groups"][1:]]
    offered = someone.page.locator(".revise button")
    someone.expect(offered).to_have_count(len(others) + 2)
    assert offered.all_inner_texts()[: len(others)] == others


def test_the_pictures_that_a_choice_may_show_next_are_fetched_beforehand(chooser):
    someone, _ = chooser
    while someone.fetch("api/query")["question"]["kind"] != "choice":
        someone.press("d")
    ahead = someone.fetch("api/ahead")["next"]
    assert set(ahead) == {"0", "none"}
    after = [question for question in ahead.values() if question]
    small = [thing for q in after for group in q.get("groups", []) for thing in group["shown"]]
    large = [q[side] for q in after for side in ("item", "left", "right") if side in q]
    wanted = {f"{t['image']}&size=small" for t in small} | {t["image"] for t in large}
    someone.page.wait_for_function(
        """wanted => {
          const got = performance.getEntriesByType("resource").map(e => e.name);
          return wanted.every(w => got.some(g => g.endsWith(w)));
        }""",
        arg=sorted(wanted),
    )
