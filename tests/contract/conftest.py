"""Values for every argument by its name, right ones and hostile ones, made on the shared gateway."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from tests.contract.asking import Asking
from tests.servers.gateway import Gateway
from tests.servers.mail import CANARY


@dataclass(frozen=True)
class World:
    """`good` holds, for a token, one right value for each argument name; `hostile` wrong ones that reach elsewhere."""

    asking: Mapping[str, Asking]
    good: Mapping[str, Mapping[str, Any]]
    hostile: Mapping[str, list[Any]]


@pytest.fixture(scope="session")
def world(gateway: Gateway) -> Iterator[World]:
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
        "headers": True,
        "max_chars": 40,
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
        "view": ["full", CANARY, [CANARY]],
        "headers": [True, CANARY, [CANARY]],
        "max_chars": [2_000_000, CANARY, [CANARY]],
    }
