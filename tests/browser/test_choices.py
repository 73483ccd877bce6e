"""Choices on the page: one item, and the groups it may belong to."""

import re

import numpy as np
import pytest

from likewise import Answer
from likewise.project.groups import group_ids
from likewise.project.lives import key_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
LOW = {"viewport": {"width": 640, "height": 400}}
"""A window of 1280 x 800 with a zoom of 200 %."""


@pytest.fixture
def served(digits, serve, tmp_path):
    """A server, after answers that found three groups or more."""
    server = serve(digits[0], questions="choices", session=tmp_path / "s", encoder="layout")
    answer(server.project, digits[1], 6)
    return server


def answer(project, truth, n):
    for _ in range(n):
        question = project.ask()
        heads = [truth[group[0]] for group in question.groups]
        own = truth[question.row]
        chosen = heads.index(own) if own in heads else Answer.NONE
        project.choose(chosen, number=question.number, position=project.position)


@pytest.fixture
def chooser(served, digits, person):
    return person(served, digits[1]), served.project


def keys_shown(page):
    return page.locator(".option .key").all_inner_texts()


def test_a_choice_is_answered_by_key_by_click_and_by_none_of_these(chooser):
    someone, project = chooser
    page = someone.page
    someone.expect(page.get_by_role("heading", level=1)).to_have_text("Where does it belong?")
    n = len(project.session.events)
    groups = project.ask().groups
    page.keyboard.press("s")
    someone.press("0")
    assert [len(e.links) for e in project.session.events[n:]] == [len(groups)]
    question = someone.fetch("api/query")["question"]
    someone.press(question["groups"][1]["key"])
    said = project.session.events[-1].links
    assert [link.right for link in said] == [question["groups"][1]["shown"][0]["row"]]
    someone.do(page.locator(".choose").first.click)
    someone.press("u")
    assert project.session.events[-1].answer.value == "unsure"
    someone.press("z")
    someone.press("z")
    someone.do(page.get_by_role("button", name="None of these").click)
    assert project.session.events[-1].answer.value == "different"


def test_groups_stand_in_the_order_of_keys_that_they_keep_everywhere(chooser):
    someone, _ = chooser
    page = someone.page
    order = "123456789AEFHJKNPRTV"
    seen: dict[str, int] = {}
    for _ in range(6):
        question = someone.fetch("api/query")["question"]
        keys = keys_shown(page)
        assert keys == sorted(keys, key=order.index)
        for group in question["groups"]:
            kind = someone.truth[group["shown"][0]["row"]]
            assert seen.setdefault(group["key"], kind) == kind
        someone.answer(1)
    someone.go("Groups")
    listed = {g["id"]: g["key"].upper() for g in someone.fetch("api/groups?limit=60")["groups"]}
    assert page.locator(".group .key").all_inner_texts() == list(listed.values())
    color = page.locator(".group .key").first.evaluate("e => e.style.getPropertyValue('--key')")
    first = page.locator(".group .key").first.inner_text()
    someone.go("Map")
    in_legend = page.locator(".legend .key", has_text=re.compile(f"^{first}$"))
    assert in_legend.evaluate("e => e.style.getPropertyValue('--key')") == color
    someone.go("History")
    assert page.locator(".event .key").count() > 0
    assert ".png" not in page.locator("#view-history").inner_text()


def test_a_group_to_choose_opens_and_the_item_is_large(chooser):
    someone, _ = chooser
    page = someone.page
    assert page.locator(".choice .frame").bounding_box()["height"] > 360
    page.get_by_role("button", name=re.compile("^All .* members of group")).first.click()
    someone.expect(page.get_by_role("dialog").locator(".members li").first).to_be_visible()
    page.keyboard.press("Escape")
    someone.press("0")


def test_who_prefers_pairs_gets_a_choice_as_pairs_and_it_is_one_gesture(chooser):
    someone, project = chooser
    page = someone.page
    n, n_groups = len(project.session.events), len(project.ask().groups)
    page.keyboard.press("?")
    page.get_by_label(re.compile("Two at a time")).check()
    page.get_by_role("button", name="Close").click()
    why = page.locator("#why")
    someone.expect(why).to_contain_text(f"1 of {n_groups}")
    page.keyboard.press("d")
    someone.expect(why).to_contain_text(f"2 of {n_groups}")
    page.keyboard.press("z")
    for k in range(1, n_groups):
        someone.expect(why).to_contain_text(f"{k} of {n_groups}")
        page.keyboard.press("d")
    someone.expect(why).to_contain_text(f"{n_groups} of {n_groups}")
    someone.press("d")
    assert len(project.session.events) == n + 1
    assert {link.answer.value for link in project.session.events[-1].links} == {"different"}


