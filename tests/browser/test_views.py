"""The page in a real browser: what is shown, to whom, and what comes after the questions."""

import csv
import re
from typing import Any
from urllib.parse import urljoin

import numpy as np
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def labeler(table, serve, person):
    path, truth = table
    server = serve(path, 15)
    return person(server, truth), server


@pytest.fixture
def namer(table, serve, person):
    """Somebody who has answered all questions."""
    path, truth = table
    server = serve(path, 15).answer(truth)
    return person(server, truth), server


def listen(someone, server):
    """Return a list that takes every request that does not go to the server."""
    home = urljoin(server.address, "/")
    foreign = []

    def hear(request):
        if not request.url.startswith(home):
            foreign.append(request.url)

    someone.page.context.on("request", hear)
    return foreign


def test_a_folder_of_200_pictures_is_labeled_with_the_network_off(digits, serve, person, tmp_path):
    folder, truth = digits
    server = serve(folder, 20, session=tmp_path / "x.likewise", encoder="layout")
    someone = person(server, truth)
    foreign = listen(someone, server)
    page = someone.page
    page.reload()
    someone.expect(page.locator(".frame img").first).to_be_visible()
    page.wait_for_function(
        "[...document.querySelectorAll('.frame img')].every(i => i.complete && i.naturalWidth)"
    )
    widths = page.eval_on_selector_all(".frame img", "all => all.map(i => i.naturalWidth)")
    assert widths == [96, 96]
    for _ in range(12):
        someone.press(someone.right_key())
    someone.expect(page.locator("#ask-title")).to_be_visible()
    for name in ("Groups", "Map", "History"):
        someone.go(name)
    assert foreign == []


def test_the_pictures_that_may_come_next_are_fetched_beforehand(digits, serve, person, tmp_path):
    folder, truth = digits
    server = serve(folder, 20, session=tmp_path / "x.likewise", encoder="layout")
    someone = person(server, truth)
    ahead = someone.fetch("api/ahead")["next"]
    wanted = {q[s]["image"] for q in ahead.values() for s in ("left", "right")}
    someone.page.wait_for_function(
        """wanted => {
          const got = performance.getEntriesByType("resource").map(e => e.name);
          return wanted.every(w => got.some(g => g.endsWith(w)));
        }""",
        arg=sorted(wanted),
    )


@pytest.mark.parametrize(("name", "n_shown"), [("IMG_{:04d}.png", 0), ("a cat, {}.png", 2)])
def test_the_name_that_a_camera_gave_is_not_shown(name, n_shown, digits, serve, person, tmp_path):
    taken = tmp_path / "taken"
    taken.mkdir()
    for k, picture in enumerate(sorted(digits[0].iterdir())[:12]):
        (taken / name.format(k)).write_bytes(picture.read_bytes())
    page = person(serve(taken, 12, session=tmp_path / "x.likewise", encoder="layout")).page
    assert page.locator(".side").count() == 2
    assert page.locator("figcaption").count() == n_shown


def test_pictures_zoom_together_and_can_be_shown_one_at_a_time(digits, serve, person, tmp_path):
    folder, truth = digits
    server = serve(folder, 20, session=tmp_path / "x.likewise", encoder="layout")
    someone = person(server, truth)
    page = someone.page
    page.locator(".left .frame").click(position={"x": 40, "y": 40})
    for side in ("left", "right"):
        picture = page.locator(f".{side} .frame img")
        someone.expect(picture).to_have_css("transform", "matrix(3, 0, 0, 3, 0, 0)")
    page.keyboard.press("b")
    someone.expect(page.locator(".side.right")).to_be_hidden()
    page.keyboard.press("b")
    someone.expect(page.locator(".side.left")).to_be_hidden()
    page.keyboard.press("b")
    someone.expect(page.locator(".side.left")).to_be_visible()
    someone.press("s")
    someone.expect(page.locator("#zoom")).to_have_attribute("aria-pressed", "false")


