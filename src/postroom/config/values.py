"""The kinds of value a configuration may hold, each checked and parsed once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, ValidationInfo

from postroom.base.secret import Secret
from postroom.config.storeurl import SCHEMES, StoreUrl

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_HOST = re.compile(r"[^\s/@:\[\]\"'\\]{1,255}")
_DOMAIN = re.compile(r"[\w-]{1,63}(?:\.[\w-]{1,63}){0,9}")
_LOCAL = re.compile(r"[^\s()<>\[\]:;@\\,\"*]{1,64}")
_TOKEN_HASH = re.compile(r"sha256:[0-9A-Fa-f]{64}", re.ASCII)
_CERTIFICATE_HASH = re.compile(r"[0-9A-Fa-f]{64}", re.ASCII)
_LONGEST_LINE = 1000


class Tls(StrEnum):
    """How a connection is encrypted: from its first byte, after STARTTLS, or not at all."""

    SSL = "ssl"
    STARTTLS = "starttls"
    NONE = "none"


class Auth(StrEnum):
    """How the gateway logs in: with a password, or with an OAuth access token by one of two mechanisms."""

    PASSWORD = "password"  # noqa: S105 - the name of a way to log in
    XOAUTH2 = "xoauth2"
    OAUTHBEARER = "oauthbearer"


@dataclass(frozen=True, slots=True)
class Listen:
    """Where the gateway listens; port 0 lets the system choose."""

    host: str
    port: int

    @property
    def loopback(self) -> bool:
        """Whether only this machine can connect."""
        return is_loopback(self.host)


@dataclass(frozen=True, slots=True)
class Identity:
    """An address a mailbox may send from, with an optional display name, or `*@domain` for all of a domain."""

    name: str | None
    address: str

    @property
    def is_pattern(self) -> bool:
        return self.address.startswith("*@")

    def __str__(self) -> str:
        return self.address if self.name is None else f"{self.name} <{self.address}>"


def is_loopback(host: str) -> bool:
    """Whether a host name or IP address means this machine and nothing else."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def is_address(text: str) -> bool:
    """Whether this is `local@domain`; non-ASCII is taken (RFC 6531), quoted local parts are not."""
    local, at, domain = text.rpartition("@")
    return bool(at and _LOCAL.fullmatch(local) and _DOMAIN.fullmatch(domain))


def resolved(text: str | Path, context: Mapping[str, Any] | None) -> Path:
    """A path as the file means it: relative to the folder of the configuration file, if there is one."""
    folder: Path = (context or {}).get("folder", Path())
    return folder / text


def checked_name(text: str) -> str:
    """A name the operator gave, of letters, digits, _ and -; ValueError otherwise."""
    return _matching(text, _NAME, "may hold letters, digits, _ and - only, at most 64")


def _host(text: str) -> str:
    if ":" in text and _is_ip(text):
        return text
    wanted = "must be a host name or an IP address, without port or scheme"
    try:
        text.encode("idna")  # as the resolver will: it raises for empty and for overlong labels
    except UnicodeError:
        raise ValueError(wanted) from None
    return _matching(text, _HOST, wanted)


def _domain(text: str) -> str:
    return _matching(text, _DOMAIN, "must be a domain, such as example.com").lower()


def _address(text: str) -> str:
    if not is_address(text):
        raise ValueError("must be an address, such as ana@example.com")
    return text


def _token_hash(text: str) -> str:
    return _matching(text, _TOKEN_HASH, "must be sha256: and the 64 hex digits of the token's SHA-256").lower()


def _certificate_hash(text: str) -> str:
    digits = text.replace(":", "")
    return _matching(digits, _CERTIFICATE_HASH, "must be the 64 hex digits of the certificate's SHA-256").lower()


def _matching(text: str, pattern: re.Pattern[str], wanted: str) -> str:
    if pattern.fullmatch(text) is None:
        raise ValueError(wanted)
    return text


def _line(text: str) -> str:
    if not text or len(text) > _LONGEST_LINE or not text.isprintable():
        raise ValueError(f"must be one line of 1 to {_LONGEST_LINE} printable characters")
    return text