@pytest.fixture
def crowded(digits, serve, person, tmp_path):
    """Somebody with more groups than are drawn large."""
    server = serve(digits[0], questions="choices", session=tmp_path / "m", encoder="layout")
    while len(server.project.ask().groups) < 9:
        answer(server.project, digits[1], 1)
    return person(server, digits[1]), server.project


def test_any_group_answers_also_a_small_one(crowded):
    someone, project = crowded
    page = someone.page
    question = someone.fetch("api/query")["question"]
    assert len(question["groups"]) == len(project.ask().groups) > question["n_large"] == 6
    assert page.locator(".option").count() == 6
    small = page.locator("#others .key").all_inner_texts()
    last = question["groups"][-1]
    assert last["key"].upper() in small
    someone.press(last["key"])
    same = [link for link in project.session.events[-1].links if link.answer is Answer.SAME]
    assert [link.right for link in same] == [last["shown"][0]["row"]]
    n = len(project.session.events)
    someone.do(page.locator("#others .choose-small").first.click)
    assert len(project.session.events) == n + 1


def test_several_groups_that_are_chosen_are_one(crowded):
    someone, project = crowded
    page = someone.page
    groups = someone.fetch("api/query")["question"]["groups"]
    page.keyboard.press(f"Shift+{groups[0]['key'].upper()}")
    first = page.locator(".choose[data-place='0']")
    someone.expect(first).to_have_attribute("aria-pressed", "true")
    page.locator("#others .choose-small").first.click(modifiers=["Shift"])
    someone.expect(page.locator("#several")).to_contain_text("these 2, which are one")
    page.keyboard.press("Escape")
    someone.expect(page.locator("#several")).to_be_hidden()
    # A long press does the same.
    for one in (page.locator(".choose").first, page.locator(".choose").nth(1)):
        one.hover(position={"x": 20, "y": 20})
        page.mouse.down()
        someone.expect(one).to_have_attribute("aria-pressed", "true")
        page.mouse.up()
    n = len(groups)
    someone.press("Enter")
    same = [link for link in project.session.events[-1].links if link.answer is Answer.SAME]
    assert len(same) == 2
    assert someone.fetch("api/groups?limit=1")["n"] < n + 1


def test_two_groups_that_may_be_one_are_suggested_and_never_again(served, person, monkeypatch):
    from likewise.core.reports import Merge

    project = served.project
    left, right, *_ = (rows[0] for rows in project.ask().groups)
    merge = Merge(left, right, 0.9)
    decided = [event.source for event in project.session.events]
    monkeypatch.setattr(
        type(project.session),
        "merges",
        property(lambda s: [merge] if len(s.events) == len(decided) else []),
    )
    someone = person(served)
    card = someone.page.locator("#merge")
    someone.expect(card).to_contain_text("The same?")
    assert card.locator(".key").count() == 2
    n = len(project.ask().groups)
    someone.press("m")
    someone.expect(card).to_be_hidden()
    assert len(project.ask().groups) == n - 1
    someone.press("z")
    someone.expect(card).to_be_visible()
    someone.press("l")
    someone.expect(card).to_be_hidden()
    assert len(project.ask().groups) == n


def test_a_group_is_named_on_its_card_while_answering(crowded):
    someone, project = crowded
    page = someone.page
    name = page.locator(".option-name").first
    key = page.locator(".option .key").first.inner_text()
    name.fill("zebra")
    name.press("Enter")
    someone.wait()
    assert [group.name for group in project.groups() if group.name] == ["zebra"]
    someone.go("Groups")
    someone.expect(page.get_by_role("textbox", name=f"Name of {key}, zebra")).to_have_value("zebra")
    page.keyboard.press("Escape")


