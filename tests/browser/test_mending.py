"""The result, mended on the page by mouse and by keyboard."""

import csv
import re

import pytest

from likewise.project.lives import key_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def mender(table, serve, person):
    """Somebody who has answered 30 questions and has opened the largest group."""
    path, truth = table
    server = serve(path).answer(truth, 30)
    someone = person(server, truth)
    someone.go("Groups")
    someone.open_group()
    return someone, server.project


def send(someone, words, place):
    """Choose where things go, and confirm what is shown first."""
    page = someone.page
    page.locator(".mend summary", has_text=words).click()
    page.locator(".mend details[open] .places button").nth(place).click()
    someone.do(page.get_by_role("button", name="Apply").click)


def test_items_are_selected_by_click_shift_drag_and_space_and_move(mender):
    someone, project = mender
    page = someone.page
    boxes = page.locator(".member input")
    boxes.nth(1).click()
    boxes.nth(3).click(modifiers=["Shift"])
    status = page.locator(".mend [role=status]")
    someone.expect(status).to_have_text("3 items selected")
    page.locator(".member").nth(4).hover()
    page.mouse.down()
    page.locator(".member").nth(5).hover()
    page.mouse.up()
    someone.expect(status).to_have_text("5 items selected")
    boxes.nth(6).focus()
    page.keyboard.press("Space")
    someone.expect(status).to_have_text("6 items selected")
    rows = [int(box.get_attribute("value")) for box in boxes.all()[1:7]]
    labels = project.session.labels.copy()
    send(someone, "Move to", 0)
    someone.expect(page.get_by_role("alert")).to_contain_text("Moved 6 items")
    moved = project.session.labels
    assert len(set(moved[rows])) == 1
    assert moved[rows[0]] != moved[int(project.groups()[0].standing[0])]
    assert len(project.session.events[-1].links) >= 6
    someone.do(lambda: page.keyboard.press("z"))
    assert project.session.labels.tolist() == labels.tolist()


def test_pictures_are_selected_by_drawing_over_them(digits, serve, person, tmp_path):
    folder, truth = digits
    server = serve(folder, session=tmp_path / "s", encoder="layout")
    someone = person(server.answer(truth, 12), truth)
    someone.go("Groups")
    someone.open_group()
    # From picture to picture: the browser must not take one along instead.
    pictures = someone.page.locator(".member img")
    pictures.nth(0).hover()
    someone.page.mouse.down()
    for k in (1, 2):
        pictures.nth(k).hover()
    someone.page.mouse.up()
    someone.expect(someone.page.locator(".mend [role=status]")).to_have_text("3 items selected")


def test_several_items_are_dragged_to_a_group(mender):
    someone, project = mender
    page = someone.page
    boxes = page.locator(".member input")
    rows = [int(boxes.nth(k).get_attribute("value")) for k in (1, 2)]
    for k in (1, 2):
        boxes.nth(k).check()
    page.locator(".member .tile").nth(2).hover()
    page.mouse.down()
    # The list of groups opens when the drag begins; a browser takes two moves for a drag.
    page.locator(".member .tile").nth(3).hover()
    place = page.locator(".mend details[open] [data-key]").first
    key = place.get_attribute("data-key")
    place.hover()
    place.hover()
    page.mouse.up()
    someone.expect(page.locator(".foreseen")).to_contain_text("would change")
    someone.do(page.get_by_role("button", name="Apply").click)
    someone.expect(page.get_by_role("alert")).to_contain_text("Moved 2 items")
    group = next(g for g in project.groups() if key_of(g.number) == key)
    labels = project.session.labels
    assert labels[rows].tolist() == [labels[group.id]] * 2


def test_groups_merge_and_split_and_a_message_is_where_the_eye_is(mender):
    someone, project = mender
    page = someone.page
    n = len(project.groups())
    send(someone, "Merge with", 0)
    someone.expect(page.get_by_role("dialog")).to_have_count(0)
    assert len(project.groups()) < n
    someone.expect(page.locator(".group")).to_have_count(len(project.groups()))
    someone.open_group()
    page.get_by_role("button", name="Split").click()
    someone.expect(page.get_by_role("heading", name="Split into these two?")).to_be_visible()
    page.get_by_role("button", name="Split like this").click()
    someone.do(page.get_by_role("button", name="Apply").click)
    someone.expect(page.get_by_role("alert")).to_contain_text("Split the group")
    someone.expect(page.get_by_role("dialog")).to_have_count(0)
    box = page.get_by_role("alert").bounding_box()
    assert 0 <= box["y"] < 200


