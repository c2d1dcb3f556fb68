"""Every case whose operations exist, served by a real server or the player, asked over HTTP and over MCP, judged.

pytest tests/cases --cases FOLDER       takes another folder of cases through the product
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases.asking import CHANGES, listing_faults, model_faults, reading_faults, scripted_faults, thread_faults
from tests.cases.case import CORPUS, Case, all_cases
from tests.cases.serving import Served, served
from tests.servers.dovecot import Dovecot

OPERATIONS = {
    *("list_folders", "list_messages", "get_message", "search", "inbox", "get_attachment", "get_raw_message"),
    *("mailbox_stats", "mcp", "get_thread", "list_threads", "watch", *CHANGES),
}
"""Those that a case may ask for here; a case that calls another one waits for it."""

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
        yield from scripted_faults(case, corpus)
        return
    yield from listing_faults(case, corpus)
    yield from reading_faults(case, corpus)
    if case.kind == "messages" and "get_thread" in case.facts["operations"]:
        yield from thread_faults(case, corpus)
    if case.steps:
        yield from model_faults(case, corpus)


def test_every_case_of_the_corpus_is_due_or_waits_for_an_operation() -> None:
    cases = all_cases(CORPUS)
    waiting = [case for case in cases if not due(case)]
    assert len(cases) == 201
    assert all(set(case.facts["operations"]) - OPERATIONS for case in waiting)
    assert len(waiting) < 80
