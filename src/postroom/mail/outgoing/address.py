"""For addresses that a caller names: one strict grammar, one value, and a reason that repairs what is outside it.

Taken are `local@domain`, `<local@domain>`, `Name <local@domain>` and `"Any name" <local@domain>` (a part of RFC 5322
3.4). Comments, groups, routes, quoted local parts, literals and every second reading are not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from postroom.base.domain import a_labels
from postroom.base.errors import GatewayError, invalid
from postroom.mail.lines import one_line
from postroom.mail.outgoing.model import LOCAL, MAX_ADDRESS, MAX_LOCAL, UTF8_LOCAL, StrictAddress
from postroom.mail.unseen import visible_line

MAX_RECIPIENTS = 500
"""Of one argument."""
MAX_NAME = 250
"""Characters of a display name."""
_LONGEST = 2_000
_LONGEST_LIST = MAX_RECIPIENTS * 400
_QUOTED_NAME = re.compile(r'"((?:[^"\\]|\\.)*+)"[ ]*+(?=<)')
_ESCAPED = re.compile(r"\\(.)")
_SPECIALS = re.compile(r'[()<>\[\]:;@\\,"]')
_QUOTED_OR_COMMA = re.compile(r'"(?:[^"\\]|\\.)*+"|,')


def read_addresses(value: str | Sequence[str], argument: str, *, utf8: bool = False) -> tuple[StrictAddress, ...]:
    """The addresses of an argument in order: a list of one address each, or one string with commas between them.

    A blank string, an empty list: none. An address that stands twice is taken once. Raises `validation_error`
    naming the argument and the entry.
    """
    if isinstance(value, str):
        if len(value) > _LONGEST_LIST:
            raise invalid(argument, "the list of addresses is too long")
        value = _split(value) if value.strip() else ()
    if len(value) > MAX_RECIPIENTS:
        raise invalid(argument, f"at most {MAX_RECIPIENTS} addresses are taken")
    return unique(_entry(text, argument, at, utf8) for at, text in enumerate(value, 1))


def read_address(text: str, argument: str, *, utf8: bool = False) -> StrictAddress:
    """The one address in a text. Raises `validation_error` naming the argument and what is wrong."""
    try:
        return strict_address(text, utf8=utf8)
    except ValueError as error:
        raise invalid(argument, str(error)) from None


def strict_address(text: str, *, utf8: bool = False) -> StrictAddress:
    """The one address in a text; `utf8` takes local parts beyond ASCII (RFC 6531). ValueError says what is wrong."""
    if len(text) > _LONGEST:
        raise ValueError("the address is too long")
    text = text.strip(" ")
    if not text:
        raise ValueError("the address is empty")
    if one_line(text) != text:
        raise ValueError("an address holds no line breaks or control characters")
    if not text.endswith(">"):
        return of_parts(None, _bare(text), utf8=utf8)
    if quoted := _QUOTED_NAME.match(text):
        name, rest = _ESCAPED.sub(r"\1", quoted[1]), text[quoted.end() :]
    else:
        start = text.find("<")
        name, rest = _plain_name(text[: max(start, 0)]), text[max(start, 0) :]
    if not rest.startswith("<"):
        raise ValueError("a > closes nothing; write Name <local@domain>")
    return of_parts(name, rest[1:-1], utf8=utf8)


def of_parts(name: str | None, address: str, *, utf8: bool = False) -> StrictAddress:
    """An address from its display name, any printable text, and `local@domain`. ValueError says what is wrong."""
    if name is not None and one_line(name) != name.strip():
        raise ValueError("a display name holds no line breaks or control characters")
    name = visible_line(name or "") or None
    if name is not None and len(name) > MAX_NAME:
        raise ValueError(f"a display name has at most {MAX_NAME} characters")
    local, at, domain = address.rpartition("@")
    if not at:
        raise ValueError("there is no @; write local@domain")
    if "," in address or ";" in address:
        raise ValueError("give each address as an entry of its own")
    if local.count("@") and not local.startswith('"'):
        raise ValueError("there is more than one @; write one address for each entry")
    _check_local(local, utf8)
    strict = StrictAddress(name, unicodedata.normalize("NFC", local), a_labels(domain))
    if len(strict.address.encode()) > MAX_ADDRESS:
        raise ValueError(f"an address has at most {MAX_ADDRESS} octets")
    return strict


def unique(addresses: Iterable[StrictAddress]) -> tuple[StrictAddress, ...]:
    """Each address once, where it stood first."""
    once: dict[str, StrictAddress] = {}
    for one in addresses:
        once.setdefault(one.key, one)
    return tuple(once.values())


def _entry(text: str, argument: str, at: int, utf8: bool) -> StrictAddress:
    try:
        return strict_address(text, utf8=utf8)
    except ValueError as error:
        raise _refused(argument, at, str(error)) from None


def _refused(argument: str, at: int, reason: str) -> GatewayError:
    return invalid(argument, f"address {at}: {reason}", entry=at)


def _split(text: str) -> list[str]:
    """What stands between commas outside of quotes; a comma at the very end is forgiven."""
    cuts = [comma.start() for comma in _QUOTED_OR_COMMA.finditer(text) if comma[0] == ","]
    pieces = list(_between(text, cuts))
    return pieces[:-1] if len(pieces) > 1 and not pieces[-1].strip() else pieces


def _between(text: str, cuts: list[int]) -> Iterator[str]:
    start = 0
    for cut in cuts:
        yield text[start:cut]
        start = cut + 1
    yield text[start:]


def _bare(text: str) -> str:
    if "<" in text:
        raise ValueError("a < is not closed by a > at the end; write Name <local@domain>")
    if " " in text:
        raise ValueError("an address has no spaces; write Name <local@domain> with a name")
    return text


def _plain_name(text: str) -> str:
    if special := _SPECIALS.search(text):
        raise ValueError(f'a display name with {special[0]} in it must stand in double quotes: "Name" <local@domain>')
    return text


def _check_local(local: str, utf8: bool) -> None:
    if not local:
        raise ValueError("nothing stands before the @")
    if local.startswith('"'):
        raise ValueError("a quoted local part is not taken")
    if len(local.encode()) > MAX_LOCAL:
        raise ValueError(f"the part before the @ has at most {MAX_LOCAL} octets")
    if LOCAL.fullmatch(local) or (utf8 and UTF8_LOCAL.fullmatch(local)):
        return
    if not local.isascii() and UTF8_LOCAL.fullmatch(local):
        raise ValueError("a local part beyond ASCII cannot be sent to by this server (SMTPUTF8)")
    if local.startswith(".") or local.endswith(".") or ".." in local:
        raise ValueError("a dot stands at an end of the part before the @, or twice")
    raise ValueError("the part before the @ holds a character that is not taken")