def test_rows_align_their_fields_and_dim_what_is_equal(labeler):
    someone, _ = labeler
    rows = someone.page.locator(".pair tbody tr")
    someone.expect(rows).to_have_count(4)
    for k in range(4):
        left, relation, right = rows.nth(k).locator("td").all_inner_texts()
        is_equal = left == right
        assert relation.split() == (["=", "same"] if is_equal else ["different"])
        assert rows.nth(k).get_attribute("class") == ("equal" if is_equal else "differs")
        someone.expect(rows.nth(k).locator(".scale i")).to_have_count(0 if is_equal else 2)


def test_fields_that_differ_most_come_first_and_others_can_be_hidden(tmp_path, serve, person):
    path = tmp_path / "cars.csv"
    path.write_text("wheels,weight,doors\n4,900,2\n4,2000,3\n4,950,5\n4,1900,4\n")
    someone = person(serve(path, questions="pairs"))
    page = someone.page
    view = someone.fetch("api/query")["question"]
    far = {
        name: abs(view["left"]["view"]["scales"][name] - view["right"]["view"]["scales"][name])
        for name in ("weight", "doors")
    }
    first, second = sorted(far, key=lambda name: -far[name])
    names = page.locator(".pair tbody th")
    someone.expect(names).to_have_text([first, second, "wheels"])
    page.get_by_text("Fields", exact=True).click()
    page.get_by_label("wheels").uncheck()
    someone.expect(names).to_have_text([first, second])
    page.reload()
    someone.expect(names).to_have_text([first, second])


def test_candidate_pairs_are_shown_as_rows_and_have_no_map(tmp_path, serve, person):
    people, path = tmp_path / "people.csv", tmp_path / "pairs.csv"
    people.write_text("key,name,city\na,Ann,Bonn\nb,Anne,Bonn\nc,Bob,Rome\n")
    path.write_text("left,right,score\na,b,0.9\nb,c,0.2\n")
    someone = person(serve(path, items=str(people), id="key", pairs="auto"))
    page = someone.page
    someone.expect(page.locator(".pair tbody th")).to_have_text(["name", "city"])
    someone.expect(page.locator("#to-map")).to_be_hidden()
    page.goto(page.url.partition("#")[0] + "#map")
    someone.expect(page.locator("#view-ask")).to_be_visible()
    page.goto(page.url.partition("#")[0] + "#result")
    someone.expect(page.locator("#view-result h1")).to_be_visible()
    assert someone.errors == []


def test_texts_show_shared_and_differing_words(tmp_path, serve, person):
    path = tmp_path / "mails.csv"
    path.write_text("body\nThe red house\nthe blue house\n")
    someone = person(serve(path, questions="pairs", text="body"))
    page = someone.page
    assert sorted(page.locator(".pair mark").all_inner_texts()) == ["blue", "red"]
    assert sorted(page.locator(".shared").all_inner_texts()) == ["The", "house", "house", "the"]


def test_series_share_their_axes_and_lie_one_over_the_other(tmp_path, serve, person):
    t = np.linspace(0, 6, 50)
    np.savez(tmp_path / "w.npz", X=np.array([k * np.sin(t) for k in range(1, 7)]))
    someone = person(serve(tmp_path / "w.npz", questions="pairs", series=True))
    page = someone.page
    axes = page.locator(".side.left .plot > span")
    someone.expect(axes.first).to_be_visible()
    someone.expect(page.locator(".side.right .plot > span")).to_have_text(axes.all_text_contents())
    # Halfway between the ends is as exact as the range is wide.
    someone.expect(axes.nth(1)).to_have_text("0")
    page.keyboard.press("o")
    someone.expect(page.locator(".side.both polyline")).to_have_count(2)
    someone.expect(page.locator(".side.left")).to_be_hidden()


