"""For file names that strangers chose: one component that is safe to show and to save, or a name made by us."""

from __future__ import annotations

import re
import unicodedata

from postroom.mail.header import one_line

MAX_LENGTH = 255
"""Characters of a file name."""
_MAX_EXTENSION = 20
_SEPARATORS = re.compile(r"[/\\]")
_DRIVE = re.compile(r"[A-Za-z]:")
_JOINERS = "\u200c\u200d"
_WORDS = {
    "image": "image",
    "audio": "audio",
    "video": "video",
}
_NAMES = {
    "text/calendar": "invite.ics",
    "text/x-vcalendar": "invite.vcs",
    "application/ics": "invite.ics",
    "message/rfc822": "message.eml",
    "message/global": "message.eml",
    "application/ms-tnef": "winmail.dat",
    "application/pgp-signature": "signature.asc",
    "application/pgp-encrypted": "encrypted.txt",
    "application/pkcs7-signature": "smime.p7s",
    "application/x-pkcs7-signature": "smime.p7s",
    "application/pkcs7-mime": "smime.p7m",
    "application/x-pkcs7-mime": "smime.p7m",
    "message/delivery-status": "delivery-status.txt",
    "message/disposition-notification": "disposition-notification.txt",
    "text/rfc822-headers": "headers.txt",
}
_EXTENSIONS = {
    "image/jpeg": "jpg",
    "image/jpg": "jpg",
    "image/pjpeg": "jpg",
    "image/png": "png",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/bmp": "bmp",
    "image/tiff": "tiff",
    "image/heic": "heic",
    "image/svg+xml": "svg",
    "application/pdf": "pdf",
    "application/zip": "zip",
    "application/json": "json",
    "application/xml": "xml",
    "application/msword": "doc",
    "application/vnd.ms-excel": "xls",
    "application/vnd.ms-powerpoint": "ppt",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "text/plain": "txt",
    "text/html": "html",
    "text/x-amp-html": "html",
    "text/csv": "csv",
    "text/xml": "xml",
    "text/vcard": "vcf",
    "text/x-vcard": "vcf",
    "text/markdown": "md",
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "audio/ogg": "ogg",
    "video/mp4": "mp4",
    "video/quicktime": "mov",
}


def safe_filename(name: str | None) -> str | None:
    """The last path component of a name, of either kind of path, in one line; None when nothing is left.

    Without controls, invisible or bidi characters and without a colon (a drive, or a stream, on Windows); at most
    `MAX_LENGTH` characters, and a long name keeps its extension.
    """
    if name is None:
        return None
    parts = [_visible(part) for part in _SEPARATORS.split(one_line(name))]
    for part in reversed(parts):
        part = _DRIVE.sub("", part, count=1) if _DRIVE.match(part) else part
        if part.strip(" ."):
            return _shortened(part.replace(":", "_").strip())
    return None


def generated_filename(content_type: str, number: int) -> str:
    """A name for a part without one, such as `image-2.jpg`; `number` tells parts of one message apart."""
    if name := _NAMES.get(content_type):
        return name
    word = _WORDS.get(content_type.partition("/")[0], "attachment")
    return f"{word}-{number}.{_EXTENSIONS.get(content_type, 'bin')}"


def message_filename(subject: str | None) -> str:
    """A name ending in .eml for an attached message with that subject."""
    words = safe_filename(_SEPARATORS.sub("-", subject or "")) or "message"
    return f"{words[:100].strip()}.eml"


def _visible(part: str) -> str:
    kept = (c for c in part if c in _JOINERS or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Zl", "Zp"))
    return "".join(kept).strip()


def _shortened(name: str) -> str:
    if len(name) <= MAX_LENGTH:
        return name
    stem, dot, extension = name.rpartition(".")
    if not stem or len(extension) > _MAX_EXTENSION:
        return name[:MAX_LENGTH].strip()
    return stem[: MAX_LENGTH - 1 - len(extension)].rstrip() + dot + extension
