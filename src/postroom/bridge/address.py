"""Where the gateway is, checked before a token goes there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from postroom.base.tls import Endpoint, holds_authorities
from postroom.config.values import is_loopback

_VISIBLE = re.compile(r"[!-~]{1,2000}", re.ASCII)
_PORTS = {"http": 80, "https": 443}


class AddressFault(Exception):
    """An address to which no token is sent; the sentence says why and what to give instead."""


@dataclass(frozen=True, slots=True)
class Address:
    """An MCP endpoint. `endpoint.tls` is `ssl` or `none`; `host` and `target` stand in the request as they are."""

    endpoint: Endpoint
    host: str
    target: str


def read_address(url: str, *, allow_insecure: bool = False, ca_file: str | None = None) -> Address:
    """The address that a URL names: `/mcp` is meant where no path is given. Raises AddressFault."""
    if _VISIBLE.fullmatch(url) is None:
        raise AddressFault("it may hold visible ASCII characters only; write a foreign host name as xn--...")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise AddressFault("it is no URL; give one such as https://mail.example.com/mcp") from None
    _check(parts, allow_insecure=allow_insecure)
    if ca_file is not None and not holds_authorities(ca_file):
        raise AddressFault("its --ca-file cannot be read or holds no certificate of an authority")
    tls = "ssl" if parts.scheme == "https" else "none"
    endpoint = Endpoint(parts.hostname or "", port or _PORTS[parts.scheme], tls, ca_file)
    return Address(endpoint, parts.netloc, "/mcp" if parts.path in ("", "/") else parts.path)


def _check(parts: SplitResult, *, allow_insecure: bool) -> None:
    """What would send the token elsewhere than the operator thinks, or in the clear."""
    if parts.scheme not in _PORTS or not parts.hostname or parts.port == 0:
        raise AddressFault("it must begin with http:// or https:// and a host, such as http://127.0.0.1:8000/mcp")
    if "@" in parts.netloc:
        raise AddressFault("it may hold no user and no password; the token comes from the environment")
    if parts.query or parts.fragment:
        raise AddressFault("it may hold no ? and no #; nothing but the path names the endpoint")
    if parts.scheme == "http" and not (allow_insecure or is_loopback(parts.hostname)):
        raise AddressFault(
            "plain http to another machine shows the token to everybody on the way; "
            "use https, or add --allow-insecure if the way is protected otherwise"
        )