def test_with_many_groups_one_is_found_by_its_name(crowded):
    someone, project = crowded
    page = someone.page
    while len(project.ask().groups) < 18:
        at = {"number": project.ask().number, "position": project.position}
        project.choose(Answer.NONE, **at)
    last = project.ask().groups[-1][0]
    project.name(int(group_ids(project.session)[last]), "zebra", position=project.position)
    page.reload()
    someone.expect(page.locator("#others")).to_contain_text("zebra")
    someone.wait()
    page.keyboard.press("/")
    page.keyboard.type("zeb")
    someone.expect(page.locator("#others li:visible")).to_have_count(1)
    someone.press("Enter")
    same = [link for link in project.session.events[-1].links if link.answer is Answer.SAME]
    assert [link.right for link in same] == [last]


def test_named_groups_without_members_are_chosen_by_key_and_by_click(
    digits, serve, person, tmp_path
):
    names = ["round", "straight", "both"]
    about = {"session": tmp_path / "named.likewise", "group_names": names}
    server = serve(digits[0], questions="choices", encoder="layout", **about)
    someone = person(server)
    page, project = someone.page, server.project
    assert page.locator(".option, #others li").count() == 3
    for name in names:
        someone.expect(page.locator("#stage")).to_contain_text(name)
    # The key is beside the name, and no card is an empty field.
    middles = [
        box["y"] + box["height"] / 2
        for part in (".key", ".unmet")
        for box in [page.locator(".option").first.locator(part).bounding_box()]
    ]
    assert middles[0] == pytest.approx(middles[1], abs=2)
    asked = project.ask().row
    someone.press(page.locator(".option, #others li").locator(".key").nth(1).inner_text().lower())
    (begun,) = (group for group in project.groups() if group.name)
    assert (begun.name, asked in begun.standing) == ("straight", True)
    asked = project.ask().row
    someone.do(page.get_by_role("button", name=re.compile("round")).first.click)
    found = {group.name: group.standing for group in project.groups() if group.name}
    assert asked in found["round"]
    assert asked not in found["straight"]


def test_hover_and_focus_show_a_small_group_larger(crowded):
    someone, _ = crowded
    page = someone.page
    small = page.locator("#others .choose-small")
    small.first.hover()
    someone.expect(page.locator(".preview img")).to_be_visible()
    someone.expect(page.locator(".preview .key")).to_have_text(small.first.inner_text().strip())
    page.mouse.move(5, 5)
    someone.expect(page.locator(".preview")).to_be_hidden()
    # Tab enters the list once, arrows go through it.
    small.first.focus()
    page.keyboard.press("ArrowRight")
    someone.expect(small.nth(1)).to_be_focused()
    someone.expect(page.locator(".preview .key")).to_have_text(small.nth(1).inner_text().strip())
    reached = small.evaluate_all("all => all.filter(node => node.tabIndex === 0).length")
    assert reached == 1


def test_a_small_group_is_named_where_it_is(crowded):
    someone, project = crowded
    page = someone.page
    small = page.locator("#others .small").first
    key = small.locator(".key").inner_text()
    n = len(project.session.events)
    small.hover()
    page.get_by_role("button", name=f"Name group {key}", exact=True).click()
    field = small.get_by_role("textbox")
    someone.expect(field).to_be_focused()
    field.press_sequentially("zebra 1")
    field.press("Enter")
    someone.expect(field).to_have_count(0)
    someone.expect(small.locator(".option-about")).to_have_text("zebra 1")
    someone.wait()
    assert [group.name for group in project.groups() if group.name] == ["zebra 1"]
    # The letters and the digit were no answers.
    assert len(project.session.events) == n


@pytest.fixture
def many(digits, serve, tmp_path):
    """A server with 60 groups, each of which has a member; every tenth has a name."""
    about = {"session": tmp_path / "many.likewise", "group_names": [f"kind {k}" for k in range(60)]}
    server = serve(digits[0], questions="choices", encoder="layout", **about)
    for k in range(60):
        question = server.project.ask()
        place = question.names.index(f"kind {k}")
        server.project.choose(place, number=question.number, position=server.project.position)
    return server


