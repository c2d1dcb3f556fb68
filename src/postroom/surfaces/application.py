"""The one ASGI application: guard, open pages, authentication, then MCP or the HTTP API."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from postroom.base.caller import Caller, Toolset
from postroom.base.errors import Code, GatewayError, internal, not_found
from postroom.base.logs import Log
from postroom.base.meters import Meters
from postroom.config import LimitsConfig
from postroom.operations.perform import Corridor
from postroom.operations.visit import Visit, new_name
from postroom.surfaces import mcp
from postroom.surfaces.authenticate import Authenticator
from postroom.surfaces.bodies import Bodies, is_json, parse_json
from postroom.surfaces.documents import Documents
from postroom.surfaces.guard import Guard
from postroom.surfaces.http_api import HttpApi
from postroom.surfaces.load import Load, no_room
from postroom.surfaces.metrics import METRICS, metrics_page
from postroom.surfaces.presence import while_present
from postroom.surfaces.responses import (
    empty_response,
    error_response,
    event_response,
    json_response,
)
from postroom.surfaces.toolbox import Toolbox

_MCP_PATHS = ("/mcp", "/mcp/")
_EVENTS = frozenset({"text/event-stream", "text/*", "*/*"})
_ROUTING_HEADERS = ("mcp-protocol-version", "mcp-method", "mcp-name")


@dataclass(frozen=True, slots=True)
class _Service:
    """Who is known, and what is done for them: one configuration's, from a request's beginning to its end."""

    authenticator: Authenticator
    corridor: Corridor
    http_api: HttpApi


class Application:
    """Stateless between requests: who asks is found out anew each time."""

    def __init__(
        self,
        guard: Guard,
        authenticator: Authenticator,
        corridor: Corridor,
        documents: Documents,
        limits: LimitsConfig,
        log: Log,
        meters: Meters,
    ) -> None:
        self._guard = guard
        self._meters = meters
        self._load = Load(limits.requests_at_once, meters)
        self._documents = documents
        self._bodies = Bodies(limits.request_max_bytes)
        self._log = log
        self.serve(authenticator, corridor)

    def serve(self, authenticator: Authenticator, corridor: Corridor) -> None:
        """From the next request on by these; requests that have begun end as they began."""
        self._service = _Service(authenticator, corridor, HttpApi(corridor, self._bodies, self._log))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if scope["path"] in self._documents:
            # It costs nothing: who has no token takes no place, and who asks whether it lives is told so.
            await self._answered(Request(scope, receive), send)
            return
        if not self._load.begin():
            await error_response(no_room(), {"Connection": "close"})(scope, receive, send)
            return
        try:
            await self._answered(Request(scope, receive), send)
        finally:
            self._load.end()

    async def _answered(self, request: Request, send: Send) -> None:
        name = new_name()
        try:
            response = await self._answer(request, name)
        except ClientDisconnect:
            return
        except asyncio.CancelledError:
            # The process stops and does not wait any longer: the client is told so before the end.
            stopping = GatewayError(Code.UNAVAILABLE, "The gateway is stopping. Try again in a moment.", retry_after=5)
            await error_response(stopping, {"Connection": "close"})(request.scope, request.receive, send)
            raise
        except GatewayError as error:
            response = error_response(error)
        except Exception as error:  # noqa: BLE001 - a fault of the skin itself still gets our shape, and the log a trace
            self._log.error("request.failed", error, request=name)
            response = error_response(internal())
        response.headers["X-Request-Id"] = name
        await response(request.scope, request.receive, send)

    async def _answer(self, request: Request, name: str) -> Response:
        refused = self._foreign(request) or self._open_page(request)
        if refused is not None:
            return refused
        service = self._service
        caller = await _caller(service, request)
        if caller is None:
            return _unauthorized("authorization" in request.headers)
        visit = Visit(partial(self._stands, service, request, caller), name)
        path = request.scope["path"]
        if path in _MCP_PATHS:
            return await self._mcp(request, Toolbox(service.corridor, caller, visit))
        if path == METRICS and caller.toolset is Toolset.MAILBOX:
            return metrics_page(request, caller, self._meters)
        return await service.http_api.answer(request, caller, visit)

    async def _stands(self, service: _Service, request: Request, caller: Caller) -> bool:
        """Whether a request that was begun would begin in the same way now: same configuration, same caller."""
        return service is self._service and await _caller(service, request) == caller

    def _foreign(self, request: Request) -> Response | None:
        if not self._guard.host_allowed(request.headers.get("host")):
            self._log.warning("request.refused", reason="host")
            error = GatewayError(Code.PERMISSION_DENIED, "This Host is not in server.allowed_hosts.")
            return json_response(error.body(), 421)
        if not self._guard.origin_allowed(request.headers.get("origin")):
            self._log.warning("request.refused", reason="origin")
            error = GatewayError(Code.PERMISSION_DENIED, "This Origin is not in server.allowed_origins.")
            return json_response(error.body(), 403)
        return None

    def _open_page(self, request: Request) -> Response | None:
        """What is served without a token. Login metadata is plainly absent, or hosts begin a login that cannot end."""
        path = request.scope["path"]
        if path.startswith("/.well-known/") or path in ("/.well-known", "/register"):
            return error_response(not_found("There is nothing at this path."))
        return self._documents.find(request.method, path)

    async def _mcp(self, request: Request, tools: Toolbox) -> Response:
        if request.method != "POST":
            error = GatewayError(Code.METHOD_NOT_ALLOWED, "MCP is spoken by POST here.", allow=["POST"])
            return error_response(error, {"Allow": "POST"})
        unusable = _unusable(request)
        if unusable is not None:
            return unusable
        async with AsyncExitStack() as held:
            return await self._mcp_call(request, tools, held)

    async def _mcp_call(self, request: Request, tools: Toolbox, held: AsyncExitStack) -> Response:
        try:
            message = parse_json(await self._bodies.read(request, held))
        except GatewayError as error:
            if error.code is not Code.VALIDATION_ERROR:
                return error_response(error)
            return _mcp_response(mcp.unreadable(error.message))
        headers = {name: request.headers[name] for name in _ROUTING_HEADERS if name in request.headers}
        work = mcp.reply(message, headers, tools)
        return _mcp_response(await while_present(request.receive, work))


async def _caller(service: _Service, request: Request) -> Caller | None:
    return await service.authenticator.caller(request.headers.get("authorization"), _source(request))


def _source(request: Request) -> str:
    """The address at the other end, be it a proxy's: what a header says of it anybody could have written."""
    return request.client.host if request.client else "unknown"


