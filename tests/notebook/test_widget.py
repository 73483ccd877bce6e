import re
from typing import Any

import numpy as np
import pytest

from likewise import COBRA, Likewise
from likewise.errors import InputError

pytest.importorskip("anywidget", reason='pip install "likewise[notebook]"')

X = np.array([[0.0], [0.1], [5.0], [5.2]])
WORDS = ["red", "reddish", "blue & <b>navy</b>", "bluish"]


@pytest.fixture
def make(monkeypatch):
    """Return a function that makes a widget and one that does what the page does."""
    from likewise.notebook.session_widget import SessionWidget

    sent: list[Any] = []
    monkeypatch.setattr(SessionWidget, "send", lambda self, *message: sent.append((self, *message)))

    def widget(session, **options):
        shown = session.widget(**options)

        def call(path, **body):
            del sent[:]
            message = {"number": 7, "path": path, **({"body": body} if body else {})}
            shown._handle_custom_msg(message, [])
            (_, reply, *files), *others = sent
            assert reply["number"] == 7
            return reply["status"], reply["body"], files, others

        return shown, call

    return widget


def test_answers_go_to_the_session(make):
    session = COBRA(4).start(X)
    widget, call = make(session, items=WORDS)
    positions = []
    widget.observe(lambda change: positions.append(change.new), "position")
    status, state, _, _ = call("query")
    assert (status, state["question"]["left"]["view"]["text"]) == (200, "red")
    status, state, _, _ = call("answer", question=1, position=0, answer="same")
    assert (status, state["question"]["number"], len(session.events)) == (200, 2, 1)
    assert call("undo", position=state["position"])[1]["can_redo"]
    assert (session.events, positions) == ((), [1, 2])
    assert call("answer", question=1, position=0, answer="same")[0] == 409
    assert call("nowhere")[0] == 404
    assert call("export/5")[0] == 400


def test_widgets_of_one_session_tell_each_other_and_notice_other_changes(make):
    session = COBRA(4).start(X)
    first, call = make(session, items=WORDS)
    second, other = make(session, items=WORDS)
    third, _ = make(COBRA(4).start(X), items=WORDS)
    messages = call("answer", question=1, position=0, answer="same")[3]
    assert [(widget, message) for widget, message in messages] == [(second, {"changed": True})]
    assert other("answer", question=2, position=0, answer="same")[0] == 409
    assert other("query")[1]["question"]["number"] == 2
    session.tell("different")
    assert other("answer", question=3, position=0, answer="same")[0] == 409
    assert repr(third) == f"<SessionWidget: {third.session.progress}>"
    assert first.session is session


def test_pictures_come_as_bytes_and_functions_as_text_unless_html_is_said(make):
    pytest.importorskip("PIL", reason='pip install "likewise[notebook]"')
    pixels = np.arange(4 * 6 * 6).reshape(4, 6, 6)
    _, call = make(Likewise(random_state=0).start(X), items=pixels)
    _, state, _, _ = call("query")
    address = state["question"]["left"]["image"]
    _, body, (files,), _ = call(f"{address.removeprefix('api/')}&size=small")
    assert (body, files[0][8:12]) == ({"type": "image/webp"}, b"WEBP")
    markup = "<i>{}</i>".format
    _, call = make(COBRA(4).start(X), show=markup)
    assert call("query")[1]["question"]["left"]["view"]["text"] == "<i>0</i>"
    _, call = make(COBRA(4).start(X), show=markup, html=True)
    assert call("query")[1]["question"]["left"]["view"]["html"] == "<i>0</i>"


def test_the_page_in_the_frame_needs_no_server(make):
    widget, _ = make(COBRA(4).start(X), items=WORDS)
    assert re.findall(r'(?:src|href)="(?!#|about:srcdoc)[^"]*"', widget.page) == []
    names = re.findall(r'"(likewise/\w+\.js)": "data:', widget.page)
    assert {"likewise/main.js", "likewise/api.js", "likewise/ask.js"} <= set(names)


