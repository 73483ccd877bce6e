"""Connections that send nothing, or half of a request, end after a time."""

import json
import socket
import threading
from contextlib import suppress

import pytest

pytest.importorskip("uvicorn", reason='pip install "likewise[app]"')

from likewise.web import serving
from likewise.web.app import Readiness
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
