"""What was wrong with a call's arguments, named argument by argument so that a model can mend them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from postroom.base.errors import GatewayError, invalid

_MOST = 10
_LONGEST_NAME = 64


def argument_error(error: ValidationError, known: Iterable[str]) -> GatewayError:
    """One `validation_error` for all of pydantic's: the first in the message, every one in `details.arguments`."""
    names = list(known)
    faults = [_fault(one, names) for one in _worth_telling(error.errors(include_url=False, include_context=True))]
    first, *others = faults
    more = {"arguments": faults} if others else {}
    return invalid(first["argument"], first["reason"], **more)


def _worth_telling(errors: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The first; but many wrong entries of one list leave room for arguments that there are none of."""
    unknown = [one for one in errors if one["type"] == "extra_forbidden"]
    others = [one for one in errors if one["type"] != "extra_forbidden"]
    return [*others[: _MOST - min(len(unknown), _MOST // 2)], *unknown][:_MOST]


def _fault(error: Mapping[str, Any], known: list[str]) -> dict[str, str]:
    location = [str(step) for step in error["loc"]]
    argument = location[0][:_LONGEST_NAME] if location else "arguments"
    if len(location) > 1 and location[1].isdigit():
        argument = f"{argument}[{location[1]}]"
    return {"argument": argument, "reason": _reason(error, argument, known)}


def _reason(error: Mapping[str, Any], argument: str, known: list[str]) -> str:
    context = error.get("ctx", {})
    match error["type"]:
        case "extra_forbidden":
            nearest = difflib.get_close_matches(argument.lower(), known, n=1)
            hint = f"did you mean {nearest[0]}?" if nearest else f"known: {', '.join(known) or 'none'}"
            return f"unknown argument; {hint}"
        case "missing":
            return "is required"
        case "value_error":
            return str(context.get("error", error["msg"]))
        case "literal_error":
            return f"must be {context.get('expected')}"
        case "greater_than_equal":
            return f"must be at least {context.get('ge')}"
        case "less_than_equal":
            return f"must be at most {context.get('le')}"
        case "too_long" | "string_too_long":
            unit = "characters" if isinstance(error["input"], str) else "entries"
            return f"must have at most {context.get('max_length'):,} {unit}"
        case "too_short" | "string_too_short":
            return "must not be empty"
        case _:
            return str(error["msg"]).replace("Input should be a valid ", "must be a ")