def test_hostile_cells_are_text_and_nothing_else(tmp_path, serve, person):
    path = tmp_path / "cells.csv"
    nasty = [
        "<script>document.title='pwned'</script>",
        '"><img src=x onerror=alert(1)>',
        "\u202eright to left\u202c 😀 \ufffd",
        "x" * 1_000_000,
        "{{ 7 * 7 }} ${1} %s",
        "javascript:alert(1)",
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["a<b>", "n"])
        writer.writerows([text, k] for k, text in enumerate(nasty))
    someone = person(serve(path, questions="pairs", text="a<b>"))
    page = someone.page
    seen = set()
    while someone.fetch("api/query")["question"]:
        seen |= set(page.locator(".text").all_inner_texts())
        someone.press("d")
    assert any("<script>document.title" in text for text in seen)
    assert any("<img src=x onerror" in text for text in seen)
    someone.expect(page.locator("main script, main img")).to_have_count(0)
    for name in ("Map", "History", "Groups"):
        someone.go(name)
    assert page.evaluate("document.title") != "pwned"
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_the_page_fits_a_phone_and_swipes_answer(digits, serve, person, tmp_path):
    folder, truth = digits
    server = serve(folder, 20, session=tmp_path / "x.likewise", encoder="layout")
    someone = person(
        server, truth, viewport={"width": 375, "height": 740}, has_touch=True, is_mobile=True
    )
    page = someone.page
    for word in ("Same", "Different", "Not sure"):
        box = page.get_by_role("button", name=word).bounding_box()
        assert box["height"] >= 44
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 375
        assert box["y"] + box["height"] <= 740
    swipe = """([from, to]) => {
      const box = document.querySelector("#pair");
      const touch = (x) => new Touch({ identifier: 1, target: box, clientX: x, clientY: 300 });
      const send = (kind, touches, x) =>
        box.dispatchEvent(new TouchEvent(kind, { touches, changedTouches: [touch(x)] }));
      send("touchstart", [touch(from)], from);
      send("touchend", [], to);
    }"""
    page.evaluate(swipe, [80, 300])
    someone.expect(page.locator("body")).to_have_attribute("data-position", "1")
    page.evaluate(swipe, [300, 80])
    someone.expect(page.locator("body")).to_have_attribute("data-position", "2")
    assert [e["answer"] for e in someone.fetch("api/history")["events"]] == ["different", "same"]
    for name in ("Groups", "Map", "History", "Questions"):
        someone.go(name)
        assert page.evaluate("document.documentElement.scrollWidth") <= 375, name


def test_how_complete_the_groups_are_fits_a_phone(digits, serve, person, tmp_path):
    folder, truth = digits
    server = serve(folder, session=tmp_path / "x.likewise", encoder="layout")
    someone = person(server.answer(truth, 20), truth, viewport={"width": 375, "height": 740})
    # How many answers it takes until that can be said is up to the learner.
    while "% right" not in someone.fetch("api/progress")["outlook"]["line"]:
        assert someone.answer(5) == 5
    page = someone.page
    someone.expect(page.locator("#progress")).to_contain_text("% right")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_the_line_and_its_curve_say_how_good_the_groups_are_and_what_more_would_bring(
    digits, serve, person, tmp_path
):
    folder, truth = digits
    server = serve(folder, session=tmp_path / "x", questions="choices", encoder="layout")
    someone = person(server, truth)
    page = someone.page
    # While it is too early to say there is no curve.
    page.locator("#how-good summary").click()
    while not (someone.fetch("api/progress")["completeness"] or {}).get("is_said"):
        someone.expect(page.locator("#more-about .curve")).to_have_count(0)
        assert someone.answer(1) == 1
    page.locator("#how-good summary").click()
    found = someone.fetch("api/progress")
    shares = [f"{share:.0%}" for _, share in found["completeness"]["curve"]]
    name = f"share right, by items said: {', '.join(shares)}"
    quality = found["outlook"]["quality"]
    # Whether one can stop as soon as it is said is up to the learner, too.
    said = f"you can stop here · {quality}" if found["outlook"]["can_stop"] else quality
    someone.expect(page.locator("#progress")).to_have_text(said[:1].upper() + said[1:])
    page.locator("#how-good summary").click()
    someone.expect(page.get_by_role("img", name=name, exact=True)).to_be_visible()
    someone.expect(page.locator("#more-about")).to_contain_text("10 more answers (about ")
    page.keyboard.press("Escape")
    assert "10 more answers (about " in found["outlook"]["line"]
    assert all(event.seconds > 0 for event in server.project.session.events)
    someone.go("Groups")
    lines = page.locator(".result-lines p")
    for k, part in enumerate(("quality", "more")):
        someone.expect(lines.nth(k)).to_contain_text(found["outlook"][part][1:])
    someone.expect(page.get_by_role("img", name=name, exact=True)).to_be_visible()
    # As many items as the words beside it say, and all of it in the window.
    n_known = found["completeness"]["curve"][-1][0]
    someone.expect(page.locator("#view-result .curve-to")).to_have_text(f"{n_known} said")
    top = page.locator("#view-result .curve-top").bounding_box()
    heading = page.locator("#view-result").bounding_box()
    assert top["x"] + top["width"] <= heading["x"] + heading["width"]
    total = someone.fetch("api/groups")["total"]
    words = f"learned (about {total['n_wrong']} wrong)"
    someone.expect(page.locator(".result-words")).to_contain_text(words)