@pytest.mark.parametrize("way", [{}, PHONE])
def test_any_of_sixty_groups_is_chosen_by_key_by_press_and_by_name(many, person, way):
    someone = person(many, **way)
    page, project = someone.page, many.project

    def chosen():
        event = project.session.events[-1]
        (row,) = [link.right for link in event.links if link.answer is Answer.SAME]
        return project.session.labels[row]

    def label_of(key):
        return next(group.label for group in project.groups() if key_of(group.number) == key)

    groups = someone.fetch("api/query")["question"]["groups"]
    assert len(groups) == 60
    assert page.locator("#stage [data-place]").count() == 60
    # A pattern takes no room of its own.
    sizes = page.locator("#stage .key").evaluate_all("all => all.map(e => e.offsetHeight)")
    assert len(set(sizes)) == 1
    wanted = groups[40]["key"]
    assert len(wanted) == 2
    someone.do(lambda: page.keyboard.type(wanted))
    assert chosen() == label_of(wanted)
    for one in (page.locator(".choose").last, page.locator("#others .choose-small").last):
        one.scroll_into_view_if_needed()
        key = one.locator(".key").inner_text().lower()
        press = one.tap if way else one.click
        someone.do(press)
        assert chosen() == label_of(key)
    last = page.locator("#others .small").last
    key, name = (last.locator(part).inner_text() for part in (".key", ".option-about"))
    if way:
        page.locator("#find-group").tap()
    else:
        page.keyboard.press("/")
    page.keyboard.type(name)
    someone.expect(page.locator("#others li:visible").last).to_contain_text(name)
    someone.press("Enter")
    assert chosen() == label_of(key.lower())
    # Twelve colors are told apart, later groups have a pattern, too.
    marks = page.locator("#stage .key").evaluate_all(
        "all => all.map(e => [e.innerText, [e.style.getPropertyValue('--key'), e.className]])"
    )
    looks = [tuple(dict(marks)[key_of(number).upper()]) for number in range(48)]
    assert len({color for color, _ in looks[:12]}) == 12
    assert len(set(looks)) == 48


def test_a_long_touch_chooses_several_which_are_one(served, person):
    someone = person(served, **PHONE)
    page = someone.page
    for one in page.locator(".choose").all()[:2]:
        one.dispatch_event("pointerdown", {"pointerType": "touch"})
        someone.expect(one).to_have_attribute("aria-pressed", "true")
        one.dispatch_event("pointerup", {"pointerType": "touch"})
        one.dispatch_event("click")
    someone.do(page.locator("#several").tap)
    links = served.project.session.events[-1].links
    assert [link.answer for link in links].count(Answer.SAME) == 2


def test_given_folders_are_there_from_the_first_question(digits, serve, person, tmp_path):
    folder = tmp_path / "sorted"
    there = [(p, d) for p, d in zip(sorted(digits[0].iterdir()), digits[1], strict=True) if d < 4]
    for k, (picture, digit) in enumerate(there):
        place = folder / f"folder-{(digit + (k % 10 == 9)) % 4}"
        place.mkdir(parents=True, exist_ok=True)
        (place / picture.name).write_bytes(picture.read_bytes())
    server = serve(folder, questions="choices", groups="folders", encoder="layout")
    someone = person(server)
    page = someone.page
    names = [f"folder-{k}" for k in range(4)]
    values = page.locator(".option-name").evaluate_all("all => all.map(e => e.value)")
    assert sorted(values) == names
    someone.expect(page.locator(".option img[alt]").first).to_be_visible()
    for option in page.locator(".option").all():
        assert option.locator("img").count() >= 1
    # Where the item is now would sway who is asked.
    shown = page.locator("#pair .item").evaluate("e => e.outerHTML")
    assert "folder-" not in shown
    key = page.locator(".option .key").nth(2).inner_text()
    someone.press(key.lower())
    assert len(server.project.session.events) == 1


def test_the_demo_begins_with_two_clear_pictures_and_says_who_decides(tmp_path, serve, person):
    pytest.importorskip("PIL", reason='pip install "likewise[app]"')
    from likewise.cli.aquarium import write_aquarium

    write_aquarium(tmp_path / "aquarium")
    someone = person(serve(tmp_path / "aquarium", questions="choices", encoder="layout"))
    page = someone.page
    someone.expect(page.locator("#welcome")).to_contain_text("You decide what belongs together")
    assert page.locator("#welcome p").count() == 3
    widths = "all => all.map(i => Math.max(i.naturalWidth / i.width, i.naturalHeight / i.height))"
    assert min(page.locator(".frame img").evaluate_all(widths)) > 1
    for _ in range(2):
        assert ".png" not in page.locator("body").inner_text()
        someone.expect(page.locator("#counts")).to_contain_text("by layout")
        someone.press("d" if someone.fetch("api/query")["question"]["kind"] == "pair" else "0")
    someone.expect(page.locator("#welcome")).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_choice_breaks_no_rule_of_accessibility(served, person, scheme, axe):
    someone = person(served, color_scheme=scheme, reduced_motion="reduce")
    someone.expect(someone.page.locator(".option").first).to_be_visible()
    axe(someone.page, "choice")


