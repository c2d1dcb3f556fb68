"""The demonstration as a process: it answers, says one line, and leaves nothing behind."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

Start = Callable[[int], "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a demonstration whose temporary files go to `tmp_path`; it is killed after the test."""
    started: list[subprocess.Popen[str]] = []

    def starter(port: int) -> subprocess.Popen[str]:
        program = [sys.executable, "-c", f"from postroom.demo import run; run({port}, True)"]
        environment = {"TMPDIR": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
        process = subprocess.Popen(program, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(process)
        return process

    yield starter
    for process in started:
        process.kill()
        process.communicate()


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def test_it_answers_as_soon_as_it_says_where_it_is(start: Start) -> None:
    told = json.loads(first_line(start(0)))

    headers = {"Authorization": f"Bearer {told['tokens']['read']}"}
    with urlopen(Request(f"{told['url']}/mailboxes", headers=headers), timeout=10) as answer:  # noqa: S310 - http only
        mailboxes = json.load(answer)["mailboxes"]
    assert [mailbox["name"] for mailbox in mailboxes] == told["mailboxes"] == ["work", "personal"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly_and_nothing_is_left(start: Start, tmp_path: Path, how: signal.Signals) -> None:
    process = start(0)
    first_line(process)
    assert len(list(tmp_path.glob("postroom-demo-*"))) == 1

    process.send_signal(how)
    more, _ = process.communicate(timeout=20)

    assert process.returncode == 0
    assert more == ""
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_is_taken_is_said_before_anything_starts(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        said, error = start(port).communicate(timeout=20)

    assert said == ""
    assert error == f"Port {port} is in use; --port 0 takes a free one (make demo ARGS='--port 0')\n"
