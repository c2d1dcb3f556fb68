"""docs/tools.md: every operation with its routes, arguments and answer, from the catalogue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from postroom.base.caller import Toolset
from postroom.operations.answer import Answer
from postroom.operations.blob import Blob
from postroom.operations.catalogue import CATALOGUE, CATALOGUES
from postroom.operations.eventstream import EventStream
from postroom.operations.operation import Effect, Operation
from postroom.operations.schema import argument_schema
from scripts.docs import errors, signals
from scripts.docs.glossary import ARGUMENTS, FIELDS
from scripts.docs.markdown import GENERATED, code, document, table
from scripts.docs.words import about, field_words

RELAY = CATALOGUES[Toolset.RELAY]
_STREAMS = [one for one in CATALOGUES[Toolset.MAILBOX].values() if one.answer is EventStream]
_ALL = (*CATALOGUE.values(), *_STREAMS, *RELAY.values())
_INTRODUCTION = """\
Each operation is an MCP tool and an HTTP route. A token is offered those that its scopes allow. Arguments are the same
on both: over HTTP those in braces stand in the path, the others are query parameters with GET and DELETE, and fields of
a JSON body otherwise. An argument that is null counts as left out; an unknown one is an error.

A token with one mailbox need not name it. Over MCP an answer with words that strangers wrote begins with
`untrusted`, which names their fields. A call that fails answers one of these [errors](#errors)."""

_OF_BLOB = """\
Answer: over HTTP the octets themselves, streamed. Over MCP they stand in the answer as far as
`limits.mcp_inline_max_bytes` allows: a message's source in `raw` is cut there; a file in `data_base64` that is larger
is refused as `too_large`, with where to download it."""

_OF_STREAMS = """\
# The stream

A route for programs, and no tool: its answer has no end."""

_OF_EVENTS = """\
Answer: server-sent events. `data` is JSON with `type`, which is also the event's name, `timestamp` and `data`:

| type | data | |
|---|---|---|
| `ready` | | The first: from here on. |
| `message.received` | `mailbox`, `folder`, `uid` | There is a new message; read it with `get_message`. |
| `mailbox.reset` | `mailbox`, `folder` | The server numbered the folder anew: all its mail is told again. |
| `mailbox.unreachable` | `mailbox`, `reason` | Nothing is heard of a mailbox; it is tried again. |
| `mailbox.recovered` | `mailbox` | It is heard of again, and what came meanwhile is told. |

An event's `id` is a cursor. Whoever comes back with it as `Last-Event-ID`, or as `since_cursor` here or in `inbox`, is
told what came after that event and nothing twice. Where nothing comes there is a comment every 15 seconds. The stream
ends when the token may no longer see what it is told, when the configuration is read again, and when the gateway stops:
come back with the last `id`. A token may hold 8 streams at a time."""

_RELAY = """\
# The relay's tools

A token with `toolset: relay` is offered these alone, over MCP. It is bound to one mailbox and one profile, whose policy
decides what there is for it. Over HTTP it reaches the files that `read_message` gives a `download_url` for, and
nothing else."""

_SHAPES = "# Shapes\n\nWhat answers are made of. A field marked *if any* is left out where it has nothing to say."


def page() -> str:
    """The whole document."""
    shapes: dict[type[BaseModel], None] = {}
    tools = [block for operation in CATALOGUE.values() for block in _tool(operation, shapes)]
    streamed = [block for operation in _STREAMS for block in _tool(operation, shapes)]
    relayed = [block for operation in RELAY.values() for block in _tool(operation, shapes)]
    ends = [signals.section(), errors.section()]
    begin = [GENERATED, "# Tools", _INTRODUCTION, _overview()]
    return document([*begin, *tools, _OF_STREAMS, *streamed, _RELAY, *relayed, _SHAPES, *_told(shapes), *ends])


def arguments() -> Iterator[tuple[str, str, str]]:
    """Operation, argument, and what the code itself says about it, or ""."""
    for operation in _ALL:
        for name, words in _said(operation).items():
            yield operation.name, name, words


def _said(operation: Operation[Any, Any]) -> dict[str, str]:
    words = field_words(operation.ask)
    properties = argument_schema(operation.ask)["properties"].items()
    return {
        name: words.get(_field(operation.ask, name)) or schema.get("description", "") for name, schema in properties
    }


def _overview() -> str:
    rows = [
        [f"[{code(one.name)}](#{one.name})", _scope(one), ", ".join(map(code, one.routes))]
        for one in CATALOGUE.values()
    ]
    return table(["tool", "scope", "HTTP"], rows)


def _tool(operation: Operation[Any, Any], shapes: dict[type[BaseModel], None]) -> Iterator[str]:
    yield f"## {operation.name}"
    yield operation.description
    yield table(["scope", "hints", "HTTP"], [[_scope(operation), _hints(operation.effect), _routes(operation)]])
    rows = list(_arguments(operation))
    yield "Arguments:" if rows else "It takes no arguments."
    yield table(["argument", "type", "", "meaning"], rows) if rows else ""
    if operation.answer is Blob:
        yield _OF_BLOB
        return
    if operation.answer is EventStream:
        yield _OF_EVENTS
        return
    if _is_its_own(operation):
        yield f"Answer: {about(operation.answer)}" if about(operation.answer) else "Answer:"
        yield _fields(operation.answer)
        _collect(inner_models(operation.answer), shapes)
    else:
        yield f"Answer: {_kind(operation.answer)}."
        _collect(_models(operation.answer), shapes)


def _is_its_own(operation: Operation[Any, Any]) -> bool:
    """Whether the answer is one shape that no other operation answers."""
    return [one.answer for one in _ALL].count(operation.answer) == 1 and get_origin(operation.answer) not in (
        Union,
        UnionType,
    )


def _scope(operation: Operation[Any, Any]) -> str:
    """The scope that a call needs, and the arguments with which it is another one."""
    access = operation.access
    more = [f"and {code(scope)} with `{name}: true`" for name, scope in access.also.items()]
    other = [f"or {code(scope)} with `{name}: true`" for name, scope in access.instead.items()]
    return ", ".join([code(access.scope) if access.scope else "any", *more, *other])


def _routes(operation: Operation[Any, Any]) -> str:
    return "<br>".join(map(code, operation.routes))


def _hints(effect: Effect) -> str:
    """MCP's annotations, those that hold."""
    told = {
        "read-only": effect.read_only,
        "idempotent": effect.idempotent,
        "destructive": effect.destructive,
        "open world": effect.open_world,
    }
    return ", ".join(hint for hint, holds in told.items() if holds)


def _arguments(operation: Operation[Any, Any]) -> Iterator[list[str]]:
    schema = argument_schema(operation.ask)
    said = _said(operation)
    for name, one in schema["properties"].items():
        words = said[name] or ARGUMENTS.get(name, "")
        required = "required" if name in schema.get("required", []) else ""
        yield [code(name), _argument_kind(one), required, words]


def _argument_kind(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(map(code, schema["enum"]))
    if "const" in schema:
        return code(schema["const"])
    if schema.get("type") == "array":
        return f"list of {_argument_kind(schema.get('items', {}))}"
    return {"string": "text", "integer": "number", "boolean": "true or false", "object": "object"}.get(
        schema.get("type", ""), "any"
    )


def _field(model: type[BaseModel], name: str) -> str:
    """The attribute of a field that callers know by an alias."""
    return next((own for own, field in model.model_fields.items() if field.alias == name), name)


# -- answers


def _collect(models: Iterable[type[BaseModel]], shapes: dict[type[BaseModel], None]) -> None:
    """Add these and all that they are made of, in the order in which a reader meets them."""
    waiting = list(models)
    while waiting:
        model = waiting.pop(0)
        if model not in shapes:
            shapes[model] = None
            waiting += inner_models(model)


def inner_models(model: type[BaseModel]) -> list[type[BaseModel]]:
    """The shapes that a shape's fields have."""
    return [inner for field in model.model_fields.values() for inner in _models(field.annotation)]


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, Answer):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def _told(shapes: Mapping[type[BaseModel], None]) -> Iterator[str]:
    for model in sorted(shapes, key=lambda model: model.__name__):
        yield f"### {model.__name__}"
        yield about(model)
        yield _fields(model)


def _fields(model: type[BaseModel]) -> str:
    rows = []
    for name, (field, words) in described(model).items():
        shown = code(name) + ("" if field.is_required() else " *if any*")
        rows.append([shown, _kind(field.annotation), words])
    return table(["field", "type", "meaning"], rows)


def described(model: type[BaseModel]) -> Mapping[str, tuple[FieldInfo, str]]:
    """A shape's fields as callers know them, each with what it means."""
    said, told = field_words(model), {}
    for own, field in model.model_fields.items():
        name = field.alias or own
        words = FIELDS.get(f"{model.__name__}.{name}") or FIELDS.get(name, "")
        told[name] = (field, said.get(own) or words)
    return told


_WORDS = {str: "text", int: "number", float: "number", bool: "true or false", NoneType: "null", dict: "object"}


def _kind(annotation: Any) -> str:
    """A type in words; a model is a link to its shape."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Answer):
        return f"[{annotation.__name__}](#{annotation.__name__.lower()})"
    if origin is Literal:
        return ", ".join(code(choice) for choice in inner)
    if origin in (Union, UnionType):
        return " or ".join(_kind(one) for one in inner)
    if origin is Annotated:
        return _kind(inner[0])
    if origin in (list, tuple):
        return f"list of {_kind(inner[0])}"
    if origin is dict:
        return "object" if inner[1] is Any else f"object of {_kind(inner[1])}"
    return _WORDS.get(annotation, "any")
