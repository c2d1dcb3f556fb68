"""Webhooks of a whole gateway: what is sent is told, what is told can be looked at and queued again, and by whom."""

from __future__ import annotations

import contextlib
import io
import itertools
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import orjson
import pytest
from standardwebhooks import Webhook

from postroom.app import running
from postroom.base.clock import Clock, HandClock, SystemClock
from postroom.base.logs import Log
from postroom.base.token import mint, token_hash
from postroom.base.webhooksecret import fresh_secret
from postroom.config import load
from postroom.mailbox.wiring import passwords
from postroom.store import endpoints
from postroom.store.database import FILE_NAME, Database
from postroom.store.deliveries import Due, body_of, enqueue
from postroom.store.times import to_text
from tests.servers.dovecot import PASSWORD, Dovecot
from tests.servers.mail import plain
from tests.servers.ports import refusing_port
from tests.servers.receiver import Receiver, receiving, status
from tests.servers.smtp import Letterbox, running_smtp

pytestmark = pytest.mark.anyio

_USERS = itertools.count()
POLICIES = """\
policies:
  desk:
    folders: {rules: [{match: INBOX, access: readable}]}
    messages: {default: allow}
    outbound: {mode: send, require_draft: false, reply_only: off, recipients: {allow: [anyone]}}
    limits: {requests_per_minute: 6000, burst: 500, concurrent: 32}
profiles: {assistant: {policy: desk}, reader: {policy: desk}}
"""
TOKENS = {
    "all": "scopes: [read, draft, send, admin], mailboxes: [work]",
    "reader": "scopes: [read], mailboxes: [work]",
    "bound": "scopes: [read, send], mailboxes: [work], user: ana, profile: assistant",
}


@dataclass
class Desk:
    """A gateway in the test's own loop, and what it keeps."""

    folder: Path
    user: str
    url: str = ""
    tokens: dict[str, str] = field(default_factory=dict)
    log: io.StringIO = field(default_factory=io.StringIO)
    secrets: list[str] = field(default_factory=list)
    reload: Any = None
    told: list[str] = field(default_factory=list)
    """Every answer that was heard."""

    async def http(self, method: str, path: str, token: str = "all", **body: Any) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self.tokens[token]}"}
        async with httpx2.AsyncClient(base_url=self.url, headers=headers, timeout=20) as client:
            response = await client.request(method, path, **({"params": body} if method == "GET" else {"json": body}))
        self.told.append(response.text)
        return response

    async def mcp(self, tool: str, arguments: Mapping[str, Any], token: str = "all") -> dict[str, Any]:
        params = {"name": tool, "arguments": arguments}
        headers = {"Authorization": f"Bearer {self.tokens[token]}", "Accept": "application/json, text/event-stream"}
        async with httpx2.AsyncClient(base_url=self.url, headers=headers, timeout=20) as client:
            told = await client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        self.told.append(told.text)
        return dict(orjson.loads(told.text.partition("data: ")[2])["result"]["structuredContent"])

    async def deliveries(self, **query: Any) -> list[dict[str, Any]]:
        return list((await self.http("GET", DELIVERIES, **query)).json()["deliveries"])

    @contextlib.asynccontextmanager
    async def store(self) -> AsyncIterator[Database]:
        """The gateway's database, as another process has it."""
        database = await Database.open(self.folder / "state" / FILE_NAME)
        try:
            yield database
        finally:
            await database.close()


DELIVERIES = "/mailboxes/work/webhooks/deliveries"