@pytest.mark.parametrize("way", [PHONE, LOW, {"viewport": {"width": 320, "height": 640}}])
def test_the_item_stays_in_sight_and_nothing_lies_over_anything(served, person, way):
    someone = person(served, **way)
    page, width = someone.page, way["viewport"]["width"]
    for _ in range(2):
        page.locator(".option").last.scroll_into_view_if_needed()
        assert page.locator(".option").last.bounding_box()["height"] >= 90
        item = page.locator(".choice .item").bounding_box()
        assert item["y"] >= 0
        assert item["height"] >= 80
        last = page.locator(".option").last.bounding_box()
        below = page.locator("#view-ask > .progress").bounding_box()
        assert last["y"] < below["y"]
        apart = item["y"] + item["height"] <= last["y"] or item["x"] + item["width"] <= last["x"]
        assert apart
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("document.documentElement.scrollHeight") <= way["viewport"]["height"]
        someone.do(page.locator(".choose").last.click)
        assert page.locator("#stage").evaluate("e => e.scrollTop") == 0
        assert page.locator("main").evaluate("e => e.scrollTop") == 0


def test_on_a_phone_further_groups_are_seen_to_be_there(crowded):
    someone, _ = crowded
    page = someone.page
    page.set_viewport_size(PHONE["viewport"])
    further = page.locator("#others .small").first.bounding_box()
    assert further["y"] + 16 < page.locator("#view-ask > .progress").bounding_box()["y"]


def test_on_a_touch_screen_nothing_lies_over_the_picture_of_a_small_group(
    digits, serve, person, tmp_path
):
    server = serve(digits[0], questions="choices", session=tmp_path / "m", encoder="layout")
    while len(server.project.ask().groups) < 8:
        answer(server.project, digits[1], 1)
    small = person(server, **PHONE).page.locator("#others .small").first
    picture, pencil = (small.locator(one).bounding_box() for one in ("img", ".rename svg"))
    assert picture["y"] + picture["height"] <= pencil["y"]


@pytest.mark.parametrize("size", [(1280, 800), (390, 844), (320, 640), (640, 400)])
def test_texts_of_groups_are_whole_lines_and_as_many_as_there_is_room_for(
    tmp_path, serve, person, size
):
    kinds = ["rocket orbit moon", "goal hockey puck", "engine wheel gear"]
    texts = [
        " ".join(
            f"{word} {k + j} goes on and on here;" for j, word in enumerate(kinds[k % 3].split())
        )
        for k in range(60)
    ]
    (tmp_path / "posts.csv").write_text("text\n" + "\n".join(texts) + "\n")
    server = serve(tmp_path / "posts.csv", questions="choices", text="text")
    answer(server.project, [k % 3 for k in range(60)], 12)
    page = person(server, viewport=dict(zip(("width", "height"), size, strict=True))).page
    for card in page.locator(".choose .tiles").all():
        room = card.bounding_box()
        passages = [one for one in card.locator(".passage").all() if one.is_visible()]
        for one in passages:
            n_lines = one.evaluate(
                """e => {
                    const style = getComputedStyle(e);
                    const around = parseFloat(style.paddingTop) + parseFloat(style.paddingBottom);
                    return (e.clientHeight - around) / parseFloat(style.lineHeight);
                }"""
            )
            assert n_lines >= 1
            assert n_lines == pytest.approx(round(n_lines), abs=0.1)
            hidden = one.evaluate("e => e.scrollHeight - e.clientHeight")
            mask = one.evaluate("e => getComputedStyle(e).maskImage")
            assert (hidden > 2) == (mask != "none")
        # The last one ends in the card, and what is left is too little for another one.
        box = passages[-1].bounding_box()
        left = room["y"] + room["height"] - box["y"] - box["height"]
        assert -1 <= left < 60
        assert box["x"] < room["x"] + 1


