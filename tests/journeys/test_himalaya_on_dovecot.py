"""A query in Himalaya's language finds the same messages whether Dovecot answers it or we match them ourselves."""

from __future__ import annotations

import base64
import html
import json
import random
import socket
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from postroom.base.secret import Secret
from postroom.base.tls import Endpoint
from postroom.imap.conversation import Deadlines
from postroom.imap.login import Identity
from postroom.imap.opening import open_connection
from postroom.imap.search import uid_search
from postroom.mail.model import Fetched, Shown
from postroom.mail.parse import assemble, parse_head, split_message
from postroom.mail.query.himalaya import read_himalaya
from postroom.mail.query.matching import matches
from postroom.mail.query.pushdown import split, wholly
from postroom.policy.content import Setting, read
from postroom.policy.visibility import show
from tests.servers.dovecot import PASSWORD, Dovecot

pytestmark = pytest.mark.anyio
FILE = Path(__file__).parent.parent / "mail" / "query" / "himalaya-vectors.jsonl"
VECTORS = [
    vector
    for vector in map(json.loads, FILE.read_text(encoding="utf-8").splitlines())
    if vector["valid"] and vector["gateway"] not in ("refuse", "may refuse")
]
COUNT = 500
_ENDS = "a subject is shown, and matched, without blanks at its ends"
UNLIKE = {
    "h130": _ENDS,
    "h142": _ENDS,
    "h143": _ENDS,
    "h152": "a tab in a subject is shown, and matched, as a blank",
    "h224": "a no-break space is a blank where texts are compared (RFC 5051), but not for Dovecot",
}
"""Vectors that Dovecot answers otherwise, and why."""


def leaves(tree: list[Any] | None) -> Iterator[tuple[str, str]]:
    if tree and tree[0] in ("and", "or", "not"):
        for branch in tree[1:]:
            yield from leaves(branch)
    elif tree:
        yield tree[0], tree[1]


LEAVES = sorted({leaf for vector in VECTORS for leaf in leaves(vector["ast"])})
TEXTS = sorted({value for word, value in LEAVES if word in ("from", "to", "subject", "body")})
DAYS = sorted({date.fromisoformat(value) for word, value in LEAVES if word in ("date", "before", "after")})
SYSTEM = ("seen", "answered", "flagged", "deleted", "draft")
FLAGS = sorted({f"\\{value.capitalize()}" if value in SYSTEM else value for word, value in LEAVES if word == "flag"})
ZONES = ("+0000", "-0800", "+1400", "+0530")


@dataclass(frozen=True)
class Mail:
    uid: int
    flags: frozenset[str]
    raw: bytes

    def shown(self) -> Shown:
        """As a message that was read whole."""
        content, head = assemble(split_message(self.raw)), parse_head(self.raw)
        fetched = Fetched(
            "INBOX", self.uid, 1, head, datetime(2026, 1, 1, tzinfo=UTC), len(self.raw), self.flags, False
        )
        shown = show(fetched, str(self.uid), read(content, head, Setting()))
        assert shown
        return shown


def mail(uid: int, chance: random.Random) -> Mail:
    words = [spelled(chance.choice(TEXTS), chance) for _ in range(4)]
    day = chance.choice(DAYS) + timedelta(days=chance.randint(-1, 1))
    told = f"{day.day} {'JanFebMarAprMayJunJulAugSepOctNovDec'[3 * day.month - 3 :][:3]} {day.year:04}"
    lines = [
        f"From: {encoded(words[0])} <{chance.choice(('alice', 'bob'))}@example.org>",
        f"To: {encoded(words[1])} <{chance.choice(('team', 'x'))}@example.org>",
        f"Cc: {encoded(chance.choice(TEXTS))} <cc@example.org>",
        f"Subject: {encoded(f'Re: {words[2]}')}",
        *([f"Date: {told} 23:30:00 {chance.choice(ZONES)}"] if uid % 25 else []),
        f"Message-ID: <{uid}@ids.test>",
        "MIME-Version: 1.0",
        f"Content-Type: text/{'html' if uid % 10 == 0 else 'plain'}; charset=utf-8",
        "Content-Transfer-Encoding: base64",
        "",
        base64.encodebytes(text(words[3], is_html=uid % 10 == 0).encode()).decode().replace("\n", "\r\n"),
    ]
    flags = frozenset(flag for flag in FLAGS if chance.random() < 0.3)
    return Mail(uid, flags, "\r\n".join(lines).encode())


def text(words: str, *, is_html: bool) -> str:
    return f"<p>Some {html.escape(words)} words.</p>\r\n" if is_html else f"Some {words} words.\r\n"


def spelled(words: str, chance: random.Random) -> str:
    """As somebody else may write it: in the other case, and decomposed."""
    words = words if chance.random() < 0.7 else words.swapcase()
    return unicodedata.normalize(chance.choice(("NFC", "NFD")), words)


def encoded(words: str) -> str:
    return f"=?utf-8?b?{base64.b64encode(words.encode()).decode()}?="


def deliver(server: Dovecot, user: str, mails: Sequence[Mail]) -> None:
    """All in one MULTIAPPEND (RFC 3502)."""
    with socket.create_connection(("127.0.0.1", server.port)) as wire, wire.makefile("rwb") as file:
        file.readline()
        file.write(f"a LOGIN {user} {PASSWORD}\r\nb APPEND INBOX".encode())
        for one in mails:
            file.write(f" ({' '.join(sorted(one.flags))}) {{{len(one.raw)}+}}\r\n".encode() + one.raw)
        file.write(b"\r\nc LOGOUT\r\n")
        file.flush()
        assert any(line.startswith(b"b OK") for line in file), "not delivered"


async def test_dovecot_and_our_own_matching_agree_about_every_message_and_query(dovecot: Dovecot) -> None:
    chance = random.Random(5)
    mails = [mail(uid, chance) for uid in range(1, COUNT + 1)]
    deliver(dovecot, "himalaya", mails)
    shown = {one.uid: one.shown() for one in mails}
    identity = Identity("himalaya", Secret(PASSWORD), "password")
    connection = await open_connection(Endpoint("127.0.0.1", dovecot.port, "none"), identity, Deadlines(5.0, 20.0))
    await connection.select(b"INBOX", read_only=True)
    unlike: dict[str, tuple[list[int], list[int]]] = {}
    lively = 0
    for vector in VECTORS:
        query = read_himalaya(vector["query"]).query
        found = set(await uid_search(connection, split(query, wholly).asked, 1, COUNT))
        own = {uid for uid, one in shown.items() if matches(query, one, uid)}
        lively += 0 < len(own) < COUNT
        if found != own:
            unlike[vector["id"]] = sorted(found - own), sorted(own - found)
    connection.close()
    assert unlike.keys() == UNLIKE.keys(), unlike
    assert lively > len(VECTORS) // 2, "most queries find some messages and not others"