def test_a_still_picture_is_escaped():
    from likewise.notebook.session_widget import still
    from likewise.project import Project

    widget = COBRA(4).start(X).widget(items=WORDS)
    shown = still(Project(widget.session, widget._project.items), "x")
    assert "Do these two belong together?" in shown
    assert "blue &amp; &lt;b&gt;navy&lt;/b&gt;" in shown


def test_a_still_picture_shows_small_pictures_large_and_numbers_the_groups():
    pytest.importorskip("PIL", reason='pip install "likewise[notebook]"')
    from likewise.notebook.session_widget import still

    pixels = np.arange(4 * 6 * 6).reshape(4, 6, 6)
    session = COBRA(2).start(X)
    session.tell("different")
    shown = still(session.widget(items=pixels)._project, "x")
    assert shown.count('style="height:72px"') == 2
    assert re.findall(r"Group \d: \d items", shown) == ["Group 1: 2 items", "Group 2: 2 items"]
    assert "1 answered, 2 groups now" in shown


def test_what_cannot_be_shown_is_refused(make):
    session = COBRA(4).start(X)
    with pytest.raises(InputError, match=r"session\.widget\(items=df\)"):
        session.widget()
    with pytest.raises(InputError, match="about 4 rows, but there are 3 items"):
        session.widget(items=WORDS[:3])
    with pytest.raises(InputError, match="html=True is for show"):
        session.widget(items=WORDS, html=True)
    _, call = make(COBRA(2).start(X), items=WORDS)
    assert "session.widget(..., X=X)" in call("map")[1]["error"]
    _, call = make(COBRA(2).start(X), items=WORDS, X=X)
    assert call("map")[0] == 200


def test_fit_cannot_wait_for_a_widget():
    with pytest.raises(InputError) as refused:
        Likewise(max_queries=30).fit(X, oracle="widget")
    first, second = str(refused.value).splitlines()[1:]
    scope: dict[str, Any] = {"Likewise": Likewise, "X": X, "items": WORDS}
    exec(first, scope)
    exec(second, scope)
    assert len(scope["model"].labels_) == 4


@pytest.mark.slow
def test_a_notebook_shows_the_widget_and_keeps_a_still_picture(tmp_path, monkeypatch):
    reason = "pip install nbclient ipykernel"
    pytest.importorskip("ipykernel", reason=reason)
    client = pytest.importorskip("nbclient", reason=reason)
    format = pytest.importorskip("nbformat", reason=reason)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    code = [
        "from likewise import COBRA\nsession = COBRA(3).start([[0.0], [0.1], [5.0]])\n"
        "widget = session.widget(items=['red', 'reddish', 'blue'])\nwidget",
        "call = {'path': 'answer', 'body': {'question': 1, 'position': 0, 'answer': 'same'}}\n"
        "widget._handle_custom_msg({'number': 1, **call}, [])\nsession",
    ]
    notebook = format.v4.new_notebook(cells=list(map(format.v4.new_code_cell, code)))
    client.execute(notebook, timeout=300)
    still, live = notebook.cells[0].outputs
    assert "application/vnd.jupyter.widget-view+json" in live.data
    # The picture follows the answers.
    assert "1 answer" in still.data["text/html"]
    assert "reddish" in still.data["text/html"]
    assert "1 answer" in notebook.cells[1].outputs[-1].data["text/html"]


def test_a_widget_says_what_it_needs():
    pytest.importorskip("anywidget", reason='pip install "likewise[notebook]"')
    session = COBRA(2, random_state=0).start([[0.0], [1.0], [5.0]])
    with pytest.raises(InputError, match="about 3 rows, but there are 1 item"):
        session.widget(items=["a text"])
    nothing: Any = 5
    with pytest.raises(InputError, match="a function of a row number, got 5"):
        session.widget(show=nothing)
