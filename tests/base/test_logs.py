"""The log: a closed set of fields, and nothing that looks like a secret."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.base.clock import HandClock
from postroom.base.logs import Log
from postroom.base.token import mint

CANARY = "xyzzy-canary"


class Written:
    """A log and the lines it wrote."""

    def __init__(self) -> None:
        self.stream = io.StringIO()
        self.clock = HandClock()
        self.log = Log(self.clock, self.stream)

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]


@pytest.fixture
def written() -> Written:
    return Written()


@pytest.fixture
def root_logger() -> Iterator[logging.Logger]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield root
    root.handlers[:] = handlers
    root.setLevel(level)


def test_a_line_is_one_json_object_with_the_time_of_the_clock(written: Written) -> None:
    written.log.info("call", tool="inbox", status=200)
    written.clock.wind(1.5)
    written.log.warning("imap.down", mailbox="work", attempt=3)
    assert written.lines == [
        {"time": "2026-03-03T09:00:00.000Z", "level": "info", "event": "call", "tool": "inbox", "status": 200},
        {"time": "2026-03-03T09:00:01.500Z", "level": "warning", "event": "imap.down", "mailbox": "work", "attempt": 3},
    ]


def test_a_field_outside_the_closed_set_is_refused(written: Written) -> None:
    with pytest.raises(TypeError, match="subject"):
        written.log.info("call", subject="x")  # type: ignore[call-arg]  # mypy sees it too, which is the point
    assert written.lines == []


@pytest.mark.parametrize("event", ["", "Call", "a b", "über", "x" * 65, "got ana@example.com"])
def test_an_event_is_a_constant_word_and_no_sentence(written: Written, event: str) -> None:
    with pytest.raises(TypeError, match="not a line of this log"):
        written.log.info(event)


def test_what_looks_like_a_secret_is_replaced_wherever_it_stands(written: Written) -> None:
    token = mint().text.reveal()
    for reason in (
        f"got {token}!",
        "Bearer abc.def",
        "authorization: bearer  abc",
        "AUTH PLAIN AGFuYQBwdw==",
        "authenticate xoauth2 abc",
    ):
        written.log.info("odd", reason=reason)
    assert [line["reason"] for line in written.lines] == [
        "got [secret]!",
        "Bearer [secret]",
        "authorization: bearer [secret]",
        "AUTH PLAIN [secret]",
        "authenticate xoauth2 [secret]",
    ]


def test_a_value_is_cut_after_its_secrets_were_replaced(written: Written) -> None:
    token = mint().text.reveal()
    written.log.info("odd", reason="x" * 180 + token)
    assert token[:20] not in written.stream.getvalue()
    written.log.info("odd", reason="y" * 1000)
    assert written.lines[1]["reason"] == "y" * 200 + "…"


@given(st.text())
def test_no_value_can_begin_a_second_line(reason: str) -> None:
    written = Written()
    written.log.info("odd", reason=reason)
    assert written.stream.getvalue().count("\n") == 1
    assert len(written.lines) == 1


def test_an_exception_tells_type_and_place_but_not_its_words(written: Written) -> None:
    try:
        try:
            int(CANARY)
        except ValueError as inner:
            raise KeyError(CANARY) from inner
    except KeyError as failure:
        written.log.error("internal", failure, incident="i1")
    (line,) = written.lines
    assert [error["type"] for error in line["errors"]] == ["KeyError", "ValueError"]
    assert line["errors"][0]["trace"][0].startswith("test_logs.py:")
    assert line["errors"][0]["trace"][0].endswith(" test_an_exception_tells_type_and_place_but_not_its_words")
    assert CANARY not in written.stream.getvalue()


def test_a_group_of_exceptions_tells_of_each_within(written: Written) -> None:
    written.log.error("internal", ExceptionGroup(CANARY, [OSError(CANARY), ValueError(CANARY)]))
    (error,) = written.lines[0]["errors"]
    assert [inner["type"] for inner in error["within"]] == ["OSError", "ValueError"]
    assert CANARY not in written.stream.getvalue()


def test_a_deep_recursion_is_logged_in_bounded_space(written: Written) -> None:
    def endless() -> None:
        endless()

    try:
        endless()
    except RecursionError as failure:
        written.log.error("internal", failure)
    assert len(written.lines[0]["errors"][0]["trace"]) == 20


def test_other_libraries_are_heard_without_their_words(written: Written, root_logger: logging.Logger) -> None:
    written.log.capture_libraries()
    logging.getLogger("some.library").warning("login as %s failed", CANARY)
    try:
        raise ValueError(CANARY)
    except ValueError:
        logging.getLogger("some.library").exception("oh %s", CANARY)
    logging.getLogger("some.library").info("not even this")
    first, second = written.lines
    assert (first["event"], first["logger"], first["level"]) == ("library", "some.library", "warning")
    assert first["at"].startswith("test_logs.py:")
    assert second["errors"][0]["type"] == "ValueError"
    assert CANARY not in written.stream.getvalue()
