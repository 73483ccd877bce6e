"""The link that opens the page: its token, and the private file through which a browser gets it.

Other users of a machine can read the command line of every process, and so the address that a
browser is started with. So it is started with the name of a file that only its owner can read, and
this file leads to the page.
"""

from __future__ import annotations

import hashlib
import html
import os
import secrets
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from likewise.errors import WriteError
from likewise.files import cache_folder, whole_file

LEADING = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={0}">
<title>likewise</title>
<p><a href="{0}">Open the page of likewise</a></p>
</html>
"""
"""The private file."""


def new_token() -> str:
    """Return a random token; it has no dot, so that ``NAME.TOKEN`` can say whose it is."""
    return secrets.token_urlsafe(24)


def kept_token(session: Path) -> str:
    """Return the token that a session keeps from start to start, apart from its file."""
    place = _place_of_token(session)
    with suppress(OSError, UnicodeDecodeError):
        token = place.read_text(encoding="ascii")
        if len(token) >= len(new_token()):
            return token
    token = new_token()
    with suppress(WriteError), whole_file(place, private=True) as file:  # else for this run only
        file.write(token.encode())
    return token


def forget_token(session: Path) -> None:
    """Revoke the links and cookies that were kept for a session."""
    _place_of_token(session).unlink(missing_ok=True)


def _place_of_token(session: Path) -> Path:
    name = hashlib.blake2b(os.fsencode(session.resolve()), digest_size=16).hexdigest()
    return cache_folder() / "tokens" / name


def write_leading(address: str, port: int) -> Path:
    """Write a file that only its owner can read, and that leads a browser to an address."""
    # By its port, so that what a killed process left is replaced.
    place = cache_folder() / "links" / f"{port}.html"
    with whole_file(place, private=True) as file:
        file.write(LEADING.format(html.escape(address)).encode())
    return place


def read_leading(uri: str) -> str:
    """Return the address that a private file leads to, for programs that started the page."""
    text = Path(url2pathname(urlsplit(uri).path)).read_text(encoding="utf-8")
    return html.unescape(text.partition('href="')[2].partition('"')[0])
