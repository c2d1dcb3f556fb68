"""The demo's IMAP and SMTP servers, asked by the clients of the standard library."""

from __future__ import annotations

import imaplib
import re
import smtplib
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from anyio.from_thread import start_blocking_portal

from postroom.base.clock import HandClock
from postroom.base.secret import Secret
from postroom.demo.samples import samples
from postroom.demo.servers import HOST, MailServers, mail_servers

START = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)
MAIL = samples(START)
WORK, PERSONAL = "ana@tidewater.example", "ana.moreau@mail.example"
PASSWORD = "only for the tests"


@pytest.fixture
def servers() -> Iterator[MailServers]:
    addresses = {"work": WORK, "personal": PERSONAL}
    with start_blocking_portal() as portal:
        context = mail_servers(addresses, Secret(PASSWORD), MAIL, HandClock(START))
        with portal.wrap_async_context_manager(context) as running:
            yield running


@pytest.fixture
def imap(servers: MailServers) -> Iterator[imaplib.IMAP4]:
    with imaplib.IMAP4(HOST, servers.imap_port) as client:
        client.login(WORK, PASSWORD)
        yield client


def submit(servers: MailServers, recipients: list[str], message: bytes) -> None:
    with smtplib.SMTP(HOST, servers.smtp_port) as client:
        client.sendmail(PERSONAL, recipients, message)


def answers(client: imaplib.IMAP4, items: str) -> list[bytes]:
    _, found = client.fetch("1:*", items)
    return [line for line in found if isinstance(line, bytes)]


def test_the_folders_are_recognisable_by_their_names(imap: imaplib.IMAP4) -> None:
    _, listed = imap.list()

    names = {line.rpartition(b'"/" ')[2] for line in listed if isinstance(line, bytes)}
    assert names == {b"INBOX", b"Sent", b"Drafts", b"Archive", b"Trash", b'"Depot Z&APw-rich"'}


def test_messages_keep_their_time_of_arrival_and_their_flags(imap: imaplib.IMAP4) -> None:
    imap.select("INBOX", readonly=True)

    told = answers(imap, "(INTERNALDATE FLAGS)")

    inbox = [sample for sample in MAIL if (sample.mailbox, sample.folder) == ("work", "INBOX")]
    dates = [datetime.fromtimestamp(_seconds(line), UTC) for line in told]
    assert dates == [sample.arrived for sample in inbox]
    flags = [{flag.decode().lower() for flag in re.findall(rb"\\(\w+)", line)} for line in told]
    assert flags == [set(sample.flags) for sample in inbox]


def test_a_message_comes_back_byte_for_byte(imap: imaplib.IMAP4) -> None:
    imap.select('"Depot Z&APw-rich"', readonly=True)

    _, (answer, *_) = imap.fetch("1", "(BODY.PEEK[])")

    keys = next(sample for sample in MAIL if sample.name == "zurich-keys")
    assert isinstance(answer, tuple)
    assert answer[1] == keys.message


def test_mail_to_one_of_the_mailboxes_arrives_in_its_inbox(servers: MailServers, imap: imaplib.IMAP4) -> None:
    submit(servers, [WORK.title()], b"Subject: Hello\r\n\r\nFrom home.\r\n")

    _, (count,) = imap.select("INBOX", readonly=True)
    _, (answer, *_) = imap.fetch((count or b"").decode(), "(BODY.PEEK[])")
    assert isinstance(answer, tuple)
    assert answer[1].startswith(b"Return-Path: <ana.moreau@mail.example>\r\nReceived: ")
    assert answer[1].endswith(b"Tue, 03 Mar 2026 09:00:00 +0000\r\nSubject: Hello\r\n\r\nFrom home.\r\n")


def test_mail_to_anybody_else_is_taken_and_reaches_nobody(servers: MailServers, imap: imaplib.IMAP4) -> None:
    _, before = imap.select("INBOX", readonly=True)

    submit(servers, ["henrik@fjordframes.example"], b"Subject: Hello\r\n\r\nFrom home.\r\n")

    assert imap.select("INBOX", readonly=True)[1] == before


def test_a_wrong_password_is_refused(servers: MailServers) -> None:
    with imaplib.IMAP4(HOST, servers.imap_port) as client, pytest.raises(imaplib.IMAP4.error):
        client.login(WORK, "guessed")


def _seconds(line: bytes) -> float:
    moment = imaplib.Internaldate2tuple(line)
    assert moment is not None
    return datetime(*moment[:6]).astimezone().timestamp()
