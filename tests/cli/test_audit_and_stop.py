"""`postroom audit`, `stop` and `resume`: what an operator proves and commands, told in words."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from postroom.store.audithead import FILE_NAME
from tests.cli.conftest import Run
from tests.servers import stores
from tests.servers.gateway import running_gateway
from tests.servers.ports import refusing_port


@pytest.fixture(autouse=True)
def _keep_the_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def records(state: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for (line,) in stores.sql(state, "SELECT line FROM audit ORDER BY seq")]


def change(state: Path, statement: str) -> None:
    stores.sql(state, statement)


def test_what_an_operator_does_is_recorded_and_the_trail_is_whole(over: Run, tmp_path: Path) -> None:
    assert over("audit", "verify").output.startswith("The trail is whole: 0 records")
    over("token", "create", "script", "--scopes", "read", "--print")
    over("stop")
    over("resume")
    over("token", "revoke", "script")
    told = [(one["action"], one.get("token"), one.get("facts")) for one in records(tmp_path / "state")]
    token_id = told[0][2]["id"]
    assert told == [
        ("cli.token.create", "script", {"id": token_id, "mailboxes": [], "scopes": ["read"]}),
        ("cli.stop", None, {"what": "sends"}),
        ("cli.resume", None, None),
        ("cli.token.revoke", "script", {"id": token_id}),
    ]
    result = over("audit", "verify")
    assert (result.exit_code, result.output) == (
        0,
        "The trail is whole: 4 records, 4 of them with a seal that the keys at hand could check.\n",
    )


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("UPDATE audit SET line = replace(line, 'sends', 'trash') WHERE seq = 2", "record 2: has a seal that is not"),
        ("DELETE FROM audit WHERE seq = 2", "record 2: is missing\n"),
        ("DELETE FROM audit WHERE seq = 4", "record 4: and all after it up to 4 at least are missing; the end was"),
        ("UPDATE audit SET seq = 9 WHERE seq = 4", "record 4: is missing, and so are all up to 8\n"),
        ("DELETE FROM audit_key", "record 4: has no key any more"),
        ("DELETE FROM audit", "record 1: and all after it up to 4 at least are missing"),
    ],
)
def test_what_was_done_to_the_trail_is_told_in_words_with_status_one(
    over: Run, tmp_path: Path, statement: str, told: str
) -> None:
    for command in ("stop", "resume"):
        over(command)
        over(command)
    change(tmp_path / "state", statement)
    result = over("audit", "verify")
    assert result.exit_code == 1
    assert told in result.stdout
    assert "The trail is not whole: " in result.stdout
    assert f"Keep a copy of {tmp_path}/state before anything else is done to it." in result.stderr


def test_without_the_head_the_end_is_not_proved_and_a_copy_of_it_is_an_anchor(over: Run, tmp_path: Path) -> None:
    over("stop")
    head, copy = tmp_path / "state" / FILE_NAME, tmp_path / "anchor"
    copy.write_bytes(head.read_bytes())
    copy.chmod(0o600)
    over("resume")
    assert over("audit", "verify", "--anchor", str(copy)).exit_code == 0
    head.unlink()
    result = over("audit", "verify")
    assert result.exit_code == 1
    assert "audit.head is missing" in result.output
    copy.write_text("nothing\n")
    result = over("audit", "verify", "--anchor", str(copy))
    assert (result.exit_code, result.stderr) == (
        1,
        f"{copy} names no record; give a copy of audit.head, or the gateway's log\n",
    )


def test_a_key_that_was_kept_proves_what_came_after_it(over: Run, tmp_path: Path) -> None:
    assert over("audit", "key").stderr == "nothing is recorded yet, so there is no key; start the gateway first\n"
    over("stop")
    kept = tmp_path / "key"
    kept.write_text(over("audit", "key").stdout)
    kept.chmod(0o600)
    assert over("audit", "verify", "--key", str(kept)).exit_code == 0
    kept.write_text("swordfish\n")
    assert "does not hold what `postroom audit key` printed" in over("audit", "verify", "--key", str(kept)).stderr


def test_stopping_says_what_is_stopped_and_resuming_what_goes_on(over: Run) -> None:
    assert over("resume").output == "Nothing was stopped.\n"
    assert over("stop").output == "Nothing is sent any more, until: postroom resume\n"
    assert over("stop", "--all").output == "No call is answered any more, until: postroom resume\n"
    assert over("resume").output == "What was stopped (all) goes on.\n"


def test_a_running_gateway_obeys_from_the_next_call_on_and_over_a_restart(over: Run, tmp_path: Path) -> None:
    mailbox = (
        f"  - {{name: work, imap: {{host: 127.0.0.1, port: {refusing_port()}, tls: none, username: a, password: b}}}}"
    )

    def answer(gateway: Any) -> tuple[int, Any]:
        response: httpx2.Response = gateway.get("/mailboxes")
        return response.status_code, response.json().get("error")

    stopped = {
        "code": "unavailable",
        "message": "Stopped by the operator. Do not try again before the operator says so.",
        "details": {"reason": "stopped"},
    }
    with running_gateway(tmp_path, mailbox, {"all": ("read", "work")}) as gateway:
        assert answer(gateway) == (200, None)
        assert over("stop", "--changes").exit_code == 0
        assert answer(gateway) == (200, None)
        assert over("stop", "--all").exit_code == 0
        assert answer(gateway) == (503, stopped)
        assert gateway.get("/health", token=None).status_code == 200
    with running_gateway(tmp_path, mailbox, {"all": ("read", "work")}) as gateway:
        assert answer(gateway) == (503, stopped)
        assert over("resume").exit_code == 0
        assert answer(gateway) == (200, None)
    assert over("audit", "verify").exit_code == 0
