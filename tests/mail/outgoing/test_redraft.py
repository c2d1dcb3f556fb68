"""A draft read back is the message that was meant, whoever wrote it."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from postroom.base.errors import GatewayError
from postroom.mail.outgoing.address import read_addresses, strict_address
from postroom.mail.outgoing.compose import compose, new_message_id
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


@pytest.mark.parametrize("to", ["bo", "bo@localhost", "a@b.example)c@d.example, bo@example.com"])
def test_an_unfinished_recipient_is_told_unless_it_is_replaced(to: str) -> None:
    draft = f"From: ana@example.org\r\nTo: {to}\r\n\r\nHi\r\n".encode()
    if "@" in to:
        with pytest.raises(GatewayError) as told:
            read_draft(draft, ANA)
        assert told.value.details["argument"] == "to"
    assert read_draft(draft, ANA, replaced={"to"}).to == ()