@contextlib.asynccontextmanager
async def desk(
    folder: Path,
    dovecot: Dovecot,
    receiver: Receiver,
    *hooks: str,
    smtp: int = 0,
    imap: int = 0,
    clock: Clock | None = None,
) -> AsyncIterator[Desk]:
    """`hooks` are the rest of each webhook's settings, its name first."""
    standing = Desk(folder, f"hooked-{next(_USERS)}")
    dovecot.deliver(standing.user, [plain("First"), plain("From the bank", sender="bank@bank.example")])
    lines = []
    for number, hook in enumerate(hooks):
        standing.secrets.append(fresh_secret().reveal())
        (folder / f"{number}.secret").write_text(standing.secrets[-1])
        target = f"url: '{receiver.url}', allow_private: [127.0.0.1], ports: [{receiver.port}]"
        lines.append(f"      - {{{hook}, secret_file: {number}.secret, {target}}}\n")
    tokens = []
    for name, rights in TOKENS.items():
        standing.tokens[name] = mint().text.reveal()
        tokens.append(f"  - {{name: {name}, token_hash: '{token_hash(standing.tokens[name])}', {rights}}}\n")
    login = f"username: {standing.user}, password: {PASSWORD}"
    path = folder / "postroom.yaml"
    path.write_text(
        "server: {listen: '127.0.0.1:0', public_url: 'http://127.0.0.1:8000', allowed_hosts: ['127.0.0.1']}\n"
        "mailboxes:\n  - name: work\n    address: ana@example.org\n"
        f"    imap: {{host: 127.0.0.1, port: {imap or dovecot.port}, tls: none, {login}}}\n"
        f"    smtp: {{host: 127.0.0.1, port: {smtp or 25}, tls: starttls, {login}, ca_file: {dovecot.certificate}}}\n"
        f"    webhooks:\n{''.join(lines)}{POLICIES}tokens:\n{''.join(tokens)}"
    )
    path.chmod(0o600)
    clock, read = clock or SystemClock(), partial(load, path)
    async with running(read(), clock=clock, log=Log(clock, standing.log), read_again=read) as gateway:
        standing.url, standing.reload = gateway.url, gateway.reload
        yield standing


ALL = "name: all, unbound: true, events: [message.received, send.outcome, endpoint.disabled, gap]"
HERS = "name: hers, user: ana, profile: assistant, events: [message.received, send.outcome]"
OTHER = "name: other, user: ana, profile: reader, events: [message.received, send.outcome]"


async def send(standing: Desk, token: str) -> dict[str, Any]:
    letter = {"to": ["ben@example.org"], "subject": "Told", "body_text": "Hello."}
    return dict((await standing.http("POST", "/mailboxes/work/send", token, **letter)).json())


async def test_what_is_sent_is_told_to_whom_it_concerns_and_signed_so_that_another_can_tell(
    tmp_path: Path, dovecot: Dovecot
) -> None:
    letterbox = Letterbox()
    with running_smtp(dovecot.certificate, dovecot.folder / "key.pem", letterbox) as smtp:
        async with receiving() as receiver, desk(tmp_path, dovecot, receiver, ALL, HERS, OTHER, smtp=smtp) as standing:
            sent = {token: (await send(standing, token))["message_id"] for token in ("all", "bound")}
            await receiver.until(3)
            listed = await standing.deliveries()
    told = []
    for post in receiver.posts:
        judge = next(number for number, one in enumerate(standing.secrets) if _accepts(one, post))
        told.append((judge, post.event["data"]))
    expected = {token: {"mailbox": "work", "message_id": one, "outcome": "accepted"} for token, one in sent.items()}
    assert sorted(told, key=str) == sorted(
        [(0, expected["all"]), (0, expected["bound"]), (1, expected["bound"])], key=str
    )
    assert {(row["endpoint"], row["type"]) for row in listed} == {("all", "send.outcome"), ("hers", "send.outcome")}
    assert len(letterbox.envelopes) == 2


def _accepts(secret: str, post: Any) -> bool:
    try:
        Webhook(secret).verify(post.body, dict(post.headers))
    except Exception:  # noqa: BLE001 - whatever it raises, it does not accept
        return False
    return True


async def test_a_secret_is_nowhere_but_in_its_file(tmp_path: Path, dovecot: Dovecot) -> None:
    with running_smtp(dovecot.certificate, dovecot.folder / "key.pem", Letterbox()) as smtp:
        async with (
            receiving(lambda _: status(500, body=b"no")) as receiver,
            desk(tmp_path, dovecot, receiver, ALL, HERS, smtp=smtp) as standing,
        ):
            await send(standing, "all")
            await receiver.until(1)
            for secret in standing.secrets:
                letter = {"to": ["ben@example.org"], "subject": "S", "body_text": f"It is {secret}."}
                answer = await standing.http("POST", "/mailboxes/work/send", "bound", **letter)
                assert answer.json()["error"]["code"] == "policy_denied", answer.text
            await standing.deliveries()
            await standing.http("GET", "/audit")
            config = load(tmp_path / "postroom.yaml")
            assert {*standing.secrets} <= {*await passwords(config.mailboxes)}
        held = [*standing.told, standing.log.getvalue(), repr(config)]
        held += [post.line + str(post.headers) + post.body.decode() for post in receiver.posts]
        state = b"".join(one.read_bytes() for one in (tmp_path / "state").iterdir() if one.is_file())
        for secret in standing.secrets:
            key = secret.removeprefix("whsec_")
            assert not [one for one in held if key in one]
            assert key.encode() not in state


