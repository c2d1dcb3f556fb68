"""For header blocks: where one ends, its fields, and the words in them (RFC 5322 section 2.2, RFC 2047)."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from postroom.mail.charset import are_joined, decode, decode_unnamed, is_valid
from postroom.mail.lines import one_line as one_line
from postroom.mail.model import Field
from postroom.mail.transfer import decode_base64, unescape

MAX_BLOCK = 1 << 20
"""Octets of a header block that are looked at."""
MAX_FIELDS = 2_000

_MBOX_LINE = re.compile(rb"(?:>?From [^\n]*(?:\n|\Z))+")
_FROM_FIELD = re.compile(rb"From[ \t]*:")
BLANK_LINE = re.compile(rb"\n\r*+\n")
"""The end of a line and an empty one; also where a gateway made CR CR LF of line ends."""
STARTS_BLANK = re.compile(rb"\r*+\n")
_STRAY = re.compile(rb"\n(?![^\s:]*+[ \t]*+:|[ \t\r\n]|>?From |\Z)")
_KNOWN_FIELD = re.compile(
    rb"\n(?:from|to|b?cc|subject|date|message-id|in-reply-to|references|sender|reply-to|received|return-path"
    rb"|mime-version|content-[a-z-]{2,30}|list-[a-z-]{2,20}|x-[!-9;-~]{1,100})[ \t]*+:",
    re.IGNORECASE,
)
_FOLD = re.compile(rb"\r*+\n(?=[ \t])")
_NAME = re.compile(rb"([!-9;-~]+)[ \t]*:")
_WORD_START = re.compile(rb"=\?([^?\s]{0,75})\?([bBqQ])\?")


def split(message: bytes) -> tuple[bytes, bytes]:
    """Header block and body of a message: they part at the first empty line, with CRLF, LF or both (RFC 5322 2.1).

    An mbox `From ` line before the fields belongs to neither. A message that starts with an empty line has no
    header. Where the empty line is missing the body begins at the first line that is no field; the block still
    goes to the next empty line, as it does for the server that answers about its fields.
    """
    message = with_line_feeds(message)
    start, end, body = bounds(message)
    return message[start:end], message[body:]


def with_line_feeds(message: bytes) -> bytes:
    """A message whose lines all end with a lone CR (old Macintosh) with LF instead, any other as it is."""
    return message if b"\n" in message else message.replace(b"\r", b"\n")


def bounds(message: bytes) -> tuple[int, int, int]:
    """Offsets of a message: its first field, the end of its header block, and its body, which may begin before that."""
    start = len(BOM_UTF8) if message.startswith(BOM_UTF8) else 0
    mbox = None if _FROM_FIELD.match(message, start) else _MBOX_LINE.match(message, start)
    start = mbox.end() if mbox else start
    if empty := STARTS_BLANK.match(message, start):
        return start, start, empty.end()
    blank = BLANK_LINE.search(message, start)
    end, body = (blank.start() + 1, blank.end()) if blank else (len(message), len(message))
    stray = stray_line(message, start, end)
    return start, end, body if stray is None else stray


def stray_line(message: bytes, start: int, end: int) -> int | None:
    """The offset of the first line of a header block that must be of the body, as no empty line stands before it.

    That is a delimiter line, or a line that is no field with no well-known field below it; None without one.
    """
    block = b"\n" + message[start : min(end, start + MAX_BLOCK)]
    delimiter = block.find(b"\n--")
    last = delimiter if delimiter >= 0 else len(block)
    stray = _STRAY.search(block, 0, last)
    if stray is not None and (known := deque(_KNOWN_FIELD.finditer(block, stray.end(), last), maxlen=1)):
        stray = _STRAY.search(block, known[0].end(), last)
    offset = stray.start() if stray else delimiter
    return start + offset if offset >= 0 else None


def parse_fields(block: bytes) -> tuple[Field, ...]:
    """The fields of a header block in order, unfolded; lines that are no field are passed over.

    At most `MAX_FIELDS` fields of the first `MAX_BLOCK` octets.
    """
    unfolded = _FOLD.sub(b"", block[:MAX_BLOCK])
    fields: list[Field] = []
    for line in unfolded.split(b"\n"):
        if name := _NAME.match(line):
            fields.append(Field(name[1].decode("ascii"), line[name.end() :].strip(b" \t\r")))
            if len(fields) == MAX_FIELDS:
                break
    return tuple(fields)


def first_value(fields: tuple[Field, ...], name: str) -> bytes | None:
    """The raw value of the first field of that name in any case, or None."""
    wanted = name.lower()
    return next((field.value for field in fields if field.name.lower() == wanted), None)


class _Word(NamedTuple):
    """An encoded word, or what stands outside of words."""

    charset: str | None
    """As the word names it, lower case; None outside of words."""
    encoding: bytes
    text: bytes
    """Still encoded."""


def decode_words(value: bytes, assumed: str | None = None) -> str:
    """A field value with its encoded words decoded (RFC 2047, language suffix of RFC 2231 section 5).

    White space is dropped only between two words. The octets of neighbours in one charset are joined before they
    are decoded, so that a letter split between two words survives. What is no word is UTF-8, else in the charset
    `assumed`, else windows-1252.
    """
    if b"=?" not in value:
        return decode_unnamed(value, assumed)
    pieces: list[str] = []
    run: list[_Word] = []
    for word in _without_gaps(value):
        if run and not _continues(run[-1], word):
            pieces.append(_text(run, assumed))
            run = []
        run.append(word)
    return "".join((*pieces, _text(run, assumed)))


def _continues(word: _Word, following: _Word) -> bool:
    if word.charset is None or following.charset is None:
        return False
    return are_joined(word.charset, following.charset)


def _text(run: list[_Word], assumed: str | None) -> str:
    """The text of words in one charset, or of what stands outside."""
    if not run:
        return ""
    charset = run[0].charset
    return decode_unnamed(run[0].text, assumed) if charset is None else decode(_octets(run, charset), charset)


def _octets(run: list[_Word], charset: str) -> bytes:
    """The octets of neighbours; where a mailer cut the base64 itself, what it makes when put together."""
    octets = b"".join(map(_decoded, run))
    if len(run) == 1 or any(word.encoding not in b"bB" for word in run):
        return octets
    # Six bits alone make no octet: such an end proves the cut. Other odd ends may just lack their padding.
    odd = {len(word.text.replace(b" ", b"").rstrip(b"=")) % 4 for word in run[:-1]}
    if 1 in odd or (odd != {0} and not is_valid(octets, charset)):
        return decode_base64(b"".join(word.text for word in run))
    return octets


def _decoded(word: _Word) -> bytes:
    if word.encoding in b"bB":
        return decode_base64(word.text)
    return unescape(word.text.replace(b"_", b" "))


def _without_gaps(value: bytes) -> Iterator[_Word]:
    """Words, and what stands between them unless it is white space between two words."""
    between, after_word = b"", False
    for word in _tokens(value):
        if word.charset is None:
            between = word.text
            continue
        if between.strip() or (between and not after_word):
            yield _Word(None, b"", between)
        yield word
        between, after_word = b"", True
    if between:
        yield _Word(None, b"", between)


def _tokens(value: bytes) -> Iterator[_Word]:
    """Always by turns: octets outside words (perhaps none), then a word; the end is outside."""
    position, end = 0, -1
    search_from = 0
    while start := _WORD_START.search(value, search_from):
        if end < start.end():
            end = value.find(b"?=", start.end())
        if end < 0:
            break
        # The question mark at `end` may be the last of another word's start: then this one never ended.
        if (inner := _WORD_START.search(value, start.end(), end + 1)) is not None:
            search_from = inner.start()
            continue
        yield _Word(None, b"", value[position : start.start()])
        charset = start[1].decode("ascii", "replace").partition("*")[0].lower()
        yield _Word(charset, start[2], value[start.end() : end])
        position = search_from = end + 2
    yield _Word(None, b"", value[position:])
