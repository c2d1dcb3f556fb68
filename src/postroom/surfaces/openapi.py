"""The catalogue as an OpenAPI 3.1 document."""

from __future__ import annotations

from typing import Any

from postroom.base.caller import Toolset
from postroom.base.errors import Code
from postroom.operations.blob import Blob
from postroom.operations.catalogue import CATALOGUES
from postroom.operations.eventstream import EventStream
from postroom.operations.operation import Operation
from postroom.operations.schema import answer_schema, argument_schema
from postroom.surfaces.responses import STATUS
from postroom.version import VERSION

_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "details"],
            "properties": {
                "code": {"type": "string", "enum": [code.value for code in Code]},
                "message": {"type": "string"},
                "details": {"type": "object"},
            },
        }
    },
}


def openapi(public_url: str) -> dict[str, Any]:
    """Every operation at each of its routes, with answers and the one error shape."""
    schemas: dict[str, Any] = {"Error": _ERROR}
    paths: dict[str, Any] = {}
    for operation in CATALOGUES[Toolset.MAILBOX].values():
        if operation.answer not in (Blob, EventStream):
            answer, inner = answer_schema(operation.answer, "#/components/schemas/{model}")
            schemas |= inner | {_answer_name(operation): answer}
        for route in operation.routes:
            method, _, path = route.partition(" ")
            name = operation.name if route == operation.routes[0] else f"{operation.name}_many"
            paths.setdefault(path, {})[method.lower()] = _item(operation, name, method, path)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Postroom",
            "version": VERSION,
            "description": "A mail gateway for agents and scripts: mailboxes behind bearer tokens.",
        },
        "servers": [{"url": public_url}],
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}},
    }


def _item(operation: Operation[Any, Any], name: str, method: str, path: str) -> dict[str, Any]:
    schema = argument_schema(operation.ask)
    in_path = [argument for argument in schema["properties"] if f"{{{argument}}}" in path]
    left_out = {*in_path, "uids" if "uid" in in_path or "uids" not in schema["properties"] else "uid"}
    rest = {argument: value for argument, value in schema["properties"].items() if argument not in left_out}
    required = [argument for argument in rest if argument in schema.get("required", [])]
    by_query = method in ("GET", "DELETE")
    item: dict[str, Any] = {
        "operationId": name,
        "summary": operation.title,
        "description": operation.description,
        "parameters": [_parameter("path", argument, schema["properties"][argument], True) for argument in in_path],
        "responses": _responses(operation),
    }
    if by_query:
        item["parameters"] += [
            _parameter("query", argument, value, argument in required) for argument, value in rest.items()
        ]
    else:
        body = {"type": "object", "properties": rest, "additionalProperties": False}
        body |= {"required": required} if required else {}
        item["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return item


def _parameter(place: str, name: str, schema: dict[str, Any], required: bool) -> dict[str, Any]:
    return {"name": name, "in": place, "required": required, "schema": schema}


def _responses(operation: Operation[Any, Any]) -> dict[str, Any]:
    def content(name: str) -> dict[str, Any]:
        return {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}

    statuses = sorted({status for code, status in STATUS.items() if code is not Code.METHOD_NOT_ALLOWED})
    failures = {str(status): {"description": "A failed call", "content": content("Error")} for status in statuses}
    if operation.answer is Blob:
        octets = {"*/*": {"schema": {"type": "string", "format": "binary"}}}
        return {"200": {"description": "The octets, streamed", "content": octets}} | failures
    if operation.answer is EventStream:
        events = {"text/event-stream": {"schema": {"type": "string"}}}
        return {"200": {"description": "Server-sent events, without end", "content": events}} | failures
    return {"200": {"description": "The answer", "content": content(_answer_name(operation))}} | failures


def _answer_name(operation: Operation[Any, Any]) -> str:
    return f"{operation.name}_answer"
