"""What a schema offers is what is taken: nothing less, and no more than models are known to misspell."""

from __future__ import annotations

import asyncio
import io
import json
import string
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it has no types of its own

from postroom.base.caller import Caller, Scope
from postroom.base.clock import HandClock
from postroom.base.errors import Code, GatewayError, invalid
from postroom.base.logs import Log
from postroom.base.seal import KeyRing, Seal
from postroom.config import LimitsConfig
from postroom.mail.outgoing.address import read_addresses
from postroom.mail.query import filters
from postroom.mail.query.program import read_program
from postroom.mailbox.directory import Directory
from postroom.operations.catalogue import CATALOGUE
from postroom.operations.operation import Surface
from postroom.operations.perform import Corridor
from postroom.operations.schema import argument_schema

ONE_BOX = Caller("tester", frozenset(Scope), frozenset({"work"}))
SEVERAL = Caller("tester", frozenset(Scope), frozenset({"work", "down"}))
SIZES = {"larger_than": (0, 2**53 - 1), "smaller_than": (0, 2**53 - 1)}
AT_LEAST_AND_AT_MOST = SIZES | {
    "limit": (1, 500),
    "preview": (1, 1_000),
    "wait_seconds": (0, 60),
    "max_chars": (1, 2_000_000),
}
PEOPLE = ("to", "cc", "bcc", "reply_to")
FEWEST_AND_MOST = {
    "uids": (1, 500),
    "add": (1, 50),
    "remove": (1, 50),
    **dict.fromkeys(PEOPLE, (0, 500)),
    "attachments": (0, 100),
}
FEWEST_AND_MOST_OF_ONE = {"get_message": {"uids": (1, 20)}}
SHORTEST_AND_LONGEST = {
    **dict.fromkeys(("uid", "uids", "reply_to_uid"), (1, 512)),
    "idempotency_key": (1, 200),
    "attachment_id": (1, 200),
    **dict.fromkeys(("add", "remove"), (1, 100000)),
}
LONGEST_TEXT = 100_000
UIDS = {"uid", "uids", "reply_to_uid"}
EXACTLY_ONE = {"uid", "uids"}
TEXTS = dict.fromkeys(("from", "to", "cc", "subject", "body", "text"), partial(filters.read_text, ""))
MOMENTS = dict.fromkeys(("since", "before"), partial(filters.read_moment, ""))
FORMS: Mapping[str, Callable[[str], Any]] = {"search": read_program, **TEXTS, **MOMENTS}
"""Readers of strings that a schema does not describe; they raise for what is of another form."""


def read_people(entries: list[str]) -> None:
    for entry in entries:
        if not read_addresses(entry, ""):
            raise invalid("", "a blank is no address")


def read_files(entries: list[dict[str, Any]]) -> None:
    for entry in entries:
        if entry.keys() != {"filename", "data_base64"}:
            raise invalid("", "no file")


MAIL_FORMS: Mapping[str, Callable[[Any], Any]] = {**dict.fromkeys(PEOPLE, read_people), "attachments": read_files}
"""The same for mail that leaves, whose addresses are people and not words to be searched for."""


def is_mail(operation: str) -> bool:
    return "body_text" in CATALOGUE[operation].ask.model_fields


CORRIDOR = Corridor(
    Directory((), Seal(KeyRing(0, {0: bytes(32)})), HandClock()),
    HandClock(),
    Log(HandClock(), io.StringIO()),
    LimitsConfig(),
)
"""Over no mailbox at all: arguments in good shape end in `not_found` or in an answer that is empty."""
Arguments = Mapping[str, Any]


def refusal(name: str, arguments: Arguments) -> GatewayError | None:
    """What the call is refused with, or None if its arguments are in good shape."""
    try:
        asyncio.run(CORRIDOR.perform(name, arguments, SEVERAL, Surface.MCP))
    except GatewayError as error:
        if error.code is not Code.NOT_FOUND:
            return error
    return None


# The rules for misspelled values, written a second time


def meant(name: str, schema: Mapping[str, Any], value: Any) -> Any:
    """What a value is taken for; one that means nothing stays as it is."""
    match schema["type"]:
        case "boolean" if not isinstance(value, float | list | dict):
            return {"true": True, "1": True, "false": False, "0": False}.get(str(value).strip().lower(), value)
        case "integer" if isinstance(value, str):
            digits = value.strip().removeprefix("-")
            return int(value) if set(digits) <= set(string.digits) and 0 < len(digits) <= 15 else value
        case "string" if name in UIDS and isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        case "array" if schema["items"]["type"] == "object":
            return meant_files(value)
        case "array" if name in PEOPLE and isinstance(value, str) and not value.lstrip().startswith("["):
            return [value] if value.strip() else []
        case "array":
            return [meant(name, schema["items"], item) for item in meant_list(value)]
        case _:
            return value


def meant_files(value: Any) -> Any:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return value
    return [value] if isinstance(value, dict) else value


def meant_list(value: Any) -> list[Any]:
    if not isinstance(value, str):
        return value if isinstance(value, list) else [value]
    if value.strip().startswith("["):
        try:
            return list(json.loads(value))
        except ValueError:
            return [{}]  # as good as nothing that a list may hold
    return [word.strip() for word in value.split(",") if word.strip()]


