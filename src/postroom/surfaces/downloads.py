"""A file as an HTTP answer: streamed as it comes, under headers that let no browser run it."""

from __future__ import annotations

import re
from urllib.parse import quote

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from postroom.base.errors import GatewayError
from postroom.base.logs import Log
from postroom.operations.blob import Blob
from postroom.surfaces.responses import ALWAYS

_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,126}/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\Z")
_UNKNOWN = "application/octet-stream"
_NOT_QUOTABLE = re.compile(r"[^ !#-\[\]-~]")


class DownloadResponse(Response):
    """Streams a blob. If that cannot be finished the connection is closed, so that no part passes for the whole."""

    def __init__(self, blob: Blob, log: Log) -> None:
        super().__init__()
        self._blob = blob
        self._log = log
        headers = dict(ALWAYS) | {
            "Content-Type": blob.content_type if _TYPE.match(blob.content_type) else _UNKNOWN,
            "Content-Disposition": _disposition(blob.filename),
            "Content-Security-Policy": "sandbox; default-src 'none'",
            "X-Sniffed-Content-Type": blob.sniffed if _TYPE.match(blob.sniffed) else _UNKNOWN,
        }
        if blob.size is not None:
            headers["Content-Length"] = str(blob.size)
        self.raw_headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        if scope["method"] != "HEAD":
            try:
                async for piece in self._blob.octets():
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
            except GatewayError as error:
                # Returning without the last message makes the server drop the connection.
                self._log.warning("download.cut", code=error.code, reason=str(error.details.get("reason")))
                return
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _disposition(filename: str) -> str:
    """For saving, never for showing (RFC 6266); the name in ASCII, and as it is (RFC 8187)."""
    plain = _NOT_QUOTABLE.sub("_", filename)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(filename, safe='')}"
