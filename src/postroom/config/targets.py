"""Where a webhook is posted to: a URL read strictly and once, so that nobody reads it differently later."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from postroom.base.domain import a_labels

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

LONGEST_URL = 2_000
_PORTS = {"http": 80, "https": 443}
_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s/?#@:\\\[\]%]+)(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<path>(?:[/?][!-~]*)?)"
)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
"""A last label by which programs take a host for an IPv4 address in some spelling."""


@dataclass(frozen=True, slots=True)
class Target:
    """`host` is a name in A-labels or an address as it is usually written; `path` has the query in it."""

    url: str
    is_https: bool
    host: str
    port: int
    path: str
    address: Address | None
    """Of a host that is no name."""

    @property
    def authority(self) -> str:
        """Host and port as a Host header has them."""
        host = f"[{self.host}]" if isinstance(self.address, IPv6Address) else self.host
        return host if self.has_usual_port else f"{host}:{self.port}"

    @property
    def has_usual_port(self) -> bool:
        return self.port == _PORTS["https" if self.is_https else "http"]


def read_target(text: str) -> Target:
    """The target that a URL names. ValueError says what is wrong with it, and quotes nothing of it."""
    if len(text) > LONGEST_URL:
        raise ValueError(f"must have at most {LONGEST_URL:,} characters")
    if "#" in text:
        raise ValueError("must not have a fragment (#)")
    if "@" in re.split(r"[/?]", text.partition("://")[2], maxsplit=1)[0]:
        raise ValueError("must not hold a user or password; the signature proves who posts")
    found = _URL.fullmatch(text)
    if found is None or not 0 < int(found["port"] or 1) <= 65535:
        raise ValueError("must be an https URL, such as https://hooks.example.com/mail")
    host, address = _host(found["host"])
    path = found["path"] or "/"
    return Target(
        url=text,
        is_https=found["scheme"] == "https",
        host=host,
        port=int(found["port"] or _PORTS[found["scheme"]]),
        path=path if path.startswith("/") else f"/{path}",
        address=address,
    )


def read_network(text: str) -> Network:
    """A network in CIDR notation, or one address. ValueError says how to write it."""
    try:
        return ip_network(text)
    except ValueError:
        raise ValueError("must be a network such as 10.1.2.0/24, with no bits set past its length") from None


def _host(text: str) -> tuple[str, Address | None]:
    if text.startswith("["):
        try:
            address: Address = IPv6Address(text[1:-1])
        except ValueError:
            raise ValueError("what stands in brackets must be an IPv6 address") from None
        return str(address), address
    if (literal := _address(text)) is not None:
        return text, literal
    if _NUMBER.fullmatch(text.rpartition(".")[2].lower()):
        raise ValueError("an IPv4 address must be written with four decimal numbers, such as 192.0.2.1")
    try:
        return a_labels(text, fewest=1), None
    except ValueError as failure:
        raise ValueError(f"has a host that cannot be used: {failure}") from None


def _address(text: str) -> Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None
