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

from likewise.page.document import STATIC, document
from likewise.project import Project
from likewise.web import api
from likewise.web.guard import LOCAL_HOSTS, Guard


def app_for(
    project: Project,
    *,
    token: str | None = None,
    has_own_login: bool = False,
    hosts: Iterable[str] = (),
) -> Starlette:
    """Return the app for a project; the parameters are those of `likewise.web.create_app`."""
    secret = None if has_own_login else token or secrets.token_urlsafe(24)
    app = Starlette(
        routes=[
            Route("/", page),
            *api.routes(),
            Mount("/static", StaticFiles(directory=STATIC), name="static"),
        ],
        middleware=[Middleware(Guard, token=secret, hosts=[*LOCAL_HOSTS, *hosts])],
    )
    app.state.project = project
    app.state.token = secret
    return app


async def page(request: Request) -> Response:
    """Return the page; all that moves on it is fetched from the API."""
    return HTMLResponse(document(request.app.state.project))