def test_a_long_text_can_be_read_in_a_low_window(tmp_path, serve, person):
    kinds = ["rocket orbit moon", "goal hockey puck", "engine wheel gear"]
    texts = [f"{kinds[k % 3]} note {k} " + "and so on it goes " * 40 for k in range(30)]
    (tmp_path / "posts.csv").write_text("text\n" + "\n".join(texts) + "\n")
    server = serve(tmp_path / "posts.csv", questions="choices", text="text")
    answer(server.project, [k % 3 for k in range(30)], 4)
    someone = person(server, **LOW)
    text = someone.page.locator(".choice .text")
    line = text.evaluate("e => parseFloat(getComputedStyle(e).lineHeight)")
    assert text.bounding_box()["height"] > 4 * line


@pytest.fixture
def rows(tmp_path, serve):
    """Return a function that serves a table with so many fields."""

    def make(n_fields, session="s"):
        rng = np.random.default_rng(0)
        kinds = np.arange(120) % 4
        centers = rng.normal(size=(4, n_fields)) * 3
        cells = np.round(centers[kinds] + rng.normal(size=(120, n_fields)), 2).astype(str)
        cells[::7, 0] = ""
        lines = [",".join(f"field {k}" for k in range(n_fields)) + ",color"]
        colors = np.array(["red", "green", "blue", "gray"])[kinds]
        lines += [",".join([*row, color]) for row, color in zip(cells, colors, strict=True)]
        path = tmp_path / "rows.csv"
        path.write_text("\n".join(lines) + "\n")
        server = serve(path, questions="choices", session=tmp_path / session)
        answer(server.project, kinds.tolist(), 7)
        return server

    return make


def test_rows_are_one_table_with_values_beside_their_fields(rows, person, axe):
    someone = person(rows(3))
    page, question = someone.page, someone.fetch("api/query")["question"]
    groups = sorted(question["groups"], key=lambda group: group["number"])
    assert [t.strip() for t in page.locator(".choice thead .key").all_inner_texts()] == [
        group["key"].upper() for group in groups
    ]
    assert page.locator(".choice tbody th").all_inner_texts() == [
        field["name"] for field in question["fields"]
    ]
    for field, line in zip(question["fields"], page.locator(".choice tbody tr").all(), strict=True):
        own, *others = line.locator("td").all_inner_texts()
        assert own == (field["value"] or "missing")
        for group, text in zip(groups, others, strict=True):
            entry = field["groups"][question["groups"].index(group)]
            wanted = entry.get("text") or entry["shares"][0][0]
            assert wanted in text
    # Values stand below the keys of their groups.
    heads = [cell.bounding_box()["x"] for cell in page.locator(".choice thead th").all()]
    cells = [
        cell.bounding_box()["x"]
        for cell in page.locator(".choice tbody tr").first.locator("> *").all()
    ]
    assert heads == cells
    axe(page, "choice of rows")


def test_many_fields_are_folded_and_found(rows, person):
    someone = person(rows(60))
    page = someone.page
    assert page.locator(".choice tbody tr").count() == 8
    page.get_by_role("button", name="53 more fields").click()
    assert page.locator(".choice tbody tr").count() == 61
    page.get_by_label("Find a field").fill("field 57")
    someone.expect(page.locator(".choice tbody th")).to_have_text(["field 57"], use_inner_text=True)


def test_on_a_phone_the_item_and_three_groups_are_seen_and_others_are_swiped(rows, person):
    someone = person(rows(12), **PHONE)
    page = someone.page
    box = page.locator(".choice .table-box")
    right = box.bounding_box()["x"] + box.bounding_box()["width"]
    heads = page.locator(".choice thead th:visible").all()
    assert heads[3].bounding_box()["x"] + heads[3].bounding_box()["width"] <= right + 1
    # What the item has is below the name of each field, and stays in sight.
    field = someone.fetch("api/query")["question"]["fields"][0]
    name = page.locator(".choice tbody th").first
    assert name.inner_text().split("\n") == [field["name"], field["value"] or "missing"]
    own = heads[0].bounding_box()["x"]
    box.evaluate("e => e.scrollTo(1000, 0)")
    assert heads[0].bounding_box()["x"] == name.bounding_box()["x"] == own
    last = heads[-1].bounding_box()
    assert last["x"] + last["width"] <= right + 1
    someone.do(page.locator(".choice tbody tr").first.locator("td").last.tap)


def test_the_question_stands_in_ones_own_words(chooser):
    someone, project = chooser
    words = someone.page.locator("#instruction")
    words.fill("the same digit?")
    words.press("Enter")
    someone.wait()
    assert project.instruction == "the same digit?"
    someone.answer(1)
    someone.page.reload()
    someone.expect(words).to_have_value("the same digit?")


