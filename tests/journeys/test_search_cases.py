"""The corpus's servers that search in odd ways, asked through the product."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cases.case import CORPUS, Case, all_cases
from tests.cases.judge import command_faults, list_faults
from tests.cases.serving import Served, served
from tests.servers.dovecot import Dovecot

CASES = [case for case in all_cases(CORPUS) if case.facts["class"] == "imap-search"]


@pytest.fixture(scope="module")
def corpus(dovecot: Dovecot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(CASES, dovecot, tmp_path_factory.mktemp("searches")) as running:
        yield running


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_an_odd_server_is_searched_rightly(case: Case, corpus: Served) -> None:
    (step,) = case.steps
    response = corpus.gateway.get(f"/mailboxes/{case.id}/search", **step["args"])
    assert response.status_code == 200, response.text
    assert not list(list_faults(response.json(), case.expect))
    assert not list(command_faults(corpus.players[case.id].commands, case.expect))
