"""What a monitor may read: for a token with the scope admin, or at a listening address of its own without one."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Send
from starlette.types import Scope as Asked

from postroom.base.caller import Caller, Scope
from postroom.base.errors import Code, GatewayError, not_found
from postroom.base.meters import CONTENT_TYPE, Meters
from postroom.surfaces.responses import ALWAYS, error_response

METRICS = "/metrics"


def metrics_page(request: Request, caller: Caller, meters: Meters) -> Response:
    """Raises `permission_denied`, or `method_not_allowed`."""
    if Scope.ADMIN not in caller.scopes:
        message = "This token may not read the metrics; it needs the scope admin."
        raise GatewayError(Code.PERMISSION_DENIED, message, required_scope=Scope.ADMIN)
    return _page(request, meters)


class MetricsApplication:
    """The page alone, for an address that the operator has chosen for it."""

    def __init__(self, meters: Meters) -> None:
        self._meters = meters

    async def __call__(self, scope: Asked, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        found = request.scope["path"] == METRICS
        response = _page(request, self._meters) if found else error_response(not_found("Only /metrics is here."))
        await response(scope, receive, send)


def _page(request: Request, meters: Meters) -> Response:
    if request.method not in ("GET", "HEAD"):
        error = GatewayError(Code.METHOD_NOT_ALLOWED, "Use GET here.", allow=["GET"])
        return error_response(error, {"Allow": "GET"})
    return Response(meters.exposition(), headers={**ALWAYS, "Content-Type": CONTENT_TYPE})
