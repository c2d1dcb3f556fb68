"""A query in Himalaya's language on the wire: the program that Himalaya sends, or one that means the same."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from postroom.base.secret import Secret
from postroom.base.tls import Endpoint
from postroom.imap.connection import Connection
from postroom.imap.conversation import Deadlines
from postroom.imap.login import Identity
from postroom.imap.opening import open_connection
from postroom.imap.search import uid_search, uid_sort
from postroom.mail.query.filters import imap_date
from postroom.mail.query.himalaya import read_himalaya
from postroom.mail.query.pushdown import split, wholly
from postroom.mail.query.sorting import order_by
from tests.servers.peer import Listening, Peer, listening

pytestmark = pytest.mark.anyio
FILE = Path(__file__).parent.parent / "mail" / "query" / "himalaya-vectors.jsonl"
VECTORS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
SENT = [one for one in VECTORS if one["imap_search"] and one["gateway"] not in ("refuse", "may refuse")]
TOKEN = re.compile(rb' *(?:([()])|"((?:[^"\\]|\\.)*)"|\{(\d+)\+?\}\r\n|([^ ()"{]+))', re.DOTALL)


@asynccontextmanager
async def asked() -> AsyncIterator[tuple[Connection, Listening]]:
    """A connection with INBOX open to a server that can sort and finds nothing."""

    async def conversation(peer: Peer) -> None:
        await peer.lets_in(b"IMAP4rev1 SORT")
        await peer.opens(exists=9)
        while True:
            command = await peer.hears()
            while size := re.search(rb"\{(\d+)\}$", command):
                await peer.says(b"+ go on")
                command += b"\r\n" + await peer.reader.readexactly(int(size[1])) + await peer.hears()
            peer.heard.append(command)
            kind = b"SORT" if b"UID SORT" in command else b"SEARCH"
            await peer.says(b"* " + kind, command.partition(b" ")[0] + b" OK done")

    async with listening(conversation) as peer:
        identity = Identity("ana", Secret("pass"), "password")
        connection = await open_connection(Endpoint("127.0.0.1", peer.port, "none"), identity, Deadlines(5.0, 20.0))
        await connection.select(b"INBOX", read_only=True)
        yield connection, peer
        connection.close()


def tokens(program: bytes) -> Iterator[str]:
    at = 0
    while match := TOKEN.match(program, at):
        at = match.end()
        parenthesis, quoted, length, atom = match.groups()
        if length:
            yield program[at : at + int(length)].decode()
            at += int(length)
        else:
            yield (parenthesis or atom or re.sub(rb"\\(.)", rb"\1", quoted)).decode()
    assert not program[at:].strip(), program


def meaning(program: bytes) -> Any:
    """As a conjunction of keys: flat, without an order, and with not at single keys alone."""
    words = tokens(program)
    return joined("and", list(iter(lambda: key(words, True), None)))


def joined(word: str, terms: list[Any]) -> Any:
    flat = [one for term in terms for one in (term[1] if term[0] == word else [term])]
    return flat[0] if len(flat) == 1 else (word, frozenset(flat))


def key(words: Iterator[str], wanted: bool) -> Any:
    """The next key, or its opposite; None at the end and at a closing parenthesis."""
    word = next(words, ")")
    if word == ")":
        return None
    if word == "(":
        return joined("and" if wanted else "or", list(iter(lambda: key(words, wanted), None)))
    if word == "NOT":
        return key(words, not wanted)
    if word == "OR":
        return joined("or" if wanted else "and", [key(words, wanted), key(words, wanted)])
    return condition(word, words, wanted)


def condition(word: str, words: Iterator[str], wanted: bool) -> Any:
    if word == "ALL":
        return ("and" if wanted else "or", frozenset())
    if word.startswith("SENT"):
        return sent(word, imap_date(next(words)), wanted)
    if word.startswith("UN"):
        return condition(word[2:], words, not wanted)
    if word in ("SEEN", "ANSWERED", "FLAGGED", "DELETED", "DRAFT"):
        return (word, wanted)
    return (word, unicodedata.normalize("NFC", next(words)), wanted)


def sent(word: str, day: date | None, wanted: bool) -> Any:
    assert day
    if word == "SENTON":
        terms = [sent("SENTSINCE", day, wanted), sent("SENTBEFORE", day + timedelta(days=1), wanted)]
        return joined("and" if wanted else "or", terms)
    return ("SENTSINCE", day, (word == "SENTSINCE") is wanted)


async def test_the_program_that_is_sent_means_what_himalaya_sends_and_names_a_charset_when_it_must() -> None:
    async with asked() as (connection, peer):
        for vector in SENT:
            query = split(read_himalaya(vector["query"]).query, wholly).asked
            await uid_search(connection, query, 1, 9)
            sent_line = peer.heard[-1].partition(b" UID SEARCH ")[2]
            charset = "UTF-8" if sent_line.startswith(b"CHARSET UTF-8 ") else None
            assert charset == vector["charset"], vector["id"]
            program = sent_line.removeprefix(b"CHARSET UTF-8 ").removeprefix(b"UID 1:9").removesuffix(b"\r\n")
            wire = vector["imap_search"].encode()
            assert meaning(program) == meaning(wire), vector["id"]


async def test_the_order_that_is_asked_for_is_the_one_that_himalaya_asks_for() -> None:
    ordered = [one for one in SENT if one["sort"]]
    async with asked() as (connection, peer):
        for vector in ordered:
            found = read_himalaya(vector["query"])
            await uid_sort(connection, split(found.query, wholly).asked, order_by(found.sort).criteria)
            told = re.search(rb"UID SORT \(([A-Z ]+)\) UTF-8", peer.heard[-1])
            assert told
            assert told[1].decode() == without_repeats(vector["imap_sort"]), vector["id"]


def without_repeats(criteria: str) -> str:
    """A key that has been named before settles nothing."""
    keys = {name: sign for sign, name in reversed(re.findall(r"(REVERSE )?([A-Z]+)", criteria))}
    named = dict.fromkeys(re.findall(r"(?:REVERSE )?([A-Z]+)", criteria))
    return " ".join(f"{keys[name]}{name}" for name in named)
