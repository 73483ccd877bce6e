"""The calls of the page as routes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from likewise.page.calls import File
from likewise.page.replies import CALLS, Call, reply
from likewise.page.shapes import Asked
from likewise.web.readiness import Readiness


def routes() -> list[Route]:
    """Return all routes of the API."""
    return [
        Route(f"/api/{call.path}", _handler(call), methods=["POST" if call.changes else "GET"])
        for call in CALLS
    ]


def _handler(call: Call) -> Callable[[Request], Awaitable[Response]]:
    async def handle(request: Request) -> Response:
        said: object = Asked(request.path_params, request.query_params)
        if call.changes:
            try:
                said = await request.json()
            except (ValueError, RecursionError):
                error = "the request is not JSON, or nested too deep"
                return JSONResponse({"error": error}, 400)
        readiness: Readiness = request.app.state.readiness
        if readiness.project is None:
            status, why = readiness.reply()
            return JSONResponse(why, status)
        status, found = await run_in_threadpool(reply, readiness.project, call, said)
        if isinstance(found, File):
            return Response(found.data, status, found.headers, found.media_type)
        return JSONResponse(found, status)

    return handle
