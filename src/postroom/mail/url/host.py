"""For host names as they really are: A-labels, addresses in any spelling, and look-alikes."""

from __future__ import annotations

import ipaddress
import re
import unicodedata

_DOTS = re.compile("[。．｡]")
_IGNORED = re.compile("[\xad\u034f\u180b-\u180f\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]")
_FORBIDDEN = re.compile(r"[\x00-\x20\"#%/:<>?@\[\\\]^`{|}\x7f]")
_IPV4_PART = re.compile(r"0x[0-9a-f]*|\d+")
_PERCENT = re.compile(r"%([0-9a-fA-F]{2})")
_ORDINARY = re.compile(r"(?:[a-zA-Z0-9-]+\.)+[a-zA-Z]{2,}")
MAX_HOST = 253
MAX_LABEL = 63
"""RFC 1035 2.3.4."""

_LATIN_LIKE = {
    "CYRILLIC": "аԁеһіјӏорсԛѕԝхуҽѵѡьӕ",
    "GREEK": "ανορυικτωχϲϳ",
    "ARMENIAN": "ահոսցօղյզգեխռ",
    "CHEROKEE": "ꭰꭱꭲꭺꮃꮇꮋꮐꮓꮖꮥꮪꮮꮯꮲ",
    "GEORGIAN": "იოყჿ",
}
"""Letters that can be taken for Latin ones."""
_ODD_LATIN = frozenset("ɑɡɩıȷʋʏⅼꞵꮁƅƽǃǀʟꜱᴀᴄᴅᴇᴋᴍᴏᴘᴛᴠᴡᴢ")
_EAST_ASIAN = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC"})
_SLASHES = frozenset("⁄∕╱⧸⧵․‧·‐")


def read_host(text: str) -> str | None:
    """A host in lower case: A-labels (RFC 5890), or an IP address in its usual form; None if it can be none.

    Mapped as browsers do, by NFKC and lower case; any number that they take for an IPv4 address is one.
    """
    if _ORDINARY.fullmatch(text) and len(text) < MAX_LABEL:
        return text.lower()
    if text.startswith("["):
        return _ipv6(text)
    if len(text) > 4 * MAX_HOST:
        return None
    try:
        text = _PERCENT.sub(lambda hit: f"%{hit[1]}", text) if "%" not in text else _decoded(text)
    except UnicodeDecodeError:
        return None
    text = _DOTS.sub(".", unicodedata.normalize("NFKC", _IGNORED.sub("", text)).lower()).removesuffix(".")
    labels = [_a_label(label) for label in text.split(".")]
    host = ".".join(label or "" for label in labels)
    if not all(labels) or len(host) > MAX_HOST or _FORBIDDEN.search(host):
        return None
    return _ipv4(host) if _IPV4_PART.fullmatch(host.rpartition(".")[2]) else host


def _decoded(text: str) -> str:
    octets = re.sub(rb"%([0-9a-fA-F]{2})", lambda hit: bytes.fromhex(hit[1].decode()), text.encode("utf-8", "replace"))
    return octets.decode("utf-8")


def _a_label(label: str) -> str | None:
    if not label or len(label) > MAX_LABEL:
        return None
    try:
        encoded = label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii")
    except UnicodeError:
        return None
    return encoded if len(encoded) <= MAX_LABEL else None


def _ipv6(text: str) -> str | None:
    try:
        return f"[{ipaddress.IPv6Address(text.removeprefix('[').removesuffix(']'))}]"
    except ValueError:
        return None


def _ipv4(host: str) -> str | None:
    """Decimal, octal and hexadecimal parts, of which the last may fill several octets (URL standard, IPv4 parser)."""
    parts = host.split(".")
    if len(parts) > 4 or not all(_IPV4_PART.fullmatch(part) for part in parts):
        return None
    try:
        numbers = [_number(part) for part in parts]
    except ValueError:
        return None
    *first, last = numbers
    if any(number > 255 for number in first) or last >= 256 ** (5 - len(numbers)):
        return None
    value = last + sum(number << (24 - 8 * at) for at, number in enumerate(first))
    return str(ipaddress.IPv4Address(value))


def _number(part: str) -> int:
    if part.startswith("0x"):
        return int(part[2:] or "0", 16)
    return int(part, 8) if part.startswith("0") and len(part) > 1 else int(part)


def is_address(host: str) -> bool:
    """The host is an IP address and no name."""
    return host.startswith("[") or host.replace(".", "").isdigit()


def is_lookalike(host: str) -> bool:
    """A host with a label that mixes alphabets, or is wholly written in letters that look Latin (UTS 39 5.1)."""
    if "xn--" not in host:
        return False
    labels = [_u_label(label) for label in host.split(".")]
    if None in labels:
        return True
    shown = [label for label in labels if label is not None]
    ending = _alphabets(shown[-1])
    return any(_is_odd(label, ending) for label in shown if not label.isascii())


def _u_label(label: str) -> str | None:
    """The letters of an A-label; None if it is not really one."""
    if not label.startswith("xn--"):
        return label
    try:
        shown = label[4:].encode("ascii").decode("punycode")
        is_true = not shown.isascii() and "xn--" + shown.encode("punycode").decode("ascii") == label
    except (UnicodeError, ValueError, OverflowError):
        return None
    return shown if is_true else None


def _alphabets(label: str) -> frozenset[str]:
    """The alphabets of a label's letters, by the first word of their Unicode names."""
    return frozenset(unicodedata.name(one, "?").split(" ")[0].split("-")[0] for one in label if one.isalpha())


def _is_odd(label: str, ending: frozenset[str]) -> bool:
    alphabets = _alphabets(label)
    if set(label) & (_ODD_LATIN | _SLASHES) or len(alphabets - _EAST_ASIAN - {"LATIN", "FULLWIDTH", "HALFWIDTH"}) > 1:
        return True
    foreign = alphabets - _EAST_ASIAN - {"LATIN"}
    if not foreign:
        return False
    if "LATIN" in alphabets or alphabets & _EAST_ASIAN:
        return True
    alike = _LATIN_LIKE.get(next(iter(foreign)), "")
    return not ending & foreign and all(one in alike for one in label if one.isalpha())
