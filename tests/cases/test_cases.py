"""Every case whose operations exist, served by a real server or the player, asked over HTTP, judged.

pytest tests/cases --cases FOLDER       takes another folder of cases through the product
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cases.case import CORPUS, Case, all_cases
from tests.cases.judge import (
    command_faults,
    error_faults,
    folder_faults,
    list_faults,
    message_faults,
)
from tests.cases.serving import Served, served
from tests.servers.dovecot import Dovecot

OPERATIONS = {"list_folders", "list_messages", "get_message"}
"""Those that a case may ask for here; a case that calls another one waits for it."""

SHOWN_WITH_SIGNALS = {"hidden", "links"}
"""Classes whose texts are judged once there is a reader; until then they must do no harm."""

NOT_RIGHT_YET: dict[str, str] = {}
"""Cases of level `should` that fail, each with the reason; one that passes again must leave this list."""


def due(case: Case) -> bool:
    """Message cases are listed and read; scripted ones are due when every step's operation exists."""
    if case.kind in ("message", "messages"):
        return "reply" not in case.facts["operations"] or case.facts["class"] == "addresses"
    return case.kind in ("imap", "request") and all(step["operation"] in OPERATIONS for step in case.steps)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        cases = [case for case in all_cases(*_folders(metafunc.config)) if due(case)]
        metafunc.parametrize("case", cases, ids=[case.id for case in cases])


def _folders(config: pytest.Config) -> list[Path]:
    """None for our own."""
    given = config.getoption("--cases")
    return [Path(given)] if given else []


@pytest.fixture(scope="module")
def corpus(dovecot: Dovecot, pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    cases = [case for case in all_cases(*_folders(pytestconfig)) if due(case)]
    with served(cases, dovecot, tmp_path_factory.mktemp("cases")) as running:
        yield running


def test_the_answer_is_right(case: Case, corpus: Served) -> None:
    started = time.monotonic()
    faults = list(_faults(case, corpus))
    took = time.monotonic() - started
    if took > case.expect.get("limits", {}).get("seconds", 30):
        faults.append(f"took {took:.1f} s")
    if case.id in NOT_RIGHT_YET:
        assert case.facts["level"] == "should"
        assert faults, "passes now: take it off the list"
    else:
        assert not faults


def _faults(case: Case, corpus: Served) -> Iterator[str]:
    if case.kind in ("imap", "request"):
        yield from _scripted_faults(case, corpus)
        return
    listed = corpus.gateway.get(f"/mailboxes/{case.id}/messages").json()
    if len(listed["messages"]) != len(case.raw_messages):
        yield f"{len(listed['messages'])} rows: {listed}"
        return
    if sorted(subjects_of(listed), key=str) != sorted(case.expect.get("subjects", subjects_of(listed)), key=str):
        yield f"subjects: {subjects_of(listed)}"
    for row in listed["messages"]:
        response = corpus.gateway.get(f"/mailboxes/{case.id}/messages/{row['uid']}", headers="true")
        assert response.status_code == 200, response.text
        message = response.json()
        judged = case.kind == "message" and case.facts["class"] not in SHOWN_WITH_SIGNALS
        expect = case.expect if judged else {}
        yield from message_faults(message, expect)
        yield from _disagreements(row, message)


def subjects_of(listed: dict[str, Any]) -> list[str]:
    return [row["subject"] for row in listed["messages"]]


def _disagreements(row: dict[str, Any], message: dict[str, Any]) -> Iterator[str]:
    """A list and a read are one parse: what they both tell must be the same."""
    for key, value in row.items():
        if message[key] != value and not (key == "has_attachments" and value is None):
            yield f"{key} is {value!r} in the list and {message[key]!r} in the message"


def _scripted_faults(case: Case, corpus: Served) -> Iterator[str]:
    answers = [_ask(case, step, corpus) for step in case.steps]
    for position, (step, answer) in enumerate(zip(case.steps, answers, strict=True)):
        expect = case.expect
        if "last" in expect and position == len(answers) - 1:
            expect = {**expect["last"]}
        yield from _answer_faults(step["operation"], answer, expect)
    if "error" in case.expect:
        yield from error_faults(answers[-1], case.expect["error"])
    yield from command_faults(corpus.players[case.id].commands, case.expect)


def _ask(case: Case, step: dict[str, Any], corpus: Served) -> dict[str, Any]:
    arguments = dict(step["args"])
    path = f"/mailboxes/{case.id}/" + ("folders" if step["operation"] == "list_folders" else "messages")
    if step["operation"] == "get_message":
        uid, validity = arguments.pop("uid"), arguments.pop("uidvalidity", None)
        path += f"/{uid}-{validity}" if validity else f"/{uid}"
    response = corpus.gateway.get(path, **arguments)
    assert response.status_code != 500, response.text
    return dict(response.json())


def _answer_faults(operation: str, answer: dict[str, Any], expect: dict[str, Any]) -> Iterator[str]:
    if "error" in answer:
        if "error" not in expect:
            yield f"{operation}: {answer}"
    elif operation == "list_folders":
        yield from folder_faults(answer, expect)
    elif operation == "list_messages":
        yield from list_faults(answer, expect)
    else:
        yield from message_faults(answer, expect)


def test_every_case_of_the_corpus_is_due_or_waits_for_an_operation() -> None:
    cases = all_cases(CORPUS)
    waiting = [case for case in cases if not due(case)]
    assert len(cases) == 201
    assert all(set(case.facts["operations"]) - OPERATIONS for case in waiting)
    assert len(waiting) < 80
