"""Every case of a message that is sent, answered or saved, on both surfaces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases.case import CORPUS, Case, all_cases
from tests.cases.mailing import ROUTES, SURFACES, Post, faults, posting
from tests.servers.dovecot import Dovecot


def due(case: Case) -> bool:
    return bool(case.steps) and all(step["operation"] in ROUTES for step in case.steps)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        cases = _cases(metafunc.config)
        metafunc.parametrize("case", cases, ids=[case.id for case in cases])


def _cases(config: pytest.Config) -> list[Case]:
    given = config.getoption("--cases")
    return [case for case in all_cases(*([Path(given)] if given else [])) if due(case)]


@pytest.fixture(scope="module")
def post(dovecot: Dovecot, pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Post]:
    with posting(_cases(pytestconfig), dovecot, tmp_path_factory.mktemp("mailing")) as running:
        yield running


@pytest.mark.parametrize("surface", SURFACES)
def test_what_leaves_and_what_is_told_is_right(case: Case, surface: str, post: Post) -> None:
    assert not list(faults(case, surface, post))


def test_the_corpus_has_the_cases_that_were_meant() -> None:
    assert len([case for case in all_cases(CORPUS) if due(case)]) == 26
