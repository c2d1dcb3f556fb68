"""What a file is decides whether it leaves, not what it is called: its first octets, and what is inside."""

from __future__ import annotations

import io
import zipfile
from base64 import b64encode
from collections.abc import Iterator

import pytest

from tests.relay.standing import Post, Wanted, post
from tests.servers.dovecot import Dovecot

POLICY = """
  desk:
    limits: {requests_per_minute: 6000, burst: 500, concurrent: 32}
    folders: {rules: [{match: INBOX, access: readable}]}
    attachments: {mode: download, unscanned: allow, archives: inspect, max_bytes: 1m, max_count: 3}
"""


def archive(*members: tuple[str, bytes]) -> bytes:
    octets = io.BytesIO()
    with zipfile.ZipFile(octets, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members:
            file.writestr(name, content)
    return octets.getvalue()


def message(subject: str, *files: tuple[str, str, bytes]) -> bytes:
    parts = [
        f'--b\r\nContent-Type: {kind}\r\nContent-Disposition: attachment; filename="{name}"\r\n'
        f"Content-Transfer-Encoding: base64\r\n\r\n{b64encode(octets).decode()}\r\n"
        for kind, name, octets in files
    ]
    return (
        f"From: Bo <bo@example.org>\r\nSubject: {subject}\r\nMIME-Version: 1.0\r\n"
        'Content-Type: multipart/mixed; boundary="b"\r\n\r\n'
        f"--b\r\nContent-Type: text/plain\r\n\r\nSee file.\r\n{''.join(parts)}--b--\r\n"
    ).encode()


STRICT = """
  desk:
    folders: {rules: [{match: INBOX, access: readable}]}
    attachments: {mode: download}
"""


def test_files_of_an_attached_message_are_not_looked_through_and_so_are_not_had(
    dovecot: Dovecot, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with post(tmp_path_factory.mktemp("strict"), dovecot, Wanted(STRICT)) as standing:
        plain = b"From: a@x.test\r\nSubject: s\r\n\r\nwords\r\n"
        inner = message("inner", ("text/plain", "b.txt", b"Your login code is 482913"))
        files = (("message/rfc822", "a.eml", plain), ("message/rfc822", "b.eml", inner))
        standing.dovecot.deliver(standing.user, [message("outer", *files)])
        (row,) = standing.ask("list_messages", folder="INBOX")["messages"]
        told = standing.ask("read_message", folder="INBOX", uid=row["uid"])["attachments"]
        urls = ["/attachments/" + one["download_url"].rpartition("/")[2] for one in told]
        assert [standing.gateway.get(url, "relay").status_code for url in urls] == [200, 404]


FILES = {
    "a plain PDF": ("application/pdf", "a.pdf", b"%PDF-1.4\nwords", 200),
    "a PDF that acts": ("application/pdf", "a.pdf", b"%PDF-1.4\n<</OpenAction 1 0 R>>", 404),
    "a locked PDF": ("application/pdf", "a.pdf", b"%PDF-1.4\n<</Encrypt 1 0 R>>", 404),
    "a program called a picture": ("image/png", "a.png", b"MZ\x90\x00 program", 404),
    "a picture": ("image/png", "a.png", b"\x89PNG\r\n\x1a\n picture", 200),
    "an archive of texts": ("application/zip", "a.zip", archive(("a.txt", b"words")), 200),
    "an archive with a program": ("application/zip", "a.zip", archive(("a.exe", b"MZ\x90")), 404),
    "an archive in an archive": ("application/zip", "a.zip", archive(("b.zip", archive(("a.txt", b"x")))), 404),
    "a bomb": ("application/zip", "a.zip", archive(("a.txt", b"0" * 60_000_000)), 404),
    "words called a page": ("text/html", "a.html", b"<p>words</p>", None),
    "words with a code": ("text/plain", "a.txt", b"Your verification code is 482913", 404),
    "a table with a card": ("text/csv", "a.csv", b"name,card\r\nAna,4111 1111 1111 1111\r\n", 404),
    "an invitation with a code": (
        "text/calendar",
        "a.ics",
        b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Your login code is 482913\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
        404,
    ),
    "a message": ("message/rfc822", "a.eml", b"From: a@x.test\r\nSubject: s\r\n\r\nwords\r\n", 200),
    "a message with a code": ("message/rfc822", "a.eml", b"From: a@x.test\r\n\r\nYour login code is 482913\r\n", 404),
    "a message with a program": ("message/rfc822", "a.eml", message("x", ("image/png", "b.exe", b"MZ\x90")), 404),
    "a message with a code and a file": (
        "message/rfc822",
        "a.eml",
        message("x", ("text/plain", "b.txt", b"words")).replace(b"See file", b"Your login code is 482913"),
        404,
    ),
    "a link that opens an account": (
        "text/plain",
        "a.txt",
        b"Reset your password here: https://a.example/reset?token=8f3a9c1d7e5b2046a1b2c3d4",
        404,
    ),
    "a code beneath an encoding": ("text/plain", "a.txt", b64encode(b"Hello. Your verification code is 482913."), 404),
    "words about markers": ("text/plain", "a.txt", b"We write [redacted:otp] for it", 200),
    "plain words": ("text/plain", "a.txt", b"At one, by the river. https://a.example/menu", 200),
    "a name with two ends": ("text/plain", "a.txt.exe", b"words", None),
}


@pytest.fixture(scope="module")
def desk(dovecot: Dovecot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Post]:
    with post(tmp_path_factory.mktemp("downloads"), dovecot, Wanted(POLICY)) as standing:
        dovecot.deliver(standing.user, [message(name, file[:3]) for name, file in FILES.items()])
        yield standing


@pytest.mark.parametrize("name", FILES)
def test_a_file_leaves_by_what_it_is(desk: Post, name: str) -> None:
    kind, filename, octets, status = FILES[name]
    rows = desk.ask("search_messages", folder="INBOX", query=f'subject "{name}" order by subject')["messages"]
    uid = next(row["uid"] for row in rows if row["subject"] == name)
    (file,) = desk.ask("read_message", folder="INBOX", uid=uid)["attachments"]
    assert (file["filename"], file["content_type"]) == (filename, kind)
    assert ("download_url" in file) is (status is not None)
    if status is not None:
        told = desk.gateway.get("/attachments/" + file["download_url"].rpartition("/")[2], "relay")
        assert told.status_code == status
        assert (told.content == octets) is (status == 200)
        assert told.headers["x-content-type-options"] == "nosniff"


def test_files_past_the_bound_are_not_told_and_large_ones_not_had(desk: Post) -> None:
    many = [("text/plain", f"{number}.txt", b"words") for number in range(5)]
    desk.dovecot.deliver(
        desk.user, [message("Many", *many), message("Large", ("text/plain", "l.txt", b"x" * 1_100_000))]
    )
    large, several = desk.ask("list_messages", folder="INBOX")["messages"][:2]
    files = desk.ask("read_message", folder="INBOX", uid=several["uid"])["attachments"]
    assert [file["filename"] for file in files] == ["0.txt", "1.txt", "2.txt"]
    (file,) = desk.ask("read_message", folder="INBOX", uid=large["uid"])["attachments"]
    assert "download_url" not in file