def test_history_says_in_words_that_one_thing_was_mended(mender):
    someone, _ = mender
    send(someone, "Merge with", 0)

    def shorten(route):
        reply = route.fetch()
        found = reply.json()
        found["events"][0]["links"] = found["events"][0]["links"][:1]
        route.fulfill(response=reply, json=found)

    someone.page.route("**/api/history*", shorten)
    someone.go("History")
    event = someone.page.locator(".event").first
    someone.expect(event.locator(".kind")).to_have_text("a group was mended")
    someone.expect(event.locator(".what")).to_contain_text("belong together")


class Keys:
    """Somebody without a mouse."""

    def __init__(self, page):
        self.page = page

    def press(self, locator, key="Enter"):
        """Go on with Tab, and in a grid with arrows, until something has the focus; press a key."""
        locator = locator.first
        in_grid = "node => document.activeElement.closest('ul')?.contains(node) ?? false"
        for _ in range(60):
            if locator.evaluate("node => node === document.activeElement"):
                return self.page.keyboard.press(key)
            go_on = locator.evaluate("node => node.tabIndex < 0") and locator.evaluate(in_grid)
            self.page.keyboard.press("ArrowRight" if go_on else "Tab")
        raise AssertionError(f"Tab does not get to {locator}")

    def tick(self, locator):
        self.press(locator, "Space")


class Fingers:
    """Somebody with a phone."""

    def __init__(self, page):
        self.page = page

    def press(self, locator):
        locator.first.tap()

    tick = press


PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.mark.parametrize(("hand", "options"), [(Keys, {}), (Fingers, PHONE)])
def test_every_gesture_works_by_keys_alone_and_by_touch(table, serve, person, hand, options):
    path, truth = table
    server = serve(path).answer(truth, 12)
    someone = person(server, truth, **options)
    someone.go("Groups")
    session, page = server.project.session, someone.page
    by, width = hand(page), page.viewport_size["width"]
    before = session.labels.tolist()
    told = page.get_by_role("alert")

    def button(name):
        return page.get_by_role("button", name=name, exact=True)

    def open_group():
        by.press(page.locator(".group .tiles"))
        someone.expect(page.locator(".mend summary")).to_have_count(2)
        someone.wait()
        assert page.evaluate("document.querySelector('dialog[open]').scrollWidth") <= width

    def send_to(words):
        by.press(page.locator(".mend summary", has_text=words))
        by.press(page.locator(".mend details[open] .places button"))
        someone.expect(button("Apply")).to_be_visible()
        someone.do(lambda: by.press(button("Apply")))

    open_group()
    for k in (0, 1):
        by.tick(page.locator(".member input").nth(k))
    send_to("Move to")
    someone.expect(told).to_contain_text("Moved 2 items")
    open_group()
    send_to("Merge with")
    someone.expect(told).to_contain_text("Merged two groups")
    open_group()
    by.press(button("Split"))
    someone.expect(button("Split like this")).to_be_visible()
    by.press(button("Split like this"))
    someone.do(lambda: by.press(button("Apply")))
    someone.expect(told).to_contain_text("Split the group")
    open_group()
    by.press(button("Check this group"))
    by.tick(page.locator(".checking .member input"))
    by.press(page.locator("#confirm"))
    someone.expect(button("Apply")).to_be_visible()
    someone.do(lambda: by.press(button("Apply")))
    someone.expect(told).to_contain_text(re.compile(r"Checked \d+ items"))
    by.press(button("Close").last)
    someone.expect(page.get_by_role("dialog")).to_have_count(0)
    for _ in range(4):
        someone.do(lambda: by.press(page.locator("#view-result").get_by_text("Undo")))
    assert session.labels.tolist() == before


def test_what_is_in_doubt_is_checked_from_the_page_of_groups(table, serve, person):
    path, truth = table
    server = serve(path).answer(truth, 12)
    someone = person(server, truth)
    someone.go("Groups")
    doubtful = [group for group in server.project.groups() if group.n_doubtful]
    assert doubtful
    someone.page.get_by_role("button", name="Check the least certain").click()
    someone.expect(someone.page.locator(".checking input").first).to_be_focused()


