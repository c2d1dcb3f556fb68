"""Octets as an answer: streamed where the surface can, else put into a field, whole or cut, or refused."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from postroom.base.errors import Code, GatewayError


@dataclass(frozen=True, slots=True)
class Blob:
    """A file, or a message's source. `facts` are the answer's other fields."""

    facts: Mapping[str, Any]
    content_type: str
    filename: str
    size: int | None
    """In octets, where it is known for certain."""
    sniffed: str
    """The media type that its first octets give away."""
    octets: Callable[[], AsyncIterator[bytes]]
    field: Literal["data_base64", "raw"]
    """Where the octets stand in an answer that cannot stream: as base64 and whole, or as text that may be cut."""
    elsewhere: str
    """How to have it whole if it is too large for that."""

    async def inlined(self, limit: int) -> dict[str, Any]:
        """The answer with at most so many octets in it. Raises `too_large` for a file that would have to be cut."""
        if self.field == "data_base64" and self.size is not None and self.size > limit:
            raise self._too_large(limit)
        octets, over = await self._beginning(limit)
        if self.field == "raw":
            text = octets.decode("utf-8", "replace").replace("\x00", "\ufffd")
            hint = {"truncated_hint": self.elsewhere} if over else {}
            return {**self.facts, "truncated": over, **hint, "raw": text.rstrip("\ufffd") if over else text}
        if over:
            raise self._too_large(limit)
        return {**self.facts, "size": len(octets), "data_base64": base64.b64encode(octets).decode("ascii")}

    async def _beginning(self, limit: int) -> tuple[bytes, bool]:
        octets = bytearray()
        async for piece in self.octets():
            octets += piece
            if len(octets) > limit:
                return bytes(octets[:limit]), True
        return bytes(octets), False

    def _too_large(self, limit: int) -> GatewayError:
        size = "an unknown number of" if self.size is None else f"{self.size:,}"
        return GatewayError(
            Code.TOO_LARGE,
            f"The file has {size} octets; at most {limit:,} are put into an answer. {self.elsewhere}",
            limit=limit,
            size=self.size,
            filename=self.filename,
            content_type=self.content_type,
        )
