"""Serve the page on this machine until Ctrl-C."""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
import socket
import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from likewise.errors import InputError
from likewise.files import cache_folder
from likewise.page.calls import SIZES
from likewise.project import Project
from likewise.web.app import Readiness, app_for
from likewise.web.guard import LOCAL_HOSTS

DEFAULT_PORT = 8642
"""The port of the page, if it is free."""
MOST_WARMED = 150
"""How many pictures are made in advance. The cache in memory has room for more."""

REQUEST_SECONDS = 15.0
"""How long a request may take to arrive, head and body together. The page sends a few hundred
bytes; a slow line is given a thousand times what that needs."""
IDLE_SECONDS = 5
"""How long a connection may wait for its next request."""

EVERYWHERE = ("0.0.0.0", "::", "")


class TimedConnection(H11Protocol):
    """HTTP that closes a connection whose request does not arrive in time.

    One that sends nothing, or half of a request, would otherwise stay open for ever, and with
    enough of them a server has no room for the page.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request; only the last part ends the waiting."""
        super().data_received(data)
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._expect()
        else:
            self._expect_nothing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._expect_nothing()
        super().connection_lost(exc)

    def _expect(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(REQUEST_SECONDS, self.transport.close)

    def _expect_nothing(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


@dataclass(frozen=True)
class Served:
    """A page that can be served before its project is open; its socket is listening already."""

    address: str
    server: uvicorn.Server
    listener: socket.socket
    readiness: Readiness

    def run(self) -> None:
        """Serve until ``server.should_exit`` is set."""
        with self.listener:
            self.server.run(sockets=[self.listener])

    def show(self, project: Project) -> None:
        """Serve a project that was opened meanwhile."""
        self.readiness.project = project
        threading.Thread(target=self._warm, args=[project], daemon=True).start()

    def _warm(self, project: Project) -> None:
        """Make the pictures of coming questions in advance, since large ones take a while."""
        if not project.items.has_pictures:
            return
        for row in project.partition.representatives[:MOST_WARMED].tolist():
            if self.server.should_exit:
                return
            place = project.where[row]
            if place is not None:
                project.items.thumbnail(place, SIZES["large"], format="webp")


def prepare(
    readiness: Readiness,
    *,
    path: Path | None = None,
    host: str = "127.0.0.1",
    port: int | None = None,
    hosts: Iterable[str] = (),
) -> Served:
    """Bind the page of a project to an address: by default port 8642, or any free one."""
    listener = listen(host, port)
    token = token_for(path)
    names = [*hosts, host.strip("[]")]
    if host in EVERYWHERE:
        names += ["*", socket.gethostname(), socket.getfqdn()]
    # No access log: the first address has the token in it.
    config = uvicorn.Config(
        app_for(readiness, token=token, hosts=names),
        log_level="warning",
        access_log=False,
        lifespan="off",
        server_header=False,
        http=TimedConnection,
        timeout_keep_alive=IDLE_SECONDS,
    )
    shown = own_address(":" in host) if host in EVERYWHERE else host.strip("[]")
    shown = f"[{shown}]" if ":" in shown else shown
    address = f"http://{shown}:{listener.getsockname()[1]}/?token={token}"
    return Served(address, uvicorn.Server(config), listener, readiness)


def own_address(is_v6: bool = False) -> str:
    """Return the address by which other machines reach this one, or else its own."""
    family, far = (socket.AF_INET6, "2001:db8::1") if is_v6 else (socket.AF_INET, "192.0.2.1")
    # Nothing is sent: connecting a UDP socket only makes the system choose a route.
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as way:
        way.connect((far, 9))
        return str(way.getsockname()[0])
    return "::1" if is_v6 else "127.0.0.1"


def is_local(host: str) -> bool:
    """Whether only this machine can reach a page that listens on an address."""
    name = host.strip("[]")
    return name in LOCAL_HOSTS or name.startswith("127.")


def listen(host: str, port: int | None) -> socket.socket:
    """Return a listening socket, so that the address is known, and connections wait, at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    wanted = DEFAULT_PORT if port is None else port
    try:
        listener = socket.create_server((host.strip("[]"), wanted), family=family)
    except OSError as error:
        if port is None:
            return listen(host, 0)
        raise InputError(
            f"cannot listen on {host}, {f'port {port}' if port else 'any port'}: "
            f"{error.strerror or error}. Give another --host, or another --port (0 for any free "
            "one)."
        ) from error
    # Connections inherit it. Else the end of a reply waits 40 ms for the other side to confirm its
    # beginning, since asyncio does not see that such a socket speaks TCP.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def token_for(path: Path | None) -> str:
    """Return the token of a session, kept apart from its file; it survives restarts."""
    if path is None:
        return secrets.token_urlsafe(24)
    name = hashlib.blake2b(os.fsencode(path.resolve()), digest_size=16).hexdigest()
    place = cache_folder() / "tokens" / name
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(place, os.O_RDWR | os.O_CREAT, 0o600)
        with os.fdopen(handle, "r+", encoding="ascii") as file:
            token = file.read().strip()
            if len(token) < 32:
                token = secrets.token_urlsafe(24)
                file.seek(0)
                file.truncate()
                file.write(token)
            return token
    except (OSError, UnicodeDecodeError):  # a token for this run only then
        return secrets.token_urlsafe(24)
