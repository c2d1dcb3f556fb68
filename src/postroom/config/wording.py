"""Pydantic's errors in words that say what to write instead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from postroom.config.faults import Finding, Where, nearest

_SHAPES = {
    "missing": "is required, but missing",
    "string_type": "must be one value, not a list or table",
    "path_type": "must be a path",
    "tuple_type": "must be a list, such as [one, two]",
    "frozen_set_type": "must be a list, such as [one, two]",
    "model_type": "must be a table of keys and values",
    "mapping_type": "must be a table of keys and values",
    "dataclass_type": "must be one value, not a list or table",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a smaller number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "greater_than": "must be more than {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than_equal": "must be at most {le:.15g}",
    "too_short": "must not be empty",
}


def findings(error: ValidationError, shape: type[BaseModel]) -> Iterator[Finding]:
    """Each of pydantic's errors in our words; a value is never quoted, it may be a secret."""
    for details in error.errors(include_url=False):
        if details["type"] != "default_factory_not_called":  # another value is at fault, and is told
            yield _finding(details, shape)


def _finding(details: ErrorDetails, shape: type[BaseModel]) -> Finding:
    kind, where, context = details["type"], details["loc"], details.get("ctx", {})
    if kind == "extra_forbidden":
        return Finding(where, "unknown key", nearest(str(where[-1]), _keys_at(shape, where[:-1])))
    if kind in ("enum", "literal_error"):
        return _choice(where, details["input"], context)
    if kind == "value_error":
        return Finding(where, str(context["error"]))
    return Finding(where, _SHAPES.get(kind, "cannot be used as it is").format_map(context))


def _choice(where: Where, given: object, context: Mapping[str, Any]) -> Finding:
    """pydantic lists the choices as `'a', 'b' or 'c'`."""
    choices = str(context["expected"]).replace("'", "")
    known = choices.replace(" or ", ", ").split(", ")
    return Finding(
        where, f"must be one of {', '.join(known)}", nearest(given, known) if isinstance(given, str) else None
    )


def _keys_at(shape: type[BaseModel], where: Where) -> Iterable[str]:
    """The keys that a table at this place may have."""
    model: type[BaseModel] | None = shape
    for step in where:
        if isinstance(step, str) and model is not None and step in (fields := _fields(model)):
            model = _model_in(fields[step].annotation)
    return () if model is None else _fields(model)


def _fields(model: type[BaseModel]) -> Mapping[str, FieldInfo]:
    """The fields by what the file calls them."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _model_in(annotation: object) -> type[BaseModel] | None:
    """The model inside `X`, `X | None`, `tuple[X, ...]` or `Mapping[str, X]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for inner in get_args(annotation) if (model := _model_in(inner))), None)
