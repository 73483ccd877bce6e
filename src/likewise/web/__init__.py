"""The page over HTTP, behind a guard."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from likewise.errors import needs_extra

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from likewise.core.session import Session
    from likewise.items import Items
    from likewise.store import Store

__all__ = ["create_app"]


def create_app(
    session: Session,
    items: Items,
    *,
    log: Store | None = None,
    token: str | None = None,
    has_own_login: bool = False,
    hosts: Iterable[str] = (),
) -> Starlette:
    r"""Return the page and its JSON API as an ASGI app, to be served or mounted.

    Parameters
    ----------
    session : Session
        As ``COBRA().start(X)`` made it. The app changes it; do not change it elsewhere meanwhile.
    items : Items
        What its rows are, in their order: `likewise.items.open_items`.
    log : Store, optional
        Keeps every answer in a file. By default they are kept in memory, and in `session`.
    token : str, optional
        What a browser must present. By default a random one, found as ``app.state.token``.
    has_own_login : bool
        Whether an app around this one lets only the right people through; no token is asked for
        then.
    hosts : iterable of str
        Names under which it is reached, beside ``localhost`` and its addresses.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from likewise import COBRA
    >>> from likewise.items import open_items
    >>> from likewise.web import create_app
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "flowers.csv"
    >>> _ = path.write_text("petal\n1\n2\n9\n")
    >>> items = open_items(path)
    >>> app = create_app(COBRA(3).start(items.features().X), items)
    >>> len(app.state.token) > 20
    True
    >>> folder.cleanup()
    """
    with needs_extra("the labeling page", "app"):
        from likewise.web.app import Readiness, app_for
    from likewise.project import Project
    from likewise.web.links import new_token

    readiness = Readiness(items.source.name, Project(session, items, log))
    secret = None if has_own_login else token or new_token()
    return app_for(readiness, token=secret, hosts=hosts)
