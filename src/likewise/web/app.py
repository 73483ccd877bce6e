"""The app: the page, its static files and the API, behind the guard."""

from __future__ import annotations

import json
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from likewise.errors import LikewiseError
from likewise.page.calls import CALLS, Call, File, reply
from likewise.page.document import STATIC, document
from likewise.project import Project
from likewise.project.pace import Pace
from likewise.project.people import Person, acting
from likewise.web.guard import ALWAYS, LOCAL_HOSTS, PERSON, Guard


class Readiness:
    """A project that is being opened, until it is open or has failed."""

    def __init__(self, source: str, project: Project | None = None) -> None:
        self.source = source
        self.project = project
        self.was_asked = False
        self.has_shown_failure = threading.Event()
        self._step: tuple[str, int, int] = ("Starting", 0, 0)
        self._pace = Pace()
        self._error: str | None = None

    def progress(self, step: str, done: int = 0, of: int = 0) -> None:
        """Report a step and how much of it is done; `of` is 0 where the amount is unknown."""
        if step != self._step[0]:
            self._pace = Pace()
        self._pace.at(done)
        self._step = (step, done, of)

    def fail(self, error: Exception) -> None:
        """Say why the project cannot be opened."""
        is_known = isinstance(error, LikewiseError | OSError)
        self._error = str(error) if is_known else f"{type(error).__name__}: {error}"

    def reply(self) -> tuple[int, dict[str, Any]]:
        """Return the status and the reply to every call before the project is open."""
        self.was_asked = True
        if self._error is not None:
            self.has_shown_failure.set()
            return 500, {"error": self._error, "has_failed": True}
        step, done, of = self._step
        share = f", {done} of {of}" if of else ""
        left = self._pace.left(of) if done < of else ""
        about: dict[str, Any] = {"step": step, "done": done, "of": of, "left": left}
        return 503, {"error": f"not open yet: {step}{share}", **about}


def app_for(
    readiness: Readiness,
    *,
    token: str | None,
    people: Mapping[str, Person] | None = None,
    hosts: Iterable[str] = (),
) -> Starlette:
    """Return the app for a project, open or not; without a token everyone is let in.

    `people` have tokens of their own: who comes with which.
    """
    tokens: dict[str, Person | None] | None = None
    if token is not None:
        tokens = {token: None, **(people or {})}
    app = Starlette(
        routes=[
            Route("/", page),
            *routes(),
            Mount("/static", StaticFiles(directory=STATIC), name="static"),
        ],
        middleware=[Middleware(Guard, tokens=tokens, hosts=[*LOCAL_HOSTS, *hosts])],
        exception_handlers={Exception: failed},
    )
    app.state.readiness = readiness
    app.state.token = token
    return app


class JsonReply(JSONResponse):
    """JSON whose texts may have lone surrogates, such as a path in the message of an error."""

    def render(self, content: Any) -> bytes:
        """Return JSON; what cannot be encoded becomes an escape, as JSON has it."""
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode(
            "utf-8", "backslashreplace"
        )


async def failed(_request: Request, _error: Exception) -> Response:
    """Reply to a request on which the app failed; the terminal shows the error itself."""
    why = "the server failed on this request; the terminal says why. Your answers are safe"
    return JsonReply({"error": why}, 500, ALWAYS)


async def page(request: Request) -> Response:
    """Return the page; its content is fetched from the API."""
    readiness: Readiness = request.app.state.readiness
    return HTMLResponse(document(readiness.project or readiness.source))


def routes() -> list[Route]:
    """Return all routes of the API."""
    return [
        Route(f"/api/{call.path}", _handler(call), methods=["POST" if call.changes else "GET"])
        for call in CALLS
    ]


def _handler(call: Call) -> Callable[[Request], Awaitable[Response]]:
    async def handle(request: Request) -> Response:
        body: object = {**request.query_params, **request.path_params}
        if call.changes:
            try:
                body = await request.json()
            except ClientDisconnect:
                return JsonReply({"error": "the request did not arrive in time"}, 408)
            except (ValueError, RecursionError):
                error = "the request is not JSON, or nested too deep"
                return JsonReply({"error": error}, 400)
        readiness: Readiness = request.app.state.readiness
        if readiness.project is None:
            status, why = readiness.reply()
            return JsonReply(why, status)
        with acting(request.scope.get(PERSON)):  # threads of the pool take the context over
            status, result = await run_in_threadpool(reply, readiness.project, call, body)
        if isinstance(result, File):
            return Response(result.data, status, result.headers, result.media_type)
        return JsonReply(result, status)

    return handle
