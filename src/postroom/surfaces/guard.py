"""Which browsers' pages and host names may speak to us at all: DNS rebinding and foreign origins stop here."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Guard:
    """Exact host names (any port, unless one is given) and exact origins; loopback is always among them."""

    def __init__(self, public_url: str, allowed_hosts: Iterable[str], allowed_origins: Iterable[str]) -> None:
        public = urlsplit(public_url)
        self._hosts = {_plain(host) for host in (*_LOOPBACK, public.netloc, _name(public.netloc), *allowed_hosts)}
        self._origins = {origin.lower().rstrip("/") for origin in allowed_origins}
        self._origins.add(f"{public.scheme}://{public.netloc}".lower())

    def host_allowed(self, host: str | None) -> bool:
        """A request's Host, RFC 9110 7.2; a missing one is not allowed."""
        if not host:
            return False
        plain = _plain(host)
        return plain in self._hosts or _name(plain) in self._hosts

    def origin_allowed(self, origin: str | None) -> bool:
        """No Origin means no browser's page. `null` and anything unknown is refused."""
        if origin is None:
            return True
        plain = origin.lower()
        if plain in self._origins:
            return True
        scheme, _, host = plain.partition("://")
        return scheme in ("http", "https") and _name(host) in _LOOPBACK


def _plain(host: str) -> str:
    return host.strip().lower()


def _name(host: str) -> str:
    """The host without its port; brackets of an IPv6 address stay."""
    head, colon, port = host.rpartition(":")
    return head if colon and port.isdigit() else host
