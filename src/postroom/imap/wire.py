"""IMAP octets to responses and commands to octets (RFC 9051 section 9); pure, bounded, without recursion.

A response reaches us in pieces: the text between literals as `bytes`, each literal as a `Literal`. Tokens are
`bytes` for atoms and strings, None for NIL, and lists for what stands in parentheses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from postroom.imap.faults import WireFault

MAX_NESTING = 64
"""Lists nested deeper than this are read past, not kept: a hostile BODYSTRUCTURE costs only itself."""
MAX_SYNTAX = 1024 * 1024
"""Octets of one response outside its literals; a longer one is not taken apart, but for a SEARCH or SORT."""
MAX_UID = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Literal:
    """The octets of a literal (RFC 9051 4.3), or only their number when they were streamed elsewhere."""

    octets: bytes
    streamed: int = 0


Piece: TypeAlias = bytes | Literal
Token: TypeAlias = "bytes | list[Token] | None"  # noqa: S105 - a token of the grammar, no secret


@dataclass(frozen=True, slots=True)
class Status:
    """OK, NO, BAD, BYE or PREAUTH: untagged when `tag` is None."""

    tag: bytes | None
    kind: str
    code: str | None
    code_values: list[Token]
    text: str


@dataclass(frozen=True, slots=True)
class Untagged:
    """Any other untagged response: `kind` in upper case, `number` for EXISTS, EXPUNGE and FETCH."""

    kind: str
    number: int | None
    values: list[Token]


@dataclass(frozen=True, slots=True)
class Garbled:
    """An untagged response that is not IMAP; `uid` if the message that it was about can still be told."""

    kind: str
    uid: int | None
    octets: bytes = b""
    """Of a LIST, how it went on: some servers' folder names can be read from it all the same."""


