"""The app: the page, its static files and the API, behind the guard."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from likewise.page.document import STATIC, document, empty_document
from likewise.web import api
from likewise.web.guard import LOCAL_HOSTS, Guard
from likewise.web.readiness import Readiness


def app_for(
    readiness: Readiness,
    *,
    token: str | None = None,
    has_own_login: bool = False,
    hosts: Iterable[str] = (),
) -> Starlette:
    """Return the app for a project, open or not; see `likewise.web.create_app`."""
    secret = None if has_own_login else token or secrets.token_urlsafe(24)
    app = Starlette(
        routes=[
            Route("/", page),
            *api.routes(),
            Mount("/static", StaticFiles(directory=STATIC), name="static"),
        ],
        middleware=[Middleware(Guard, token=secret, hosts=[*LOCAL_HOSTS, *hosts])],
    )
    app.state.readiness = readiness
    app.state.token = secret
    return app


async def page(request: Request) -> Response:
    """Return the page; all that moves on it is fetched from the API."""
    readiness: Readiness = request.app.state.readiness
    project = readiness.project
    return HTMLResponse(document(project) if project else empty_document(readiness.source))
