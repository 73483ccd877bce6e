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
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
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
    """Middleware that refuses requests from anywhere but the user's own browser."""

    def __init__(self, app: ASGIApp, token: str | None, hosts: Iterable[str]) -> None:
        self.app = app
        self.token = token
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
        greets = refusal is None and self._is_greeting(scope)
        app = self.app
        if refusal is not None:
            app = _refused(*refusal, as_page="text/html" in headers.get("accept", ""))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                outgoing = MutableHeaders(scope=message)
                outgoing.update(HEADERS)
                outgoing.setdefault("cache-control", "no-store")
                if greets:
                    outgoing.append("set-cookie", _cookie(scope, str(self.token)))
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
        if self._is_known(scope, headers):
            # A browser names the origin of every change; what has a cookie and no origin is odd.
            if is_change and self._has_cookie(headers) and "origin" not in headers:
                return 403, "a change with a cookie must say which page it comes from"
            return None
        return 403, NO_TOKEN

    def _is_known(self, scope: Scope, headers: Headers) -> bool:
        """Whether a request has the token, or needs none."""
        if self.token is None or _is_public(scope):
            return True
        bearer = headers.get("authorization", "").removeprefix("Bearer ").strip()
        return self._has_cookie(headers) or self._is_token(bearer) or self._is_greeting(scope)

    def _is_greeting(self, scope: Scope) -> bool:
        """Whether a request opens the page with the token in its address; nothing else may."""
        is_page = scope["method"] == "GET" and _inner_path(scope) in ("", "/")
        given = QueryParams(scope.get("query_string", b"")).get("token", "")
        return is_page and self._is_token(given)

    def _is_token(self, given: str) -> bool:
        wanted = self.token
        return wanted is not None and secrets.compare_digest(given.encode(), wanted.encode())

    def _has_cookie(self, headers: Headers) -> bool:
        if self.token is None:
            return False
        wanted = f"{cookie_name(self.token)}={self.token}".encode()
        given = (part.strip() for part in headers.get("cookie", "").split(";"))
        return any(secrets.compare_digest(part.encode(), wanted) for part in given)


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
    if not length.isdecimal() or int(length) > LARGEST_BODY:
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
