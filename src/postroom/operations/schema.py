"""The JSON Schema of an argument model as agents' hosts take it: flat, single types, nothing that only costs words."""

from __future__ import annotations

from functools import cache
from typing import Any

import orjson
from pydantic import BaseModel, TypeAdapter

_KEPT = ("type", "description", "enum", "const", "items")


def argument_schema(model: type[BaseModel]) -> dict[str, Any]:
    """An object schema without titles, defaults, limits, null unions or references; made anew each time."""
    schema: dict[str, Any] = orjson.loads(_argument_schema(model))
    return schema


@cache
def _argument_schema(model: type[BaseModel]) -> bytes:
    """As text, which nobody can change: every list of tools is made from it."""
    full = model.model_json_schema()
    properties = {name: _lean(schema) for name, schema in full.get("properties", {}).items()}
    lean: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if full.get("required"):
        lean["required"] = list(full["required"])
    return orjson.dumps(lean)


def answer_schema(answer: Any, ref_template: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The schema of an answer, and of the models within it by name."""
    schema = TypeAdapter(answer).json_schema(mode="serialization", ref_template=ref_template)
    return schema, schema.pop("$defs", {})


def _lean(schema: dict[str, Any]) -> dict[str, Any]:
    kept = {key: schema[key] for key in _KEPT if key in schema}
    for variant in schema.get("anyOf", []):
        if variant.get("type") != "null":
            kept = _lean(variant) | kept
    if "const" in kept and "type" not in kept:
        kept["type"] = "string"
    if isinstance(kept.get("items"), dict):
        kept["items"] = _lean(kept["items"])
    return kept
