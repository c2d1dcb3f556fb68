"""From an HTTP answer to the lines that the client reads: MCP as it came, anything else as an error with a remedy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from postroom.bridge.exchange import HttpAnswer
from postroom.bridge.faults import Reason, Unanswered

_REMEDIES = {
    401: "the gateway refuses the token: it is wrong, expired or revoked; "
    "issue one with postroom token create, put it where --token-env points, and start the bridge again",
    404: "there is no gateway's MCP endpoint at this address; give its /mcp address with --url",
    405: "there is no gateway's MCP endpoint at this address; give its /mcp address with --url",
    421: "the gateway does not answer under this host name; "
    "give --url its public address, or add the name to server.allowed_hosts in its configuration",
}
_ELSEWHERE = "this address leads elsewhere, and the token does not follow; give --url the final address"
_STRANGE = "which is no answer of a gateway; check --url, and what stands between if that is right"


def client_lines(answer: HttpAnswer, identifier: str | int) -> list[bytes]:
    """Notices as they came, then the response to that request. Raises Unanswered if there is none."""
    notices: list[bytes] = []
    for data in _documents(answer):
        message = _parsed(data)
        if message is None:
            break
        if "method" in message:
            notices += [] if "id" in message else [_one_line(data)]
        elif _is_response(message, identifier):
            return [*notices, _one_line(data)]
        elif _is_response(message, None) and "error" in message and _writable(message):
            return [*notices, orjson.dumps({**message, "id": identifier})]
    raise _refusal(answer)


def check_notice(answer: HttpAnswer) -> None:
    """Raises Unanswered if a notice was not taken."""
    if not 200 <= answer.status < 300:
        raise _refusal(answer)


def _documents(answer: HttpAnswer) -> Iterator[bytes]:
    if answer.content_type == "text/event-stream":
        yield from _events(answer.body)
    elif answer.content_type == "application/json":
        yield answer.body


def _events(body: bytes) -> Iterator[bytes]:
    """The data of each server-sent event; one that the end cuts off is none."""
    data: list[bytes] = []
    for line in body.removeprefix(b"\xef\xbb\xbf").splitlines(keepends=True):
        bare = line.rstrip(b"\r\n")
        if bare.startswith(b"data:"):
            data.append(bare[5:].removeprefix(b" "))
        elif not bare and data:
            yield b"\n".join(data)
            data = []


def _parsed(data: bytes) -> dict[str, Any] | None:
    try:
        message = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    return message if isinstance(message, dict) else None


def _is_response(message: dict[str, Any], identifier: str | int | None) -> bool:
    """Whether it answers that request; 1 and "1" are two requests."""
    given = message.get("id")
    same = type(given) is type(identifier) and given == identifier
    return message.get("jsonrpc") == "2.0" and same and ("result" in message) != ("error" in message)


def _one_line(data: bytes) -> bytes:
    """JSON has line ends between its tokens alone, where a space means the same."""
    return data.strip().replace(b"\r", b" ").replace(b"\n", b" ")


def _refusal(answer: HttpAnswer) -> Unanswered:
    """The error for an answer that is no MCP: our remedy where we know one, else the gateway's own words."""
    own = _gateway_error(answer)
    known = {"http_status": answer.status} | ({"error": own} if own else {})
    if answer.status == 401:
        return Unanswered(Reason.UNAUTHORIZED, _REMEDIES[401], **known)
    if 300 <= answer.status < 400:
        return Unanswered(Reason.NOT_MCP, _ELSEWHERE, **known)
    reason = Reason.REFUSED if own else Reason.NOT_MCP
    if answer.status in _REMEDIES:
        return Unanswered(reason, _REMEDIES[answer.status], **known)
    if own:
        return Unanswered(reason, own["message"], **known)
    return Unanswered(reason, f"HTTP status {answer.status}, {_STRANGE}", **known)


def _gateway_error(answer: HttpAnswer) -> dict[str, Any] | None:
    """What the gateway says outside of MCP, in the shape that its errors have everywhere."""
    error = (_parsed(answer.body) or {}).get("error") if answer.content_type == "application/json" else None
    if not isinstance(error, dict) or not _writable(error):
        return None
    return error if isinstance(error.get("code"), str) and isinstance(error.get("message"), str) else None


def _writable(value: dict[str, Any]) -> bool:
    """orjson reads what is nested deeper than it writes."""
    try:
        orjson.dumps(value)
    except orjson.JSONEncodeError:
        return False
    return True