def test_copies_are_never_asked_about_and_shown_with_their_number(tmp_path, serve, person):
    image = pytest.importorskip("PIL.Image", reason='pip install "likewise[app]"')
    folder = tmp_path / "photos"
    folder.mkdir()
    for k in range(40):
        image.new("RGB", (40, 40), (60 * (k % 4), 255 - 60 * (k % 4), 0)).save(folder / f"{k}.png")
    server = serve(folder, questions="choices", encoder="layout")
    someone = person(server)
    n = 0
    while someone.fetch("api/query")["question"] is not None and n < 10:
        someone.press("d" if someone.fetch("api/query")["question"]["kind"] == "pair" else "0")
        n += 1
    assert n <= 4
    someone.go("Groups")
    someone.expect(someone.page.locator(".group .copies").first).to_have_text(
        "\N{MULTIPLICATION SIGN}10"
    )
    assert someone.fetch("api/groups")["total"]["size"] == 40


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
    name = someone.page.locator(".option-name").first
    someone.expect(name).to_have_attribute("placeholder", re.compile("orbit|puck|gear"))


def test_a_preview_says_which_group_would_be_chosen(chooser):
    someone, _ = chooser
    someone.press("0")
    someone.go("History")
    someone.page.locator(".event").first.click()
    other = someone.page.locator(".revise button").first
    key = other.locator(".key").inner_text()
    other.click()
    someone.expect(someone.page.locator(".revise .words")).to_contain_text(f"to “group {key}")


def test_the_group_that_was_chosen_is_not_offered_as_a_change(chooser):
    someone, _ = chooser
    chosen = someone.fetch("api/query")["question"]["groups"][0]["key"]
    someone.press(chosen)
    someone.go("History")
    someone.page.locator(".event").first.click()
    event = someone.fetch("api/history")["events"][0]
    others = {group["key"].upper() for group in event["groups"]} - {chosen.upper()}
    assert set(someone.page.locator(".revise .key").all_inner_texts()) == others


def test_a_choice_is_asked_again_with_its_groups_in_the_opposite_order(chooser):
    someone, project = chooser
    page = someone.page
    someone.go("Groups")
    page.get_by_role("button", name="Check yourself").click()
    asked = someone.fetch("api/checks")
    k = next(
        k
        for k, repeat in enumerate(asked["repeats"], len(asked["checks"]))
        if repeat["question"]["kind"] == "choice"
    )
    n = len(asked["checks"]) + len(asked["repeats"])
    for number in range(1, k + 1):
        someone.expect(page.get_by_role("group", name=f"Check {number} of {n}")).to_be_visible()
        page.keyboard.press("u")
    someone.expect(page.get_by_role("group", name=f"Check {k + 1} of {n}")).to_be_visible()
    repeat = asked["repeats"][k - len(asked["checks"])]
    event = project.session.events[repeat["number"] - 1]
    shown = [group["shown"][0]["row"] for group in repeat["question"]["groups"]]
    assert shown == [group[0] for group in event.groups[::-1]]
    someone.expect(page.locator(".again button")).to_have_count(len(shown))
    if event.answer.value == "same":
        page.locator(".again button").nth(shown.index(event.right)).click()
    else:
        page.keyboard.press("0")
    page.wait_for_function("k => !document.querySelector(`[aria-label^='Check ${k} ']`)", arg=k + 1)
    someone.wait()
    assert project.session.agreement == (1, 1)


def test_the_pictures_that_a_choice_may_show_next_are_fetched_beforehand(chooser):
    someone, _ = chooser
    ahead = someone.fetch("api/ahead")["next"]
    assert set(ahead) == {"0", "none"}
    after = [question for question in ahead.values() if question]
    shown = [group["shown"] for q in after for group in q.get("groups", [])[: q.get("n_large")]]
    small = {f"{t['image']}&size=small" for things in shown for t in things[1:]}
    covers = {f"{things[0]['image']}&size=middle" for things in shown}
    large = [q[side] for q in after for side in ("item", "left", "right") if side in q]
    wanted = small | covers | {t["image"] for t in large}
    someone.page.wait_for_function(
        """wanted => {
          const got = performance.getEntriesByType("resource").map(e => e.name);
          return wanted.every(w => got.some(g => g.endsWith(w)));
        }""",
        arg=sorted(wanted),
    )
