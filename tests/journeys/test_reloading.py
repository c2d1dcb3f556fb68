"""A running gateway reads its configuration again: what changes at once, what waits, and what faults leave in force."""

from __future__ import annotations

import hashlib
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from postroom.base.token import mint, token_hash
from tests.journeys.test_serving import configured, served
from tests.relay.standing import Post, Wanted, post
from tests.servers.dovecot import Dovecot
from tests.servers.mail import plain

LIMITS = "limits: {requests_per_minute: 6000, burst: 500, concurrent: 32}"
POLICIES = f"""\
  desk:
    folders: {{rules: [{{match: INBOX, access: readable}}]}}
    {LIMITS}
"""
TOKENS = {"all": "scopes: [read, admin], mailboxes: [work]"}


@pytest.fixture
def desk(tmp_path: Path, dovecot: Dovecot) -> Iterator[Post]:
    """A gateway whose file is `postroom.yaml` in the test's folder, before a mailbox with two messages."""
    with post(tmp_path, dovecot, Wanted(POLICIES, TOKENS)) as standing:
        dovecot.deliver(standing.user, [plain("For all"), plain("Tender", sender="boss@corp.example")])
        yield standing


def rewritten(folder: Path, old: str, new: str) -> str:
    """The file with that change made to it; its hash."""
    path = folder / "postroom.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return hashlib.sha256(path.read_bytes()).hexdigest()


def log_of(desk: Post, *events: str) -> list[dict[str, Any]]:
    """What else the lines of these events say."""
    lines = [json.loads(line) for line in desk.gateway.log.getvalue().splitlines()]
    bare = ("time", "level")
    return [{key: line[key] for key in line if key not in bare} for line in lines if line["event"] in events]


def health(desk: Post) -> dict[str, Any]:
    return dict(desk.gateway.get("/health", None).json())


HIDING = f"""\
{POLICIES}    messages: {{rules: [{{id: boss, match: {{from: boss@corp.example}}, action: hide}}]}}
"""


def test_policies_are_obeyed_from_the_next_call_on_and_the_audit_tells_of_the_file(desk: Post, tmp_path: Path) -> None:
    assert desk.subjects() == ["Tender", "For all"]
    sha256 = rewritten(tmp_path, POLICIES, HIDING)
    assert desk.subjects() == ["Tender", "For all"]
    desk.gateway.reload()
    assert desk.subjects() == ["For all"]
    assert desk.subjects(token="all") == ["Tender", "For all"]
    rewritten(tmp_path, HIDING, POLICIES)
    desk.gateway.reload()
    assert desk.subjects() == ["Tender", "For all"]
    records = desk.ask("audit_log", "all", action="config.load")["records"]
    assert [(one.get("facts", {}).get("sha256") == sha256, one.get("facts", {}).get("widened")) for one in records] == [
        (False, 2),
        (True, 0),
        (False, None),
    ]


def test_a_token_that_left_the_file_is_nobody_and_a_new_one_is_somebody(desk: Post, tmp_path: Path) -> None:
    new = mint().text.reveal()
    with desk.gateway.http("relay") as before:
        relay = token_hash(desk.gateway.tokens["relay"])
        rewritten(tmp_path, relay, token_hash(new))
        assert before.post("/mcp").status_code != 401
        desk.gateway.reload()
        assert before.post("/mcp").status_code == 401
        answer = before.get("/health/mailboxes", headers={"Authorization": f"Bearer {new}"})
        assert answer.status_code == 404  # known, and of the relay's toolset, where there is no such route


def test_a_file_with_faults_changes_nothing_and_is_told_until_a_good_one_is_read(desk: Post, tmp_path: Path) -> None:
    rewritten(tmp_path, "match: INBOX", "macht: INBOX")
    desk.gateway.reload()
    assert health(desk) == {"status": "ok", "config": "stale"}
    assert desk.subjects() == ["Tender", "For all"]
    assert [line["reason"] for line in log_of(desk, "config.reload_failed")] == [
        "postroom.yaml:15: policies.desk.folders.rules[0].match: is required, but missing",
        'postroom.yaml:15: policies.desk.folders.rules[0].macht: unknown key; did you mean "match"?',
    ]
    rewritten(tmp_path, "macht: INBOX", "match: INBOX")
    desk.gateway.reload()
    assert health(desk) == {"status": "ok"}


def test_a_file_that_fails_its_own_tests_changes_nothing(desk: Post, tmp_path: Path) -> None:
    test = "tests: [{name: hidden, profile: desk, folder: INBOX, expect: {access: hidden}}]\n"
    rewritten(tmp_path, "profiles:", f"{test}profiles:")
    desk.gateway.reload()
    assert health(desk)["config"] == "stale"
    (line,) = log_of(desk, "config.reload_failed")
    assert '"hidden" fails: hidden was expected, readable came of it' in line["reason"]


def test_what_needs_a_restart_is_told_and_keeps_its_value(desk: Post, tmp_path: Path) -> None:
    rewritten(tmp_path, "name: work\n", "name: job\n")
    rewritten(tmp_path, "mailbox: work", "mailbox: job")
    sha256 = rewritten(tmp_path, "mailboxes: [work]", "mailboxes: [job]")
    desk.gateway.reload()
    assert log_of(desk, "config.needs_restart", "config.loaded") == [
        {"event": "config.needs_restart", "reason": "mailboxes"},
        {"event": "config.loaded", "hash": sha256, "count": 0},
    ]
    assert desk.ask("list_messages", "all")["error"]["code"] == "not_found"  # its mailbox is not there yet


def test_what_a_token_has_spent_of_its_rate_is_not_given_back(tmp_path: Path, dovecot: Dovecot) -> None:
    few = POLICIES.replace(LIMITS, "limits: {requests_per_minute: 1, burst: 2}")
    with post(tmp_path, dovecot, Wanted(few)) as standing:
        assert [standing.ask("list_folders").get("error") for _ in range(2)] == [None, None]
        standing.gateway.reload()
        assert standing.ask("list_folders")["error"]["code"] == "rate_limited"


def test_the_program_reads_its_file_again_at_sighup(tmp_path: Path, dovecot: Dovecot) -> None:
    dovecot.deliver("hup", [])
    config, token, url = configured(tmp_path, dovecot, "hup")
    new = mint().text.reveal()
    with served(config, url) as process, httpx2.Client(base_url=url) as ask:

        def after(text: str) -> tuple[str, list[int]]:
            """What the log says once the file has that text, and what both tokens are answered."""
            config.write_text(text)
            process.send_signal(signal.SIGHUP)
            assert process.stderr is not None
            events = (json.loads(line)["event"] for line in process.stderr)
            told = next(event for event in events if event != "call.done")
            bearers = [{"Authorization": f"Bearer {one}"} for one in (token, new)]
            return told, [ask.get("/mailboxes", headers=bearer).status_code for bearer in bearers]

        assert after(config.read_text().replace(token_hash(token), token_hash(new))) == ("config.loaded", [401, 200])
        assert after("{") == ("config.reload_failed", [401, 200])
        assert ask.get("/health").json() == {"status": "ok", "config": "stale"}
