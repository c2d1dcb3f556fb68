"""A draft read back is the message that was meant, whoever wrote it."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from postroom.base.errors import GatewayError
from postroom.mail.outgoing.address import read_addresses, strict_address
from postroom.mail.outgoing.compose import checked, compose, new_message_id
from postroom.mail.outgoing.file import outgoing_file
from postroom.mail.outgoing.model import Outgoing
from postroom.mail.outgoing.redraft import read_draft

ANA = strict_address("Ana <ana@example.org>")
MEANT = Outgoing(
    ANA,
    to=read_addresses('"Doe, Bo" <bo@example.com>', "to"),
    cc=read_addresses("cy@bücher.example", "cc"),
    bcc=read_addresses("boss@example.net", "bcc"),
    reply_to=read_addresses("desk@example.org", "reply_to"),
    subject="Grüße",
    text="Zeile\nZwei é\n",
    html='<p><img src="cid:logo@x">\n',
    files=(
        outgoing_file("logo.png", b"\x89PNG\r\n\x00", content_id="logo@x"),
        outgoing_file("größe.csv", "é;1\n".encode()),
        outgoing_file("zip", bytes(range(256)) * 50),
    ),
    message_id=new_message_id(ANA, UUID(int=1)),
    date=datetime(2026, 3, 3, 9, 0, tzinfo=UTC),
    in_reply_to="<p@x>",
    references=("<o@x>", "<p@x>"),
    marks=(("Importance", "high"), ("X-Priority", "1")),
)


def test_a_draft_of_ours_comes_back_whole() -> None:
    assert read_draft(compose(MEANT, draft=True), ANA) == MEANT


def test_reading_and_writing_a_draft_again_and_again_changes_no_octet() -> None:
    first = compose(MEANT, draft=True)
    again = compose(read_draft(first, ANA), draft=True)
    assert again == first


def test_one_change_leaves_the_rest() -> None:
    changed = replace(read_draft(compose(MEANT, draft=True), ANA), subject="Other")
    assert replace(changed, subject=MEANT.subject) == MEANT


def test_a_draft_of_another_program_is_read_as_far_as_mail_can_be_sent_with_it() -> None:
    foreign = (
        b"Subject: =?iso-8859-1?q?Gr=FC=DFe?=\r\nTo: Bo <bo@example.com>,\r\n\tcy@example.com\r\n"
        b"Content-Type: text/plain; charset=iso-8859-1; format=flowed\r\n"
        b"Content-Transfer-Encoding: 8bit\r\n\r\nGr\xfc\xdfe \r\nan alle\r\n"
    )
    told = read_draft(foreign, ANA)
    assert (told.from_, told.subject, told.text) == (ANA, "Grüße", "Grüße an alle\n")
    assert [one.address for one in told.to] == ["bo@example.com", "cy@example.com"]


@pytest.mark.parametrize("to", ["bo", "bo@localhost", "a@b.example)c@d.example, bo@example.com", "Mum, bo@example.com"])
def test_an_unfinished_recipient_is_told_unless_it_is_replaced(to: str) -> None:
    draft = f"From: ana@example.org\r\nTo: {to}\r\n\r\nHi\r\n".encode()
    with pytest.raises(GatewayError) as told:
        read_draft(draft, ANA)
    assert told.value.details["argument"] == "to"
    assert read_draft(draft, ANA, replaced={"to"}).to == ()


@pytest.mark.parametrize("to", ["undisclosed-recipients:;", "Team: bo@example.com, cy@example.com;", "(later)", ""])
def test_a_group_is_nobody_unfinished(to: str) -> None:
    told = read_draft(f"From: ana@example.org\r\nTo: {to}\r\n\r\nHi\r\n".encode(), ANA)
    assert [one.address for one in told.to] == (["bo@example.com", "cy@example.com"] if "@" in to else [])


@pytest.mark.parametrize("name", ["From", "To", "Cc", "Bcc", "Reply-To"])
def test_a_field_that_stands_twice_is_not_read_in_part(name: str) -> None:
    draft = f"{name}: bo@example.com\r\n{name}: cy@example.com\r\n\r\nHi\r\n".encode()
    argument = name.lower().replace("-", "_")
    with pytest.raises(GatewayError) as told:
        read_draft(draft, ANA)
    assert told.value.details["argument"] == argument
    assert read_draft(draft, ANA, replaced={argument}).from_ == ANA


@pytest.mark.parametrize("sender", ["ana@example.org, bo@example.org", "ana@localhost", "Ana"])
def test_whoever_a_draft_is_from_is_not_replaced_without_a_word(sender: str) -> None:
    draft = f"From: {sender}\r\nTo: bo@example.com\r\n\r\nHi\r\n".encode()
    with pytest.raises(GatewayError) as told:
        read_draft(draft, ANA)
    assert told.value.details["argument"] == "from"
    assert read_draft(draft, ANA, replaced={"from"}).from_ == ANA


def test_what_a_draft_was_marked_with_goes_along_and_nothing_else_in_its_place() -> None:
    marks = "X-PRIORITY: 2 (High)\r\nimportance: High\r\n x\r\nSensitivity: =?utf-8?q?a?=\r\nPriority: urgent,\r\n"
    told = read_draft(f"To: bo@example.com\r\n{marks}\r\nHi\r\n".encode(), ANA)
    assert told.marks == (("Importance", "high"), ("X-Priority", "2"))
    with pytest.raises(ValueError, match="mark"):
        checked(replace(told, marks=(("Bcc", "evil@example.com"),)))


TEXT, HTML = "Content-Type: text/plain\n\nHello\n", "Content-Type: text/html\n\n<p>Hello</p>\n"
INVITATION = "Content-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\nEND:VCALENDAR\n"
DEEP = "".join(f"Content-Type: multipart/mixed; boundary=b{at}\n\n--b{at}\n" for at in range(200))


def multipart(kind: str, *parts: str) -> bytes:
    body = "".join(f"--=_b\n{part}\n" for part in parts)
    return f'To: bo@example.com\nContent-Type: multipart/{kind}; boundary="=_b"\n\n{body}--=_b--\n'.encode()


@pytest.mark.parametrize(
    "draft",
    [
        multipart("signed; micalg=sha256", TEXT, "Content-Type: application/pgp-signature\n\nxyz\n"),
        multipart("mixed", 'Content-Type: multipart/signed; boundary="s"\n\n--s\n' + TEXT + "\n--s--", TEXT),
        multipart("encrypted", "Content-Type: application/pgp-encrypted\n\nVersion: 1\n", TEXT),
        b"Content-Type: application/pkcs7-mime; smime-type=enveloped-data\nContent-Transfer-Encoding: base64\n\nAAAA\n",
        multipart("alternative", TEXT, HTML, INVITATION),
        multipart("mixed", TEXT, INVITATION),
        multipart("alternative", TEXT, "Content-Type: text/x-amp-html\n\n<html amp4email>\n", HTML),
        multipart("mixed", TEXT, HTML),
        multipart("mixed", 'Content-Type: multipart/alternative; boundary="a"\n\n--a\n' + HTML + "\n--a--", TEXT),
        multipart("mixed", TEXT, "Content-Type: x/y; name=a\nContent-Transfer-Encoding: x-none\n\nx\n"),
        b"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\nGr\xfc\xdfe\n",
        multipart("mixed", DEEP + TEXT),
        multipart("mixed", TEXT, *["Content-Type: x/y; name=a\n\nx\n"] * 2_000),
    ],
)
def test_a_draft_that_would_lose_something_is_left_as_it_is(draft: bytes) -> None:
    with pytest.raises(GatewayError) as told:
        read_draft(draft, ANA)
    assert told.value.code == "conflict"


@pytest.mark.parametrize(
    "draft",
    [
        multipart("mixed", HTML, "Content-Type: application/pdf; name=a.pdf\n\nPDF\n", HTML),
        multipart("mixed", TEXT, "Content-Type: application/pkcs7-mime; name=smime.p7m\n\nx\n"),
        multipart("mixed", TEXT, "Content-Type: text/calendar; name=a.ics\n\nBEGIN:VCALENDAR\n"),
        "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\nQuoted: Gr\ufffde\n".encode(),
        multipart("mixed", 'Content-Type: multipart/alternative; boundary="a"\n\n--a\n' + TEXT + "\n--a\n" + HTML),
    ],
)
def test_a_draft_that_loses_nothing_is_taken(draft: bytes) -> None:
    told = read_draft(draft, ANA)
    assert any(words in f"{told.text} {told.html}" for words in ("Hello", "Quoted: Gr\ufffde"))
