"""The arguments of operations: what models and query strings write, made into values once and for all."""

from __future__ import annotations

import re
from typing import Annotated, Any

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

_DIGITS = re.compile(r"-?[0-9]{1,15}", re.ASCII)


class Ask(BaseModel):
    """Base of all argument models. Unknown arguments are refused, a null is an absent argument."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, str_max_length=100_000)

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, data: Any) -> Any:
        if isinstance(data, dict):
            return {name: value for name, value in data.items() if value is not None}
        return data


def _boolean(value: Any) -> Any:
    """Exactly true, false, 1, 0 and their spellings; "yes" or 2 is a mistake that should be heard of."""
    if isinstance(value, bool):
        return value
    spelled = str(value).strip().lower() if isinstance(value, str | int) else None
    if spelled in ("true", "1"):
        return True
    if spelled in ("false", "0"):
        return False
    raise ValueError("must be true or false")


def _integer(value: Any) -> Any:
    """A whole number, its digits in a string, or 20.0, which JSON does not tell from 20."""
    if isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("must be a whole number")
    return value


def _uid(value: Any) -> Any:
    """A uid is a string; models like to give the number alone."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


_LONGEST_LIST = 20_000
"""Characters of a list written as text."""


def listed(value: Any) -> Any:
    """A list, a JSON list in a string, or words with commas between them."""
    if not isinstance(value, str):
        return value if isinstance(value, list) else [value]
    if len(value) > _LONGEST_LIST:
        raise ValueError(f"must be a list, or at most {_LONGEST_LIST:,} characters")
    text = value.strip()
    if text.startswith("["):
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            raise ValueError("must be a list") from None
    return [word.strip() for word in text.split(",") if word.strip()]


Boolean = Annotated[bool, BeforeValidator(_boolean)]
Integer = Annotated[int, BeforeValidator(_integer)]
Uid = Annotated[str, BeforeValidator(_uid), Field(min_length=1, max_length=512)]
Uids = Annotated[list[Uid], BeforeValidator(listed)]
Words = Annotated[list[Annotated[str, Field(min_length=1)]], BeforeValidator(listed)]


class MailboxAsk(Ask):
    """Arguments of an operation on one mailbox."""

    mailbox: str | None = None


class FolderAsk(MailboxAsk):
    """Arguments of an operation in one folder."""

    folder: str | None = None
