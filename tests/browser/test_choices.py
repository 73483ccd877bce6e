"""Choices on the page: one item, and the groups it may belong to."""

import re
import threading

import pytest

from likewise.core.session import Session
from likewise.items import open_items
from likewise.project import Project
from likewise.rows import build_super_instances
from likewise.strategies import ClosestFirst

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
def chooser(digits, person):
    serving = pytest.importorskip("likewise.web.serving", reason='pip install "likewise[app]"')
    folder, truth = digits
    items = open_items(folder, image_features="descriptors")
    partition = build_super_instances(items.features().X, 12, seed=0)
    project = Project(Session(ByGroups(partition), sample_ids=items.ids), items)
    served = serving.prepare(project, port=0)
    thread = threading.Thread(target=served.run)
    thread.start()
    yield person(served, truth), project
    served.server.should_exit = True
    thread.join()


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