def test_the_end_does_not_contradict_itself(tmp_path, serve, person):
    path = tmp_path / "six.csv"
    path.write_text("x\n1\n2\n3\n90\n91\n92\n")
    someone = person(serve(path, questions="choices"), [0, 0, 0, 1, 1, 1])
    someone.answer()
    page = someone.page
    someone.expect(page.get_by_role("heading", level=1)).to_have_text("Done: 2 groups")
    someone.expect(page.locator(".result-lines")).to_contain_text("Nothing left to ask")
    someone.expect(page.get_by_text("Continue")).to_have_count(0)


def test_done_offers_checks_more_questions_and_every_export(namer, tmp_path):
    someone, server = namer
    page = someone.page
    someone.expect(page.get_by_role("heading", level=1)).to_have_text("Done: 3 groups")
    someone.expect(page.locator(".result-lines")).not_to_contain_text("othing left")
    page.get_by_text("Other formats").click()
    ways = (("Download CSV", "csv"), ("JSON lines", "jsonl"), ("Session file", "json"))
    for name, suffix in ways:
        with page.expect_download() as waiting:
            page.get_by_role("link", name=name, exact=True).click()
        target = tmp_path / f"out.{suffix}"
        waiting.value.save_as(target)
        assert target.stat().st_size > 500
    page.get_by_role("button", name="Check yourself").click()
    for k in range(1, 6):
        check = page.get_by_role("group", name=f"Check {k} of 10")
        someone.expect(check).to_be_visible()
        page.keyboard.press("s")
    # The last five are one's own answers, with the sides changed.
    repeats = someone.fetch("api/checks")["repeats"]
    for k, repeat in enumerate(repeats, 6):
        check = page.get_by_role("group", name=f"Check {k} of 10")
        someone.expect(check).to_be_visible()
        left, right = (repeat["question"][side]["row"] for side in ("left", "right"))
        event = server.project.session.events[repeat["number"] - 1]
        assert (event.left, event.right) == (right, left)
        page.keyboard.press("s" if someone.truth[left] == someone.truth[right] else "d")
    someone.expect(page.locator(".verdict").first).to_have_text("You agree with yourself 5 of 5.")
    someone.expect(page.locator(".verdict").last).to_contain_text("may")
    assert server.project.session.agreement == (5, 5)
    someone.wait()
    page.keyboard.press("Escape")
    someone.go("History")
    someone.expect(page.locator(".note", has_text="the same answer")).to_have_count(5)
    someone.expect(page.locator(".note", has_text="changes no group")).to_have_count(10)
    someone.go("Groups")
    page.get_by_role("button", name="Continue where doubt remains").click()
    someone.expect(page.locator("#ask-title")).to_be_visible()
    someone.answer(2)


def test_what_stayed_unsure_is_shown_and_can_be_decided(tmp_path, serve, person):
    path = tmp_path / "three.csv"
    path.write_text("x\n1\n2\n9\n")
    someone = person(serve(path, questions="pairs"))
    while someone.fetch("api/query")["question"] is not None:
        someone.press("u")
    page = someone.page
    someone.expect(page.get_by_role("heading", name="Still undecided")).to_be_visible()
    n = page.locator(".open-pair").count()
    someone.do(page.locator(".open-pair").first.get_by_role("button", name="same").click)
    someone.expect(page.locator(".open-pair")).to_have_count(n - 1)