def within_bounds(operation: str, arguments: Arguments) -> bool:
    """The documented bounds that schemas leave out, because the server keeps them anyway."""
    for name, value in arguments.items():
        low, high = AT_LEAST_AND_AT_MOST.get(name, (None, None))
        if low is not None and high is not None and not low <= value <= high:
            return False
        low, high = (FEWEST_AND_MOST | FEWEST_AND_MOST_OF_ONE.get(operation, {})).get(name, (0, 10**9))
        if isinstance(value, list) and not low <= len(value) <= high:
            return False
        low, high = SHORTEST_AND_LONGEST.get(name, (0, LONGEST_TEXT))
        words = value if isinstance(value, list) else [value]
        if any(isinstance(word, str) and not low <= len(word) <= high for word in words):
            return False
    return well_formed(arguments, MAIL_FORMS if is_mail(operation) else FORMS)


def well_formed(arguments: Arguments, forms: Mapping[str, Callable[[Any], Any]]) -> bool:
    """What a schema cannot say of a string, and of two arguments together."""
    if arguments.get("seen") is not None and arguments.get("seen") is arguments.get("unseen"):
        return False
    try:
        for name, value in arguments.items():
            if name in forms:
                forms[name](value)
    except GatewayError:
        return False
    return True


def one_of_each(name: str, arguments: Arguments) -> bool:
    either = EXACTLY_ONE & CATALOGUE[name].ask.model_fields.keys()
    return either != EXACTLY_ONE or len(either & arguments.keys()) == 1


def should_be_taken(name: str, arguments: Arguments) -> bool:
    schema = argument_schema(CATALOGUE[name].ask)
    given = {argument: value for argument, value in arguments.items() if value is not None}
    understood = {
        argument: meant(argument, schema["properties"][argument], value) if argument in schema["properties"] else value
        for argument, value in given.items()
    }
    right = Draft202012Validator(schema).is_valid(understood)
    return right and within_bounds(name, understood) and one_of_each(name, understood)


# Values, right and wrong

UNKNOWN = ["mailbx", "Folder", "", "uid ", "__class__", "limit2"]
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SCALARS = st.one_of(
    WORDS,
    st.sampled_from(
        ["true", "False", " 1 ", "0", "yes", "", "20", " -3 ", "--5", "+5", "1e3", "٣", "5-1", "5", "20.0"]
    ),
    st.sampled_from(['["5-1"]', '["5-1", 6]', "[5", "[]", "[[1]]", "5-1,6-1", " , ", "text", "TEXT", "inbox"]),
    st.integers(-3, 600),
    st.integers(-(2**63), 2**64 - 1),
    st.booleans(),
    st.none(),
    st.sampled_from([0.0, 1.0, 20.0, 20.5, -1.0, 1e18]),
)
ANYTHING = st.one_of(SCALARS, st.lists(SCALARS, max_size=3), st.dictionaries(WORDS, SCALARS, max_size=2))


