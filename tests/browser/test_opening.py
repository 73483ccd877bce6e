"""The page before its session is open."""

import re
from concurrent.futures import Future

import pytest

from likewise.cli.served import ServedPage
from likewise.errors import InputError
from likewise.project import open_project

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def served(table, chromium, tmp_path, monkeypatch):
    """A page that is served while nothing is open yet, in a browser that looks at it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path, _ = table
    address: Future[str] = Future()
    monkeypatch.setattr("webbrowser.open", address.set_result)
    monkeypatch.setattr("likewise.cli.served.PATIENCE", 60.0)  # a busy machine is slow, not wrong
    page = chromium.new_page()
    page.set_default_timeout(180_000)
    with ServedPage(path, "127.0.0.1", 0, (), opens=True) as served:
        served.start(tmp_path / "x.likewise")
        page.goto(address.result())
        yield served, page
        page.close()


def test_the_bar_moves_and_the_first_question_comes_by_itself(served, table, axe):
    from playwright.sync_api import expect

    front, page = served
    expect(page.get_by_role("heading", level=1)).to_have_text("Opening iris.csv")
    expect(page.get_by_role("progressbar")).not_to_have_attribute("value", re.compile("."))
    front.progress("Describing pictures", 120, 500)
    expect(page.get_by_role("status").first).to_have_text("Describing pictures")
    expect(page.locator("#opening-share")).to_have_text("120 of 500")
    expect(page.get_by_role("progressbar")).to_have_attribute("value", "120")
    axe(page, "opening")
    project = open_project(table[0]).project
    front.wait = lambda: expect(page.locator("body")).to_have_attribute("data-view", "ask")
    front.show(project)
    project.close()


def test_what_cannot_be_opened_is_said_and_stays_said(served):
    from playwright.sync_api import expect

    front, page = served
    expect(page.get_by_role("heading", level=1)).to_have_text("Opening iris.csv")
    front.__exit__(InputError, InputError("row 7 is broken"), None)
    expect(page.get_by_role("heading", level=1)).to_have_text("Cannot open iris.csv")
    expect(page.get_by_role("status").first).to_have_text("row 7 is broken")
    with page.expect_event("requestfailed"):
        pass
    expect(page.get_by_role("status").first).to_have_text("row 7 is broken")
