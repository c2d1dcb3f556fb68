"""The MCP surface as others judge it: the protocol's own conformance suites and the Inspector."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
BASELINE_2025 = str(HERE / "baseline-2025.yml")
BASELINE_2026 = str(HERE / "baseline-2026.yml")

HANDSHAKE_SCENARIOS = ("server-initialize", "ping", "tools-list", "dns-rebinding-protection")
STATELESS_SCENARIOS = ("tools-list", "dns-rebinding-protection", "http-header-validation")
NEEDS_A_FIXTURE_TOOL = {
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
}
NOT_OFFERED = {
    "sep-2549-prompts-list-caching-hints",
    "sep-2549-resources-list-caching-hints",
    "sep-2549-resources-templates-list-caching-hints",
}


@pytest.fixture(scope="session")
def handshake(judges: Any) -> Any:
    return judges.conformance("handshake", "--expected-failures", BASELINE_2025)


@pytest.fixture(scope="session")
def handshake_by_the_newer_suite(judges: Any) -> Any:
    return judges.conformance("stateless", "--requirements", "2025-11-25", "--expected-failures", BASELINE_2025)


@pytest.fixture(scope="session")
def stateless(judges: Any) -> Any:
    return judges.conformance("stateless", "--requirements", "2026-07-28", "--expected-failures", BASELINE_2026)


def test_the_handshake_suite_finds_no_fault_beyond_its_baseline(handshake: Any) -> None:
    assert handshake.code == 0, handshake.words


@pytest.mark.parametrize("scenario", HANDSHAKE_SCENARIOS)
def test_a_scenario_of_the_handshake_suite_passes(handshake: Any, scenario: str) -> None:
    assert handshake.passed(scenario), handshake.words
    assert not handshake.failed(scenario), handshake.words


def test_the_newer_suite_finds_no_fault_in_the_handshake_beyond_the_baseline(
    handshake_by_the_newer_suite: Any,
) -> None:
    assert handshake_by_the_newer_suite.code == 0, handshake_by_the_newer_suite.words


@pytest.mark.parametrize("scenario", HANDSHAKE_SCENARIOS)
def test_a_handshake_scenario_of_the_newer_suite_passes(handshake_by_the_newer_suite: Any, scenario: str) -> None:
    assert handshake_by_the_newer_suite.passed(scenario), handshake_by_the_newer_suite.words
    assert not handshake_by_the_newer_suite.failed(scenario), handshake_by_the_newer_suite.words


def test_the_stateless_suite_finds_no_fault_beyond_its_baseline(stateless: Any) -> None:
    assert stateless.code == 0, stateless.words


@pytest.mark.parametrize("scenario", STATELESS_SCENARIOS)
def test_a_scenario_of_the_stateless_suite_passes(stateless: Any, scenario: str) -> None:
    assert stateless.passed(scenario), stateless.words
    assert not stateless.failed(scenario), stateless.words


def test_statelessness_fails_only_where_a_fixture_tool_is_missing(stateless: Any) -> None:
    assert stateless.failed("server-stateless") == NEEDS_A_FIXTURE_TOOL
    assert stateless.passed("server-stateless") >= {
        "sep-2575-http-server-meta-invalid-400",
        "sep-2575-request-meta-client-info-optional",
        "sep-2575-server-implements-discover",
        "sep-2575-server-identifies-in-result-meta",
        "sep-2575-discover-capabilities-match-handlers",
        "sep-2575-server-unsupported-version-error",
        "sep-2575-http-server-unsupported-version-400",
        "sep-2575-http-server-header-mismatch-400",
        "sep-2575-http-server-method-not-found-404",
        "sep-2575-http-server-method-not-found-404-initialize",
        "sep-2575-http-server-method-not-found-404-ping",
        "sep-2575-http-server-error-jsonrpc-id",
        "sep-2575-http-server-no-independent-requests-on-stream",
    }


def test_the_list_of_tools_says_how_long_and_by_whom_it_may_be_kept(stateless: Any) -> None:
    assert stateless.failed("caching") == NOT_OFFERED
    assert stateless.passed("caching") >= {
        "sep-2549-tools-list-caching-hints",
        "sep-2549-ttl-non-negative",
        "sep-2549-cache-scope-valid",
        "wire-schema-valid",
    }


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_finds_no_fault_in_any_schema(judges: Any, gateway: Any, era: str) -> None:
    strict = ("--method", "tools/list", "--strict", "--protocol-era", era)

    code, result = judges.inspector(gateway.tokens["all"], *strict)

    assert code == 0
    assert "mailboxes" in names(result["tools"])


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_reads_the_same_answer_in_both_channels(judges: Any, gateway: Any, era: str) -> None:
    call = ("--method", "tools/call", "--tool-name", "mailboxes", "--protocol-era", era)

    code, result = judges.inspector(gateway.tokens["all"], *call)

    assert code == 0
    assert result["structuredContent"]["mailboxes"]
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


def test_a_wrong_token_is_refused_before_the_protocol_begins(judges: Any) -> None:
    code, _ = judges.inspector("no-such-token", "--method", "tools/list")

    assert code == 3  # the Inspector's word for "authentication is required"


def names(tools: Iterable[dict[str, Any]]) -> set[str]:
    return {tool["name"] for tool in tools}
