"""A file is what its first octets say, whatever it is called."""

from __future__ import annotations

import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.sniff import LOOKED_AT, sniff


def zipped(*names: str) -> bytes:
    octets = io.BytesIO()
    with zipfile.ZipFile(octets, "w") as archive:
        for name in names:
            archive.writestr(name, "application/epub+zip" if name == "mimetype" else "x")
    return octets.getvalue()


@pytest.mark.parametrize(
    ("octets", "type_"),
    [
        (b"%PDF-1.7 ...", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n...", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"RIFF\x00\x00\x00\x00WEBP", "image/webp"),
        (b"RIFF\x00\x00\x00\x00junk", "application/octet-stream"),
        (b"MZ\x90", "application/vnd.microsoft.portable-executable"),
        (b"\x7fELF", "application/x-elf"),
        (b"#!/bin/sh\n", "text/x-shellscript"),
        (b" " * 257 + b"ustar", "application/x-tar"),
        (zipped("a.txt"), "application/zip"),
        (zipped("word/document.xml"), "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        (zipped("mimetype"), "application/epub+zip"),
        (b"  <!DOCTYPE html><p>", "text/html"),
        (b"<!-- x --><script>", "text/html"),
        (b"\xef\xbb\xbf<html>", "text/html"),
        (b"<?xml version='1.0'?><a/>", "application/xml"),
        (b"<?xml version='1.0'?><svg>", "image/svg+xml"),
        (b"<svg onload=x>", "image/svg+xml"),
        (b"BEGIN:VCALENDAR\r\n", "text/calendar"),
        (b"Received: from a by b\r\nSubject: x\r\n\r\n", "message/rfc822"),
        (b"just words\n", "text/plain"),
        ("Grüße".encode(), "text/plain"),
        (b"words\x00", "application/octet-stream"),
        (b"", "application/octet-stream"),
    ],
)
def test_a_file_is_known_by_its_first_octets(octets: bytes, type_: str) -> None:
    assert sniff(octets) == type_


@given(st.binary(max_size=300))
def test_every_file_has_a_type_and_only_its_beginning_counts(octets: bytes) -> None:
    type_ = sniff(octets)
    assert type_.count("/") == 1
    assert sniff(octets.ljust(LOOKED_AT, b" ")[:LOOKED_AT] + b"\x00%PDF") == sniff(octets.ljust(LOOKED_AT, b" "))
