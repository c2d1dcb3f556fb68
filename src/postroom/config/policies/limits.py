"""The section of a policy on limits: bounds on work and rates, each with a maximum that no file can exceed."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from postroom.config.policies.values import Size
from postroom.config.section import Section


class LimitPolicy(Section):
    """Bounds on the work and the rate of a bound token; of several policies the smallest counts."""

    requests_per_minute: Annotated[int, Field(ge=1, le=6_000)] = 120
    """Calls of one token in a minute."""
    burst: Annotated[int, Field(ge=1, le=500)] = 30
    """Calls that may come at once."""
    concurrent: Annotated[int, Field(ge=1, le=32)] = 4
    """Calls of one token that run at a time."""
    response_bytes: Annotated[Size, Field(ge=16_384, le=4 << 20)] = 512 << 10
    """Octets of an answer."""
    scan_chars: Annotated[int, Field(ge=1, le=5_000_000)] = 1_000_000
    """Characters of a text that patterns look through; a longer one is taken for the worse."""
    body_search_messages: Annotated[int, Field(ge=1, le=20_000)] = 2_000
    """Newest visible messages whose text a search looks through."""
    message_bytes: Annotated[Size, Field(ge=1, le=100 << 20)] = 25 << 20
    """Octets of a message that is read."""
    header_bytes: Annotated[Size, Field(ge=1, le=1 << 20)] = 256 << 10
    """Octets of a header."""
    header_lines: Annotated[int, Field(ge=1, le=4_000)] = 1_000
    """Lines of a header."""
    header_field_bytes: Annotated[Size, Field(ge=1, le=128 << 10)] = 32 << 10
    """Octets of one header field."""
    mime_depth: Annotated[int, Field(ge=1, le=50)] = 20
    """How deep the parts of a message nest."""
    mime_parts: Annotated[int, Field(ge=1, le=1_000)] = 200
    """Parts of a message."""
    delimiter_lines: Annotated[int, Field(ge=1, le=5_000)] = 1_000
    """Lines that part a message."""
    parse_seconds: Annotated[int, Field(ge=1, le=30)] = 5
    """Seconds that reading a message may take."""
    parse_memory: Annotated[Size, Field(ge=1, le=2 << 30)] = 512 << 20
    """Octets of memory that reading a message may take."""


UNBUILT_LIMITS = {
    "message_bytes": "the parser's bound on a message is fixed: another one is",
    "header_bytes": "the parser's bound on a header is fixed: another one is",
    "header_lines": "the parser's bound on a header is fixed: another one is",
    "header_field_bytes": "the parser's bound on a header field is fixed: another one is",
    "mime_depth": "the parser's bound on nesting is fixed: another one is",
    "mime_parts": "the parser's bound on parts is fixed: another one is",
    "delimiter_lines": "the parser's bound on delimiters is fixed: another one is",
    "parse_seconds": "a process of its own for reading mail is",
    "parse_memory": "a process of its own for reading mail is",
}
"""Keys that nothing heeds yet, and what to say of each."""
