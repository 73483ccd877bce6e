"""Serve the page while a command runs, even before the session is open."""

from __future__ import annotations

import signal
import sys
import threading
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import click

from likewise.errors import WriteError, needs_extra
from likewise.project import Project
from likewise.project.people import Person

if TYPE_CHECKING:
    from likewise.web.serving import Served

OPEN_PAGE = """\
Whoever has this address can see and change the session. It is plain HTTP: anyone on the network can
read it. Use it in a network you trust; elsewhere use an SSH tunnel or a proxy with HTTPS."""

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
    """The page in a separate thread, so that Ctrl-C can still stop the opening of the project."""

    def __init__(
        self,
        source: str,
        host: str,
        port: int | None,
        hosts: tuple[str, ...],
        *,
        opens: bool,
        keeps_link: bool = False,
        has_new_link: bool = False,
        people: Sequence[Person] = (),
        certificate: tuple[str, str | None] | None = None,
    ) -> None:
        self._source = Path(source).resolve().name
        self._host, self._port, self._hosts = host, port, hosts
        self._opens = opens
        self._keeps_link, self._has_new_link = keeps_link, has_new_link
        self._people, self._certificate = people, certificate
        self._served: Served | None = None
        # Not the thread is waited for: Python up to 3.12 takes a thread for ended if a signal comes
        # while it is joined. The process then ended in the middle of replies, or aborted.
        self._has_ended = threading.Event()
        self._at_end = ExitStack()

    def start(self, path: Path) -> None:
        """Serve the page of a session file that may not exist yet, and print its address."""
        with needs_extra("the labeling page", "app"):
            from likewise.web.app import Readiness
            from likewise.web.links import forget_token, kept_tokens, new_token
            from likewise.web.serving import is_local, prepare

        if self._has_new_link:
            forget_token(path)
        self._at_end.enter_context(ended_by_signals())
        names = [person.name for person in self._people]
        kept = kept_tokens(path, names) if self._keeps_link else None
        tokens = kept or {name: new_token(name) for name in ("", *names)}
        self._served = prepare(
            Readiness(self._source),
            token=tokens[""],
            people={tokens[person.name]: person for person in self._people},
            host=self._host,
            port=self._port,
            hosts=self._hosts,
            certificate=self._certificate,
        )
        threading.Thread(target=self._run, args=(self._served,), daemon=True).start()
        self._say_address(self._served)
        self._say_links(self._served)
        if not is_local(self._host) and self._certificate is None:
            click.echo(OPEN_PAGE, err=True)
        click.echo("Ctrl-C ends it.", err=True)

    def _run(self, served: Served) -> None:
        try:
            served.run()
        finally:
            self._has_ended.set()

    def _say_address(self, served: Served) -> None:
        """Print the address, with the token only for a person; open the page in a browser."""
        from likewise.web.links import write_leading

        is_seen = sys.stdout.isatty()
        click.echo(served.address if is_seen else served.home)
        if is_seen and not self._opens:
            return
        try:
            leading = write_leading(served.address, served.port)
        except WriteError as error:
            if not is_seen:
                raise
            click.echo(f"The browser is not opened: {error}", err=True)
            self._opens = False
            return
        self._at_end.callback(leading.unlink, missing_ok=True)
        if not is_seen:  # what is printed may go to a log, which others can read
            click.echo(leading.as_uri())
            sys.stdout.flush()
        if self._opens:
            # In a thread: a browser that $BROWSER names may return only when it is closed.
            threading.Thread(target=self._open, args=(leading.as_uri(),), daemon=True).start()

    def _say_links(self, served: Served) -> None:
        """Print the link of each person; where that may go to a log, the file that has them."""
        from likewise.web.links import write_links

        if not served.links:
            return
        if sys.stdout.isatty():
            for person in self._people:
                may = "" if person.can_answer else " (for looking only)"
                click.echo(f"{person.name}{may}: {served.links[person.name]}")
            return
        place = write_links(served.links, served.port)
        self._at_end.callback(place.unlink, missing_ok=True)
        click.echo(f"the link of each person is in {place}")
        sys.stdout.flush()

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
        with suppress(KeyboardInterrupt):
            self.wait()
        self.stop()

    def wait(self) -> None:
        """Wait until the server ends."""
        while not self._has_ended.is_set():
            self._has_ended.wait(1)  # without a limit, Ctrl-C does nothing on Windows

    def stop(self) -> None:
        """End the server when it has replied to what was asked."""
        while self._served is not None and not self._has_ended.is_set():
            with suppress(KeyboardInterrupt):  # again: replies are still waited for
                self._served.server.should_exit = True
                self._has_ended.wait(1)

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
        with self._at_end:
            self.stop()
