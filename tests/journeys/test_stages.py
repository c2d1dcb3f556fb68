"""A large message read by section must be the message that reading it whole would give."""

from __future__ import annotations

import asyncio
import random
from email.message import EmailMessage

import pytest

from postroom.base.clock import SystemClock
from postroom.base.secret import Secret
from postroom.base.tls import Endpoint
from postroom.imap.admission import Server
from postroom.imap.conversation import Deadlines
from postroom.imap.pool import Pool
from postroom.mail.parse import assemble, split_message
from postroom.mailbox import reading
from postroom.mailbox.cache import RowCache
from postroom.mailbox.folders import Folder
from postroom.mailbox.reading import OpenFolder
from postroom.mailbox.session import Session
from tests.servers.dovecot import PASSWORD, Dovecot

SHAPES = range(24)

INBOX = Folder("INBOX", b"INBOX", "/", "inbox", selectable=True)


def message(seed: int) -> bytes:
    """A message of random but sane structure, built by the standard library."""
    dice = random.Random(seed)
    built = EmailMessage()
    built["From"], built["To"], built["Subject"] = "d@example.org", "a@example.net", f"Shape {seed} é"
    built.set_content(
        f"Plain words {seed} é\n" * dice.choice([1, 50, 3000]), cte=dice.choice(["quoted-printable", "base64"])
    )
    if dice.random() < 0.6:
        built.add_alternative(f"<p>Rich <b>words</b> {seed}</p>" * dice.choice([1, 400]), subtype="html")
    if dice.random() < 0.3:
        html = built.get_payload()[-1] if built.is_multipart() else built
        if html.get_content_type() == "text/html":
            html.add_related(dice.randbytes(500), "image", "png", cid=f"<pic{seed}@example.org>")
    for number in range(dice.randrange(4)):
        size = dice.choice([0, 1, 2, 3, 57, 700, 5000, 90_001])
        name = dice.choice(["report.pdf", "Übersicht März.pdf", "данные.bin", "with space.txt"])
        built.add_attachment(dice.randbytes(size), "application", "octet-stream", filename=f"{number}-{name}")
    if dice.random() < 0.3:
        inner = EmailMessage()
        inner["Subject"] = "Inside"
        inner.set_content("Inner words\n")
        built.add_attachment(inner)
    return built.as_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


@pytest.fixture(scope="module")
def shapes(dovecot: Dovecot) -> list[bytes]:
    messages = [message(seed) for seed in SHAPES]
    dovecot.deliver("shapes", messages)
    return messages


@pytest.mark.parametrize("seed", SHAPES)
def test_by_section_and_whole_agree(
    seed: int, shapes: list[bytes], dovecot: Dovecot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "WHOLE", 200)
    monkeypatch.setattr(reading, "_MESSAGE", reading._MESSAGE.replace("<0.131072>", "<0.200>"))
    whole = assemble(split_message(shapes[seed]))
    by_section = asyncio.run(read(dovecot, "shapes", seed + 1)).content
    assert by_section is not None
    assert (by_section.text or "").replace("\r\n", "\n") == (whole.text or "").replace("\r\n", "\n")
    assert by_section.html == whole.html
    assert by_section.parts == whole.parts
    assert by_section.faults == whole.faults


def test_the_size_of_a_large_file_is_told_without_fetching_it(dovecot: Dovecot) -> None:
    built = EmailMessage()
    built["Subject"] = "Large"
    built.set_content("See file.\n")
    built.add_attachment(random.Random(1).randbytes(1_000_003), "application", "pdf", filename="large.pdf")
    dovecot.deliver("large", [built.as_bytes().replace(b"\n", b"\r\n")])
    content = asyncio.run(read(dovecot, "large", 1)).content
    assert content is not None
    assert [(part.filename, part.size) for part in content.attachments] == [("large.pdf", 1_000_003)]


async def read(dovecot: Dovecot, user: str, uid: int) -> reading.Fetched:
    async def secret() -> Secret:
        return Secret(PASSWORD)

    server = Server(Endpoint("127.0.0.1", dovecot.port, "none"), user, "password", secret, Deadlines(5, 20), 1)
    pool = Pool(server, SystemClock())
    try:
        async with pool.connection(b"INBOX") as connection:
            return (await OpenFolder(connection, INBOX, RowCache(), Session()).messages([uid]))[uid]
    finally:
        pool.close()


def test_a_large_attached_message_is_named_after_its_subject_and_leaves_the_text_whole(dovecot: Dovecot) -> None:
    inner = EmailMessage()
    inner["Subject"] = "Quarter three"
    inner.set_content("Inner words\n" * 20_000)
    built = EmailMessage()
    built["Subject"] = "Forwarded"
    built.set_content("See below.\n")
    built.add_attachment(inner)
    dovecot.deliver("forwarded", [built.as_bytes().replace(b"\n", b"\r\n")])
    content = asyncio.run(read(dovecot, "forwarded", 1)).content
    assert content is not None
    assert [part.filename for part in content.attachments] == ["Quarter three.eml"]
    assert content.faults == frozenset()


def test_a_text_of_ten_megabytes_is_cut_and_said_to_be(dovecot: Dovecot) -> None:
    built = b"Subject: Long line\r\nContent-Type: text/plain\r\n\r\n" + b"0123456789" * 1_048_576 + b"\r\n"
    dovecot.deliver("endless", [built])
    content = asyncio.run(read(dovecot, "endless", 1)).content
    assert content is not None
    assert content.text is not None
    assert len(content.text) == 1024 * 1024
    assert content.faults == {"truncated"}
