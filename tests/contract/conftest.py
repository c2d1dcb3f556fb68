"""Values for every argument by its name, right ones and hostile ones, made on the shared gateway."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from postroom.operations.operation import Operation
from tests.conftest import TOKENS
from tests.contract.asking import Asking
from tests.servers.dovecot import Dovecot
from tests.servers.gateway import Gateway, running_gateway
from tests.servers.mail import CANARY, many, secret_messages


@dataclass(frozen=True)
class World:
    """`good` holds, for a token, one right value for each argument name; `hostile` wrong ones that reach elsewhere."""

    asking: Mapping[str, Asking]
    good: Mapping[str, Mapping[str, Any]]
    hostile: Mapping[str, list[Any]]

    def of(self, token: str, operation: Operation[Any, Any]) -> Mapping[str, Any]:
        """Right values for this operation: mail that leaves has other ones than filters of the same name."""
        return {
            **self.good[token],
            **GOOD_FOR_ONE.get(operation.name, {}),
            **(GOOD_MAIL if _is_mail(operation) else {}),
        }

    def hostile_to(self, operation: Operation[Any, Any]) -> Mapping[str, list[Any]]:
        return {**self.hostile, **HOSTILE_MAIL} if _is_mail(operation) else self.hostile

    def right(self, token: str, operation: Operation[Any, Any], names: list[str]) -> dict[str, Any]:
        """A right value for each of these arguments; cursors are of the very list that the others ask for."""
        values = {name: self.of(token, operation)[name] for name in names}
        for name, told in (("cursor", "next_cursor"), ("since_cursor", "cursor")):
            if name in values:
                first = {other: value for other, value in values.items() if other != name}
                answer = self.asking[token].mcp(operation.name, first).body
                if told in answer:
                    values[name] = answer[told]
                else:
                    del values[name]  # all these filters together find too little for a second page
        return values


GOOD_FOR_ONE: Mapping[str, Mapping[str, Any]] = {"get_thread": {"view": "messages"}}
"""Right values of an argument that means something else in one operation."""


@pytest.fixture(scope="session")
def world(gateway: Gateway) -> Iterator[World]:
    with _world(gateway) as world:
        yield world


@pytest.fixture(scope="session")
def changing_gateway(
    dovecot: Dovecot, mailboxes: str, gateway: Gateway, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Gateway]:
    """The same mailboxes and tokens, with mail of its own that may be changed."""
    for user in ("work", "private"):
        messages = [*secret_messages()] if user == "private" else [*many(12)]
        dovecot.deliver(f"changing-{user}", messages)
        dovecot.create(f"changing-{user}", "Archive")
        dovecot.deliver(f"changing-{user}", messages if user == "private" else many(2), "Drafts")
    dovecot.deliver("changing-private", secret_messages())
    own = re.sub(r"(port: \d+, tls: \w+, username: |port: \d+, username: )(work|private)", r"\1changing-\2", mailboxes)
    limits = "limits: {sends_per_hour: 0, moves_per_hour: 0}"
    with running_gateway(tmp_path_factory.mktemp("changing"), own, TOKENS, limits) as running:
        yield running


@pytest.fixture(scope="session")
def changing_world(changing_gateway: Gateway) -> Iterator[World]:
    with _world(changing_gateway) as world:
        yield world


@contextmanager
def _world(gateway: Gateway) -> Iterator[World]:
    with ExitStack() as stack:
        asking = {token: Asking(stack.enter_context(gateway.http(token))) for token in gateway.tokens}
        work, private = _page(gateway, "work", "work"), _page(gateway, "owner", "private")
        good = {token: _good("work", _page(gateway, token, "work")) for token in ("all", "read", "work", "triage")}
        good |= {token: _good("work", work) for token in gateway.tokens if token not in good}
        good["owner"] = _good("private", private)
        yield World(asking, good, _hostile(private))


def _page(gateway: Gateway, token: str, mailbox: str) -> Mapping[str, Any]:
    """Two rows and a cursor, which is good for this token alone."""
    return dict(gateway.get(f"/mailboxes/{mailbox}/messages", token, limit=2).json())


GOOD_FILTERS: Mapping[str, Any] = {
    "search": "OR SEEN NOT (FROM nobody SINCE 1-Jan-2020)",
    "sort": "-date",
    "from": "example",
    "to": "example",
    "cc": "nobody",
    "subject": "e",
    "body": "e",
    "text": "e",
    "since": "2020-01-01",
    "before": "1-Jan-2900",
    "unseen": True,
    "seen": False,
    "flagged": False,
    "answered": False,
    "has_attachment": False,
    "larger_than": 1,
    "smaller_than": 10_000_000,
}


GOOD_MAIL: Mapping[str, Any] = {
    "from": "Ana <ana@example.org>",
    "to": ["bo@example.com"],
    "cc": [{"name": "Cy", "address": "cy@example.com"}],
    "bcc": "di@example.com",
    "reply_to": ["Ed <ed@example.com>"],
    "subject": "Hello",
}


def _is_mail(operation: Operation[Any, Any]) -> bool:
    return "body_text" in operation.ask.model_fields


_PEOPLE: list[Any] = [
    [CANARY],
    f"bo@example.com, {CANARY}",
    [f"bo@example.com>\r\nRCPT TO:<{CANARY}@example.org"],
    [f"bo@example.com\r\nBcc: {CANARY}@example.org"],
    [{"name": CANARY, "address": "no address"}],
    [{"name": f"x\r\n{CANARY}: y", "address": "bo@example.com"}],
    [["bo@example.com"]],
    [{}],
    5,
]
HOSTILE_MAIL: Mapping[str, list[Any]] = {
    "from": [f"{CANARY}@example.org", f"ana@example.org\r\nBcc: {CANARY}@example.org", CANARY, [CANARY]],
    **dict.fromkeys(("to", "cc", "bcc", "reply_to"), _PEOPLE),
    "subject": [f"x\r\nBcc: {CANARY}@example.org", f"=?utf-8?q?x=0D=0A{CANARY}?=", "\0", [CANARY]],
}


def _hostile_filters() -> Mapping[str, list[Any]]:
    texts = [CANARY, f'x" TEXT "{CANARY}', f"x\r\nA1 SELECT {CANARY}", "{3}", "\0", [CANARY], ""]
    flags = [CANARY, [True], 2]
    sizes = [-1, 2**53, CANARY, [1]]
    dates = [CANARY, "31-Feb-2026", "9999-12-31T23:59:59-23:59", [CANARY]]
    return {
        "search": [f"TEXT {CANARY}", f"SEEN\r\nA1 SELECT {CANARY}", "(" * 5_000, "1:*", "CANARY", [f"TEXT {CANARY}"]],
        "sort": [CANARY, "-", [CANARY]],
        **dict.fromkeys(("from", "to", "cc", "subject", "body", "text"), texts),
        **dict.fromkeys(("since", "before"), dates),
        **dict.fromkeys(("unseen", "seen", "flagged", "answered", "has_attachment"), flags),
        **dict.fromkeys(("larger_than", "smaller_than"), sizes),
    }


def _good(mailbox: str, page: Mapping[str, Any]) -> Mapping[str, Any]:
    uids = [row["uid"] for row in page["messages"]]
    return {
        "mailbox": mailbox,
        "folder": "INBOX",
        "limit": 2,
        "cursor": page["next_cursor"],
        "uid": uids[0],
        "uids": uids,
        "view": "full",
        "fields": "full",
        "preview": 10,
        "headers": True,
        "reader": True,
        "safe_html": True,
        "links": True,
        "quotes": True,
        "max_chars": 40,
        "attachment_id": "2",
        "checkpoint": True,
        "since_cursor": page["next_cursor"],
        "wait_seconds": 0,
        "token": "operator",
        "action": "mcp.send",
        "outcome": "refused",
        "add": ["later"],
        "remove": ["earlier"],
        "destination": "Archive",
        "permanent": False,
        "name": "Projects/2026",
        "bcc": ["di@example.com"],
        "reply_to": ["ed@example.com"],
        "reply_to_uid": uids[0],
        "body_text": "Hello.",
        "body_html": "<p>Hello.</p>",
        "attachments": [{"filename": "a.txt", "data_base64": "QUJD"}],
        "idempotency_key": "k",
        "status": "failed",
        "delivery_id": f"evt_{0:032x}",
        "reply_all": False,
        "draft": False,
        **GOOD_FILTERS,
    }


def _hostile(private: Mapping[str, Any]) -> Mapping[str, list[Any]]:
    uids = [row["uid"] for row in private["messages"]]
    bare = [uid.partition("-")[0] for uid in uids]
    return {
        "mailbox": [
            "private",
            "PRIVATE",
            " private",
            "private\u0000",
            "work,private",
            "../private",
            "work/../private",
            "*",
            "%",
            "",
            CANARY,
            ["work", "private"],
            {"name": "private"},
            '["private"]',
        ],
        "folder": [
            CANARY,
            f"INBOX/{CANARY}",
            "../private/INBOX",
            "private",
            f'INBOX" "{CANARY}',
            f"INBOX\r\nA1 SELECT {CANARY}",
            "#user/private",
            "user/private/INBOX",
            [CANARY],
        ],
        "limit": [500, "500", -1, CANARY, [CANARY]],
        "cursor": [private["next_cursor"], private["next_cursor"][:-1], CANARY, [private["next_cursor"]]],
        "uid": [*uids, *bare, CANARY, f"1:{bare[0]}", "*", "1:*", [uids[0]]],
        "uids": [uids, bare, f"{uids[0]},{uids[1]}", ["*"], [CANARY], [[uids[0]]], CANARY],
        "view": ["full", "transcript", CANARY, [CANARY]],
        "fields": ["brief", CANARY, [CANARY]],
        "preview": [1_000, 1_001, CANARY, [CANARY]],
        **{name: [True, CANARY, [CANARY]] for name in ("headers", "reader", "safe_html", "links", "quotes")},
        "attachment_id": ["1", "2.1", "2]<0.9> BODY[1", "0", "", CANARY, ["2"], "9" * 300],
        "max_chars": [2_000_000, CANARY, [CANARY]],
        "checkpoint": [True, CANARY, [CANARY]],
        "since_cursor": [private["next_cursor"], CANARY, "s1_AAAA", [private["next_cursor"]]],
        "wait_seconds": [0, -1, 61, CANARY, [CANARY]],
        **{name: [CANARY, "", "'", [CANARY]] for name in ("token", "action", "outcome")},
        "add": [[CANARY], [f"{CANARY} {{3}}"], [f"x\r\nA1 SELECT {CANARY}"], ["\\Deleted"], [[CANARY]]],
        "remove": [[CANARY], ["\\Seen) X ("], CANARY, [], [[CANARY]]],
        "destination": [CANARY, "../private/INBOX", f"INBOX\r\nA1 SELECT {CANARY}", "", [CANARY]],
        "permanent": [True, CANARY, [CANARY]],
        "name": [f"{CANARY}*", f"../{CANARY}", f"x\r\nA1 CREATE {CANARY}", "", "#user/private", [CANARY]],
        **dict.fromkeys(("bcc", "reply_to"), _PEOPLE),
        "reply_to_uid": [*uids, *bare, CANARY, "*", [uids[0]]],
        **{name: [f"{CANARY}\r\n.\r\nQUIT", "\0", [CANARY]] for name in ("body_text", "body_html")},
        "attachments": [
            [{"filename": "../private", "data_base64": "QUJD"}],
            [{"filename": "a\r\nX-Evil: x", "data_base64": "QUJD"}],
            [{"filename": "a", "data_base64": CANARY}],
            [{"filename": "a", "data_base64": "QUJD", "content_type": f"text/plain\r\n{CANARY}: x"}],
            [{"from_message": {"folder": CANARY, "uid": uids[0], "attachment_id": "2"}}],
            *([{"from_message": {"uid": uid, "attachment_id": "2"}}] for uid in uids),
            [CANARY],
            CANARY,
        ],
        "status": [CANARY, "", "DUE", ["due"]],
        "delivery_id": [CANARY, "", "../private", "' OR 1=1 --", "x" * 65, ["evt_"]],
        "idempotency_key": [CANARY, "", "x" * 201, [CANARY]],
        **{name: [True, CANARY, [CANARY]] for name in ("reply_all", "draft")},
        **_hostile_filters(),
    }
