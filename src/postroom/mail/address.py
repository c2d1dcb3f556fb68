"""For address fields: who they really name, and nobody else (RFC 5322 section 3.4 with 4.4, RFC 6532)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, pairwise

from postroom.mail.addresstokens import BROKEN, QUOTED, WORD, Token, tokens
from postroom.mail.header import decode_words, one_line
from postroom.mail.model import Address

MAX_ADDRESSES = 10_000
MAX_VALUE = 1 << 20
"""Octets of one field that are looked at."""
_MAX_TOKENS = 2_000
_FEWEST_TOKENS = 3
_MAX_ALL_TOKENS = 20 * MAX_ADDRESSES
_SEPARATORS = frozenset((",", ";", ":"))
_OUTSIDE, _BEGUN, _ROUTE, _INSIDE = "outside", "begun", "route", "inside"
_DOMAIN = re.compile(r"[A-Za-z0-9._\-\x80-\U0010ffff]+|\[[!-Z^-~]+\]")
_ATOM = re.compile(r'[^\s()<>@,;:\\".\[\]]+')
_ATOMS_AND_DOTS = re.compile(r'[^\s()<>@,;:\\"\[\]]+')
_LONGEST_ORDINARY = 2_000
_ORDINARY = re.compile(
    rb"""(?:(?:"(?P<quoted>[A-Za-z0-9 ,.'-]*)"|(?P<words>[A-Za-z0-9-]+(?:[ ][A-Za-z0-9-]+)*))[ ])?
    (?P<open><)?(?P<address>[A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*)
    (?(open)>)(?:,[ ]|\Z)""",
    re.VERBOSE,
)
"""A mailbox as nearly all are written; one with a name but without brackets is none."""


def parse_addresses(value: bytes, assumed: str | None = None) -> tuple[Address, ...]:
    """The mailboxes of an address field in order, members of groups included; at most `MAX_ADDRESSES`.

    Structure is read first, words are decoded last, so nothing inside a name can become an address. A mailbox
    that can be read in two ways names nobody and is left out; so are those without a domain, and `<>`. Names
    that are neither encoded nor UTF-8 are in the charset `assumed`.
    """
    if not value:
        return ()
    ordinary = _ordinary(value) if len(value) <= _LONGEST_ORDINARY else None
    if ordinary is not None:
        return ordinary
    stream = islice(tokens(value[:MAX_VALUE]), _MAX_ALL_TOKENS)
    found = (_mailbox(mailbox, assumed) for mailbox in _mailboxes(stream))
    return tuple(islice((address for address in found if address), MAX_ADDRESSES))


def unreadable_in(value: bytes, *, words: bool = False) -> int:
    """How many mailboxes of a field hold an @ and yet are none that `parse_addresses` gives.

    With `words` those count as well that hold anything else, such as a name that nobody has completed yet.
    """
    stream = islice(tokens(value[:MAX_VALUE]), _MAX_ALL_TOKENS)
    telling = ("@", WORD, QUOTED) if words else ("@",)
    named = (mailbox for mailbox in _mailboxes(stream) if any(token.kind in telling for token in mailbox))
    return sum(_mailbox(mailbox, None) is None for mailbox in named)


@lru_cache(maxsize=1_000)
def _ordinary(value: bytes) -> tuple[Address, ...] | None:
    """What the tokens of a value would give too, if they are as they mostly are; else None.

    Remembered, since the same people write to the same people.
    """
    found: list[Address] = []
    position = 0
    while match := _ORDINARY.match(value, position):
        quoted, words, opened, address = match.groups()
        name = words if quoted is None else quoted
        if name is not None and not opened:
            return None
        found.append(Address((name or b"").decode("ascii").strip() or None, address.decode("ascii")))
        position = match.end()
    return tuple(found) if position == len(value) else None


def format_address(address: Address) -> str:
    """`"name" <local@domain>` as Unicode, which `parse_addresses` reads back; no name, no brackets."""
    if address.name is None:
        return address.address
    quoted = address.name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}" <{address.address}>'


def _mailboxes(stream: Iterator[Token]) -> Iterator[list[Token]]:
    """Tokens of one mailbox at a time; a group's name is passed over, its members are mailboxes like others.

    A comma in a source route (RFC 5322 4.4) and a colon in angle brackets separate nothing. A mailbox of more
    than `_MAX_TOKENS` tokens is none.
    """
    mailbox: list[Token] = []
    angle = _OUTSIDE
    for token in stream:
        kind = token.kind
        if kind in _SEPARATORS and (angle == _OUTSIDE or kind == ";" or (kind == "," and angle == _INSIDE)):
            if mailbox and kind != ":" and len(mailbox) <= _MAX_TOKENS:
                yield mailbox
            mailbox, angle = [], _OUTSIDE
            continue
        angle = _angle_after(kind, angle)
        if len(mailbox) <= _MAX_TOKENS:
            mailbox.append(token)
    if mailbox and len(mailbox) <= _MAX_TOKENS:
        yield mailbox


def _angle_after(kind: str, angle: str) -> str:
    if kind == "<":
        return _BEGUN
    if kind == ">" or angle == _OUTSIDE:
        return _OUTSIDE
    if angle == _BEGUN:
        return _ROUTE if kind in ("@", ",") else _INSIDE
    return _INSIDE if kind == ":" else angle


def _mailbox(mailbox: list[Token], assumed: str | None) -> Address | None:
    if len(mailbox) < _FEWEST_TOKENS:
        return None
    kinds = [token.kind for token in mailbox]
    if "<" in kinds:
        return _angle_mailbox(mailbox, kinds, assumed)
    address = _addr_spec(mailbox)
    return None if address is None else Address(None, address)


def _angle_mailbox(mailbox: list[Token], kinds: list[str], assumed: str | None) -> Address | None:
    """[display-name] "<" [route] addr-spec ">"; beside brackets that are not right no other address may stand."""
    start = kinds.index("<")
    end = kinds.index(">", start) if ">" in kinds[start:] else len(kinds)
    inside, behind = start + _run_length(kinds[start:]), end + _run_length(kinds[end:])
    name, inner, rest = mailbox[:start], mailbox[inside:end], mailbox[behind:]
    paired = inside - start == behind - end
    sound = paired and not rest and BROKEN not in kinds and ">" not in kinds[:start]
    address = _addr_spec(_without_route(inner))
    if address is None or not (sound or _only_names(name, rest, address)):
        return None
    return Address(_phrase(name, assumed), address)


def _run_length(kinds: list[str]) -> int:
    """How often the first kind stands in a row: some programs write `<<local@domain>>`."""
    return next((i for i, kind in enumerate(kinds) if kind != kinds[0]), len(kinds))


def _only_names(name: list[Token], rest: list[Token], address: str) -> bool:
    """Nothing around a damaged angle address looks like another address."""
    if "<" in (token.kind for token in rest):
        again = _mailbox([token for token in rest if token.kind != BROKEN], None)
        return again is not None and again.address == address and not _names_address(name)
    return not _names_address(name) and not _names_address(rest)


def _names_address(phrase: list[Token]) -> bool:
    return any(token.kind == "@" or (token.kind == QUOTED and b"@" in token.octets) for token in phrase)


def _without_route(inner: list[Token]) -> list[Token]:
    """Without a source route (RFC 5322 4.4), or the scheme of a mailto URL that was pasted in."""
    kinds = [token.kind for token in inner]
    if kinds[:2] == [WORD, ":"] and inner[0].octets.lower() == b"mailto":
        return inner[2:]
    if kinds[:1] not in (["@"], [","]):
        return inner
    return inner[kinds.index(":") + 1 :] if ":" in kinds else []


def _addr_spec(mailbox: list[Token]) -> str | None:
    """`local@domain` of exactly that (RFC 5322 3.4.1), canonical: quotes only where they are needed.

    Outlook's single quotes around all of it are none of it: no domain ends with one.
    """
    mailbox = _without_single_quotes(mailbox)
    kinds = [token.kind for token in mailbox]
    if "@" not in kinds:
        return None
    at = kinds.index("@")
    local, domain = _local_part(mailbox[:at]), _domain(mailbox[at + 1 :])
    if not local or not domain:
        return None
    address = f"{local}@{domain}"
    return address if address.isprintable() else None


def _without_single_quotes(mailbox: list[Token]) -> list[Token]:
    if len(mailbox) < 3 or not (mailbox[0].octets.startswith(b"'") and mailbox[-1].octets.endswith(b"'")):
        return mailbox
    first, *inner, last = mailbox
    return [first._replace(octets=first.octets[1:]), *inner, last._replace(octets=last.octets[:-1])]


def _local_part(part: list[Token]) -> str | None:
    """Words and dots; a dot too many is kept, as some providers gave out such names."""
    kinds = [token.kind for token in part]
    if any(kind not in (WORD, QUOTED, ".") for kind in kinds):
        return None
    if any(kind != "." and following != "." for kind, following in pairwise(kinds)):
        return None
    text = _utf8(b"".join(token.octets for token in part))
    if not text or not (text.isprintable() and (QUOTED in kinds or WORD in kinds)):
        return None
    if QUOTED not in kinds:
        return text if _ATOMS_AND_DOTS.fullmatch(text) else None
    if all(map(_ATOM.fullmatch, text.split("."))):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _domain(part: list[Token]) -> str | None:
    """A domain literal, or atoms between single dots; the dot of the root is dropped."""
    if part and part[-1].kind == "." and len(part) > 1:
        part = part[:-1]
    if any(token.kind != (WORD if index % 2 == 0 else ".") for index, token in enumerate(part)):
        return None
    text = _utf8(b"".join(token.octets for token in part))
    return text if text and len(part) % 2 == 1 and _DOMAIN.fullmatch(text) else None


def _utf8(octets: bytes) -> str | None:
    try:
        return octets.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _phrase(part: list[Token], assumed: str | None) -> str | None:
    """A display name: its words as they stand, decoded for display, None when nothing is left."""
    raw = b"".join((b" " if token.spaced else b"") + token.octets for token in part)
    return one_line(decode_words(raw.strip(), assumed)) or None
