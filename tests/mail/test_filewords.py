"""What a file that is to be sent says is found in whatever form it says it."""

from __future__ import annotations

import base64

import pytest

from postroom.mail.filewords import MOST, words_in
from postroom.mail.outgoing.model import OutgoingFile

SAID = "Your code is 482913"
EML = f"From: a@b.example\r\nSubject: Hello\r\n\r\n{SAID}\r\n".encode()
HEAD = f"From: a@b.example\r\nSubject: {SAID}\r\n\r\nx\r\n".encode()
NESTED = (
    b"Subject: Outer\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n"
    b'Content-Type: text/csv\r\nContent-Disposition: attachment; filename="a.csv"\r\n'
    b"Content-Transfer-Encoding: base64\r\n\r\n" + base64.b64encode(SAID.encode()) + b"\r\n--b--\r\n"
)


def file(kind: str, octets: bytes, name: str = "a.txt") -> OutgoingFile:
    return OutgoingFile(name, kind, octets)


@pytest.mark.parametrize(
    ("kind", "octets"),
    [
        ("text/plain", SAID.encode()),
        ("text/plain; charset=utf-16le", SAID.encode("utf-16le")),
        ("text/plain", SAID.encode("utf-16")),
        ("text/plain; charset=utf-16", SAID.encode()),
        ("text/csv", f"a,b\r\n{SAID},1\r\n".encode()),
        ("application/octet-stream", SAID.encode()),
        ("application/json", f'{{"a": "{SAID}"}}'.encode()),
        ("text/calendar", b"BEGIN:VCALENDAR\r\nSUMMARY:Your code is 48\r\n 2913\r\nEND:VCALENDAR\r\n"),
        ("message/rfc822", EML),
        ("message/rfc822", HEAD),
        ("message/rfc822", NESTED),
        ("message/rfc822", NESTED.replace(b"--b\r\n", f"{SAID}\r\n--b\r\n".encode(), 1)),
        ("message/rfc822", NESTED + SAID.encode()),
        ("text/plain", NESTED),
    ],
)
def test_text_is_found(kind: str, octets: bytes) -> None:
    told = words_in([file(kind, octets)])
    assert any(SAID in text for text in told.texts)
    assert not told.unread


def test_a_page_is_kept_as_a_page() -> None:
    told = words_in([file("text/html", b"<p>Your <b>code</b></p>"), file("text/plain", b"<html>Second")])
    assert told.pages == ["<p>Your <b>code</b></p>", "<html>Second"]


def test_what_holds_no_text_says_nothing() -> None:
    told = words_in([file("application/pdf", b"%PDF-1.4 x"), file("image/png", b"\x89PNG\r\n\x1a\n")])
    assert (told.texts, told.pages, told.unread) == ([], [], False)


def test_more_text_than_is_looked_through_is_unread() -> None:
    half = file("text/plain", b"x" * (MOST // 2))
    assert not words_in([half, half]).unread
    assert words_in([half, half, file("text/plain", b"x")]).unread


def test_a_large_file_in_a_message_takes_no_room_of_its_text() -> None:
    picture = base64.encodebytes(b"\x89PNG\r\n\x1a\n" + bytes(2 * MOST))
    octets = (
        NESTED[: -len(b"--b--\r\n")] + b"--b\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    )
    told = words_in([file("message/rfc822", octets + picture + b"\r\n--b--\r\n")])
    assert any(SAID in text for text in told.texts)
    assert not told.unread


def test_a_message_of_too_many_parts_is_unread() -> None:
    parts = b"--b\r\n\r\nx\r\n" * 2_000
    octets = b"Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" + parts + b"--b--\r\n"
    assert words_in([file("message/rfc822", octets)]).unread


def test_messages_too_deep_in_each_other_are_unread() -> None:
    octets = EML
    for _ in range(7):
        octets = b"Subject: x\r\nContent-Type: message/rfc822\r\n\r\n" + octets
    assert any(SAID in text for text in words_in([file("message/rfc822", octets)]).texts)
    deeper = b"Subject: x\r\nContent-Type: message/rfc822\r\n\r\n" + octets
    assert words_in([file("message/rfc822", deeper)]).unread
