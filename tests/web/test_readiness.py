"""The page is there before the project is: `likewise label` serves it while it reads the items."""

import json
import os
import threading
import urllib.error
import urllib.request
from concurrent.futures import Future
from urllib.parse import SplitResult, parse_qs, urlsplit

import pytest
from click.testing import CliRunner

from likewise.cli import main
from likewise.cli.served import ServedPage
from likewise.cluster.start import start_session
from likewise.errors import InputError
from likewise.project import beginning

pytest.importorskip("uvicorn", reason='pip install "likewise[app]"')

from likewise.web.app import Readiness
from likewise.web.links import read_leading
from likewise.web.serving import listen


class Visitor:
    """A browser that `likewise label` opens, and that returns when it is closed."""

    def __init__(self):
        self.address: Future[SplitResult] = Future()
        self.closed = threading.Event()
        self.has_returned = False

    def open(self, address):
        self.address.set_result(urlsplit(read_leading(address)))
        self.closed.wait(60)
        self.has_returned = True
        return True

    def get(self, path):
        home = self.address.result()
        token = parse_qs(home.query)["token"][0]
        headers = {"authorization": f"Bearer {token}"}
        request = urllib.request.Request(f"http://{home.netloc}/{path}", headers=headers)
        try:
            with urllib.request.urlopen(request) as reply:
                return reply.status, reply.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()


@pytest.fixture
def visitor(monkeypatch, tmp_path):
    found = Visitor()
    monkeypatch.setattr("webbrowser.open", found.open)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield found
    found.closed.set()


def label(tmp_path, *options):
    path = str(tmp_path / "points.csv")
    return CliRunner().invoke(main, ["label", path, "--port", "0", *options])


def test_the_page_says_what_is_being_done_until_the_first_question(
    tmp_path, truth, visitor, monkeypatch
):
    seen = []

    def look_meanwhile(*args, **options):
        seen.append(visitor.get("api/query"))
        seen.append(visitor.get(""))
        return start_session(*args, **options)

    monkeypatch.setattr(beginning, "start_session", look_meanwhile)
    monkeypatch.setattr(ServedPage, "wait", lambda _: seen.append(visitor.get("api/query")))
    result = label(tmp_path)
    assert result.exit_code == 0, result.output
    (waits, said), (_, page), (status, question) = seen
    assert waits == 503
    assert json.loads(said)["step"] == "Finding small groups"
    assert "Opening points.csv" in page
    assert status == 200
    assert json.loads(question)["question"]["number"] == 1
    assert "No answer was given; the session is in" in result.output
    assert not visitor.has_returned  # it was not waited for


@pytest.mark.parametrize("error", [InputError("row 7 is broken"), KeyboardInterrupt()])
def test_what_ends_the_opening_leaves_nothing_and_is_told(
    tmp_path, truth, visitor, monkeypatch, error
):
    told = []

    def fail(*args, **options):
        assert visitor.get("api/query")[0] == 503
        raise error

    real = Readiness.fail

    def tell(readiness, error):
        real(readiness, error)
        told.append(visitor.get("api/query"))

    monkeypatch.setattr(beginning, "start_session", fail)
    monkeypatch.setattr(Readiness, "fail", tell)
    result = label(tmp_path)
    assert result.exit_code == 1
    assert list(tmp_path.glob("*.likewise*")) == list(tmp_path.glob(".*")) == []
    if isinstance(error, InputError):
        assert "Error: row 7 is broken" in result.output
        assert [(status, json.loads(said)["error"]) for status, said in told] == [
            (500, "row 7 is broken")
        ]
    else:
        assert told == []
        assert "Aborted!" in result.output


@pytest.mark.parametrize(
    "options",
    [
        ["--strategy", "nonsense"],
        ["--kind", "nonsense"],
        ["--questions", "pairs", "--super-instances", "3"],
        ["--port", "1", "--host", "999.0.0.1"],
    ],
)
def test_what_can_be_refused_at_once_opens_no_page(tmp_path, truth, visitor, options):
    result = label(tmp_path, *options)
    assert result.exit_code == 1
    assert "Error: " in result.output
    assert "http:" not in result.output
    assert not visitor.address.done()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty", None, "there is nothing in the folder"),
        ("hidden", [".secret.png"], "there is nothing in the folder"),
        ("words", ["a.docx"], "there are no pictures in"),
        ("empty.csv", "", "is empty"),
        ("blank.csv", " \n\n", "is empty"),
        ("names.csv", "a,b\n", "has 2 columns and 0 rows"),
        ("broken.csv", "a,b\n1\n", "line 2: 1 field where the first line has 2"),
        ("empty.npy", "", "is empty"),
        ("other.csv", b"a\x81\n1\n", "is not utf-8"),
    ],
)
def test_a_source_without_anything_is_told_before_an_address(
    tmp_path, visitor, name, content, message
):
    source = tmp_path / name
    if content is None or isinstance(content, list):
        source.mkdir()
        for inner in content or ():
            (source / inner).write_bytes(b"x")
    else:
        source.write_bytes(content if isinstance(content, bytes) else content.encode())
    result = CliRunner().invoke(main, ["label", str(source), "--port", "0"])
    assert result.exit_code == 1
    assert message in result.output
    assert "http:" not in result.output
    assert not visitor.address.done()
    assert list(tmp_path.glob("*.likewise*")) == []


@pytest.mark.skipif(os.name != "posix", reason="a socket is no file elsewhere")
def test_a_source_that_cannot_be_read_is_told_before_an_address(tmp_path, visitor, monkeypatch):
    source = tmp_path / "secret.csv"
    source.write_text("a,b\n1,2\n")

    def refuse(*_args, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("likewise.items.kinds.open_regular", refuse)
    result = CliRunner().invoke(main, ["label", str(source), "--port", "0"])
    assert result.exit_code == 1
    assert "secret.csv cannot be read: Permission denied" in result.output
    assert "http:" not in result.output


def test_an_address_that_is_none_is_named_with_the_remedy():
    with pytest.raises(
        InputError, match=r"cannot listen on 192\.0\.2\.1, any port: .*another --host"
    ):
        listen("192.0.2.1", 0)


@pytest.mark.parametrize("host", ["caf\udce9", "a\0b", f"{'a' * 70}.example"])
def test_a_host_that_is_no_name_is_refused(host):
    with pytest.raises(InputError, match=r"cannot listen on .*another --host|control characters"):
        listen(host, None)
