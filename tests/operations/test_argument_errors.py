"""Errors in arguments, word for word: what a model reads when it must mend its call."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from postroom.base.errors import GatewayError
from postroom.operations.ask import Ask
from postroom.operations.faults import argument_error
from postroom.operations.reading import GetMessage, ListMessages

KNOWN = "mailbox, folder, limit, fields, preview, search, cursor"
INSIDE = ("pydantic", "python", "int(", "literal", "valid", "input", "value error", "none", "str")


def refused(model: type[Ask], arguments: dict[str, Any]) -> GatewayError:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(arguments)
    return argument_error(caught.value, model.model_fields)


@pytest.mark.parametrize(
    ("model", "arguments", "argument", "reason"),
    [
        (ListMessages, {"limit": 0}, "limit", "must be at least 1"),
        (ListMessages, {"limit": 501}, "limit", "must be at most 500"),
        (ListMessages, {"limit": 10**18}, "limit", "must be at most 500"),
        (ListMessages, {"limit": "many"}, "limit", "must be a whole number"),
        (ListMessages, {"limit": 2.5}, "limit", "must be a whole number"),
        (ListMessages, {"limit": True}, "limit", "must be a whole number"),
        (ListMessages, {"limit": "--5"}, "limit", "must be a whole number"),
        (ListMessages, {"limit": "9" * 5_000}, "limit", "must be a whole number"),
        (ListMessages, {"limit": float("inf")}, "limit", "must be a whole number"),
        (ListMessages, {"folder": 7}, "folder", "must be a string"),
        (ListMessages, {"folder": ["INBOX"]}, "folder", "must be a string"),
        (ListMessages, {"folder": "x" * 100_001}, "folder", "must have at most 100,000 characters"),
        (ListMessages, {"foldr": "INBOX"}, "foldr", "unknown argument; did you mean folder?"),
        (ListMessages, {"Limit": 5}, "Limit", "unknown argument; did you mean limit?"),
        (ListMessages, {"topic": "x"}, "topic", f"unknown argument; known: {KNOWN}"),
        (Ask, {"mailbox": "work"}, "mailbox", "unknown argument; known: none"),
        (GetMessage, {}, "arguments", "give either uid or uids"),
        (GetMessage, {"uid": "1", "uids": ["2"]}, "arguments", "give either uid or uids"),
        (GetMessage, {"uid": ""}, "uid", "must not be empty"),
        (GetMessage, {"uid": "1" * 513}, "uid", "must have at most 512 characters"),
        (GetMessage, {"uid": ["1"]}, "uid", "must be a string"),
        (GetMessage, {"uids": []}, "uids", "must not be empty"),
        (GetMessage, {"uids": "[]"}, "uids", "must not be empty"),
        (GetMessage, {"uids": "[1,"}, "uids", "must be a list"),
        (GetMessage, {"uids": [str(number) for number in range(21)]}, "uids", "must have at most 20 entries"),
        (GetMessage, {"uids": ["1", {}]}, "uids[1]", "must be a string"),
        (GetMessage, {"uids": ["1", ""]}, "uids[1]", "must not be empty"),
        (GetMessage, {"uid": "1", "view": "markdown"}, "view", "must be 'reader', 'text', 'html' or 'full'"),
        (GetMessage, {"uid": "1", "view": []}, "view", "must be 'reader', 'text', 'html' or 'full'"),
        (GetMessage, {"uid": "1", "headers": "yes"}, "headers", "must be true or false"),
        (GetMessage, {"uid": "1", "headers": 2}, "headers", "must be true or false"),
        (GetMessage, {"uid": "1", "headers": 1.0}, "headers", "must be true or false"),
    ],
)
def test_an_error_names_the_argument_and_what_to_do(
    model: type[Ask], arguments: dict[str, Any], argument: str, reason: str
) -> None:
    assert refused(model, arguments).body() == {
        "error": {
            "code": "validation_error",
            "message": f"{argument}: {reason}",
            "details": {"argument": argument, "reason": reason},
        }
    }


def test_several_errors_are_all_told_and_the_first_leads() -> None:
    error = refused(GetMessage, {"uid": 1.5, "headers": "yes", "maxchars": 1})
    assert error.message == "uid: must be a string"
    assert error.details == {
        "argument": "uid",
        "reason": "must be a string",
        "arguments": [
            {"argument": "uid", "reason": "must be a string"},
            {"argument": "headers", "reason": "must be true or false"},
            {"argument": "maxchars", "reason": "unknown argument; did you mean max_chars?"},
        ],
    }


def test_no_more_than_ten_errors_are_told() -> None:
    error = refused(ListMessages, {f"word{number}": 1 for number in range(50)})
    assert len(error.details["arguments"]) == 10


def test_an_argument_s_name_is_told_but_not_at_any_length() -> None:
    error = refused(ListMessages, {"x" * 1_000: 1})
    assert error.details["argument"] == "x" * 64


def test_no_message_tells_of_the_program_inside() -> None:
    wrong: list[Any] = [None, 5, -1, 1.5, "x", "", [], {}, [[]], [{}], True, "x" * 100_001, float("nan"), ["x"] * 30]
    for model in (GetMessage, ListMessages):
        for name in model.model_fields:
            for value in wrong:
                try:
                    model.model_validate({name: value})
                except ValidationError as error:
                    message = argument_error(error, model.model_fields).message.lower()
                    assert not [word for word in INSIDE if word in message.replace("a string", "")], message
