"""Connections that send nothing or half of a request, what is not HTTP, and the end of a server."""

import json
import socket
import threading
from contextlib import ExitStack, suppress
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("uvicorn", reason='pip install "likewise[app]"')

from likewise.web import serving
from likewise.web.app import Readiness
from likewise.web.guard import ALWAYS
from likewise.web.serving import prepare


@pytest.fixture
def served(monkeypatch):
    """A page that is really served, and that waits only a moment for a second request."""
    monkeypatch.setattr(serving, "IDLE_SECONDS", 0.05)
    served = prepare(Readiness("points.csv"), port=0)
    thread = threading.Thread(target=served.run, daemon=True)
    thread.start()
    yield served
    served.server.should_exit = True
    thread.join()


@pytest.fixture
def hurry(monkeypatch):
    """Let the server wait only a moment for a whole request."""
    monkeypatch.setattr(serving, "REQUEST_SECONDS", 0.05)


@pytest.fixture
def connect(served):
    opened = []

    def connect():
        opened.append(socket.create_connection(served.listener.getsockname(), timeout=30))
        return opened[-1]

    yield connect
    for one in opened:
        one.close()


def request(served, method="GET", path="/api/query", more=""):
    token = served.address.partition("token=")[2]
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
    return f"{head}{more}\r\n".encode()


def everything(connection):
    """Return all that comes until the other side ends the connection."""
    parts = []
    # It may have ended before the last bytes were sent to it.
    with suppress(ConnectionError):
        while part := connection.recv(65_536):
            parts.append(part)
    return b"".join(parts)


@pytest.mark.parametrize("sent", [b"", b"G", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: loc"])
@pytest.mark.usefixtures("hurry")
def test_a_connection_without_a_whole_request_ends(connect, sent):
    connection = connect()
    with suppress(ConnectionError):
        connection.sendall(sent)
    assert everything(connection) == b""


def test_a_body_that_does_not_come_ends_the_connection_and_is_no_error(
    served, connect, caplog, monkeypatch
):
    # Enough to send the head, even on a busy machine.
    monkeypatch.setattr(serving, "REQUEST_SECONDS", 1.0)
    more = "Content-Type: application/json\r\nContent-Length: 9\r\n"
    connection = connect()
    connection.sendall(request(served, "POST", "/api/answer", more) + b"{")
    everything(connection)
    assert "Exception in ASGI application" not in caplog.text


def test_a_request_is_answered_and_then_an_idle_connection_ends(served, connect):
    connection = connect()
    connection.sendall(request(served))
    head, _, body = everything(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503")
    assert "not open yet" in json.loads(body)["error"]


@pytest.mark.usefixtures("hurry")
def test_three_hundred_half_open_connections_are_gone_when_the_next_request_comes(
    served, connect, monkeypatch
):
    for connection in [connect() for _ in range(300)]:
        assert everything(connection) == b""
    monkeypatch.setattr(serving, "REQUEST_SECONDS", 60.0)
    connection = connect()
    connection.sendall(request(served))
    assert everything(connection).startswith(b"HTTP/1.1 503")
    # The last one may not be forgotten yet.
    assert len(served.server.server_state.connections) <= 1


def test_the_limits_are_those_of_a_slow_line():
    assert serving.REQUEST_SECONDS == 15
    assert serving.IDLE_SECONDS == 5


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    ],
)
def test_what_is_not_http_is_refused_with_the_same_headers(connect, sent):
    connection = connect()
    connection.sendall(sent)
    head, _, _ = everything(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert headers_of(head).items() >= ALWAYS.items()


def headers_of(head):
    lines = head.decode().split("\r\n")[1:]
    return {name: value for name, _, value in (line.partition(": ") for line in lines)}


def test_a_web_socket_is_refused_with_the_same_headers(connect):
    connection = connect()
    connection.sendall(
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    head, _, _ = everything(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 403 ")
    assert headers_of(head).items() >= ALWAYS.items()


# -- the end ---------------------------------------------------------------------------------------

MANY = 32


class SlowProject:
    """A project whose calls wait until they are let go; it counts those that have begun."""

    def __init__(self, monkeypatch):
        self.items = SimpleNamespace(has_pictures=True, thumbnail=self.wait)
        self.partition = SimpleNamespace(representatives=np.arange(3))
        self.where = (0, 1, 2)
        self.begun = threading.Semaphore(0)
        self.go = threading.Event()
        monkeypatch.setattr("likewise.web.app.reply", lambda *_: (self.wait(), (200, {}))[1])
        monkeypatch.setattr("likewise.web.app.document", lambda _: "")

    def wait(self, *_args, **_options):
        self.begun.release()
        self.go.wait()


@pytest.fixture
def slow(monkeypatch):
    project = SlowProject(monkeypatch)
    yield project
    project.go.set()


def ask_many(served, stack, n=MANY):
    """Return connections that have sent a request each."""
    asked = []
    for _ in range(n):
        connection = socket.create_connection(served.listener.getsockname(), timeout=60)
        asked.append(stack.enter_context(connection))
        connection.sendall(request(served))
    return asked


def are_answered(connections):
    return [everything(one)[:12] for one in connections] == [b"HTTP/1.1 200"] * len(connections)


def test_requests_that_nobody_has_read_when_the_server_ends_are_answered(slow):
    slow.go.set()
    served = prepare(Readiness("x", slow), port=0)
    served.server.should_exit = True  # before it begins: all of them wait in the queue
    with ExitStack() as stack:
        asked = ask_many(served, stack)
        served.run()
        assert are_answered(asked)


def test_replies_that_are_being_computed_when_the_server_ends_arrive(slow):
    served = prepare(Readiness("x", slow), port=0)
    thread = threading.Thread(target=served.run)
    thread.start()
    with ExitStack() as stack:
        asked = ask_many(served, stack)
        for _ in range(MANY):
            slow.begun.acquire()
        served.server.should_exit = True
        slow.go.set()
        assert are_answered(asked)
        thread.join()


def test_a_request_on_an_old_connection_is_answered_though_the_server_ends(slow, monkeypatch):
    slow.go.set()
    readiness = Readiness("x")
    is_blocked, go = threading.Event(), threading.Event()

    def block():  # called in the loop, which does nothing else meanwhile
        is_blocked.set()
        go.wait()
        return 200, {}

    served = prepare(readiness, port=0)
    thread = threading.Thread(target=served.run)
    with ExitStack() as stack:
        connections = [
            stack.enter_context(socket.create_connection(served.listener.getsockname(), timeout=60))
            for _ in range(4)
        ]
        thread.start()
        monkeypatch.setattr(readiness, "reply", lambda: (200, {"first": True}))
        for one in connections:
            one.sendall(request(served))
            while b"first" not in one.recv(65_536):
                pass
        monkeypatch.setattr(readiness, "reply", block)
        connections[0].sendall(request(served))
        is_blocked.wait()
        monkeypatch.setattr(readiness, "reply", lambda: (200, {"second": True}))
        for one in connections[1:]:
            one.sendall(request(served))
        served.server.should_exit = True
        go.set()
        assert all(b"second" in everything(one) for one in connections[1:])
        thread.join()


def test_no_thread_of_the_server_is_left_when_it_has_ended(slow):
    served = prepare(Readiness("x"), port=0)
    thread = threading.Thread(target=served.run)
    thread.start()
    served.show(slow)
    slow.begun.acquire()  # a picture is being made
    served.server.should_exit = True
    slow.go.set()
    thread.join()
    assert [one.is_alive() for one in served.warming] == [False]