def test_every_view_says_how_items_are_known_in_words(labeler):
    someone, _ = labeler
    page = someone.page
    someone.go("Groups")
    someone.expect(page.get_by_role("heading", level=1)).to_have_text(
        re.compile("before any answer")
    )
    n = len(someone.truth)
    someone.expect(page.locator(".result-words")).to_contain_text(f"{n} open. You gave 0 answers.")
    page.keyboard.press("Escape")
    someone.answer(8)
    found = someone.fetch("api/groups")
    total, first = found["total"], found["groups"][0]
    someone.go("Groups")
    someone.expect(page.locator(".result-words")).to_contain_text(
        f"{n} items: {total['n_said']} said"
    )
    card = page.locator(".group").first
    someone.expect(card).to_contain_text(f"{first['size']} items: {first['n_said']} said")
    someone.open_group()
    said = page.locator("dialog .how-words").filter(has_text="you said so")
    someone.expect(said).to_have_count(first["n_said"])
    page.keyboard.press("Escape")
    someone.go("Map")
    someone.expect(page.locator(".legend").last).to_contain_text("you said so")


def test_a_name_given_while_another_is_saved_is_kept(namer):
    someone, server = namer
    page = someone.page
    held: list[Any] = []
    page.route("**/api/name", lambda route: route.continue_() if held else held.append(route))
    names = page.get_by_role("textbox")
    with page.expect_request("**/api/name"):
        names.nth(0).fill("first")
        names.nth(0).press("Enter")
    names.nth(1).fill("second")
    names.nth(1).press("Enter")
    someone.expect(page.locator("main")).to_have_attribute("aria-busy", "true")
    held[0].continue_()
    someone.wait()
    assert {"first", "second"} <= {group.name for group in server.project.groups()}


def test_groups_are_named_opened_and_doubted(namer):
    someone, server = namer
    page = someone.page
    page.get_by_role("textbox").first.fill("setosa & friends")
    page.get_by_role("textbox").first.press("Enter")
    page.get_by_role("button", name=re.compile("^All .* of .*setosa & friends")).click()
    dialog = page.get_by_role("dialog")
    someone.expect(dialog.get_by_role("heading")).to_have_text("setosa & friends")
    standing = set(server.project.partition.representatives.tolist())
    members = dialog.locator(".members li")
    group = someone.fetch("api/groups")["groups"][0]["id"]
    rows = [m["row"] for m in someone.fetch(f"api/group/{group}")["members"]]
    k = next(k for k, row in enumerate(rows) if row not in standing)
    members.nth(k).get_by_role("button", name="ask me").click()
    someone.expect(page.get_by_role("alert")).to_contain_text("may not fit there")
    assert someone.fetch("api/query")["question"]["left"]["row"] == rows[k]


def test_hover_on_the_map_shows_a_picture_and_the_name_of_the_group(digits, serve, person):
    server = serve(digits[0], questions="choices", encoder="layout").answer(digits[1], 8)
    group = server.project.groups()[0]
    server.project.name(group.id, "zebras", position=server.project.position)
    someone = person(server)
    page = someone.page
    someone.go("Map")
    canvas = page.locator(".map > canvas")
    points = someone.fetch("api/map")["points"]
    row, x, y, *_ = next(point for point in points if point[3] == group.id)
    box = canvas.bounding_box()
    at = (24 + x / 1000 * (box["width"] - 48), box["height"] - 24 - y / 1000 * (box["height"] - 48))
    page.mouse.move(box["x"] + at[0], box["y"] + at[1])
    someone.expect(page.locator(".preview img")).to_be_visible()
    assert f"/{row}" in page.locator(".preview img").get_attribute("src")
    someone.expect(page.locator(".preview")).to_contain_text("zebras")
    page.mouse.move(5, 5)
    someone.expect(page.locator(".preview")).to_be_hidden()


def test_the_map_shows_an_item_that_is_clicked(labeler):
    someone, _ = labeler
    someone.answer(6)
    page = someone.page
    someone.go("Map")
    canvas = page.locator(".map > canvas")
    someone.expect(canvas).to_be_visible()
    _, x, y, *_ = someone.fetch("api/map")["points"][0]
    box = canvas.bounding_box()
    place = {
        "x": 24 + x / 1000 * (box["width"] - 48),
        "y": box["height"] - 24 - y / 1000 * (box["height"] - 48),
    }
    canvas.click(position=place)
    someone.expect(page.locator(".inspect dl")).to_be_visible()
    someone.expect(page.locator(".inspect").get_by_role("button").first).to_contain_text("group")
    titles = {page.locator(".inspect h2").inner_text()}
    page.get_by_role("button", name="Zoom in").click()
    canvas.press("+")
    someone.expect(canvas).to_have_class("zoomed")
    for key in ("ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"):
        canvas.press(key)
        someone.wait()
        titles.add(page.locator(".inspect h2").inner_text())
    assert len(titles) > 1
    canvas.press("0")
    someone.expect(canvas).not_to_have_class("zoomed")


