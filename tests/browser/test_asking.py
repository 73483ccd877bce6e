"""The page in a real browser: asking, going back, and what may go wrong meanwhile."""

import re

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def labeler(table, serve, person):
    path, truth = table
    server = serve(path, 15)
    return person(server, truth), server


@pytest.fixture
def remote_labeler(table, spawn, person):
    """The same with the server in a process of its own."""
    path, truth = table
    server = spawn(path, "--super-instances", 15, "--keep-link")
    return person(server, truth), server


def test_rows_are_labeled_to_the_end_by_keys_alone(labeler):
    someone, _ = labeler
    n = someone.answer()
    assert 14 <= n <= 60
    someone.expect(someone.page.get_by_role("heading", level=1)).to_have_text(
        re.compile(r"Done: \d groups")
    )
    groups = someone.fetch("api/groups")
    assert groups["n"] == 3


def test_the_question_shows_three_answers_with_their_keys_and_one_line_of_progress(labeler):
    someone, _ = labeler
    for name, keys in (("Same", "S →"), ("Different", "D ←"), ("Not sure", "U ↓")):
        button = someone.page.get_by_role("button", name=re.compile(f"^. ?{name}|{name}"))
        someone.expect(button.first).to_contain_text(keys)
    line = someone.page.locator("#progress")
    someone.expect(line).to_have_text("About 15 questions to go")
    someone.expect(someone.page.locator("#counts")).to_contain_text("0 answers")
    assert "apart" not in someone.page.locator("#why").inner_text()


def test_arrows_answer_as_letters_do_and_buttons_as_keys_do(labeler):
    someone, _ = labeler
    for key in ("ArrowRight", "ArrowLeft", "ArrowDown", "Backspace"):
        someone.press(key)
    someone.page.get_by_role("button", name="Different").click()
    someone.expect(someone.page.locator("body")).to_have_attribute("data-position", "5")
    said = [e["answer"] for e in someone.fetch("api/history")["events"]]
    assert said == ["different", "different", "same"]


def test_thirty_answers_are_undone_and_done_again(labeler):
    someone, _ = labeler
    someone.press("u")
    questions = []
    for _ in range(30):
        questions.append(someone.fetch("api/query")["question"])
        someone.press("u" if len(questions) % 3 else someone.right_key())
    for question in reversed(questions):
        someone.press("z")
        assert someone.fetch("api/query")["question"] == question
    someone.press("Shift+Z")
    assert someone.fetch("api/query")["question"] == questions[1]
    for _ in range(29):
        someone.press("Shift+Z")
    assert len(someone.fetch("api/history?limit=500")["events"]) == 31


def test_an_early_answer_is_revised_after_its_consequences_are_shown(labeler):
    someone, _ = labeler
    someone.press("d" if someone.right_key() == "s" else "s")
    someone.answer()
    page = someone.page
    page.get_by_role("link", name="History").click()
    page.locator("li[data-number='1'] .event").click()
    page.locator("li[data-number='1'] .revise button").first.click()
    someone.expect(page.locator(".revise .words")).to_have_text(
        re.compile(r"This changes answer 1 to .*, keeps \d+ other answers?, drops (none|\d+)\.")
    )
    before = someone.position
    page.get_by_role("button", name="Apply").click()
    someone.expect(page.locator("body")).to_have_attribute("data-position", str(before + 1))
    page.get_by_role("link", name="Questions").click()
    someone.answer()
    assert someone.fetch("api/groups")["n"] == 3


def test_a_reload_in_the_middle_changes_nothing(labeler):
    someone, _ = labeler
    someone.answer(5)
    before = someone.fetch("api/query")
    assert "token" not in someone.page.url
    someone.page.reload()
    someone.expect(someone.page.locator("body")).to_have_attribute("data-position", "5")
    assert someone.fetch("api/query") == before


def test_a_reply_that_is_overtaken_by_an_answer_does_not_bring_back_its_question(labeler):
    someone, _ = labeler
    page = someone.page
    old = someone.fetch("api/query")
    held = []
    page.route("**/api/query", lambda route: held.append(route))  # noqa: PLW0108 (it is marked)
    with page.expect_request("**/api/query"):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    someone.press("s")
    with page.expect_response("**/api/query"):
        held[0].fulfill(json=old)
    page.unroute("**/api/query")
    someone.press("d")
    assert [e["answer"] for e in someone.fetch("api/history")["events"]] == ["different", "same"]


