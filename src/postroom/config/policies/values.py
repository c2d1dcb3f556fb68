"""The kinds of value a policy may hold: levels, durations, sizes, and patterns of addresses, folders and texts."""

from __future__ import annotations

import re
import unicodedata
from datetime import timedelta
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import AfterValidator, BeforeValidator, Field

from postroom.base.domain import a_labels
from postroom.base.expression import compile_expression
from postroom.base.glob import path_glob, text_glob

SpecialUse = Literal["inbox", "sent", "drafts", "trash", "junk", "archive", "all", "flagged", "important"]
SPECIAL_USES = get_args(SpecialUse)
"""RFC 6154 and RFC 8457, and the inbox."""
KEYWORDS = ("internal", "self", "anyone", "*")
"""Patterns that name people by who they are; `anyone` and `*` are everybody."""
_DURATION = re.compile(r"([1-9][0-9]{0,8})([smhd])", re.ASCII)
_SIZE = re.compile(r"([1-9][0-9]{0,12})([km]?)", re.ASCII)
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_FACTORS = {"": 1, "k": 1_024, "m": 1_048_576}
_ID = re.compile(r"[a-z0-9-]{1,32}", re.ASCII)
_DETECTOR = re.compile(r"[a-z0-9_-]{1,24}", re.ASCII)
_LOCAL_PATTERN = re.compile(r"[A-Za-z0-9!#$&'*+/=?^_{|}~-]+(?:\.[A-Za-z0-9!#$&'*+/=?^_{|}~-]+)*", re.ASCII)
_LIST = re.compile(r"list:[A-Za-z0-9_-]{1,64}", re.ASCII)
_MEDIA = re.compile(r"[a-z0-9*][a-z0-9!#$&^_.+*-]{0,62}/[a-z0-9*][a-z0-9!#$&^_.+*-]{0,62}", re.ASCII)
_EXTENSION = re.compile(r"[^\s./\\A-Z]{1,20}")
_HEADER = re.compile(r"[!-9;-~]{1,76}", re.ASCII)
_LABEL_GLOB = re.compile(r"[A-Za-z0-9._/*?-]{1,48}", re.ASCII)


def listed(value: object) -> object:
    """A list as it is, and anything else as a list of its own."""
    return value if isinstance(value, list | tuple) else [value]


def _duration(value: object) -> object:
    if not isinstance(value, str):
        return value
    match = _DURATION.fullmatch(value)
    if match is None:
        raise ValueError("must be a whole number with s, m, h or d, such as 30m or 90d")
    seconds = int(match[1]) * _UNITS[match[2]]
    if seconds > timedelta.max.total_seconds():
        raise ValueError("is longer than any mail is old")
    return timedelta(seconds=seconds)


def _pause(value: object) -> object:
    return timedelta() if value in ("0", "0s") else _duration(value)


def _size(value: object) -> object:
    if not isinstance(value, str):
        return value
    match = _SIZE.fullmatch(value)
    if match is None:
        raise ValueError("must be a whole number of octets from 1, or one with k or m, such as 10m")
    return int(match[1]) * _FACTORS[match[2]]


def _matching(text: str, pattern: re.Pattern[str], wanted: str) -> str:
    if pattern.fullmatch(text) is None:
        raise ValueError(wanted)
    return text


def _id(text: str) -> str:
    return _matching(text, _ID, "may hold lower-case letters, digits and - only, at most 32")


def _detector(text: str) -> str:
    return _matching(text, _DETECTOR, "may hold lower-case letters, digits, _ and - only, at most 24")


def _address(text: str) -> str:
    if text in KEYWORDS or _LIST.fullmatch(text):
        return text
    local, at, domain = text.rpartition("@")
    if not at or len(local) > 64 or not _LOCAL_PATTERN.fullmatch(local):
        raise ValueError("must be local@domain, *@domain, *@*.domain, internal, self, anyone or list:NAME")
    below = "*." if domain.startswith("*.") else ""
    if below and local != "*":
        raise ValueError("only *@*.domain stands for addresses below a domain")
    return f"{local.lower()}@{below}{a_labels(domain.removeprefix('*.'))}"


