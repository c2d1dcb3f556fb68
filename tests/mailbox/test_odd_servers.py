"""A mailbox over servers that tell things wrongly: what can be read is read, and one bad message spoils no other."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from postroom.base.clock import HandClock
from postroom.base.errors import Code, GatewayError
from postroom.base.seal import KeyRing, Seal
from postroom.base.secret import Secret
from postroom.base.tls import Endpoint
from postroom.config import FoldersConfig
from postroom.imap.admission import Server
from postroom.imap.conversation import Deadlines
from postroom.imap.pool import Pool
from postroom.mail.model import Fetched, Shown
from postroom.mailbox.account import Account
from postroom.mailbox.cursors import Cursors, Position
from postroom.mailbox.listing import Page, read_page
from postroom.mailbox.uids import read_uid, write_uid
from postroom.policy.visibility import show
from tests.servers.peer import Conversation, Listening, Peer, listening

pytestmark = pytest.mark.anyio

Answer = tuple[list[bytes], bytes]
"""Lines and the status after the tag."""
OK = b"OK done"


def serving(answer: Callable[[bytes], Answer | None], capabilities: bytes = b"IMAP4rev1") -> Conversation:
    """A server that answers each command as told, OK to what it is told nothing about, and leaves at None."""

    async def conversation(peer: Peer) -> None:
        await peer.lets_in(capabilities)
        while True:
            tag, _, command = (await peer.hears()).partition(b" ")
            told = answer(command)
            if told is None:
                return
            lines, status = told
            await peer.says(*lines, tag + b" " + status)

    return conversation


@asynccontextmanager
async def account_at(*conversations: Conversation) -> AsyncIterator[tuple[Account, Listening]]:
    async def secret() -> Secret:
        return Secret("pass")

    async with listening(*conversations) as peer:
        server = Server(Endpoint("127.0.0.1", peer.port, "none"), "ana", "password", secret, Deadlines(2.0, 2.0), 2)
        account = Account("work", Pool(server, HandClock()), FoldersConfig())
        yield account, peer
        account.close()


def opened(exists: int, uid_next: int = 8, uid_validity: int = 17) -> Answer:
    codes = [b"* OK [UIDVALIDITY %d] ok" % uid_validity, b"* OK [UIDNEXT %d] ok" % uid_next]
    return [b"* %d EXISTS" % exists, *codes], OK


def row(uid: int, subject: str = "Fine") -> bytes:
    header = b"Subject: %s\r\n\r\n" % subject.encode()
    return b"* 1 FETCH (UID %d FLAGS () BODY[HEADER.FIELDS (SUBJECT)]<0> {%d}\r\n%s)" % (uid, len(header), header)


def asked_uids(command: bytes) -> set[int]:
    """Those of 3, 5 and 7 that a UID FETCH or UID SEARCH names."""
    found = re.search(rb"UID (?:FETCH|SEARCH UID) (\S+)", command)
    assert found, command
    runs = [run.partition(b":") for run in found[1].replace(b"*", b"4294967295").split(b",")]
    return {uid for uid in (3, 5, 7) if any(int(low) <= uid <= int(high or low) for low, _, high in runs)}


def shown(fetched: Fetched) -> Shown | None:
    return show(fetched, write_uid(fetched.uid, fetched.uid_validity))


async def rows(folder: Any, told: Sequence[Fetched]) -> list[Shown | None]:
    return [shown(row) for row in told]


async def page_of(account: Account, limit: int = 10) -> Page:
    async with account.open("INBOX") as folder:
        return await read_page(folder, below=None, limit=limit, show=rows)


def subjects(page: Page) -> dict[str, str | None]:
    return {row.uid: row.head.subject for row in page.rows}


async def test_a_message_that_the_server_cannot_tell_takes_no_other_with_it() -> None:
    def answer(command: bytes) -> Answer:
        if command.startswith(b"EXAMINE"):
            return opened(3)
        uids = asked_uids(command)
        if command.startswith(b"UID SEARCH"):
            return [b"* SEARCH " + b" ".join(b"%d" % uid for uid in uids)], OK
        return ([], b"NO [SERVERBUG] cannot render") if 5 in uids else ([row(uid) for uid in uids], OK)

    async with account_at(serving(answer)) as (account, _):
        page = await page_of(account)
    assert subjects(page) == {"7-17": "Fine", "5-17": None, "3-17": "Fine"}
    assert page.incomplete is not None


async def test_a_server_that_can_tell_no_message_is_told_as_refusing() -> None:
    def answer(command: bytes) -> Answer:
        if command.startswith(b"EXAMINE"):
            return opened(3)
        return ([b"* SEARCH 3 5 7"], OK) if command.startswith(b"UID SEARCH") else ([], b"NO [CANNOT] not now")

    async with account_at(serving(answer)) as (account, _):
        with pytest.raises(GatewayError) as caught:
            await page_of(account)
    assert (caught.value.code, caught.value.details["reason"]) == (Code.IMAP_ERROR, "command_refused")


@pytest.mark.parametrize(
    "told", [b"* 2 FETCH (UID 5 FLAGS ())", b"* 2 FETCH (UID 5 BODY[HEADER.FIELDS (SUBJECT)] NIL)"]
)
async def test_a_message_without_header_fields_keeps_its_place_in_the_list(told: bytes) -> None:
    def answer(command: bytes) -> Answer:
        return opened(2) if command.startswith(b"EXAMINE") else ([row(7), told], OK)

    async with account_at(serving(answer)) as (account, _):
        assert subjects(await page_of(account)) == {"7-17": "Fine", "5-17": None}


async def test_a_row_without_its_uid_is_found_by_asking_which_there_are() -> None:
    def answer(command: bytes) -> Answer:
        if command.startswith(b"EXAMINE"):
            return opened(2)
        if command.startswith(b"UID SEARCH"):
            return [b"* SEARCH 5 7"], OK
        rows = [row(uid) for uid in asked_uids(command) - {3}]
        return [told.replace(b"UID 5 ", b"") for told in rows], OK

    async with account_at(serving(answer)) as (account, _):
        assert subjects(await page_of(account)) == {"7-17": "Fine", "5-17": "Fine"}


async def test_rows_that_nobody_asked_for_are_not_listed() -> None:
    def answer(command: bytes) -> Answer:
        if command.startswith(b"EXAMINE"):
            return opened(2, uid_next=100_000)
        if command.startswith(b"UID SEARCH"):
            return [b"* SEARCH 3"], OK
        return [row(3), row(7, "Not asked for")], OK

    async with account_at(serving(answer)) as (account, _):
        assert subjects(await page_of(account)) == {"3-17": "Fine"}


@pytest.mark.parametrize("uid_next", [0, 1, 2, 2**40])
async def test_a_uidnext_that_cannot_be_is_not_believed(uid_next: int) -> None:
    def answer(command: bytes) -> Answer:
        if command.startswith(b"EXAMINE"):
            return opened(2, uid_next)
        return [row(uid) for uid in (asked_uids(command) - {3} or {7})], OK

    async with account_at(serving(answer)) as (account, peer):
        assert subjects(await page_of(account)) == {"7-17": "Fine", "5-17": "Fine"}
        assert not any(re.search(rb"\d{11}", command) for command in peer.heard)


async def test_messages_that_are_named_and_never_given_end_the_list_with_a_word_about_it() -> None:
    every_uid = b"* SEARCH " + b" ".join(b"%d" % uid for uid in range(1, 300_001))

    def answer(command: bytes) -> Answer:
        if command.startswith(b"EXAMINE"):
            return opened(300_000, uid_next=300_001)
        return ([every_uid] if b"SEARCH" in command else []), OK

    async with account_at(serving(answer)) as (account, peer):
        page = await page_of(account, limit=1)
    assert page.rows == ()
    assert page.incomplete == "only the newest 5,000 messages were looked at"
    assert len(peer.heard) < 130  # 5,000 messages, 64 to a command, and the searches


@pytest.mark.parametrize("uid_validity", [0, 1_772_530_000_123])
async def test_an_id_is_good_whatever_the_server_numbers_its_folders_with(uid_validity: int) -> None:
    def answer(command: bytes) -> Answer:
        return opened(1, uid_validity=uid_validity) if command.startswith(b"EXAMINE") else ([row(7)], OK)

    async with account_at(serving(answer)) as (account, _):
        (found,) = (await page_of(account)).rows
    assert read_uid(found.uid) == (7, uid_validity)


async def test_a_uidvalidity_past_any_number_counts_as_none() -> None:
    def answer(command: bytes) -> Answer:
        return opened(1, uid_validity=10**20 - 1) if command.startswith(b"EXAMINE") else ([row(7)], OK)

    async with account_at(serving(answer)) as (account, _):
        assert subjects(await page_of(account)) == {"7-0": "Fine"}


async def test_rows_of_a_folder_without_uidvalidity_are_not_remembered() -> None:
    rows = iter([row(1, "First"), row(1, "Second")])

    def answer(command: bytes) -> Answer:
        if command.startswith(b"EXAMINE"):
            return opened(1, uid_next=2, uid_validity=0)
        return ([next(rows)] if command.startswith(b"UID FETCH") else []), OK

    async with account_at(serving(answer)) as (account, _):
        assert subjects(await page_of(account)) == {"1-0": "First"}
        assert subjects(await page_of(account)) == {"1-0": "Second"}


async def test_a_cursor_holds_any_uidvalidity_that_counts() -> None:
    cursors = Cursors(Seal(KeyRing(0, {0: bytes(32)})), "caller", [b"list"])
    now, position = HandClock().now(), Position(2**32 - 1, 2**63 - 1)
    assert cursors.read(cursors.write(position, now), now) == position


async def test_a_message_refused_because_it_is_gone_is_gone() -> None:
    def answer(command: bytes) -> Answer:
        if command.startswith(b"EXAMINE"):
            return opened(2)
        return ([b"* SEARCH"], OK) if b"SEARCH" in command else ([], b"NO [EXPUNGEISSUED] no longer there")

    async with account_at(serving(answer)) as (account, _), account.open("INBOX") as folder:
        assert await folder.messages([5]) == {}


async def test_a_message_without_its_body_shows_its_head() -> None:
    def answer(command: bytes) -> Answer:
        if command.startswith(b"EXAMINE"):
            return opened(1)
        return [row(5, "Head") if b"HEADER" in command else b"* 1 FETCH (UID 5 BODY[] NIL)"], OK

    async with account_at(serving(answer)) as (account, _), account.open("INBOX") as folder:
        found = (await folder.messages([5]))[5]
    assert found.head.subject == "Head"
    assert found.content is None
    assert found.incomplete is not None


async def test_impossible_sizes_dates_and_flags_are_unknown_ones() -> None:
    flags = b'FLAGS (\\Seen "two\x1b" {3}\r\na\r\n plain) '
    told = flags + b'RFC822.SIZE 99999999999999999999 INTERNALDATE "3-Mar-26 1:2:3 +0000" BODY['

    def answer(command: bytes) -> Answer:
        return opened(1) if command.startswith(b"EXAMINE") else ([row(7).replace(b"FLAGS () BODY[", told)], OK)

    async with account_at(serving(answer)) as (account, _):
        (found,) = (await page_of(account)).rows
    assert (found.size, found.received_at, found.labels) == (None, None, ("plain",))


@pytest.mark.parametrize("code", [b"", b"[NONEXISTENT] "])
async def test_a_folder_that_went_after_it_was_listed_does_not_exist(code: bytes) -> None:
    lists = iter([[b'* LIST () "/" Gone', b'* LIST () "/" INBOX'], [b'* LIST () "/" INBOX']])

    def answer(command: bytes) -> Answer:
        return (next(lists), OK) if command.startswith(b"LIST") else ([], b"NO " + code + b"there is none")

    async with account_at(serving(answer)) as (account, _):
        await account.folders()
        with pytest.raises(GatewayError) as caught:
            async with account.open("Gone"):
                pass
    assert caught.value.code is Code.NOT_FOUND


@pytest.mark.parametrize(("status", "retryable"), [(b"NO [INUSE] locked", True), (b"NO no access", False)])
async def test_a_folder_that_is_there_and_cannot_be_opened_is_no_missing_one(status: bytes, retryable: bool) -> None:
    def answer(command: bytes) -> Answer:
        return ([b'* LIST () "/" Work'], OK) if command.startswith(b"LIST") else ([], status)

    async with account_at(serving(answer)) as (account, _):
        with pytest.raises(GatewayError) as caught:
            async with account.open("Work"):
                pass
    assert (caught.value.code, caught.value.details["retryable"]) == (Code.IMAP_ERROR, retryable)


async def test_a_server_that_leaves_at_namespace_is_listed_without() -> None:
    def answer(command: bytes) -> Answer | None:
        if command.startswith(b"NAMESPACE"):
            return None
        return [b'* LIST () "/" INBOX'], OK

    async with account_at(serving(answer, b"IMAP4rev1 NAMESPACE")) as (account, _):
        assert [folder.name for folder in await account.folders()] == ["INBOX"]


TEXT = b"--q\r\nContent-Type: text/plain\r\n\r\nThe text.\r\n--q\r\nContent-Type: text/csv\r\n\r\n"
LARGE = (
    b"Subject: Large\r\nContent-Type: multipart/mixed; boundary=q\r\n\r\n" + TEXT + b"a,b\r\n" * 40_000 + b"--q--\r\n"
)
OUTLINE = b'(("text" "plain" NIL NIL NIL "7bit" 9 1)("text" "csv" NIL NIL NIL "7bit" 200000 40000) "mixed")'


@pytest.mark.parametrize(
    ("outline", "sections", "status"),
    [
        (OUTLINE, b"BODY[1]<0> {9}\r\nThe text.", OK),
        (OUTLINE, b"BODY[1]<0> NIL", OK),
        (OUTLINE, b"FLAGS ()", OK),
        (OUTLINE, b"FLAGS ()", b"BAD no such section"),
        (b'("text" "plain" NIL NIL NIL "7bit" 9 1)', b"FLAGS ()", OK),
    ],
    ids=["right", "section-nil", "section-missing", "section-refused", "outline-of-another-message"],
)
async def test_a_large_message_shows_its_text_whatever_its_server_says_about_its_parts(
    outline: bytes, sections: bytes, status: bytes
) -> None:
    mime = b"BODY[1.MIME] {24}\r\nContent-Type: text/plain BODY[2.MIME] {22}\r\nContent-Type: text/csv"

    def told(items: bytes, status: bytes = OK) -> Answer:
        return [b"* 1 FETCH (UID 5 " + items + b")"], status

    def answer(command: bytes) -> Answer:
        if command.startswith(b"EXAMINE"):
            return opened(1)
        if b"MIME" in command:
            return told(mime)
        if asked := re.search(rb"BODY.PEEK\[\]<0\.(\d+)>", command):
            octets = LARGE[: int(asked[1])]
            return told(b"BODYSTRUCTURE %s BODY[]<0> {%d}\r\n%s" % (outline, len(octets), octets))
        return told(sections, status)

    async with account_at(serving(answer)) as (account, _), account.open("INBOX") as folder:
        content = (await folder.messages([5]))[5].content
    assert content is not None
    assert (content.text or "").startswith("The text.")
