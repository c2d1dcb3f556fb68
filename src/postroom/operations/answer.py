"""The answers of operations: JSON-ready models that can be built from shown content alone."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel, ConfigDict

from postroom.mail.model import Content, Entity, Fetched, Head, Part

_NEVER = (Fetched, Head, Content, Part, Entity)


class Answer(BaseModel):
    """Base of all answer models. A field that was not set is not in the answer; one set to None is null."""

    model_config = ConfigDict(frozen=True, populate_by_name=True, extra="forbid")

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        for name, field in cls.model_fields.items():
            if _mentions(field.annotation, _NEVER):
                raise TypeError(f"{cls.__name__}.{name}: an answer holds what policy has shown, nothing fetched")

    @property
    def entries(self) -> int | None:
        """How many entries all its lists have, or None where nobody has counted them."""
        return None

    @property
    def own_entries(self) -> int:
        """How many entries its own lists have, those of answers within it left out."""
        return sum(len(value) for value in self.__dict__.values() if isinstance(value, list))

    def json_ready(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _mentions(annotation: Any, forbidden: tuple[type, ...]) -> bool:
    return annotation in forbidden or any(_mentions(inner, forbidden) for inner in get_args(annotation))