def test_many_are_confirmed_only_after_a_look_at_what_follows(mender):
    someone, project = mender
    page = someone.page
    page.get_by_role("button", name="Check this group").click()
    someone.expect(page.locator("#group-title")).to_have_text(re.compile("^Check "))
    shown = page.locator(".checking .member input")
    someone.expect(shown.first).to_be_focused()
    rows = [int(box.get_attribute("value")) for box in shown.all()]
    shown.nth(2).click()
    position = project.position
    page.keyboard.press("c")
    foreseen = page.locator(".foreseen")
    someone.expect(foreseen).to_contain_text(f"{len(rows) - 1} items that they belong here")
    someone.expect(foreseen).to_contain_text("and of 1 that it does not")
    someone.expect(foreseen).to_contain_text(re.compile("follow|No other item"))
    # Neither the key that asked for it nor Enter does it.
    for key in ("Enter", "Space", "c"):
        page.keyboard.press(key)
    someone.wait()
    assert project.position == position
    # Escape closes one thing at a time: what is shown, then the dialog.
    page.keyboard.press("Escape")
    someone.expect(foreseen).to_have_count(0)
    someone.expect(page.locator("#group-title")).to_be_visible()
    page.locator("#confirm").click()
    someone.do(page.get_by_role("button", name="Apply").click)
    implied = project.session.links.implied
    right = [row for row in rows if row != rows[2]]
    assert all(implied(right[0], row).value == "same" for row in right[1:])
    assert implied(right[0], rows[2]).value == "different"
    assert project.session.labels[rows[2]] != project.session.labels[right[0]]
    page.get_by_role("button", name="Close").last.click()
    someone.go("History")
    first = page.locator(".event").first
    someone.expect(first).to_contain_text("more at once")
    someone.expect(first).to_contain_text("a group was mended")
    first.click()
    someone.expect(page.locator(".revise").first).to_contain_text("Mend the group to change it")


