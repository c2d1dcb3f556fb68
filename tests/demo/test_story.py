"""The README's story of one mailbox and two tokens, run as it is written, against the demonstration."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def told() -> Iterator[dict[str, object]]:
    """What a running demonstration says."""
    program = [sys.executable, "-c", "from postroom.demo import run; run(0, True)"]
    environment = {"PYTHONPATH": ":".join(sys.path)}
    with subprocess.Popen(program, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())
        process.terminate()


def commands(told: dict[str, object]) -> tuple[str, list[str]]:
    """What is defined once, and the commands after it; with the address and the tokens of this demonstration."""
    section = README.read_text().partition("## One mailbox, two tokens\n")[2].partition("\n## ")[0]
    definitions, *blocks = _BLOCK.findall(section)
    tokens = told["tokens"]
    assert isinstance(tokens, dict)
    definitions = definitions.replace("http://127.0.0.1:8000", str(told["url"]))
    definitions = definitions.replace("FULL=psr_a_...", f"FULL={tokens['all']}")
    definitions = definitions.replace("RELAY=psr_a_...", f"RELAY={tokens['relay']}")
    return definitions, [line for block in blocks for line in block.splitlines()]


def test_every_command_of_the_story_answers_as_the_story_says(told: dict[str, object]) -> None:
    definitions, lines = commands(told)
    answers = []
    for line in lines:
        said = subprocess.run(["bash", "-c", f"{definitions}\n{line}"], capture_output=True, text=True, check=True)
        answers.append(json.loads(said.stdout))
    folders, newest, seen_folders, seen, found, not_found, denied = answers
    assert len(folders["folders"]) == 6
    assert [one["name"] for one in seen_folders["folders"]] == ["INBOX", "Archive", "Sent"]
    assert newest["messages"][0]["from"][0]["address"] == "no-reply@harbourbank.example"
    assert not [one for one in seen["messages"] if "harbourbank" in one["from"]]
    assert seen["messages"][0]["subject"] == "[redacted:otp] is your sign-in code"
    assert [one["subject"] for one in found["messages"]] == ["739154 is your sign-in code"]
    assert not_found["messages"] == []
    assert denied["error"]["code"] == "policy_denied"
