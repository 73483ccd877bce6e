"""The app: the page, its static files and the API, behind the guard."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from likewise.project import Project
from likewise.web import api
from likewise.web.guard import LOCAL_HOSTS, Guard
from likewise.words import plural

HERE = Path(__file__).parent

_templates = Environment(
    loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined
)


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
            Mount("/static", StaticFiles(directory=HERE / "static"), name="static"),
        ],
        middleware=[Middleware(Guard, token=secret, hosts=[*LOCAL_HOSTS, *hosts])],
    )
    app.state.project = project
    app.state.token = secret
    return app


async def page(request: Request) -> Response:
    """Return the page; all that moves on it is fetched from the API."""
    project: Project = request.app.state.project
    template = _templates.get_template("page.html")
    source = project.items.source.name
    items = plural(len(project.ids), project.items.noun)
    return HTMLResponse(template.render(source=source, kind=project.items.kind, items=items))