def right_values(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    by_type: dict[str, st.SearchStrategy[Any]] = {
        "string": WORDS,
        "integer": st.integers(-5, 2_000_005) | st.sampled_from([20.0, 1.0]),
        "boolean": st.booleans(),
        "object": st.just({"filename": "a.txt", "data_base64": "QUJD"}) | st.dictionaries(WORDS, WORDS, max_size=2),
    }
    if schema["type"] == "array":
        if schema["items"] == {"type": "string"}:
            return st.lists(WORDS | st.sampled_from(["bo@example.com", "Cy <cy@example.com>"]), max_size=22)
        return st.lists(right_values(schema["items"]), max_size=22)
    return by_type[schema["type"]]


@st.composite
def right_calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """An operation and arguments that its schema accepts."""
    name = draw(st.sampled_from(list(CATALOGUE)))
    properties = argument_schema(CATALOGUE[name].ask)["properties"]
    chosen = draw(st.lists(st.sampled_from(list(properties)), unique=True)) if properties else []
    return name, {argument: draw(right_values(properties[argument])) for argument in chosen}


@st.composite
def misspelled_calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A call in good shape but for one or two of its values, which may be anything, or an unknown argument."""
    name = draw(st.sampled_from([name for name in CATALOGUE if CATALOGUE[name].ask.model_fields]))
    arguments: dict[str, Any] = {}
    names = list(CATALOGUE[name].ask.model_fields)
    for argument in argument_schema(CATALOGUE[name].ask).get("required", []):
        arguments[argument] = "5-1"
    if EXACTLY_ONE.issubset(names):
        arguments[draw(st.sampled_from(sorted(EXACTLY_ONE)))] = "5-1"
    for argument in draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True)):
        arguments[argument] = draw(ANYTHING)
    return name, arguments | draw(st.dictionaries(st.sampled_from(UNKNOWN), SCALARS, max_size=1))


@given(right_calls())
def test_whatever_a_schema_accepts_is_taken_within_the_documented_bounds(call: tuple[str, dict[str, Any]]) -> None:
    name, arguments = call
    for caller in (SEVERAL, ONE_BOX):
        schema = CATALOGUE[name].schema(caller)
        accepted = Draft202012Validator(schema).is_valid(arguments)
        if accepted and within_bounds(name, arguments) and one_of_each(name, arguments):
            assert refusal(name, arguments) is None


@settings(max_examples=600, deadline=None)
@given(misspelled_calls())
def test_a_call_is_taken_exactly_if_it_means_what_the_schema_accepts(call: tuple[str, dict[str, Any]]) -> None:
    name, arguments = call
    refused = refusal(name, arguments)
    assert (refused is None) is should_be_taken(name, arguments)
    if refused is not None:
        assert refused.code is Code.VALIDATION_ERROR
        argument = refused.details["argument"].partition("[")[0]
        assert argument in {*arguments, *argument_schema(CATALOGUE[name].ask).get("required", []), "arguments"}
        assert refused.message == f"{refused.details['argument']}: {refused.details['reason']}"


@given(right_calls(), st.text(string.ascii_lowercase + "_", min_size=1, max_size=20))
def test_an_unknown_argument_is_always_refused_and_named(call: tuple[str, dict[str, Any]], unknown: str) -> None:
    name, arguments = call
    assume(unknown not in CATALOGUE[name].ask.model_fields)
    refused = refusal(name, arguments | {unknown: "x"})
    assert refused is not None
    told = [refused.details, *refused.details.get("arguments", [])]
    assert unknown in [fault["argument"] for fault in told]


@given(right_calls())
def test_a_null_is_an_absent_argument(call: tuple[str, dict[str, Any]]) -> None:
    name, arguments = call
    nulls = {argument: None for argument in CATALOGUE[name].ask.model_fields if argument not in arguments}
    with_nulls, without = refusal(name, arguments | nulls), refusal(name, arguments)
    assert (with_nulls and with_nulls.body()) == (without and without.body())


def with_typos() -> Iterator[tuple[str, str, str]]:
    for name, operation in CATALOGUE.items():
        for argument in operation.ask.model_fields:
            for typo in (argument[:-1], f"{argument}s", argument.capitalize(), argument.replace("_", "-")):
                if typo not in operation.ask.model_fields:
                    yield name, argument, typo


@pytest.mark.parametrize(("name", "argument", "typo"), list(with_typos()))
def test_a_typo_is_told_the_nearest_argument(name: str, argument: str, typo: str) -> None:
    refused = refusal(name, {typo: "x"})
    assert refused is not None
    reasons = {fault["argument"]: fault["reason"] for fault in refused.details.get("arguments", [refused.details])}
    assert reasons[typo].startswith("unknown argument; did you mean ")
    if typo + "s" not in CATALOGUE[name].ask.model_fields and not typo.startswith("uid"):
        assert reasons[typo] == f"unknown argument; did you mean {argument}?"


@pytest.mark.parametrize(
    ("argument", "values"),
    [
        ("uids", [["5-1"], '["5-1"]', "5-1", '[ "5-1" ]', " 5-1 , ", ["5-1"]]),
        ("uids", [["5", "6"], [5, 6], "[5, 6]", '["5", 6]', "5,6", " 5 , 6 "]),
        ("uid", ["5", 5]),
        ("limit", [20, "20", " 20 ", 20.0, "0020"]),
        ("max_chars", [7, "7", 7.0]),
        ("headers", [True, "true", "True", " TRUE ", 1, "1"]),
        ("headers", [False, "false", "FALSE", 0, "0"]),
        ("folder", [None]),
    ],
)
def test_spellings_of_one_value_are_that_value(argument: str, values: list[Any]) -> None:
    for operation in CATALOGUE.values():
        if argument in operation.ask.model_fields:
            needs = {"uid", *argument_schema(operation.ask).get("required", [])} & operation.ask.model_fields.keys()
            left_out = {argument, "uid" if argument == "uids" else ""}
            other = dict.fromkeys(needs - left_out, "9")
            read = [getattr(operation.ask.model_validate({argument: value, **other}), argument) for value in values]
            assert all(one == read[0] and type(one) is type(read[0]) for one in read), operation.name


def test_the_argument_tables_here_know_every_type_of_argument() -> None:
    for operation in CATALOGUE.values():
        for name, schema in argument_schema(operation.ask)["properties"].items():
            if schema["type"] == "integer":
                assert name in AT_LEAST_AND_AT_MOST, f"which bounds does {name} have?"
            if schema["type"] == "array":
                assert name in FEWEST_AND_MOST, f"how many entries may {name} have?"


@pytest.mark.parametrize("name", CATALOGUE)
def test_thousands_of_arguments_are_refused_at_once(name: str) -> None:
    refused = refusal(name, {f"a{number}": "x" for number in range(100_000)})
    assert refused is not None
    assert len(json.dumps(refused.body())) < 2_000


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_name_of_a_megabyte_is_not_repeated(name: str) -> None:
    refused = refusal(name, {"x" * 1_000_000: "x"})
    assert refused is not None
    assert len(json.dumps(refused.body())) < 2_000