@pytest.fixture
def input_of(tmp_path, digits):
    """Return a function from a kind of items to a path and options."""

    def make(kind):
        if kind == "images":
            options = {"session": tmp_path / "x.likewise", "encoder": "layout"}
            return digits[0], options
        if kind == "texts":
            path = tmp_path / "mails.csv"
            words = ["The red house", "the blue house", "rockets fly", "a rocket flew", "bread"]
            path.write_text("body,from\n" + "".join(f"{w} {k},me\n" for k, w in enumerate(words)))
            return path, {"text": "body", "show": ["from"]}
        t = np.linspace(0, 6, 50)
        np.savez(tmp_path / "w.npz", X=np.array([k * np.sin(k * t) for k in range(1, 8)]))
        return tmp_path / "w.npz", {"series": True}

    return make


@pytest.mark.parametrize("kind", ["images", "texts", "series"])
def test_no_kind_of_items_breaks_a_rule_of_accessibility(input_of, serve, person, kind, axe):
    path, options = input_of(kind)
    server = serve(path, 5, **options)
    for scheme in ("light", "dark"):
        someone = person(server, color_scheme=scheme, reduced_motion="reduce")
        page = someone.page
        page.goto(server.address + "#ask")
        someone.expect(page.locator("#ask-title")).to_be_visible()
        axe(page, f"ask, {scheme}")
        for key in {"images": "+b", "texts": "", "series": "o"}[kind]:
            page.keyboard.press(key)
            axe(page, f"after {key}, {scheme}")
        for name in ("Groups", "Map", "History"):
            someone.go(name)
            axe(page, f"{name}, {scheme}")
        someone.go("Groups")
        someone.open_group()
        axe(page, f"group, {scheme}")
        page.keyboard.press("Escape")
        someone.go("Questions")
        someone.expect(page.locator("#ask-title")).to_be_visible()
        if scheme == "light":
            someone.press("s")
    while someone.fetch("api/query")["question"]:
        someone.press("d")
    someone.expect(page.get_by_role("heading", name="Done")).to_be_visible()
    axe(page, "done")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_view_breaks_a_rule_of_accessibility(table, serve, person, scheme, axe):
    path, truth = table
    someone = person(serve(path, 15), truth, color_scheme=scheme, reduced_motion="reduce")
    page = someone.page

    def check(name):
        axe(page, name)

    someone.expect(page.locator("#ask-title")).to_be_visible()
    check("ask")
    someone.answer(8)
    someone.expect(page.locator("#ask-title")).to_be_visible()
    check("ask after answers")
    page.keyboard.press("?")
    someone.expect(page.get_by_role("heading", name="How this works")).to_be_visible()
    check("help")
    page.keyboard.press("Escape")
    for name in ("Groups", "Map", "History"):
        someone.go(name)
        check(name)
    page.locator(".event").first.click()
    page.locator(".revise button").first.click()
    someone.expect(page.locator(".revise .words")).to_be_visible()
    check("revision")
    someone.go("Groups")
    someone.open_group()
    check("group")
    page.get_by_role("button", name="Split").click()
    someone.expect(page.get_by_role("heading", name="Split into these two?")).to_be_visible()
    check("split")
    page.keyboard.press("Escape")
    someone.open_group()
    page.get_by_role("button", name="Check this group").click()
    someone.expect(page.locator(".checking input").first).to_be_focused()
    check("check this group")
    page.keyboard.press("Escape")
    someone.go("Questions")
    someone.answer()
    someone.expect(page.get_by_role("button", name="Check yourself")).to_be_visible()
    check("done")
    page.get_by_role("button", name="Check yourself").click()
    someone.expect(page.get_by_role("group", name="Check 1 of 10")).to_be_visible()
    check("check")


