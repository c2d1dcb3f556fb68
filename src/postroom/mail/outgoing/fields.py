"""For the header fields of mail that leaves: ASCII, folded, and no line that is not theirs (RFC 5322 2.2, RFC 2231)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from postroom.mail.outgoing.model import StrictAddress
from postroom.mail.outgoing.words import encoded_words

LINE = 76
"""Characters of a line with encoded words (RFC 2047 2); nothing is longer but what cannot be parted."""
_LONGEST_WORD = 60
"""Plain words and quoted names that are longer are encoded, so that they can be folded."""
_ATOM = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+")
_ATTRIBUTE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$&+-.^_`{|}~")
"""RFC 2231 7, attribute-char: what needs no percent sign."""
_NOT_SIMPLE = re.compile(r'[^ -~]+|["\\]|=\?')
"""What readers do not read alike within a quoted parameter; some decode encoded words there (RFC 2047 5 forbids)."""
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def fold(name: str, tokens: Iterable[str]) -> str:
    """A field: its name and tokens with one blank between them, broken before a token where a line gets too long."""
    lines: list[str] = []
    line = f"{name}:"
    for at, token in enumerate(tokens):
        if at and len(line) + 1 + len(token) > LINE:
            lines.append(line)
            line = ""
        line += f" {token}"
    return "\r\n".join((*lines, line))


def text_field(name: str, text: str) -> str:
    """An unstructured field such as Subject: a text of one line without controls or blanks at its ends."""
    words = text.split(" ")
    if text.isascii() and "=?" not in text and all(0 < len(word) <= _LONGEST_WORD for word in words):
        return fold(name, words)
    return fold(name, encoded_words(text, LINE - len(name) - 2) if text else ())


def address_field(name: str, addresses: Sequence[StrictAddress]) -> str:
    """A field of addresses with commas between them; in UTF-8 only for local parts that are not ASCII."""
    tokens: list[str] = []
    for one in addresses:
        if tokens:
            tokens[-1] += ","
        tokens.extend(_mailbox(one))
    return fold(name, tokens)


def _mailbox(one: StrictAddress) -> list[str]:
    return [one.address] if one.name is None else [*_phrase(one.name), f"<{one.address}>"]


def _phrase(name: str) -> list[str]:
    """A display name as atoms, one quoted string or encoded words, so that nothing in it can be an address."""
    words = name.split(" ")
    if "=?" not in name and name.isascii():
        if all(len(word) <= _LONGEST_WORD and _ATOM.fullmatch(word) for word in words):
            return words
        if len(name) <= _LONGEST_WORD:
            return [_quoted(name)]
    return encoded_words(name, _LONGEST_WORD)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def date_field(moment: datetime) -> str:
    """Date in UTC (RFC 5322 3.3): English whatever the locale, and no trace of where the gateway stands."""
    utc = moment.astimezone(UTC)
    day, month = _DAYS[utc.weekday()], _MONTHS[utc.month - 1]
    return f"Date: {day}, {utc.day:02} {month} {utc.year:04} {utc:%H:%M:%S} +0000"


def parameters_field(name: str, value: str, parameters: Sequence[tuple[str, str]]) -> str:
    """A field of a value and parameters, such as Content-Disposition; what is not plain ASCII by RFC 2231."""
    tokens = [value]
    for key, text in parameters:
        for token in _parameter(key, text):
            tokens[-1] += ";"
            tokens.append(token)
    return fold(name, tokens)


def _parameter(key: str, text: str) -> Iterator[str]:
    """The parameter; for a name that is not plain first in ASCII, for readers that know no RFC 2231."""
    if len(text) <= _LONGEST_WORD and not _NOT_SIMPLE.search(text):
        yield f'{key}="{text}"'
        return
    yield f'{key}="{ascii_likeness(text)}"'
    first, *more = _percent_pieces(text)
    yield f"{key}*0*=utf-8''{first}" if more else f"{key}*=utf-8''{first}"
    for at, piece in enumerate(more, 1):
        yield f"{key}*{at}*={piece}"


def _percent_pieces(text: str) -> Iterator[str]:
    piece = ""
    for letter in text:
        encoded = letter if letter in _ATTRIBUTE else "".join(f"%{octet:02X}" for octet in letter.encode())
        if len(piece) + len(encoded) > _LONGEST_WORD - 10:
            yield piece
            piece = ""
        piece += encoded
    yield piece


def ascii_likeness(text: str) -> str:
    """A name in ASCII that a person still recognises: letters without their accents, `_` for what is left; short."""
    plain = "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))
    spelled = _NOT_SIMPLE.sub("_", plain)
    stem, dot, extension = spelled.rpartition(".")
    if len(spelled) > _LONGEST_WORD and dot and len(extension) <= 10:
        return f"{stem[: _LONGEST_WORD - 1 - len(extension)]}.{extension}"
    return spelled[:_LONGEST_WORD]
