"""The catalogue as an OpenAPI 3.1 document."""

from __future__ import annotations

from typing import Any

from postroom.base.errors import Code
from postroom.operations.catalogue import CATALOGUE
from postroom.operations.operation import Operation
from postroom.operations.schema import answer_schema, argument_schema
from postroom.surfaces.messages import STATUS
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
    for operation in CATALOGUE.values():
        answer, inner = answer_schema(operation.answer, "#/components/schemas/{model}")
        schemas |= inner | {_answer_name(operation): answer}
        for route in operation.routes:
            method, _, path = route.partition(" ")
            paths.setdefault(path, {})[method.lower()] = _item(operation, method, path)
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


def _item(operation: Operation[Any, Any], method: str, path: str) -> dict[str, Any]:
    schema = argument_schema(operation.ask)
    in_path = [name for name in schema["properties"] if f"{{{name}}}" in path]
    rest = {name: value for name, value in schema["properties"].items() if name not in in_path}
    by_query = method in ("GET", "DELETE")
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": schema["properties"][name]} for name in in_path
    ]
    if by_query:
        rest.pop("uids", None)
        required = schema.get("required", [])
        parameters += [
            {"name": name, "in": "query", "required": name in required, "schema": value} for name, value in rest.items()
        ]
    item: dict[str, Any] = {
        "operationId": operation.name if by_query else f"{operation.name}_many",
        "summary": operation.title,
        "description": operation.description,
        "parameters": parameters,
        "responses": _responses(operation),
    }
    if not by_query:
        rest.pop("uid", None)
        body = {"type": "object", "properties": rest, "additionalProperties": False}
        item["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return item


def _responses(operation: Operation[Any, Any]) -> dict[str, Any]:
    def content(name: str) -> dict[str, Any]:
        return {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}

    statuses = sorted({status for code, status in STATUS.items() if code is not Code.METHOD_NOT_ALLOWED})
    failures = {str(status): {"description": "A failed call", "content": content("Error")} for status in statuses}
    return {"200": {"description": "The answer", "content": content(_answer_name(operation))}} | failures


def _answer_name(operation: Operation[Any, Any]) -> str:
    return f"{operation.name}_answer"
