"""The link that opens the page: its token, and the private file through which a browser gets it.

Other users of a machine can read the command line of every process, and so the address that a
browser is started with. So it is started with the name of a file that only its owner can read, and
this file leads to the page.
"""

from __future__ import annotations

import hashlib
import html
import json
import os
import re
import secrets
from collections.abc import Mapping, Sequence
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


def new_token(name: str = "") -> str:
    """Return a random token; that of a person begins with their name, and a dot.

    Characters of the name that mean something in an address or a cookie become ``_``.
    """
    token = secrets.token_urlsafe(24)
    return f"{re.sub(r'[^A-Za-z0-9-]', '_', name)}.{token}" if name else token


def kept_tokens(session: Path, names: Sequence[str] = ()) -> dict[str, str]:
    """Return the tokens that a session keeps between starts, outside of its file, by name.

    The token of "" is for whoever started the page. Tokens of people who are no longer named are
    revoked: if they are named again, they get new ones.
    """
    place, wanted = _place_of_token(session), ["", *names]
    kept: dict[str, str] = {}
    with suppress(OSError, ValueError):
        found = json.loads(place.read_text(encoding="ascii"))
        if isinstance(found, dict):
            kept = {name: found[name] for name in wanted if _is_token(found.get(name), name)}
    if list(kept) != wanted:
        kept = {name: kept.get(name) or new_token(name) for name in wanted}
    with suppress(WriteError), whole_file(place, private=True) as file:  # else for this run only
        file.write(json.dumps(kept).encode())
    return kept


def _is_token(value: object, name: str) -> bool:
    """Whether something is as long as a token, and begins with the name that it is for."""
    begin = new_token(name).rpartition(".")[0]
    is_whole = isinstance(value, str) and len(value) >= len(new_token(name))
    return is_whole and str(value).rpartition(".")[0] == begin


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


def write_links(addresses: Mapping[str, str], port: int) -> Path:
    """Write a file that only its owner can read, with the address of each person."""
    place = cache_folder() / "links" / f"{port}.txt"
    with whole_file(place, private=True) as file:
        file.writelines(f"{name}: {address}\n".encode() for name, address in addresses.items())
    return place


def read_leading(uri: str) -> str:
    """Return the address that a private file leads to, for programs that started the page."""
    text = Path(url2pathname(urlsplit(uri).path)).read_text(encoding="utf-8")
    return html.unescape(text.partition('href="')[2].partition('"')[0])