def _unauthorized(tried: bool) -> Response:
    """RFC 6750 3: no `error` when no credential was sent. No metadata is named: there is no login to go to."""
    challenge = 'Bearer realm="postroom"' + (', error="invalid_token"' if tried else "")
    error = GatewayError(Code.UNAUTHORIZED, "Send a valid token as Authorization: Bearer TOKEN.")
    return error_response(error, {"WWW-Authenticate": challenge, "Connection": "close"})


def _unusable(request: Request) -> Response | None:
    """A POST that MCP's transport does not allow: a wrong type, or a routing header said twice."""
    accept = ",".join(request.headers.getlist("accept") or ["*/*"]).lower()
    if _EVENTS.isdisjoint(kind.partition(";")[0].strip() for kind in accept.split(",")):
        error = GatewayError(Code.VALIDATION_ERROR, "Send Accept: application/json, text/event-stream.")
        return json_response(error.body(), 406)
    if not is_json(request):
        error = GatewayError(Code.VALIDATION_ERROR, "Send Content-Type: application/json.")
        return json_response(error.body(), 415)
    for name in _ROUTING_HEADERS:
        if len(request.headers.getlist(name)) > 1:
            message = {"code": mcp.HEADER_MISMATCH, "message": f"the {name} header is given twice"}
            return json_response({"jsonrpc": "2.0", "id": None, "error": message}, 400)
    return None


def _mcp_response(reply: mcp.Reply) -> Response:
    if reply.message is None:
        return empty_response(reply.status)
    if reply.status == 200:
        return event_response(reply.message)
    return json_response(reply.message, reply.status)
