"""Commands that change mail: what goes out, and what is made of what the server tells."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.imap import changes
from postroom.imap.changes import Copied, batches, is_flag, write_internal_date
from postroom.imap.commands import read_internal_date
from postroom.imap.connection import Connection
from postroom.imap.faults import RefusedFault
from postroom.imap.wire import MAX_UID, sequence_set
from tests.imap.test_connection import logged_in
from tests.servers.peer import Peer

pytestmark = pytest.mark.anyio

Ask = Callable[[Connection], Awaitable[Any]]


async def asked(ask: Ask, *lines: bytes, status: bytes = b"OK done", capabilities: bytes = b"IMAP4rev1") -> Any:
    """The command's line, and what the function made of this answer to it."""

    async def server(peer: Peer) -> None:
        await peer.lets_in(capabilities)
        await peer.answers(*lines, status=status)
        await peer.hangs()

    async with logged_in(server) as (connection, peer):
        told = await ask(connection)
        return peer.heard[-1].partition(b" ")[2], told


async def test_flags_go_out_as_one_set_and_what_is_told_of_these_messages_comes_back() -> None:
    news = [b"* 1 FETCH (UID 3 FLAGS (\\Seen x))", b"* 2 FETCH (UID 5 FLAGS (\\Seen))"]
    line, told = await asked(lambda one: changes.uid_store(one, [5, 3, 4], "+", ["\\Seen"]), *news)
    assert line == b"UID STORE 3:5 +FLAGS (\\Seen)"
    assert {uid: items.flags for uid, items in told.items()} == {3: {"\\Seen", "x"}, 5: {"\\Seen"}}


@pytest.mark.parametrize(
    ("line", "news"),
    [
        (b"* 1 FETCH (UID 3 FLAGS (\\Seen))", 0),
        (b"* 2 FETCH (UID 5 FLAGS (\\Seen))", 1),
        (b"* 1 FETCH (FLAGS (\\Seen))", 1),
        (b"* 9 EXPUNGE", 1),
        (b"* FLAGS (\\Seen new)", 0),
    ],
    ids=["our own", "another message", "nobody knows which", "a message is gone", "a new keyword"],
)
async def test_what_a_store_tells_of_its_own_messages_is_no_news(line: bytes, news: int) -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in()
        await peer.opens()
        await peer.answers(line)

    async with logged_in(server) as (connection, _):
        await connection.select(b"INBOX", read_only=False)
        before = connection.news
        await changes.uid_store(connection, [3], "+", ["\\Seen"])
        assert connection.news - before == news


async def test_a_silent_store_makes_what_was_known_of_flags_old() -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in()
        await peer.answers()

    async with logged_in(server) as (connection, peer):
        before = connection.news
        await changes.uid_store(connection, [3], "+", ["\\Deleted"], silent=True)
        assert connection.news == before + 1
        assert peer.heard[-1].endswith(b"UID STORE 3 +FLAGS.SILENT (\\Deleted)")


@pytest.mark.parametrize(
    "flag", ["a b", "", "a)", "(", "{3}", 'x"', "%", "*", "\\", "\\*", "a]", "x\r\nA1 NOOP", "ä", "a\x7f"]
)
async def test_what_is_no_flag_never_goes_out(flag: str) -> None:
    assert not is_flag(flag)
    for ask in (
        lambda one: changes.uid_store(one, [3], "+", ["ok", flag]),
        lambda one: changes.append(one, b"Drafts", b"x", [flag]),
    ):
        with pytest.raises(ValueError, match="no atom"):
            await asked(ask)


async def test_labels_go_out_quoted_encoded_or_as_gmail_s_own() -> None:
    labels = ["\\Inbox", 'with "quote"', "par (en)", "жз", "x\r\nA1 LOGOUT", "\\Seen) X ("]
    line, _ = await asked(
        lambda one: changes.uid_store_labels(one, [5], "-", labels), capabilities=b"IMAP4rev1 LITERAL+"
    )
    assert line.removeprefix(b"UID STORE 5 ") == (
        b'-X-GM-LABELS (\\Inbox "with \\"quote\\"" "par (en)" "&BDYENw-" "x&AA0ACg-A1 LOGOUT" "\\\\Seen) X (")'
    )


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        ([b"* OK [COPYUID 9 3,5:6 12:14] ok", b"* 1 EXPUNGE"], b"OK done"),
        ([], b"OK [COPYUID 9 3,5:6 12:14] done"),
        ([b"* OK [COPYUID 9 3 12] ok", b"* OK [COPYUID 9 5:6 13:14] ok"], b"OK done"),
        ([], b"OK [COPYUID 9 3,6:5 14:12] done"),
        ([b"* OK [COPYUID 9 3,5:6 12:14] ok"], b"NO it broke"),
    ],
    ids=["untagged", "tagged", "in parts", "turned round", "before a refusal"],
)
async def test_new_uids_are_told_wherever_they_stand(lines: list[bytes], status: bytes) -> None:
    line, told = await asked(lambda one: changes.uid_move(one, [3, 5, 6], b"Box"), *lines, status=status)
    assert line == b'UID MOVE 3,5:6 "Box"'
    assert told.copied == Copied(9, {3: 12, 5: 13, 6: 14})
    assert (told.refused is not None) is status.startswith(b"NO")


