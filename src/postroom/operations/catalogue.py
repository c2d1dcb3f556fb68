"""The list of all operations, in the order callers see them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from postroom.operations import administering, overview, reading
from postroom.operations.operation import Operation

_ALL: tuple[Operation[Any, Any], ...] = (
    overview.mailboxes,
    reading.list_folders,
    reading.list_messages,
    reading.get_message,
    administering.health_check,
)

CATALOGUE: Mapping[str, Operation[Any, Any]] = MappingProxyType({operation.name: operation for operation in _ALL})
