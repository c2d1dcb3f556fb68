"""The filter arguments that search and inbox have in common."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, create_model

from postroom.mail.query.filters import filter_query
from postroom.mail.query.tree import Query
from postroom.operations.ask import Boolean, Integer

_From = create_model("_From", **{"from": (str | None, None)})  # type: ignore[call-overload]
"""A field whose name is a word of Python's own."""


class Filters(_From):
    """A mixin for argument models: a message must fit every filter that is given."""

    to: str | None = None
    cc: str | None = None
    subject: str | None = None
    body: str | None = None
    text: str | None = None
    since: Annotated[str | None, Field(description="Received: ISO 8601 or 1-Jan-2026, UTC")] = None
    before: str | None = None
    unseen: Boolean | None = None
    seen: Boolean | None = None
    flagged: Boolean | None = None
    answered: Boolean | None = None
    has_attachment: Boolean | None = None
    larger_than: Annotated[Integer | None, Field(description="Octets")] = None
    smaller_than: Integer | None = None

    def query(self) -> Query:
        """Raises `validation_error` for a value that cannot be used, naming the argument."""
        return filter_query({name: getattr(self, name) for name in FILTER_NAMES})


FILTER_NAMES = tuple(Filters.model_fields)
"""The arguments by name, in the order of the schema."""
