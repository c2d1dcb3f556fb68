"""The catalogue's routes: a method and a path to an operation and the arguments that the path holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from postroom.operations.operation import Operation


@dataclass(frozen=True, slots=True)
class Route:
    """`steps` are a path's segments; those in braces are arguments."""

    method: str
    steps: tuple[str, ...]
    operation: Operation[Any, Any]

    def arguments(self, steps: tuple[str, ...]) -> dict[str, str] | None:
        """The path's arguments, or None if this is another path."""
        if len(steps) != len(self.steps):
            return None
        found = {}
        for pattern, step in zip(self.steps, steps, strict=True):
            if pattern.startswith("{"):
                found[pattern[1:-1]] = step
            elif pattern != step:
                return None
        return found


@dataclass(frozen=True, slots=True)
class Match:
    operation: Operation[Any, Any]
    arguments: Mapping[str, str]


class Routes:
    """All routes; literal segments win over arguments, whatever the catalogue's order."""

    def __init__(self, operations: Iterable[Operation[Any, Any]]) -> None:
        routes = [_route(text, operation) for operation in operations for text in operation.routes]
        self.all = sorted(routes, key=lambda route: [step.startswith("{") for step in route.steps])

    def find(self, method: str, raw_path: bytes) -> Match | frozenset[str]:
        """The operation at this path, or the methods that are allowed there: none if there is nothing."""
        steps = path_steps(raw_path)
        allowed = set()
        for route in self.all:
            arguments = route.arguments(steps)
            if arguments is not None and route.method == method:
                return Match(route.operation, arguments)
            if arguments is not None:
                allowed.add(route.method)
        return frozenset(allowed)


def path_steps(raw_path: bytes) -> tuple[str, ...]:
    """Segments of a path, each decoded by itself, so that an escaped slash stays inside; empty ones count."""
    return tuple(unquote(step) for step in raw_path.decode("latin-1").removeprefix("/").split("/"))


def _route(text: str, operation: Operation[Any, Any]) -> Route:
    method, _, path = text.partition(" ")
    return Route(method, path_steps(path.encode()), operation)
