"""The names of a column on one screen: ticked, changed, merged, kept apart, and taken back."""

import csv

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NAMES = {
    "Acme Incorporated": 5,
    "Acme Incorporatd": 2,
    "Acme Incorporated.": 1,
    "Zenith Ltd": 4,
    "Zenith Ltd.": 3,
    "Zenth Ltd": 1,
    "Bolt Brothers": 2,
    "Bolt Brother": 1,
}


@pytest.fixture
def names(tmp_path, serve, person):
    pytest.importorskip("sparse_dot_topn", reason='pip install "likewise[names]"')
    path = tmp_path / "customers.csv"
    with path.open("w", newline="") as file:
        rows = [[name] for name, n in NAMES.items() for _ in range(n)]
        csv.writer(file).writerows([["company"], *rows])
    server = serve(path, session=tmp_path / "s.likewise", names="company", questions=None)
    return person(server), server.project


def new_names(project):
    from likewise.project import export

    rows = csv.DictReader(export(project, "names-csv").decode().splitlines())
    return {row["old"]: row["new"] for row in rows}


def test_all_candidates_are_ticked_and_merged_at_once_and_saved_one_by_one(names, axe):
    someone, project = names
    page = someone.page
    someone.expect(page.get_by_role("heading", name="Names that may be one")).to_be_visible()
    axe(page, "names")
    cards = page.locator(".alike > li")
    someone.expect(cards).to_have_count(3)
    # A name that is not right is unticked, and what the others become is changed.
    zenith = cards.filter(has_text="Zenth Ltd")
    zenith.get_by_label("Zenth Ltd").uncheck()
    acme = cards.filter(has_text="Acme Incorporatd")
    acme.locator(".target").fill("Acme")
    someone.expect(acme.locator(".merge")).to_be_checked()
    page.get_by_label("Tick all").check()
    page.get_by_role("button", name="Merge the 3 ticked").click()
    someone.expect(page.get_by_role("alert")).to_contain_text("Merged 3 candidates")
    someone.wait()
    mended = [e for e in project.session.events if e.source == "mended"]
    assert len(mended) == 3
    assert len(project.store.read(0)) == 4
    new = new_names(project)
    assert {new[name] for name in NAMES if name.startswith("Acme")} == {"Acme"}
    assert {new["Zenith Ltd"], new["Zenith Ltd."]} == {"Zenith Ltd"}
    assert new["Zenth Ltd"] == "Zenth Ltd"
    assert new["Bolt Brother"] == "Bolt Brothers"
    # What was left out is still a candidate.
    someone.expect(cards).to_have_count(1)
    cards.get_by_role("button", name="Keep").click()
    someone.expect(page.locator("#view-names")).to_contain_text("No further names")
    someone.wait()
    for _ in range(5):
        someone.press("z")
    someone.expect(cards).to_have_count(3)
    assert new_names(project) == {name: name for name in NAMES}


def test_names_fit_a_phone_and_pairs_remain_possible(names):
    someone, _ = names
    page = someone.page
    page.set_viewport_size({"width": 320, "height": 640})
    someone.expect(page.locator(".alike > li").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    # Every name is beside its box, also in large letters.
    page.evaluate("document.documentElement.style.fontSize = '28px'")
    for label in page.locator(".parts-of label").all():
        box, words = (label.locator(part).first.bounding_box() for part in ("input", "[dir]"))
        assert abs(words["y"] - box["y"]) < box["height"]
        assert words["x"] > box["x"] + box["width"]
    merges = page.locator(".alike .merge")
    merges.first.focus()
    page.keyboard.press("ArrowDown")
    someone.expect(merges.nth(1)).to_be_focused()
    page.get_by_role("link", name="Two at a time").click()
    someone.expect(page.locator("#ask-title")).to_be_visible()