async def test_a_replay_keeps_id_and_body_on_both_surfaces(tmp_path: Path, dovecot: Dovecot) -> None:
    clock = HandClock()
    async with receiving() as receiver, desk(tmp_path, dovecot, receiver, ALL, clock=clock) as standing:
        (told,) = await queued(standing, "all", clock=clock)
        await receiver.until(1)
        await becomes(standing, "delivered")
        answer = await standing.http("POST", f"{DELIVERIES}/{told}/replay")
        assert answer.json() == {"id": told, "endpoint": "all", "state": "due"}
        await receiver.until(2)
        await becomes(standing, "delivered")
        assert await standing.mcp("replay_webhook", {"delivery_id": told}) == answer.json()
        await receiver.until(3)
        await becomes(standing, "delivered")
        (row,) = await standing.deliveries(status="delivered")
        assert await standing.deliveries(status="failed") == []
        assert await standing.mcp("webhook_deliveries", {"limit": 1}) == {"deliveries": [row]}
        records = (await standing.http("GET", "/audit", action="http.replay_webhook")).json()["records"]
    assert {(post.id, post.body) for post in receiver.posts} == {(told, receiver.posts[0].body)}
    assert row | {"created": ""} == {
        "id": told,
        "endpoint": "all",
        "type": "message.received",
        "state": "delivered",
        "created": "",
        "attempts": 1,
        "next_attempt": None,
        "status_code": 204,
        "said": "",
    }
    assert (records[0]["outcome"], records[0]["facts"]) == ("ok", {"delivery": told, "endpoint": "all"})


async def test_what_cannot_be_queued_again_says_what_to_do(tmp_path: Path, dovecot: Dovecot) -> None:
    async def replayed(identifier: str) -> tuple[int, dict[str, Any]]:
        answer = await standing.http("POST", f"{DELIVERIES}/{identifier}/replay")
        return answer.status_code, answer.json()["error"]

    clock = HandClock()
    async with receiving() as receiver, desk(tmp_path, dovecot, receiver, ALL, clock=clock) as standing:
        code, error = await replayed(f"evt_{0:032x}")
        assert (code, error["code"]) == (404, "not_found")
        (told,) = await queued(standing, "all", clock=clock)
        await becomes(standing, "delivered")
        async with standing.store() as store:

            async def changed(change: str) -> None:
                await store.write(lambda db: db.execute(f"UPDATE deliveries SET {change}") and None)  # noqa: S608

            await changed("state = 'running', ended = NULL, owner = 'another', next_at = '2027'")
            code, error = await replayed(told)
            assert (code, error["details"]["reason"], error["details"]["retryable"]) == (409, "in_progress", True)
            await changed("state = 'failed', ended = created")
            await store.write(lambda db: endpoints.disable(db, ("work", "all"), "gone", clock.now()))
            code, error = await replayed(told)
            assert (code, error["details"]["reason"]) == (409, "endpoint_disabled")
            assert "postroom webhook enable work all" in error["message"]
            await changed("endpoint = 'old'")
        code, error = await replayed(told)
        assert (code, error["details"]["reason"]) == (409, "endpoint_gone")
        assert (await standing.http("POST", f"{DELIVERIES}/{told}/replay", "reader")).status_code == 403
        assert (await standing.http("GET", DELIVERIES, "reader")).status_code == 403
        assert (await standing.http("GET", DELIVERIES, "bound")).status_code == 403
    assert len(receiver.posts) == 1