def test_a_screen_reader_is_told_each_question(labeler):
    someone, _ = labeler
    live = someone.page.locator("#live")
    someone.expect(live).to_have_text(re.compile(r"Question 1\. .+, and .+\."))
    someone.press("s")
    someone.expect(live).to_have_text(re.compile(r"Question 2\. "))
    someone.page.get_by_role("button", name="Same").focus()
    someone.page.keyboard.press("Enter")
    someone.expect(live).to_have_text(re.compile(r"Question 3\. "))
    someone.expect(someone.page.get_by_role("button", name="Same")).to_be_focused()


def test_the_page_weighs_less_than_220_kilobytes(labeler):
    someone, server = labeler
    replies = []
    someone.page.context.clear_cookies()
    someone.page.on("response", lambda reply: replies.append(reply))  # noqa: PLW0108 (it is marked)
    someone.page.goto(server.address)
    someone.expect(someone.page.locator("#ask-title")).to_be_visible()
    sizes = {reply.url: len(reply.body()) for reply in replies if "/api/" not in reply.url}
    assert len(sizes) > 15
    assert sum(sizes.values()) < 220_000


def test_what_is_compared_takes_most_of_a_small_screen(digits, serve, person, tmp_path):
    folder, truth = digits
    screen = {"width": 1280, "height": 720}
    server = serve(folder, session=tmp_path / "s", encoder="layout")
    someone = person(server, truth, viewport=screen)
    someone.answer(6)
    box = someone.page.locator("#pair").bounding_box()
    assert box["width"] * box["height"] > 0.5 * screen["width"] * screen["height"]
    picture = someone.page.locator(".frame img").first.bounding_box()
    # Small pictures are enlarged, but not beyond three times their size.
    assert min(picture["width"], picture["height"]) == 3 * 96
    # All of the question is seen without scrolling.
    assert someone.page.evaluate("document.documentElement.scrollHeight") <= screen["height"]


def test_the_help_shows_its_settings_without_scrolling(table, serve, person):
    someone = person(serve(table[0]), viewport={"width": 1280, "height": 720})
    someone.page.keyboard.press("?")
    someone.expect(someone.page.get_by_label("Two at a time")).to_be_in_viewport()


def test_enter_takes_the_name_that_an_empty_field_suggests(labeler):
    someone, _ = labeler
    someone.answer(12)
    someone.go("Groups")
    groups = someone.fetch("api/groups")["groups"]
    k, group = next((k, group) for k, group in enumerate(groups) if group["summary"])
    assert not group["name"]
    field = someone.page.locator(".group").nth(k).get_by_role("textbox")
    someone.expect(field).to_have_attribute("placeholder", f"{group['summary']} ?")
    field.press("Enter")
    someone.expect(field).to_have_value(group["summary"])
    someone.wait()
    assert someone.fetch("api/groups")["groups"][k]["name"] == group["summary"]


def test_an_id_stands_above_the_fields_and_not_among_them(tmp_path, serve, person):
    path = tmp_path / "t.csv"
    path.write_text("who,size\n" + "".join(f"P{k},{k % 7}\n" for k in range(30)))
    someone = person(serve(path, questions="pairs", id="who"))
    someone.expect(someone.page.locator("tbody th")).to_have_text(["size"])
    someone.expect(someone.page.locator("thead th").nth(1)).to_contain_text("P")


@pytest.mark.parametrize("size", [(1280, 800), (390, 844), (320, 640)])
def test_a_check_is_in_view_when_it_is_opened(digits, serve, person, tmp_path, size):
    folder, truth = digits
    server = serve(folder, 20, session=tmp_path / "x.likewise", encoder="layout")
    viewport = dict(zip(("width", "height"), size, strict=True))
    someone = person(server.answer(truth, 12), truth, viewport=viewport)
    someone.go("Groups")
    page = someone.page
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    page.get_by_role("button", name="Check yourself").click()
    someone.expect(page.locator(".check img").first).to_be_visible()
    someone.wait()
    for part in page.locator(".check .side, .check .answers").all():
        box = part.bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= size[1]
        assert box["width"] > 100