@pytest.mark.parametrize(
    "code",
    [b"", b"9", b"9 3", b"9 3:4 12", b"x 3 12", b"9 0 12", b"9 3 x", b"9 1:4294967295 1:4294967295", b"9 3 4294967296",
     b"9 (3) 12", b"9 3, 12,", b"9 * *"],
)  # fmt: skip
async def test_new_uids_that_make_no_sense_are_none(code: bytes) -> None:
    _, told = await asked(lambda one: changes.uid_copy(one, [3, 5], b"Box"), status=b"OK [COPYUID " + code + b"] done")
    assert told.copied is None


async def test_where_messages_went_that_nobody_asked_for_is_not_told() -> None:
    status = b"OK [COPYUID 9 3:4 12:13] done"
    _, told = await asked(lambda one: changes.uid_copy(one, [3, 5], b"Box"), status=status)
    assert told.copied == Copied(9, {3: 12})


async def test_only_these_are_expunged() -> None:
    line, _ = await asked(lambda one: changes.uid_expunge(one, [7, 5]))
    assert line == b"UID EXPUNGE 5,7"


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (b"OK [APPENDUID 9 12] done", (9, 12)),
        (b"OK done", None),
        (b"OK [APPENDUID 9] done", None),
        (b"OK [APPENDUID 9 0] done", None),
        (b"OK [APPENDUID x 1] done", None),
    ],
)
async def test_a_message_is_filed_as_a_literal_whatever_it_holds(status: bytes, told: tuple[int, int] | None) -> None:
    moment = datetime(2026, 3, 3, 10, 5, tzinfo=timezone(timedelta(hours=1)))

    async def server(peer: Peer) -> None:
        await peer.lets_in(b"IMAP4rev1 LITERAL+")
        tag, _, line = (await peer.hears()).partition(b" ")
        assert line == b'APPEND "Drafts" (\\Draft \\Seen) " 3-Mar-2026 09:05:00 +0000" {6+}'
        assert await peer.reader.readexactly(8) == b"\xc3\xa4 \xff\r\n\r\n"
        await peer.says(tag + b" " + status)

    async with logged_in(server) as (connection, _):
        flags = ["\\Draft", "\\Seen"]
        assert await changes.append(connection, b"Drafts", b"\xc3\xa4 \xff\r\n", flags, moment) == told


async def test_a_message_waits_for_the_server_s_word_where_it_must() -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in()
        tag, _, line = (await peer.hears()).partition(b" ")
        assert line == b'APPEND "Drafts" () {5}'
        await peer.says(b"+ go on")
        assert await peer.reader.readexactly(7) == b"plain\r\n"
        await peer.says(tag + b" OK [APPENDUID 9 12] done")

    async with logged_in(server) as (connection, _):
        assert await changes.append(connection, b"Drafts", b"plain", []) == (9, 12)


async def test_a_folder_is_made_or_there_already() -> None:
    assert await asked(lambda one: changes.create(one, b"A&-B")) == (b'CREATE "A&-B"', True)
    line, made = await asked(lambda one: changes.create(one, b"A"), status=b"NO [ALREADYEXISTS] there")
    assert (line, made) == (b'CREATE "A"', False)
    with pytest.raises(RefusedFault):
        await asked(lambda one: changes.create(one, b"A"), status=b"NO [CANNOT] no")


@given(st.datetimes(datetime(1000, 1, 1), datetime(9998, 12, 31)))
def test_a_date_that_goes_out_comes_back(moment: datetime) -> None:
    told = moment.replace(tzinfo=UTC, microsecond=0)
    assert read_internal_date(write_internal_date(told).encode()) == told


@given(st.sets(st.integers(1, MAX_UID), max_size=600))
def test_batches_are_all_uids_once_ascending_in_short_lines(uids: set[int]) -> None:
    parts = list(batches(uids))
    assert [uid for part in parts for uid in part] == sorted(uids)
    assert all(0 < len(sequence_set(part)) <= 4_000 for part in parts)


def test_the_longest_list_takes_two_lines() -> None:
    assert len(list(batches(range(MAX_UID - 1_000, MAX_UID, 2)))) == 2
