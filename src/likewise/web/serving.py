"""Serve the page on this machine until Ctrl-C."""

from __future__ import annotations

import asyncio
import selectors
import socket
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from likewise.errors import InputError
from likewise.files import check_regular
from likewise.page.calls import SIZES
from likewise.project import Project
from likewise.project.people import Person
from likewise.web.app import Readiness, app_for
from likewise.web.guard import ALWAYS, LOCAL_HOSTS
from likewise.web.links import new_token
from likewise.words import check_text

DEFAULT_PORT = 8642
"""The port of the page, if it is free."""
MOST_WARMED = 150
"""How many pictures are made in advance. The cache in memory has room for more."""

REQUEST_SECONDS = 15.0
"""How long a request may take to arrive, head and body together. The page sends a few hundred
bytes; a slow line is given a thousand times what that needs."""
IDLE_SECONDS = 5
"""How long a connection may wait for its next request."""
LAST_SECONDS = 30
"""How long replies may take after the server was told to end. The slowest take a second or two; a
browser that stops reading must not keep the server running forever."""
LAST_TURNS = 1000
"""The most turns of the event loop to accept connections that wait when the server ends."""

EVERYWHERE = ("0.0.0.0", "::", "")


class TimedConnection(H11Protocol):
    """HTTP that closes a connection whose request does not arrive in time.

    One that sends nothing, or half of a request, would otherwise stay open forever, and with
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

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, with the headers of every other reply."""
        headers = {**ALWAYS, "content-type": "text/plain; charset=utf-8", "connection": "close"}
        for event in (
            h11.Response(status_code=400, headers=list(headers.items()), reason=b"Bad Request"),
            h11.Data(data=msg.encode()),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def shutdown(self) -> None:
        """End when the server ends: after the reply to what has arrived, read or not."""
        is_idle = self.cycle is None or self.cycle.response_complete
        if self.transport.is_closing():
            return
        if is_idle and _has_arrived(self.transport.get_extra_info("socket").fileno()):
            self.loop.call_soon(self.shutdown)  # the loop reads before it comes to this
        else:
            super().shutdown()

    def _expect(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(REQUEST_SECONDS, self.transport.close)

    def _expect_nothing(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class PatientServer(uvicorn.Server):
    """A server that ends when it has replied to everything that had been sent to it."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept the connections that wait, then end as usual."""
        for listener in sockets or ():
            for _ in range(LAST_TURNS):
                if not _has_arrived(listener.fileno()):
                    break
                await asyncio.sleep(0)
        # A connection that was accepted is known to the server some turns later.
        for _ in range(10):
            await asyncio.sleep(0)
        await super().shutdown(sockets)


def _has_arrived(handle: int) -> bool:
    """Whether a socket has a connection to accept, or bytes to read."""
    with selectors.DefaultSelector() as selector:
        selector.register(handle, selectors.EVENT_READ)
        return bool(selector.select(0))


@dataclass(frozen=True)
class Served:
    """A page that can be served before its project is open; its socket is listening already."""

    home: str
    token: str
    server: uvicorn.Server
    listener: socket.socket
    readiness: Readiness
    people: dict[str, str] = field(default_factory=dict)
    warming: list[threading.Thread] = field(default_factory=list)

    @property
    def address(self) -> str:
        """The address with the token; it is for the person, and not for command lines and logs."""
        return f"{self.home}?token={self.token}"

    @property
    def links(self) -> dict[str, str]:
        """The address of each person, by their names."""
        return {name: f"{self.home}?token={token}" for name, token in self.people.items()}

    @property
    def port(self) -> int:
        """The port of the page."""
        return int(self.listener.getsockname()[1])

    def run(self) -> None:
        """Serve until ``server.should_exit`` is set; return when no thread of it is left."""
        with self.listener:
            self.server.run(sockets=[self.listener])
        # A thread that decodes a picture while the interpreter ends can abort the process.
        for thread in self.warming:
            thread.join()

    def show(self, project: Project) -> None:
        """Serve a project that has been opened in the meantime."""
        self.readiness.project = project
        thread = threading.Thread(target=self._warm, args=[project], daemon=True)
        self.warming.append(thread)
        thread.start()

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
    token: str | None = None,
    people: Mapping[str, Person] | None = None,
    host: str = "127.0.0.1",
    port: int | None = None,
    hosts: Iterable[str] = (),
    certificate: tuple[str, str | None] | None = None,
) -> Served:
    """Bind the page of a project to an address: by default port 8642, or any free one.

    Without a token, it gets a new one. `people` have tokens of their own. With a `certificate`, the
    files of it and of its key, the page is served by HTTPS.
    """
    listener = listen(host, port)
    token = token or new_token()
    names = [*hosts, host.strip("[]")]
    if host in EVERYWHERE:
        names += ["*", socket.gethostname(), socket.getfqdn()]
    # No access log: the first address has the token in it.
    config = uvicorn.Config(
        app_for(readiness, token=token, people=people, hosts=names),
        log_level="warning",
        access_log=False,
        lifespan="off",
        server_header=False,
        http=TimedConnection,
        ws="none",  # a request for a web socket is refused like any other
        timeout_graceful_shutdown=LAST_SECONDS,
        timeout_keep_alive=IDLE_SECONDS,
    )
    if certificate is not None:
        config.ssl_certfile, config.ssl_keyfile = certificate
        config.ssl_keyfile_password = " "  # without any, OpenSSL would ask the terminal for it
        try:
            for file in filter(None, certificate):
                check_regular(file)
            config.load()
        except InputError:
            listener.close()
            raise
        except (OSError, ValueError) as error:  # an SSLError is an OSError
            listener.close()
            raise InputError(
                f"{certificate[0]} cannot be used as a certificate: {error}. --certfile has the "
                "certificate and what it rests on, --keyfile its key without a password, both PEM."
            ) from error
    shown = own_address(":" in host) if host in EVERYWHERE else host.strip("[]")
    shown = f"[{shown}]" if ":" in shown else shown
    scheme = "http" if certificate is None else "https"
    home = f"{scheme}://{shown}:{listener.getsockname()[1]}/"
    named = {person.name: its_token for its_token, person in (people or {}).items()}
    return Served(home, token, PatientServer(config), listener, readiness, named)


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
    name = check_text(host, "an address").strip("[]")
    try:
        name.encode("idna")  # as the server does, which would leave a socket open
        listener = socket.create_server((name, wanted), family=family)
    except (OSError, UnicodeError) as error:
        if port is None:
            return listen(host, 0)
        why = getattr(error, "strerror", None) or error
        raise InputError(
            f"cannot listen on {host}, {f'port {port}' if port else 'any port'}: {why}. Give "
            "another --host, or another --port (0 for any free one)."
        ) from error
    # Connections inherit it. Else the end of a reply waits 40 ms for the other side to confirm its
    # beginning, since asyncio does not see that such a socket speaks TCP.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