def test_the_server_is_killed_in_the_middle_and_started_again(remote_labeler):
    someone, server = remote_labeler
    someone.answer(6)
    before = someone.fetch("api/query")
    server.kill()
    someone.page.keyboard.press("s")
    someone.expect(someone.page.get_by_role("alert")).to_contain_text("does not answer")
    server.start(server.port)
    someone.expect(someone.page.get_by_role("alert")).to_contain_text("Nothing was lost")
    assert someone.fetch("api/query") == before
    someone.answer()
    assert someone.fetch("api/groups")["n"] == 3


def test_ctrl_c_ends_the_server_and_says_where_the_answers_are(remote_labeler):
    someone, server = remote_labeler
    someone.answer(3)
    code, said = server.interrupt()
    assert code == 0
    assert "3 answers are in" in said
    assert "Traceback" not in said


def test_of_two_tabs_the_stale_one_is_told_and_nothing_is_lost_or_doubled(labeler, person):
    first, server = labeler
    second = person(server, first.truth, context=first.page.context)
    first.press("s")
    # The second tab still shows question 1.
    second.page.keyboard.press("d")
    second.expect(second.page.get_by_role("alert")).to_contain_text("another window")
    assert [e["answer"] for e in second.fetch("api/history")["events"]] == ["same"]
    second.expect(second.page.locator("body")).to_have_attribute("data-position", "1")
    second.press("s")
    assert first.fetch("api/query")["progress"]["answered"] == 2


def test_letters_typed_into_a_name_are_no_answers_and_keys_can_be_turned_off(labeler):
    someone, _ = labeler
    page = someone.page
    someone.go("Groups")
    name = page.locator(".group").get_by_role("textbox").first
    name.fill("")
    name.press_sequentially("sudz")
    name.press("Enter")
    someone.expect(name).to_have_value("sudz")
    page.keyboard.press("Escape")
    assert someone.fetch("api/history")["n"] == 0
    page.keyboard.press("?")
    page.get_by_label(re.compile("Keys answer")).uncheck()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("s")
    page.get_by_role("button", name="Same").click()
    # The name and the answer are the two entries of the log.
    someone.expect(page.locator("body")).to_have_attribute("data-position", "2")
    someone.expect(page.locator("#strip")).to_contain_text("sudz")


def test_distances_are_shown_only_after_asking_for_them(labeler):
    someone, _ = labeler
    page = someone.page
    page.keyboard.press("?")
    page.get_by_label(re.compile("how far apart")).check()
    page.get_by_role("button", name="Close").click()
    someone.expect(page.locator("#why")).to_contain_text("apart")


def test_what_is_being_saved_is_seen_refuses_further_keys_and_can_be_canceled(labeler):
    someone, _ = labeler
    page = someone.page
    held = []
    page.route("**/api/answer", lambda route: held.append(route))  # noqa: PLW0108 (it is marked)
    with page.expect_request("**/api/answer"):
        page.keyboard.press("s")
    working = page.locator("#working")
    someone.expect(working).to_contain_text("Saving")
    page.keyboard.press("d")
    someone.expect(working).to_contain_text("this one was ignored")
    page.get_by_role("button", name="Cancel").click()
    someone.expect(working).to_contain_text("undone")
    held[0].continue_()
    someone.expect(page.get_by_role("alert")).to_contain_text("Nothing has changed")
    someone.expect(working).to_be_hidden()
    assert len(held) == 1
    assert someone.fetch("api/history")["n"] == 0
    page.unroute("**/api/answer")
    someone.press("s")
    assert someone.fetch("api/history")["n"] == 1


def test_a_held_key_answers_once(labeler):
    someone, _ = labeler
    someone.page.keyboard.down("s")
    someone.page.keyboard.down("s")
    someone.page.keyboard.down("s")
    someone.page.keyboard.up("s")
    someone.expect(someone.page.locator("body")).to_have_attribute("data-position", "1")
    someone.press("d")
    assert someone.fetch("api/history")["n"] == 2
