"""Searches on the wire: one command whatever is looked for, and answers of every kind read alike."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime

import pytest

from postroom.base.secret import Secret
from postroom.base.tls import Endpoint
from postroom.imap.connection import Connection
from postroom.imap.conversation import Deadlines
from postroom.imap.faults import RefusedFault
from postroom.imap.login import Identity
from postroom.imap.opening import open_connection
from postroom.imap.search import Hits, uid_search, uid_sort
from postroom.mail.query.tree import And, Before, Body, Flag, Header, Larger, Not, Or, Query, SentSince, Since, Uids
from tests.servers.peer import Listening, Peer, listening

pytestmark = pytest.mark.anyio

Answer = tuple[Sequence[bytes], bytes]
ANA = Header("from", "ana")


@asynccontextmanager
async def searching(
    *answers: Answer, capabilities: bytes = b"IMAP4rev1", exists: int = 9
) -> AsyncIterator[tuple[Connection, Listening]]:
    """A connection with INBOX open, and a peer that answers the searches in turn."""

    async def conversation(peer: Peer) -> None:
        await peer.lets_in(capabilities)
        await peer.opens(exists=exists)
        for lines, status in answers:
            command = await peer.hears()
            while size := re.search(rb"\{(\d+)(\+?)\}$", command):
                if not size[2]:
                    await peer.says(b"+ go on")
                literal = await peer.reader.readexactly(int(size[1]))
                command = command[: size.start()] + b"<" + literal + b">" + await peer.hears()
                peer.heard[-2:] = [command]
            tag = command.partition(b" ")[0]
            await peer.says(*(line.replace(b"(TAG)", b'(TAG "%s")' % tag) for line in lines), tag + b" " + status)

    async with listening(conversation) as peer:
        identity = Identity("ana", Secret("pass"), "password")
        connection = await open_connection(Endpoint("127.0.0.1", peer.port, "none"), identity, Deadlines(5.0, 20.0))
        await connection.select(b"INBOX", read_only=True)
        yield connection, peer
        connection.close()


def sent(peer: Listening) -> bytes:
    """The last command without its tag."""
    return peer.heard[-1].partition(b" ")[2]


FOUND: Answer = ([b"* SEARCH 3 5"], b"OK done")


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        (ANA, b'FROM "ana"'),
        (And((Flag("\\Seen"), Flag("$Work"), Not(Flag("\\Draft")))), b"SEEN KEYWORD $Work UNDRAFT"),
        (Or((ANA, Flag("\\Seen"), Larger(5))), b'OR FROM "ana" OR SEEN LARGER 5'),
        (Or((And((ANA, Larger(5))), Not(Body("x")))), b'OR (FROM "ana" LARGER 5) NOT BODY "x"'),
        (Header("list-id", 'a "q" \\'), b'HEADER "list-id" "a \\"q\\" \\\\"'),
        (Header("subject", ""), b'HEADER "subject" ""'),
        (Since(datetime(2026, 3, 1, tzinfo=UTC)), b"SINCE 1-Mar-2026"),
        (Before(datetime(2026, 12, 31, tzinfo=UTC)), b"BEFORE 31-Dec-2026"),
        (SentSince(date(2026, 5, 9)), b"SENTSINCE 9-May-2026"),
        (Uids(((1, 4), (7, 7))), b"UID 1:4,7:7"),
        (Body("a\r\nP9 LOGOUT"), b'BODY <a\r\nP9 LOGOUT>'),
        (Header("subject", "\t) OR (ALL"), b"SUBJECT <\t) OR (ALL>"),
    ],
)  # fmt: skip
async def test_a_query_is_one_command(query: Query, keys: bytes) -> None:
    async with searching(FOUND) as (connection, peer):
        assert list(await uid_search(connection, query, 1, 9)) == [3, 5]
        assert sent(peer) == b"UID SEARCH UID 1:9 " + keys


@pytest.mark.parametrize("flag", ["a b", "a)", "\\Unknown", "é", "", "x\r\nLOGOUT"])
async def test_what_is_no_keyword_is_never_sent(flag: str) -> None:
    async with searching() as (connection, _):
        with pytest.raises(ValueError, match="an atom"):
            await uid_search(connection, Flag(flag), 1, 9)


@pytest.mark.parametrize(("capabilities", "sign"), [(b"IMAP4rev1", b""), (b"IMAP4rev1 LITERAL+", b"+")])
async def test_a_charset_is_named_only_for_what_needs_one(capabilities: bytes, sign: bytes) -> None:
    async with searching(FOUND, FOUND, capabilities=capabilities) as (connection, peer):
        await uid_search(connection, Header("subject", "教育"), 1, 9)
        assert sent(peer) == "UID SEARCH CHARSET UTF-8 UID 1:9 SUBJECT <教育>".encode()
        await uid_search(connection, ANA, 1, 9)
        assert b"CHARSET" not in sent(peer)


@pytest.mark.parametrize(
    ("line", "uids"),
    [
        (b"* SEARCH 5 3 3 7", [3, 5, 7]),
        (b"* SEARCH", []),
        (b"* OK nothing told", []),
        (b"* SEARCH 3 7 (MODSEQ 51234)", [3, 7]),
        (b"* SEARCH 1 2 5 900 99999999999 x", [5]),
        (b"* SEARCH 3,5:6 7", [3, 5, 6, 7]),
        (b"* ESEARCH (TAG) UID ALL 3:5,7", [3, 4, 5, 7]),
    ],
)
async def test_an_answer_of_the_old_kind(line: bytes, uids: list[int]) -> None:
    async with searching(([line], b"OK done")) as (connection, _):
        assert list(await uid_search(connection, ANA, 3, 9)) == uids


@pytest.mark.parametrize(
    ("line", "uids"),
    [
        (b"* ESEARCH (TAG) UID ALL 3:5,7", [3, 4, 5, 7]),
        (b"* ESEARCH (TAG) UID", []),
        (b"* ESEARCH (TAG) UID COUNT 0", []),
        (b'* esearch (TAG) uid count 2 all "3,5"', [3, 5]),
        (b"* ESEARCH UID ALL 3,5", [3, 5]),
        (b"* ESEARCH (TAG) UID MIN 3 ALL 5 MODSEQ 7", [5]),
        (b"* ESEARCH (TAG) UID ALL 7:5,5:6", [5, 6, 7]),
        (b"* SEARCH 3 5", [3, 5]),
    ],
)
async def test_an_answer_of_the_new_kind(line: bytes, uids: list[int]) -> None:
    async with searching(([line], b"OK done"), capabilities=b"IMAP4rev1 ESEARCH") as (connection, peer):
        hits = await uid_search(connection, ANA, 1, 9, newest=2)
        assert (list(hits), list(reversed(hits)), hits.cut) == (uids, uids[::-1], False)
        assert sent(peer) == b'UID SEARCH RETURN (ALL) UID 1:9 FROM "ana"'


async def test_the_newest_alone_are_asked_for_where_that_can_be_said() -> None:
    told = ([b"* ESEARCH (TAG) UID PARTIAL (-1:-2 7,9)"], b"OK done")
    async with searching(told, capabilities=b"IMAP4rev1 ESEARCH PARTIAL") as (connection, peer):
        assert await uid_search(connection, ANA, 1, 9, newest=2) == Hits(((7, 7), (9, 9)), cut=True)
        assert sent(peer).startswith(b"UID SEARCH RETURN (PARTIAL -1:-2) UID")


async def test_no_hit_in_a_partial_answer_is_nil() -> None:
    told = ([b"* ESEARCH (TAG) UID PARTIAL (-1:-2 NIL)"], b"OK done")
    async with searching(told, capabilities=b"IMAP4rev1 PARTIAL") as (connection, _):
        assert await uid_search(connection, ANA, 1, 9, newest=2) == Hits(())


@pytest.mark.parametrize(
    "first",
    [
        ([], b"BAD RETURN?"),
        ([b"* ESEARCH (TAG) UID ALL (3"], b"OK done"),
        ([b"* ESEARCH (TAG) UID ALL 1:9"], b"OK done"),
        ([b"* ESEARCH (TAG) UID ALL 3:*"], b"OK done"),
        ([b"* ESEARCH (TAG) UID ALL 0"], b"OK done"),
        ([b"* ESEARCH (TAG) UID ALL 3 ,5"], b"OK done"),
        ([b"* ESEARCH (TAG) UID ALL (3 5)"], b"OK done"),
        ([b"* ESEARCH (TAG) UID COUNT 2 MIN 3 MAX 5"], b"OK done"),
        ([b"* ESEARCH (TAG) ALL 1:2"], b"OK done"),
        ([b'* ESEARCH (TAG "A9") UID ALL 4'], b"OK done"),
        ([], b"OK done"),
        ([], b"NO not in this form"),
        ([b"* ESEARCH (TAG) UID ALL " + b"3," * 600_000 + b"5"], b"OK done"),
    ],
    ids=[
        *("refused", "garbled", "more than there are messages", "to the last", "zero", "blank", "list", "no numbers"),
        *("message numbers", "of another command", "nothing at all", "refused by NO", "too long"),
    ],
)
async def test_a_new_answer_that_is_no_use_is_asked_for_in_the_old_way(first: Answer) -> None:
    async with searching(first, FOUND, capabilities=b"IMAP4rev1 ESEARCH", exists=4) as (connection, peer):
        assert list(await uid_search(connection, ANA, 1, 9)) == [3, 5]
        assert sent(peer) == b'UID SEARCH UID 1:9 FROM "ana"'


async def test_hits_that_are_told_without_their_numbers_are_not_passed_over() -> None:
    async with searching(([b"* ESEARCH (TAG) UID COUNT 3"], b"OK done")) as (connection, _):
        with pytest.raises(RefusedFault):
            await uid_search(connection, ANA, 1, 9)


async def test_a_sort_without_an_answer_is_none() -> None:
    async with searching(([], b"OK done"), capabilities=b"IMAP4rev1 SORT") as (connection, _):
        assert await uid_sort(connection, ANA, "DATE") is None


async def test_a_refusal_is_raised() -> None:
    async with searching(([], b"NO [BADCHARSET (US-ASCII)] no")) as (connection, _):
        with pytest.raises(RefusedFault) as told:
            await uid_search(connection, Header("subject", "é"), 1, 9)
        assert (told.value.code, told.value.unknown) == ("BADCHARSET", False)


async def test_what_fits_nothing_is_not_asked() -> None:
    async with searching(capabilities=b"IMAP4rev1 SORT") as (connection, peer):
        assert list(await uid_search(connection, Or(()), 1, 9)) == []
        assert await uid_sort(connection, Or(()), "DATE") == []
        assert b"EXAMINE" in peer.heard[-1]


async def test_three_hundred_thousand_hits_take_a_second() -> None:
    line = b"* SEARCH " + b" ".join(b"%d" % uid for uid in range(1, 600_000, 2))
    async with searching(([line], b"OK done"), exists=600_000) as (connection, _):
        started = time.monotonic()
        hits = await uid_search(connection, ANA, 1, 600_000)
        assert len(hits) == 300_000
        assert time.monotonic() - started < 5


async def test_a_range_of_four_thousand_million_costs_nothing() -> None:
    told = ([b"* ESEARCH (TAG) UID ALL 1:4294967295"], b"OK done")
    async with searching(told, FOUND, capabilities=b"IMAP4rev1 ESEARCH") as (connection, _):
        assert list(await uid_search(connection, ANA, 1, 4294967295)) == [3, 5]


async def test_a_server_that_sorts_is_asked_to() -> None:
    async with searching(([b"* SORT 5 3 9"], b"OK done"), capabilities=b"IMAP4rev1 SORT") as (connection, peer):
        assert await uid_sort(connection, Header("subject", "é"), "REVERSE DATE") == [5, 3, 9]
        assert sent(peer) == "UID SORT (REVERSE DATE) UTF-8 SUBJECT <é>".encode()


@pytest.mark.parametrize("capabilities", [b"IMAP4rev1", b"IMAP4rev1 SORT XAPPLEPUSHSERVICE"])
async def test_one_that_does_not_or_only_says_so_is_not(capabilities: bytes) -> None:
    async with searching(capabilities=capabilities) as (connection, _):
        assert await uid_sort(connection, ANA, "DATE") is None