async def test_a_policy_that_was_tightened_between_an_event_and_its_retry_is_obeyed(
    tmp_path: Path, dovecot: Dovecot
) -> None:
    clock, answers = HandClock(), {"now": 500}
    async with (
        receiving(lambda _: status(answers["now"])) as receiver,
        desk(tmp_path, dovecot, receiver, HERS, ALL, clock=clock) as standing,
    ):
        uids = uids_of(dovecot, standing.user)
        told = await queued(standing, "hers", "hers", "all", messages=uids, clock=clock)
        await receiver.until(3)
        await becomes(standing, "due", attempts=1)
        path = tmp_path / "postroom.yaml"
        hide = "messages: {default: allow, rules: [{id: bank, match: {from: bank@bank.example}, action: hide}]}"
        path.write_text(path.read_text().replace("messages: {default: allow}", hide))
        await standing.reload()
        answers["now"] = 204
        clock.wind(7)
        await receiver.until(5)
        states = {row["id"]: row["state"] for row in await standing.deliveries() if row["state"] != "running"}
        while len(states) < 3 or "due" in states.values():
            states = {row["id"]: row["state"] for row in await standing.deliveries() if row["state"] != "running"}
    assert [states[one] for one in told] == ["delivered", "dropped", "delivered"]
    assert [post.id for post in receiver.posts].count(told[1]) == 1
    assert "bank" not in standing.log.getvalue()


async def test_a_message_that_is_gone_and_a_mailbox_that_is_down_are_told_apart(
    tmp_path: Path, dovecot: Dovecot
) -> None:
    clock = HandClock()
    async with receiving() as receiver, desk(tmp_path, dovecot, receiver, HERS, clock=clock) as standing:
        (uid, uid_validity), *_ = uids_of(dovecot, standing.user)
        gone, renumbered = await queued(
            standing, "hers", "hers", messages=[(uid + 900, uid_validity), (uid, uid_validity + 1)], clock=clock
        )
        await becomes(standing, "dropped")
        assert {row["said"] for row in await standing.deliveries()} == {"its message is hidden by now, or gone"}
    assert gone != renumbered
    async with (
        receiving() as receiver,
        desk(tmp_path, dovecot, receiver, HERS, imap=refusing_port(), clock=clock) as standing,
    ):
        (kept,) = await queued(standing, "hers", messages=[(uid, uid_validity)], clock=clock)
        async with standing.store() as store:
            put_off = "SELECT 1 FROM deliveries WHERE id = ? AND state = 'due' AND tries = 0 AND next_at > ?"
            values = (kept, to_text(clock.now() + timedelta(seconds=29)))
            while not await store.read(lambda db: db.execute(put_off, values).fetchone()):
                pass
    assert receiver.posts == []


def uids_of(dovecot: Dovecot, user: str) -> list[tuple[int, int]]:
    """UIDs of the messages in a user's inbox, each with its numbering."""
    with dovecot.login(user) as client:
        client.select("INBOX", readonly=True)
        (uid_validity,) = client.response("UIDVALIDITY")[1]
        _, (found,) = client.uid("SEARCH", "ALL")
    return [(int(uid), int(uid_validity)) for uid in found.split()]


async def queued(
    standing: Desk, *names: str, messages: list[tuple[int, int]] | None = None, clock: Clock | None = None
) -> list[str]:
    """Events as a watcher would write them, and their ids; of no message, or the last endpoints of the first again."""
    now = (clock or SystemClock()).now()
    about = [*(messages or []), *(messages or [])][: len(names)] or [None] * len(names)
    body = body_of("message.received", now, {"mailbox": "work", "folder": "INBOX", "uid": "m1_x"})
    due = [
        Due("work", name, "message.received", body, *(("INBOX", one[1], one[0]) if one else ()))
        for name, one in zip(names, about, strict=True)
    ]
    async with standing.store() as store:
        await store.write(lambda db: enqueue(db, due, now))
        rows = await store.read(lambda db: db.execute("SELECT id FROM deliveries ORDER BY rowid").fetchall())
    if isinstance(clock, HandClock):
        clock.wind(5)
    return [identifier for (identifier,) in rows[-len(names) :]]


async def becomes(standing: Desk, state: str, attempts: int | None = None) -> None:
    """Until all deliveries are in that state."""
    rows: list[dict[str, Any]] = []
    while not rows or any(row["state"] != state or attempts not in (None, row["attempts"]) for row in rows):
        rows = await standing.deliveries()
