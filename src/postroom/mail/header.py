"""For header blocks: where one ends, its fields, and the words in them (RFC 5322 section 2.2, RFC 2047)."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator

from postroom.mail.charset import decode, is_self_contained
from postroom.mail.lines import clean_text as clean_text
from postroom.mail.lines import one_line as one_line
from postroom.mail.model import Field
from postroom.mail.transfer import decode_base64, unescape

MAX_BLOCK = 1 << 20
"""Octets of a header block that are looked at."""
MAX_FIELDS = 2_000

_MBOX_LINE = re.compile(rb"(?:>?From [^\n]*(?:\n|\Z))+")
_FROM_FIELD = re.compile(rb"From[ \t]*:")
BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_STARTS_BLANK = re.compile(rb"\r?\n")
_NAME = re.compile(rb"([!-9;-~]+)[ \t]*:")
_WORD_START = re.compile(rb"=\?([^?\s]{0,75})\?([bBqQ])\?")


def split(message: bytes) -> tuple[bytes, bytes]:
    """Header block and body of a message: they part at the first empty line, with CRLF, LF or both (RFC 5322 2.1).

    An mbox `From ` line before the fields belongs to neither. A message that starts with an empty line has no
    header; one without an empty line has no body.
    """
    start, end, body = bounds(message)
    return message[start:end], message[body:]


def bounds(message: bytes) -> tuple[int, int, int]:
    """Offsets of a message: its first field, the end of its header block, and its body."""
    start = len(BOM_UTF8) if message.startswith(BOM_UTF8) else 0
    mbox = None if _FROM_FIELD.match(message, start) else _MBOX_LINE.match(message, start)
    start = mbox.end() if mbox else start
    if empty := _STARTS_BLANK.match(message, start):
        return start, start, empty.end()
    blank = BLANK_LINE.search(message, start)
    if blank is None:
        return start, len(message), len(message)
    return start, message.index(b"\n", blank.start()) + 1, blank.end()


def parse_fields(block: bytes) -> tuple[Field, ...]:
    """The fields of a header block in order, unfolded; lines that are no field are passed over.

    At most `MAX_FIELDS` fields of the first `MAX_BLOCK` octets.
    """
    fields: list[Field] = []
    for line in _unfolded(block[:MAX_BLOCK]):
        if name := _NAME.match(line):
            fields.append(Field(name[1].decode("ascii"), line[name.end() :].strip(b" \t\r")))
            if len(fields) == MAX_FIELDS:
                break
    return tuple(fields)


def _unfolded(block: bytes) -> Iterator[bytes]:
    pieces: list[bytes] = []
    for line in block.split(b"\n"):
        line = line.removesuffix(b"\r")
        if not line.startswith((b" ", b"\t")):
            yield b"".join(pieces)
            pieces = []
        pieces.append(line)
    yield b"".join(pieces)


def first_value(fields: tuple[Field, ...], name: str) -> bytes | None:
    """The raw value of the first field of that name in any case, or None."""
    wanted = name.lower()
    return next((field.value for field in fields if field.name.lower() == wanted), None)


def decode_words(value: bytes) -> str:
    """A field value with its encoded words decoded (RFC 2047, language suffix of RFC 2231 section 5).

    White space is dropped only between two words. The octets of neighbours in one charset are joined before they
    are decoded, so that a letter split between two words survives. What is no word is UTF-8, else windows-1252.
    """
    if b"=?" not in value:
        return decode(value, None)
    pieces: list[str] = []
    charset: str | None = None
    held = b""
    for label, octets in _runs(value):
        if label is not None and label == charset and not is_self_contained(label):
            held += octets
            continue
        pieces.append(decode(held, charset))
        charset, held = label, octets
    return "".join((*pieces, decode(held, charset)))


def _runs(value: bytes) -> Iterator[tuple[str | None, bytes]]:
    """Words as (charset, octets), and what stands between them as (None, octets)."""
    between, after_word = b"", False
    for label, octets in _tokens(value):
        if label is None:
            between = octets
            continue
        if between.strip() or (between and not after_word):
            yield None, between
        yield label, octets
        between, after_word = b"", True
    if between:
        yield None, between


def _tokens(value: bytes) -> Iterator[tuple[str | None, bytes]]:
    """Always by turns: octets outside words (perhaps none), then a word; the end is outside."""
    position, end = 0, -1
    search_from = 0
    while word := _WORD_START.search(value, search_from):
        if end < word.end():
            end = value.find(b"?=", word.end())
        if end < 0:
            break
        if (inner := _WORD_START.search(value, word.end(), end)) is not None:
            search_from = inner.start()
            continue
        yield None, value[position : word.start()]
        yield (
            word[1].decode("ascii", "replace").partition("*")[0].lower(),
            _word(word[2], value[word.end() : end]),
        )
        position = search_from = end + 2
    yield None, value[position:]


def _word(encoding: bytes, text: bytes) -> bytes:
    if encoding in b"bB":
        return decode_base64(text)
    return unescape(text.replace(b"_", b" "))
