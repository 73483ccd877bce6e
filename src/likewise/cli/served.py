"""The page of a session while a command runs: at once, also before the session is open."""

from __future__ import annotations

import signal
import sys
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import click

from likewise.errors import needs_extra
from likewise.project import Project

if TYPE_CHECKING:
    from likewise.web.serving import Served

OPEN_PAGE = """\
Whoever has this address can see and change the session. It is plain HTTP: everybody on the way can
read along. Use it in a network you trust; elsewhere use an SSH tunnel or a proxy with HTTPS."""

PATIENCE = 5.0
"""After a failure, how many seconds a command waits for the page to fetch the reason. A browser
that was just started takes one or two. With less time the page may not show the reason; the
terminal shows it anyway."""


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Treat SIGTERM and SIGHUP like Ctrl-C, so that the session file is closed."""
    names = ("SIGTERM", "SIGHUP")
    signals = [getattr(signal, name) for name in names if hasattr(signal, name)]
    is_main = threading.current_thread() is threading.main_thread()
    taken = [s for s in signals if is_main and signal.getsignal(s) is signal.SIG_DFL]
    for one in taken:
        signal.signal(one, signal.default_int_handler)
    try:
        yield
    finally:
        for one in taken:
            signal.signal(one, signal.SIG_DFL)


class ServedPage:
    """The page in a thread of its own, so that Ctrl-C can still stop the opening of the project."""

    def __init__(
        self, source: str, host: str, port: int | None, hosts: tuple[str, ...], *, opens: bool
    ) -> None:
        self._source = Path(source).resolve().name
        self._host, self._port, self._hosts = host, port, hosts
        self._opens = opens
        self._served: Served | None = None
        self._thread: threading.Thread

    def start(self, path: Path) -> None:
        """Serve the page of a session file that may not be there yet, and say its address."""
        with needs_extra("the labeling page", "app"):
            from likewise.web.app import Readiness
            from likewise.web.serving import is_local, prepare

        readiness = Readiness(self._source)
        self._served = prepare(
            readiness, path=path, host=self._host, port=self._port, hosts=self._hosts
        )
        self._thread = threading.Thread(target=self._served.run, daemon=True)
        self._thread.start()
        click.echo(self._served.address)
        sys.stdout.flush()
        if not is_local(self._host):
            click.echo(OPEN_PAGE, err=True)
        click.echo("Ctrl-C ends it.", err=True)
        if self._opens:
            # In a thread: a browser that $BROWSER names may return only when it is closed.
            threading.Thread(target=self._open, args=(self._served.address,), daemon=True).start()

    def _open(self, address: str) -> None:
        self._opens = webbrowser.open(address)

    def progress(self, step: str, done: int, of: int) -> None:
        """Show what is being done."""
        if self._served is not None:
            self._served.readiness.progress(step, done, of)

    def show(self, project: Project) -> None:
        """Show the questions of a project until Ctrl-C, or until the process is told to end."""
        assert self._served is not None
        self._served.show(project)
        with ended_by_signals():
            with suppress(KeyboardInterrupt):
                self.wait()
            self.stop()

    def wait(self) -> None:
        """Wait until the server ends."""
        while self._thread.is_alive():
            self._thread.join(1)  # without a limit, Ctrl-C does nothing on Windows

    def stop(self) -> None:
        """End the server when it has replied to what was asked."""
        if self._served is not None:
            self._served.server.should_exit = True
            self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None
    ) -> None:
        if self._served is not None and isinstance(error, Exception):
            readiness = self._served.readiness
            readiness.fail(error)
            if self._opens or readiness.was_asked:
                readiness.has_shown_failure.wait(PATIENCE)
        self.stop()