def _domain_pattern(text: str) -> str:
    below = "*." if text.startswith("*.") else ""
    return below + a_labels(text.removeprefix("*."))


def _folder(text: str) -> str:
    if text.startswith("special:"):
        if text.removeprefix("special:") not in SPECIAL_USES:
            raise ValueError(f"must be special: and one of {', '.join(SPECIAL_USES)}")
        return text
    text = unicodedata.normalize("NFC", text)
    if not text.isprintable() or text.startswith("/") or text.endswith("/") or "//" in text:
        raise ValueError("must be a folder's path with / between its levels, such as Support/**")
    path_glob(text)
    return text


def _text_glob(text: str) -> str:
    text_glob(text)
    return text


def _expression(text: str) -> str:
    compile_expression(text)
    return text


def _media(text: str) -> str:
    return _matching(text.lower(), _MEDIA, "must be a type such as application/pdf or image/*")


def _extension(text: str) -> str:
    return _matching(text, _EXTENSION, "must be a file name's ending in lower case without its dot, such as pdf")


def _header(text: str) -> str:
    return _matching(text.lower(), _HEADER, "must be the name of a header field, such as list-id")


def _label(text: str) -> str:
    return _matching(text, _LABEL_GLOB, "may hold letters, digits, . _ / - and the wildcards * and ?, at most 48")


AccessLevel = Literal["hidden", "visible", "readable", "writable"]
VerdictLevel = Literal["hide", "withhold", "allow"]
FindingLevel = Literal["hide", "withhold", "redact", "flag", "off"]
OutcomeLevel = Literal["deny", "draft", "hold", "send"]
Where = Literal["subject", "body", "both"]

Duration = Annotated[timedelta, BeforeValidator(_duration)]
Pause = Annotated[timedelta, BeforeValidator(_pause)]
Size = Annotated[int, BeforeValidator(_size)]
RuleId = Annotated[str, AfterValidator(_id)]
DetectorName = Annotated[str, AfterValidator(_detector)]
AddressPattern = Annotated[str, AfterValidator(_address)]
DomainName = Annotated[str, AfterValidator(a_labels)]
DomainPattern = Annotated[str, AfterValidator(_domain_pattern)]
FolderPattern = Annotated[str, AfterValidator(_folder)]
TextGlob = Annotated[str, AfterValidator(_text_glob)]
ExpressionText = Annotated[str, AfterValidator(_expression)]
MediaGlob = Annotated[str, AfterValidator(_media)]
Extension = Annotated[str, AfterValidator(_extension)]
HeaderName = Annotated[str, AfterValidator(_header)]
LabelGlob = Annotated[str, AfterValidator(_label)]

_T = TypeVar("_T")
OneOrMore = Annotated[tuple[_T, ...], BeforeValidator(listed), Field(min_length=1)]
"""One value, or a list of which any will do."""


def is_special(pattern: str) -> bool:
    """Whether a folder pattern names a special use instead of a path."""
    return pattern.startswith("special:")


def list_named(pattern: str) -> str | None:
    """The list that an address pattern names, or None."""
    return pattern.removeprefix("list:") if pattern.startswith("list:") else None


def spell_duration(value: timedelta) -> str:
    """As it is written in the file."""
    seconds: Any = int(value.total_seconds())
    for unit in ("d", "h", "m"):
        if seconds and seconds % _UNITS[unit] == 0:
            return f"{seconds // _UNITS[unit]}{unit}"
    return f"{seconds}s" if seconds else "0"


def spell_size(value: int) -> str:
    """As it is written in the file."""
    for unit in ("m", "k"):
        if value % _FACTORS[unit] == 0:
            return f"{value // _FACTORS[unit]}{unit}"
    return str(value)
