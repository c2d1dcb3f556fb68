"""For what a file is by its first octets, whatever its sender calls it."""

from __future__ import annotations

import re

LOOKED_AT = 8 * 1024
"""Octets of a file that are looked at."""
_UNKNOWN = "application/octet-stream"

_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"%PDF-", "application/pdf"),
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (0, b"BM", "image/bmp"),
    (0, b"II*\x00", "image/tiff"),
    (0, b"MM\x00*", "image/tiff"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"BZh", "application/x-bzip2"),
    (0, b"\xfd7zXZ\x00", "application/x-xz"),
    (0, b"\x28\xb5\x2f\xfd", "application/zstd"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (0, b"Rar!\x1a\x07", "application/vnd.rar"),
    (257, b"ustar", "application/x-tar"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (0, b"{\\rtf", "application/rtf"),
    (0, b"MZ", "application/vnd.microsoft.portable-executable"),
    (0, b"\x7fELF", "application/x-elf"),
    (0, b"\xfe\xed\xfa\xcf", "application/x-mach-binary"),
    (0, b"\xcf\xfa\xed\xfe", "application/x-mach-binary"),
    (0, b"#!", "text/x-shellscript"),
    (0, b"OggS", "application/ogg"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"fLaC", "audio/flac"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1aE\xdf\xa3", "video/webm"),
    (0, b"\x00\x00\x01\x00", "image/vnd.microsoft.icon"),
    (0, b"\x78\x9f\x3e\x22", "application/ms-tnef"),
    (0, b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (0, b"-----BEGIN PGP ", "application/pgp-encrypted"),
    (0, b"-----BEGIN ", "application/x-pem-file"),
)
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo"}
_OFFICE = (
    (b"word/", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (b"xl/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    (b"ppt/", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    (b"META-INF/MANIFEST.MF", "application/java-archive"),
    (b"AndroidManifest.xml", "application/vnd.android.package-archive"),
)
_MIMETYPE = re.compile(rb"mimetypeapplication/([a-z0-9.+-]{1,80})")
_MARKUP = re.compile(
    rb"(?:\xef\xbb\xbf)?\s{0,1000}(?:<!--.{0,2000}?-->\s{0,1000}){0,3}"
    rb"<(!doctype\s{1,20}html|html|head|body|script|iframe|svg|\?xml|!doctype\s{1,20}svg)\b",
    re.IGNORECASE | re.DOTALL,
)
_MESSAGE = re.compile(
    rb"(?:Received|Return-Path|Delivered-To|From|Subject|Message-ID|MIME-Version|DKIM-Signature):[ \t]"
)
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def sniff(beginning: bytes) -> str:
    """The media type that the first octets give away; text/plain for text, application/octet-stream for the rest.

    Of archives that are documents the kind of document, as far as its beginning tells.
    """
    octets = beginning[:LOOKED_AT]
    if octets.startswith(b"PK\x03\x04"):
        return _of_zip(octets)
    if octets.startswith(b"RIFF"):
        return _RIFF.get(octets[8:12], _UNKNOWN)
    for offset, magic, type_ in _MAGIC:
        if octets.startswith(magic, offset):
            return type_
    return _of_text(octets)


def _of_zip(octets: bytes) -> str:
    match = _MIMETYPE.search(octets, 0, 200)
    if match:
        return f"application/{match[1].decode('ascii')}"
    return next((type_ for name, type_ in _OFFICE if name in octets), "application/zip")


def _of_text(octets: bytes) -> str:
    if markup := _MARKUP.match(octets):
        name = markup[1].lower()
        if name.startswith(b"?xml"):
            return "image/svg+xml" if b"<svg" in octets.lower() else "application/xml"
        return "image/svg+xml" if b"svg" in name else "text/html"
    if _MESSAGE.match(octets):
        return "message/rfc822"
    if octets.startswith(b"BEGIN:VCALENDAR"):
        return "text/calendar"
    if octets.startswith(b"BEGIN:VCARD"):
        return "text/vcard"
    if octets.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "text/plain"
    return _UNKNOWN if not octets or _BINARY.search(octets) else "text/plain"