@dataclass(frozen=True, slots=True)
class Stray:
    """A line that begins no response, as the rest of a string that holds a line end."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """The server waits for the rest of a command (RFC 9051 7.6)."""

    text: bytes


Response: TypeAlias = Status | Untagged | Garbled | Stray | Continuation

_LITERAL = re.compile(rb"~?\{(\d{1,20})\+?\}\Z")
_NO_LITERAL = re.compile(rb"(?:\+|\S+ +(?:OK|NO|BAD|BYE|PREAUTH)\b)", re.I)
_STATUS = re.compile(rb"(OK|NO|BAD|BYE|PREAUTH)(?: +(.*))?\Z", re.I | re.S)
_CODE = re.compile(rb"\[([^\]\s]+)(?: ((?:\"(?:[^\"\\]|\\.)*\"|[^\]\"])*))?\] ?(.*)\Z", re.S)
_TOKEN = re.compile(
    rb"""[ ]*(?:
        (\() | (\))
      | ("[^"\\\r\n]*+(?:\\.[^"\\\r\n]*+)*+")
      | ((?:[^\s()"{}\[\]\x00]+|\{(?!\d+\+?\}\Z)|\}|\[(?:"(?:[^"\\]|\\.)*"|[^\]"])*\]|\])+)
      | (.)
    )""",
    re.X | re.S,
)
"""Its groups: an opening parenthesis, a closing one, a quoted string with its quotes, an atom, what is no token."""
_AT_ONCE = 64 * 1024
"""Octets whose tokens may all be held at a time, which is faster."""
_ESCAPE = re.compile(rb"\\(.)", re.S)
_KEPT = 1_000
_FETCH_UID = re.compile(rb"\bUID (\d{1,10})\b", re.I)
_NUMBERED = re.compile(rb"(\d{1,10}) +([A-Z]+) *", re.I)
_NAMED = re.compile(rb"([A-Z0-9.-]+) *", re.I)


def announced_literal(line: bytes, *, first: bool) -> int | None:
    """Octets of the literal that follows this line; free text of a status may end like one and is none."""
    match = _LITERAL.search(line[-24:])
    if not match or (first and _NO_LITERAL.match(line)):
        return None
    return int(match[1])


def read_response(pieces: Sequence[Piece]) -> Response:
    """One response from its pieces, the last line end removed. Raises `WireFault` if it cannot even be framed."""
    if not isinstance(pieces[0], bytes):
        raise WireFault("a response began with a literal")
    first = pieces[0].lstrip(b" \t")
    if first.startswith(b"+"):
        return Continuation(first[1:].lstrip(b" "))
    head, _, rest = first.partition(b" ")
    status = _STATUS.match(rest.lstrip(b" ")) if len(pieces) == 1 else None
    if status:
        return _read_status(None if head == b"*" else head, status)
    if head != b"*":
        return Stray()
    return _read_untagged([rest.lstrip(b" "), *pieces[1:]])


def _read_status(tag: bytes | None, match: re.Match[bytes]) -> Status:
    kind, rest = match[1].decode().upper(), match[2] or b""
    code = _CODE.match(rest)
    if not code:
        return Status(tag, kind, None, [], _text(rest))
    try:
        values = tokenize([code[2] or b""])
    except WireFault:
        values = []
    return Status(tag, kind, _text(code[1]).upper(), values, _text(code[3]))


def _read_untagged(pieces: list[Piece]) -> Untagged | Garbled:
    line = pieces[0]
    assert isinstance(line, bytes)  # noqa: S101 - read_response built it so
    match = _NUMBERED.match(line)
    number = int(match[1]) if match else None
    match = match or _NAMED.match(line)
    if not match:
        return Garbled("", None)
    kind = match[match.lastindex or 1].decode().upper()
    rest = line[match.end() :]
    if kind in ("SEARCH", "SORT") and len(pieces) == 1:
        return Untagged(kind, number, list(rest.partition(b"(")[0].split()))
    try:
        values = _bounded_tokens([rest, *pieces[1:]])
    except WireFault:
        return Garbled(kind, _uid_of(pieces), rest[:_KEPT] if kind == "LIST" else b"")
    if kind == "LIST" and any(isinstance(value, bytes) for value in values[3:]):
        return Garbled(kind, None, rest[:_KEPT])
    return Untagged(kind, number, values)


def _bounded_tokens(pieces: list[Piece]) -> list[Token]:
    if sum(len(piece) for piece in pieces if isinstance(piece, bytes)) > MAX_SYNTAX:
        raise WireFault(f"a response of more than {MAX_SYNTAX:,} octets besides its literals")
    return tokenize(pieces)


def _uid_of(pieces: Iterable[Piece]) -> int | None:
    for piece in pieces:
        match = _FETCH_UID.search(piece) if isinstance(piece, bytes) else None
        if match and 0 < int(match[1]) <= MAX_UID:
            return int(match[1])
    return None


def _text(octets: bytes) -> str:
    return octets.decode("utf-8", "replace")


def tokenize(pieces: Sequence[Piece]) -> list[Token]:
    """All tokens of a response. Raises `WireFault` on unbalanced parentheses or stray octets."""
    reader = _Reader()
    for piece in pieces:
        if isinstance(piece, Literal):
            reader.add(piece.octets)
        else:
            reader.feed(piece)
    return reader.finished()


def _tokens_of(text: bytes) -> Iterable[tuple[bytes, ...]]:
    if len(text) <= _AT_ONCE:
        return _TOKEN.findall(text)
    return (match.groups(b"") for match in _TOKEN.finditer(text))


def _pass_over(_token: Token) -> None:
    """For what is nested too deep to be kept."""


class _Reader:
    """Collects tokens with a stack of its own, so that nesting costs no recursion."""

    def __init__(self) -> None:
        self._stack: list[list[Token]] = [[]]
        self._too_deep = 0

    def add(self, token: Token) -> None:
        if not self._too_deep:
            self._stack[-1].append(token)

    def feed(self, text: bytes) -> None:
        put = self._put()
        for opens, closes, quoted, atom, _ in _tokens_of(_LITERAL.sub(b"", text).rstrip(b" \t")):
            if atom:
                put(None if len(atom) == 3 and atom.upper() == b"NIL" else atom)
            elif quoted:
                put(read_quoted(quoted[1:-1]))
            elif opens:
                self._open()
                put = self._put()
            elif closes:
                self._close()
                put = self._put()
            else:
                raise WireFault("octets that are no IMAP token")

    def _put(self) -> Callable[[Token], object]:
        """Where tokens go now. Of all that is read most is words, so it is asked for once a list."""
        return _pass_over if self._too_deep else self._stack[-1].append

    def _open(self) -> None:
        if self._too_deep or len(self._stack) >= MAX_NESTING:
            self._too_deep += 1
        else:
            self._stack.append([])

    def _close(self) -> None:
        if self._too_deep:
            self._too_deep -= 1
            return
        if len(self._stack) == 1:
            raise WireFault("a parenthesis too many")
        done = self._stack.pop()
        self._stack[-1].append(done)

    def finished(self) -> list[Token]:
        if self._too_deep or len(self._stack) != 1:
            raise WireFault("a parenthesis is missing")
        return self._stack[0]


@dataclass(frozen=True, slots=True)
class Atom:
    """Octets that go out as they are: keywords, sequence sets and item lists of our own making."""

    text: str


Argument: TypeAlias = Atom | Literal | bytes | str
"""A `Literal` goes out as one, whatever it holds; other strings as literals only where they cannot be quoted."""
OPEN, CLOSE = Atom("("), Atom(")")

_QUOTABLE = re.compile(rb"[\x20-\x7e]{0,900}\Z")


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A command's octets, cut after each literal announcement; `wait` tells whether the server must say go on."""

    segments: tuple[bytes, ...]
    wait: bool


def write_command(tag: bytes, name: str, arguments: Sequence[Argument], *, literal_plus: bool) -> Outgoing:
    """One command. Whatever an argument holds, it cannot end the line: only here are strings put on the wire.

    The atoms `(` and `)` stand close to what they enclose.
    """
    segments = [bytearray(tag + b" " + name.encode("ascii"))]
    before: Argument | None = None
    for argument in arguments:
        segments[-1] += b"" if before == OPEN or argument == CLOSE else b" "
        before = argument
        if isinstance(argument, Atom):
            segments[-1] += _atom(argument)
            continue
        octets = octets_of(argument)
        if not isinstance(argument, Literal) and _QUOTABLE.match(octets):
            segments[-1] += b'"' + octets.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'
        else:
            segments[-1] += b"{%d%s}\r\n" % (len(octets), b"+" if literal_plus else b"")
            segments.append(bytearray(octets))
    segments[-1] += b"\r\n"
    return Outgoing(tuple(bytes(segment) for segment in segments), wait=not literal_plus)


def octets_of(argument: Literal | bytes | str) -> bytes:
    """A string as it goes out."""
    if isinstance(argument, Literal):
        return argument.octets
    return argument.encode("utf-8") if isinstance(argument, str) else argument


def _atom(atom: Atom) -> bytes:
    octets = atom.text.encode("ascii")
    if re.search(rb"[\x00-\x1f\x7f]", octets):
        raise ValueError("a control octet in an atom of our own")
    return octets


def read_quoted(inner: bytes) -> bytes:
    """What stands between the quotes of a quoted string, its escapes undone."""
    return _ESCAPE.sub(rb"\1", inner) if b"\\" in inner else inner


def as_int(token: Token) -> int | None:
    """A number token, or None for anything else."""
    return int(token) if isinstance(token, bytes) and token.isdigit() and len(token) <= 20 else None


def as_text(token: Token) -> str | None:
    """A string token as text, or None for NIL and lists."""
    return _text(token) if isinstance(token, bytes) else None


def sequence_set(uids: Iterable[int]) -> str:
    """UIDs as an ascending sequence set with ranges (RFC 9051 9, sequence-set)."""
    runs: list[list[int]] = []
    for uid in sorted(set(uids)):
        if runs and runs[-1][1] == uid - 1:
            runs[-1][1] = uid
        else:
            runs.append([uid, uid])
    return ",".join(str(low) if low == high else f"{low}:{high}" for low, high in runs)