def _is_ip(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _listen(value: object) -> object:
    if not isinstance(value, str):
        return value
    host, colon, port = value.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (colon and host and re.fullmatch(r"[0-9]{1,5}", port, re.ASCII) and int(port) <= 65535):
        raise ValueError("must be host:port, such as 127.0.0.1:8000, or 0.0.0.0:8000 for every address")
    return Listen(_host(host), int(port))


def _identity(value: object) -> object:
    if not isinstance(value, str):
        return value
    name, bracket, rest = value.partition("<")
    address = rest.removesuffix(">") if bracket else value
    whole = value.isprintable() and rest.endswith(">") == bool(bracket)
    if not whole or not (is_address(address) or (not bracket and _is_pattern(address))):
        raise ValueError("must be an address, Name <address>, or *@domain")
    return Identity((name.strip().strip('"') or None) if bracket else None, address)


def _is_pattern(text: str) -> bool:
    return text.startswith("*@") and _DOMAIN.fullmatch(text[2:]) is not None


def _url(text: str) -> str:
    parts = _split(text)
    if parts is None or parts.username is not None or parts.query or parts.fragment:
        raise ValueError("must be an http or https URL, such as https://mail.example.com")
    return text.rstrip("/")


def _origin(text: str) -> str:
    parts = _split(text)
    if parts is None or parts.username is not None or parts.path or parts.query or parts.fragment:
        raise ValueError("must be an origin: scheme and host without a path, such as https://app.example.com")
    return text.lower()


def _split(text: str) -> SplitResult | None:
    """The parts of an http(s) URL with a host and a possible port, or None."""
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        return None
    return parts if usable and text.isprintable() and " " not in text else None


def _allowed_host(text: str) -> str:
    parts = _split(f"http://{text}")
    if parts is None or parts.netloc != text or "@" in text:
        raise ValueError("must be a host as it stands in a Host header, such as mail.example.com")
    return text.lower()


def _store(value: object) -> str | StoreUrl:
    if isinstance(value, StoreUrl):
        return value
    if not isinstance(value, str):
        raise ValueError("must be one value, not a list or table")
    if value == "sqlite":
        return value
    if not value.startswith(SCHEMES):
        raise ValueError("must be sqlite, or a postgresql:// URL")
    return StoreUrl.of(value)


def _secret(value: object) -> Secret:
    if isinstance(value, Secret):
        return value
    if not isinstance(value, str) or not value:
        raise ValueError("must be text; quote it if it looks like something else")
    return Secret(value)


def _argv(argv: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    if not argv or not argv[0]:
        raise ValueError("must name a program, as a list: [program, argument]")
    program = argv[0]
    return (str(resolved(program, info.context)) if "/" in program else program, *argv[1:])


def _path(path: Path, info: ValidationInfo) -> Path:
    return resolved(path, info.context)


Name = Annotated[str, AfterValidator(checked_name)]
Host = Annotated[str, AfterValidator(_host)]
Domain = Annotated[str, AfterValidator(_domain)]
AddressText = Annotated[str, AfterValidator(_address)]
TokenHash = Annotated[str, AfterValidator(_token_hash)]
CertificateHash = Annotated[str, AfterValidator(_certificate_hash)]
Line = Annotated[str, AfterValidator(_line)]
HttpUrl = Annotated[str, AfterValidator(_url)]
Origin = Annotated[str, AfterValidator(_origin)]
AllowedHost = Annotated[str, AfterValidator(_allowed_host)]
StoreChoice = Annotated[str | StoreUrl, PlainValidator(_store)]
ListenAddress = Annotated[Listen, BeforeValidator(_listen)]
IdentityText = Annotated[Identity, BeforeValidator(_identity)]
HiddenText = Annotated[Secret, PlainValidator(_secret)]
FilePath = Annotated[Path, AfterValidator(_path)]
Argv = Annotated[tuple[str, ...], AfterValidator(_argv)]
Port = Annotated[int, Field(ge=1, le=65535)]
Positive = Annotated[int, Field(ge=1)]
NotNegative = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)]