def test_the_whole_path_from_a_folder_to_an_export_that_keeps_what_was_said(
    digits, serve, person, tmp_path
):
    folder, truth = digits
    server = serve(folder, session=tmp_path / "x.likewise", encoder="layout")
    someone = person(server.answer(truth, 35), truth)
    page = someone.page
    someone.answer(5)
    someone.go("Groups")
    someone.open_group()
    boxes = page.locator(".member input")
    moved = []
    for k in (1, 2):
        moved.append(int(boxes.nth(k).get_attribute("value")))
        boxes.nth(k).check()
    send(someone, "Move to", 0)
    someone.expect(page.get_by_role("dialog")).to_have_count(0)
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download CSV", exact=True).click()
    waiting.value.save_as(tmp_path / "groups.csv")
    with (tmp_path / "groups.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    session = server.project.session
    group = [row["group"] for row in rows]
    assert [row["id"] for row in rows] == list(server.project.ids)
    said = [link for event in session.events for link in event.links if link.answer.is_link]
    assert len(said) > 40
    for link in said:
        if session.links.implied(*link.pair) is link.answer:
            assert (group[link.left] == group[link.right]) == (link.answer.value == "same")
    assert group[moved[0]] == group[moved[1]]
    assert {row["how"] for row in rows} <= {"said", "learned", "open"}


def test_from_the_doubts_of_one_group_to_those_of_the_next(digits, serve, person, tmp_path):
    folder, truth = digits
    server = serve(folder, session=tmp_path / "s", encoder="layout")
    someone = person(server.answer(truth, 12), truth)
    someone.go("Groups")
    doubtful = sorted(server.project.groups(), key=lambda group: -group.n_doubtful)
    assert doubtful[1].n_doubtful
    someone.page.get_by_role("button", name="Check the least certain").click()
    someone.expect(someone.page.locator("#group-title")).to_contain_text("Check ")
    first = someone.page.locator("#group-title").inner_text()
    someone.page.get_by_role("button", name=re.compile("^Next: ")).click()
    someone.expect(someone.page.locator("#group-title")).not_to_have_text(first)


def test_items_are_found_enlarged_and_moved_by_the_key_of_a_group(mender):
    someone, project = mender
    page = someone.page
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Find items").click()
    found = page.locator("dialog .filters [role=status]")
    someone.expect(found).to_have_text(f"{len(project.ids)} items")
    page.get_by_label("Find in names").fill("5.1")
    someone.expect(found).not_to_have_text(f"{len(project.ids)} items")
    page.get_by_label("How it is known").select_option("learned")
    someone.wait()
    page.get_by_role("button", name="Enlarge").first.click()
    someone.expect(page.locator("#item-dialog .fields")).to_be_visible()
    page.keyboard.press("Escape")
    someone.expect(page.locator("#item-dialog")).to_be_hidden()
    boxes = page.locator("dialog .member input")
    rows = [int(boxes.nth(k).get_attribute("value")) for k in (0, 1)]
    for k in (0, 1):
        boxes.nth(k).check()
    group = next(
        g
        for g in project.groups()
        if project.session.labels[g.standing[0]] != project.session.labels[rows[0]]
    )
    key = next(one["key"] for one in someone.fetch("api/groups")["groups"] if one["id"] == group.id)
    page.keyboard.press(key)
    shown = page.locator(".foreseen")
    someone.expect(shown).to_contain_text("would change")
    assert project.session.labels[rows[0]] != project.session.labels[group.standing[0]]
    someone.do(page.get_by_role("button", name="Apply").click)
    labels = project.session.labels
    assert labels[rows[0]] == labels[rows[1]] == labels[group.standing[0]]


def test_a_lasso_on_the_map_lists_the_items_inside(mender):
    someone, project = mender
    page = someone.page
    page.keyboard.press("Escape")
    someone.go("Map")
    box = page.locator(".map canvas").bounding_box()
    # Its corners are round.
    left, top = box["x"] + 14, box["y"] + 14
    right, bottom = left + box["width"] - 28, top + box["height"] - 28
    page.get_by_role("button", name="Lasso").click()
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in ((right, top), (right, bottom), (left, bottom), (left, top)):
        page.mouse.move(x, y)
    page.mouse.up()
    page.get_by_role("button", name=f"Open {len(project.ids)} items").click()
    someone.expect(page.locator("dialog .member").first).to_be_visible()


def focused(page):
    """Return the value of the checkbox that has the focus, else None."""
    return page.evaluate("document.activeElement.value ?? null")


def test_a_grid_takes_one_tab_and_arrows_go_through_it(mender):
    someone, _ = mender
    page = someone.page
    boxes = page.locator("dialog .member input")
    values = boxes.evaluate_all("all => all.map(box => box.value)")
    assert len(values) > 20
    reached = "all => all.filter(node => node.tabIndex === 0).length"
    inside = page.locator("dialog .member").locator("input, button, summary")
    assert inside.evaluate_all(reached) == 3
    boxes.first.focus()
    tops = boxes.evaluate_all("all => all.map(box => box.closest('li').offsetTop)")
    n_columns = tops.count(tops[0])
    assert n_columns > 1
    steps = [("ArrowRight", 1), ("ArrowDown", 1 + n_columns), ("ArrowLeft", n_columns)]
    steps += [("ArrowUp", 0), ("End", len(values) - 1), ("Home", 0), ("ArrowUp", 0)]
    for key, place in steps:
        page.keyboard.press(key)
        assert focused(page) == values[place], key
    assert inside.evaluate_all(reached) == 3
    page.keyboard.press("Space")
    for _ in range(2):
        page.keyboard.press("Shift+ArrowRight")
    someone.expect(page.locator(".mend [role=status]")).to_have_text("3 items selected")


def test_enlarged_items_have_a_next_and_a_previous_one(mender):
    someone, _ = mender
    page = someone.page
    boxes = page.locator("dialog .member input")
    boxes.first.focus()
    n = boxes.count()
    page.keyboard.press("Enter")
    count = page.locator("#item-dialog .steps .hint")
    someone.expect(count).to_have_text(f"1 of {n}")
    someone.expect(page.get_by_role("button", name="Previous")).to_be_disabled()
    for place, key in ((2, "ArrowRight"), (3, "ArrowRight"), (2, "ArrowLeft")):
        page.keyboard.press(key)
        someone.expect(count).to_have_text(f"{place} of {n}")
    page.get_by_role("button", name="Next").click()
    someone.expect(count).to_have_text(f"3 of {n}")
    # Escape leads back to where one was, one thing at a time.
    page.locator("#item-dialog .menu summary").click()
    someone.expect(page.locator("#item-dialog .places button").first).to_be_visible()
    page.keyboard.press("Escape")
    someone.expect(page.locator("#item-dialog .places")).to_be_hidden()
    someone.expect(page.locator("#item-dialog")).to_be_visible()
    page.keyboard.press("Escape")
    someone.expect(page.locator("#item-dialog")).to_be_hidden()
    someone.expect(page.locator("#group-dialog")).to_be_visible()
    someone.expect(boxes.nth(2)).to_be_focused()


def test_what_is_found_says_its_group_and_changes_it_there(mender):
    someone, project = mender
    page = someone.page
    page.keyboard.press("Escape")
    someone.expect(page.get_by_role("dialog")).to_have_count(0)
    # Nothing of the last list is left, which could be taken for the next one.
    someone.expect(page.locator("dialog .member")).to_have_count(0)
    page.get_by_role("button", name="Find items").click()
    item = page.locator("dialog .member").first
    row = int(item.locator("input").get_attribute("value"))

    def group_of(row):
        label = project.session.labels[row]
        return next(group for group in project.groups() if group.label == label)

    place = item.locator("summary")
    someone.expect(place).to_contain_text(f"group {key_of(group_of(row).number).upper()}")
    place.click()
    ways = item.locator(".places [data-key]")
    someone.expect(ways).to_have_count(len(project.groups()) - 1)
    key = ways.first.get_attribute("data-key")
    ways.first.click()
    apply = page.get_by_role("button", name="Apply")
    someone.expect(apply.or_(page.get_by_role("alert"))).to_be_visible()
    if apply.count():
        apply.click()
    someone.expect(place).to_contain_text(f"group {key.upper()}")
    someone.expect(page.locator("#group-dialog")).to_be_visible()
    assert key_of(group_of(row).number) == key
