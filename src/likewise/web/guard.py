"""Which requests the server accepts: only those of the page, in a browser that has the token.

Every web site that is open in a browser can send requests to 127.0.0.1. Four checks refuse them:
the Host header must be a name of this server (a rebound DNS name is not), the token must be
presented (as a cookie that other sites cannot send along), a change must come from this origin, and
it must be JSON (which no form of another site can send).
"""

from __future__ import annotations

import hashlib
import html
import ipaddress
import re
import secrets
from collections.abc import Iterable, Mapping

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from likewise.project.people import Person

LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
PERSON = "likewise.person"
"""Where the scope of a request says who came with it."""
LARGEST_BODY = 65_536
"""The largest body of a request in bytes; the page sends far less."""
LONGEST_PATH = 1024
"""The most characters of an address; Python refuses to read a number of thousands of digits."""

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}

ALWAYS = {**HEADERS, "cache-control": "no-store"}
"""The headers of replies that the server gives without the app."""

NO_TOKEN = "the token is missing. Open the full address that likewise printed, token included"

REFUSAL = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>likewise: not opened</title>
<link rel="stylesheet" href="static/page.css">
<main>
<section id="view-opening">
<h1>This page cannot be opened like this</h1>
<p>The reason: {}.</p>
<p>Your answers are safe. To get back to them, run the <code>likewise label</code> command again. It
goes on where you stopped, opens the page, and prints its full address, which ends in
<code>?token=&hellip;</code>. The address changes with every start. To bookmark it, add
<code>--keep-link</code>.</p>
</section>
</main>
</html>
"""
"""What a browser shows in place of the page, for instance after its cookie is gone."""


class Guard:
    """Middleware that refuses requests from anywhere but the browsers of those who have a token.

    Parameters
    ----------
    app : callable
        What is behind it.
    tokens : mapping of str to Person or None, optional
        Who comes with which token; None for one who has no name here. Without tokens everybody is
        let in.
    hosts : iterable of str
        The names of this server.
    """

    def __init__(
        self, app: ASGIApp, tokens: Mapping[str, Person | None] | None, hosts: Iterable[str]
    ) -> None:
        self.app = app
        self.tokens = tokens
        self.hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, then pass it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        greeting = self._greeting(scope) if refusal is None else None
        if refusal is None and self.tokens is not None:
            token = self._token_of(scope, headers)
            scope[PERSON] = None if token is None else self.tokens[token]
        app = self.app
        if refusal is not None:
            app = _refused(*refusal, as_page="text/html" in headers.get("accept", ""))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                outgoing = MutableHeaders(scope=message)
                outgoing.update(HEADERS)
                outgoing.setdefault("cache-control", "no-store")
                if greeting is not None:
                    outgoing.append("set-cookie", _cookie(scope, greeting))
            await send(message)

        await app(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        """Return why a request is refused, as status and message, or None."""
        host = headers.get("host", "")
        name = _without_port(host.lower())
        is_ours = name in self.hosts or ("*" in self.hosts and _is_address(name))
        if not name or not is_ours:
            return 421, f"this server is not called {host!r}; start it with --allow-host NAME"
        if len(scope["path"]) > LONGEST_PATH:
            return 414, f"an address has at most {LONGEST_PATH} characters"
        is_change = scope["method"] not in ("GET", "HEAD")
        if is_change and (refusal := _refused_change(scope, headers)) is not None:
            return refusal
        return self._refused_stranger(scope, headers, is_change=is_change)

    def _refused_stranger(
        self, scope: Scope, headers: Headers, *, is_change: bool
    ) -> tuple[int, str] | None:
        """Refuse requests without a token, and changes by people who may only look."""
        if self.tokens is None or _is_public(scope):
            return None
        token = self._token_of(scope, headers)
        if token is None:
            return 403, NO_TOKEN
        person = self.tokens[token]
        if is_change and person is not None and not person.can_answer:
            return 403, f"the link of {person.name} is for looking only"
        # A browser names the origin of every change; what has a cookie and no origin is odd.
        if is_change and self._cookie_in(headers) and "origin" not in headers:
            return 403, "a change with a cookie must say which page it comes from"
        return None

    def _token_of(self, scope: Scope, headers: Headers) -> str | None:
        """Return the token that a request comes with, if it is one of ours."""
        bearer = headers.get("authorization", "").removeprefix("Bearer ").strip()
        # The page of a new link is for whom the link is, whatever cookie is still there.
        return self._greeting(scope) or self._cookie_in(headers) or self._ours(bearer)

    def _greeting(self, scope: Scope) -> str | None:
        """Return the token in the address of the page, with which a browser opens it first.

        Nothing else may have it in the address.
        """
        is_page = scope["method"] == "GET" and _inner_path(scope) in ("", "/")
        given = QueryParams(scope.get("query_string", b"")).get("token", "")
        return self._ours(given) if is_page else None

    def _ours(self, given: str) -> str | None:
        """Return a token if it is one of ours; all are compared, each in the same time."""
        compared = [
            (secrets.compare_digest(given.encode(), token.encode()), token)
            for token in self.tokens or ()
        ]
        return next((token for is_it, token in compared if is_it), None)

    def _cookie_in(self, headers: Headers) -> str | None:
        given = [part.strip().encode() for part in headers.get("cookie", "").split(";")]
        found = None
        for token in self.tokens or ():
            wanted = f"{cookie_name(token)}={token}".encode()
            if any(secrets.compare_digest(part, wanted) for part in given):
                found = token
        return found


def cookie_name(token: str) -> str:
    """Return a different name for every token, since all ports of a machine share cookies."""
    return f"likewise-{hashlib.blake2b(token.encode(), digest_size=4).hexdigest()}"


def _cookie(scope: Scope, token: str) -> str:
    path = scope.get("root_path", "").rstrip("/") or "/"
    secure = "; Secure" if scope["scheme"] == "https" else ""
    return f"{cookie_name(token)}={token}; Path={path}; HttpOnly; SameSite=Strict{secure}"


def _refused_change(scope: Scope, headers: Headers) -> tuple[int, str] | None:
    origin = headers.get("origin")
    is_foreign = origin is not None and origin != f"{scope['scheme']}://{headers.get('host')}"
    if is_foreign or headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return 403, "this request came from another site"
    if headers.get("content-type", "").split(";")[0].strip() != "application/json":
        return 415, "changes are sent as application/json"
    length = headers.get("content-length", "")
    # Python refuses to read a number of thousands of digits.
    if not length.isdecimal() or len(length) > 9 or int(length) > LARGEST_BODY:
        return 413, f"a request has a length of at most {LARGEST_BODY} bytes"
    return None


HOST = re.compile(r"(\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[^\[\]:@/]*))(:\d{1,5})?")
"""A Host header: a name or an address, then perhaps a port."""


def _without_port(host: str) -> str:
    """Return the name or address in a Host header, or "" if it is neither."""
    if _is_address(host):  # of version 6, without the brackets that it should have
        return host
    match = HOST.fullmatch(host)
    return "" if match is None else match["v6"] or match["name"]


def _inner_path(scope: Scope) -> str:
    return str(scope["path"]).removeprefix(str(scope.get("root_path", "")))


def _is_public(scope: Scope) -> bool:
    """Whether a request is for the files of the page, which are the same for everybody."""
    return scope["method"] in ("GET", "HEAD") and _inner_path(scope).startswith("/static/")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _refused(status: int, message: str, *, as_page: bool) -> Response:
    """Say why a request is refused: to a person as a page, to a program as JSON."""
    if as_page:
        return HTMLResponse(REFUSAL.format(html.escape(message)), status)
    return JSONResponse({"error": message}, status)
