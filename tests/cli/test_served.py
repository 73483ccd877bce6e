import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

from likewise.cli.served import ServedPage, ended_by_signals

links = pytest.importorskip("likewise.web.links", reason='pip install "likewise[app]"')


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_being_told_to_end_is_like_ctrl_c_and_only_while_the_page_is_there(name):
    if not hasattr(signal, name):
        pytest.skip("no such signal on this system")
    number = getattr(signal, name)
    before = signal.signal(number, signal.SIG_DFL)
    try:
        with pytest.raises(KeyboardInterrupt), ended_by_signals():
            os.kill(os.getpid(), number)
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, before)


def test_a_signal_that_somebody_ignores_stays_ignored():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with ended_by_signals():
            os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)


# -- the link --------------------------------------------------------------------------------------

SLOW_BROWSER = """#!{python}
import os, sys, pathlib
pathlib.Path({record!r}).write_text("\\n".join(sys.argv[1:]))
os.read(os.open({gate!r}, os.O_RDONLY), 1)  # waits until the test closes the other end
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def command_lines():
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes())
        except OSError:  # it has ended
            continue
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is there on Linux")
def test_the_token_is_in_no_command_line_while_the_browser_runs(home, monkeypatch, capsys):
    record, gate, browser = home / "record", home / "gate", home / "browser"
    os.mkfifo(gate)
    browser.write_text(
        SLOW_BROWSER.format(python=sys.executable, record=str(record), gate=str(gate))
    )
    browser.chmod(0o700)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    monkeypatch.setattr("webbrowser._tryorder", None)  # $BROWSER is read once
    with ServedPage("x.csv", "127.0.0.1", 0, (), opens=True) as page:
        page.start(home / "x.likewise")
        with gate.open("wb"):  # when this returns, the browser runs and has noted its arguments
            token = page._served.token.encode()
            assert any(os.fsencode(browser) in line for line in command_lines())
            assert not any(token in line for line in command_lines())
        uri = record.read_text()
        place = Path(uri.removeprefix("file://"))
        assert links.read_leading(uri) == page._served.address
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert not place.exists()
    assert token.decode() not in capsys.readouterr().out  # which is not a terminal


@pytest.mark.parametrize("is_seen", [True, False])
def test_the_token_is_printed_on_a_terminal_only(home, monkeypatch, capsys, is_seen):
    monkeypatch.setattr("sys.stdout.isatty", lambda: is_seen, raising=False)
    with ServedPage("x.csv", "127.0.0.1", 0, (), opens=False) as page:
        page.start(home / "x.likewise")
        said, heard = capsys.readouterr()
        lines = said.splitlines()
        if is_seen:
            assert lines == [page._served.address]
        else:
            assert lines[0] == page._served.home
            assert links.read_leading(lines[1]) == page._served.address
            assert len(lines) == 2
        assert page._served.token not in heard
    assert not list(home.glob("cache/likewise/links/*.html"))


def token_of(home, **options):
    with ServedPage("x.csv", "127.0.0.1", 0, (), opens=False, **options) as page:
        page.start(home / "x.likewise")
        return page._served.token


def test_the_link_is_another_at_every_start_unless_it_is_kept(home):
    assert token_of(home) != token_of(home)
    kept = token_of(home, keeps_link=True)
    assert token_of(home, keeps_link=True) == kept
    assert token_of(home) != kept
    assert token_of(home, keeps_link=True) == kept


def test_a_new_link_revokes_the_one_that_was_kept(home):
    kept = token_of(home, keeps_link=True)
    new = token_of(home, keeps_link=True, has_new_link=True)
    assert new != kept
    assert token_of(home, keeps_link=True) == new
    token_of(home, has_new_link=True)
    assert token_of(home, keeps_link=True) not in (kept, new)


@pytest.mark.slow
def test_nothing_that_a_served_page_logs_has_the_token(home):
    table = home / "x.csv"
    table.write_text("a\n1\n2\n7\n8\n")
    command = [sys.executable, "-c", "from likewise.cli import main; main()", "label", str(table)]
    process = subprocess.Popen(
        [*command, "--no-browser", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    said = [process.stdout.readline() for _ in range(2)]
    address = links.read_leading(said[1].strip())
    with urlopen(address) as reply:
        assert reply.headers["referrer-policy"] == "no-referrer"
    port = urlsplit(address).port
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(address.encode() + b"\r\n\r\n")
        assert connection.recv(65_536).startswith(b"HTTP/1.1 400")
    process.send_signal(signal.SIGTERM)
    out, heard = process.communicate()
    assert process.returncode >= 0  # it may not have been open yet
    assert "Invalid HTTP request" in heard
    token = address.partition("token=")[2]
    assert token not in "".join([*said, out, heard])


# -- the end ---------------------------------------------------------------------------------------


def test_being_told_to_end_lets_replies_finish_also_if_told_twice(home, monkeypatch):
    n = 16
    begun, go = threading.Semaphore(0), threading.Event()

    def reply(*_):
        begun.release()
        go.wait()
        return 200, {"reply": True}

    monkeypatch.setattr("likewise.web.app.reply", reply)
    replies = []

    def ask(served):
        headers = {"authorization": f"Bearer {served.token}"}
        with urlopen(Request(f"{served.home}api/query", headers=headers)) as answer:
            replies.append(answer.read())

    with ServedPage("x.csv", "127.0.0.1", 0, (), opens=False) as page:
        page.start(home / "x.likewise")
        served = page._served
        clients = [threading.Thread(target=ask, args=[served]) for _ in range(n)]

        is_shown = threading.Event()
        wait, wait_for_end = page.wait, page._has_ended.wait

        def wait_for_signals():
            is_shown.set()
            wait()

        def be_told_again(seconds):
            if served.server.should_exit and not go.is_set():
                go.set()
                os.kill(os.getpid(), signal.SIGTERM)
            wait_for_end(seconds)

        def tell():
            for _ in range(n):
                begun.acquire()
            is_shown.wait()
            os.kill(os.getpid(), signal.SIGTERM)

        monkeypatch.setattr(page, "wait", wait_for_signals)
        monkeypatch.setattr(page._has_ended, "wait", be_told_again)
        teller = threading.Thread(target=tell)
        project: Any = SimpleNamespace(items=SimpleNamespace(has_pictures=False))
        served.readiness.project = project
        for one in (*clients, teller):
            one.start()
        page.show(project)
        for one in (*clients, teller):
            one.join()
    assert replies == [b'{"reply":true}'] * n
