"""Every operation at its route: path, query and body become the arguments that MCP would have given."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from postroom.base.caller import Caller, Toolset
from postroom.base.errors import Code, GatewayError, invalid, not_found
from postroom.base.logs import Log
from postroom.operations.blob import Blob
from postroom.operations.eventstream import EventStream
from postroom.operations.operation import Surface
from postroom.operations.perform import Corridor
from postroom.operations.visit import Visit
from postroom.surfaces.bodies import Bodies, is_json, parse_json
from postroom.surfaces.downloads import DownloadResponse
from postroom.surfaces.eventstreams import EventStreamResponse
from postroom.surfaces.presence import while_present
from postroom.surfaces.responses import error_response, json_response
from postroom.surfaces.routes import Match, Routes


class HttpApi:
    """Answers authenticated requests."""

    def __init__(self, corridor: Corridor, bodies: Bodies, log: Log) -> None:
        self._corridor = corridor
        self._log = log
        self._bodies = bodies
        self._routes = {toolset: Routes(catalogue.values()) for toolset, catalogue in corridor.catalogues.items()}

    async def answer(self, request: Request, caller: Caller, visit: Visit) -> Response:
        """`visit` is this request as a call knows it."""
        async with AsyncExitStack() as held:
            return await self._answer(request, caller, visit, held)

    async def _answer(self, request: Request, caller: Caller, visit: Visit, held: AsyncExitStack) -> Response:
        try:
            match = self._match(request, caller)
            mailbox = match.arguments.get("mailbox")
            await self._corridor.admit(match.operation.name, caller, Surface.HTTP, mailbox)
            try:
                arguments = await self._arguments(request, match, held)
            except GatewayError as error:
                raise await self._corridor.refused(match.operation, caller, Surface.HTTP, error, mailbox) from None
            work = self._corridor.perform(match.operation.name, arguments, caller, Surface.HTTP, visit)
            answer = await while_present(request.receive, work)
        except GatewayError as error:
            allow = error.details.get("allow")
            return error_response(error, {"Allow": ", ".join(allow)} if allow else None)
        if isinstance(answer, EventStream):
            return EventStreamResponse(answer, self._log)
        return DownloadResponse(answer, self._log) if isinstance(answer, Blob) else json_response(answer)

    def _match(self, request: Request, caller: Caller) -> Match:
        method = "GET" if request.method == "HEAD" else request.method
        match = self._routes[caller.toolset].find(method, request.scope["raw_path"])
        if isinstance(match, Match):
            return match
        if match and caller.toolset is Toolset.MAILBOX:
            allowed = sorted(match)
            raise GatewayError(Code.METHOD_NOT_ALLOWED, f"Use {' or '.join(allowed)} here.", allow=allowed)
        raise not_found("There is nothing at this path; see /docs.")

    async def _arguments(self, request: Request, match: Match, held: AsyncExitStack) -> dict[str, Any]:
        query = _query(request)
        body = {} if request.method in ("GET", "HEAD", "DELETE") else await self._body(request, held)
        twice = (query.keys() & body.keys()) or ((query.keys() | body.keys()) & match.arguments.keys())
        if twice:
            raise invalid(min(twice), "is given twice; the path, the query and the body are one set of arguments")
        return query | body | dict(match.arguments) | _last_event(request, match)

    async def _body(self, request: Request, held: AsyncExitStack) -> dict[str, Any]:
        body = await self._bodies.read(request, held)
        if not body:
            return {}
        if not is_json(request):
            raise invalid("body", "must be JSON, with Content-Type: application/json")
        value = parse_json(body)
        if not isinstance(value, dict):
            raise invalid("body", "must be a JSON object of arguments")
        return value


def _last_event(request: Request, match: Match) -> dict[str, str]:
    """Where a stream goes on that was cut: browsers say it in a header, whatever stood in the query before."""
    last = request.headers.get("last-event-id")
    return {"since_cursor": last} if last and match.operation.answer is EventStream else {}


def _query(request: Request) -> dict[str, Any]:
    """The query's arguments; a repeated one is a list."""
    lists: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        lists.setdefault(name, []).append(value)
    return {name: values if len(values) > 1 else values[0] for name, values in lists.items()}
