"""The way out to a receiver: its name is resolved once, every answer judged, and a judged address connected to."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TypeAlias

from postroom.base.tls import Endpoint, context_for, unreached, why_not
from postroom.config.targets import Address, Network, Target
from postroom.events.ranges import is_refused, spoken_to
from postroom.events.resolving import is_of_this_machine

CONNECT_SECONDS = 5.0
_MOST_TRIED = 4
"""Addresses of one name that are connected to, one after another."""

Streams: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
"""A host name and a port to its addresses as text; raises OSError."""
Connect: TypeAlias = Callable[[str, int, str | None], Awaitable[Streams]]
"""An address, a port, and the name to ask for by TLS or None for plain text; raises OSError."""


class Unposted(Exception):
    """Nothing was answered. The sentence is for the operator, who alone sees it."""


@dataclass(frozen=True, slots=True)
class Egress:
    """Nothing that is refused is ever contacted, whatever a resolver answers and however an address is spelled."""

    own_ports: Collection[int]
    """Where this gateway listens."""
    resolve: Resolve
    connect: Connect
    is_local: Callable[[Address], bool] = is_of_this_machine
    seconds: float = CONNECT_SECONDS
    """For all of it: the name, and each address that is tried."""

    async def open(self, target: Target, private: Iterable[Network]) -> Streams:
        """A connection to the target. Raises `Unposted`."""
        try:
            async with asyncio.timeout(self.seconds):
                addresses = await self._addresses(target)
                self._check(addresses, target, tuple(private))
                return await self._connected(addresses, target)
        except TimeoutError:
            raise Unposted(f"no connection within {self.seconds:g} seconds") from None

    async def _addresses(self, target: Target) -> list[Address]:
        if target.address is not None:
            return [spoken_to(target.address)]
        try:
            answers = await self.resolve(target.host, target.port)
        except OSError as failure:
            raise Unposted(unreached(failure)[1]) from None
        except UnicodeError:
            raise Unposted("no connection: no host can have this name") from None
        try:
            addresses = [spoken_to(ip_address(answer)) for answer in dict.fromkeys(answers)]
        except ValueError:
            raise Unposted("nothing was sent: the host name has an answer that is no address") from None
        if not addresses:
            raise Unposted("no connection: the host name has no address")
        return addresses

    def _check(self, addresses: Sequence[Address], target: Target, private: Sequence[Network]) -> None:
        """Every answer must pass: one that does not says enough of the whole name."""
        for address in addresses:
            if target.port in self.own_ports and self.is_local(address):
                raise Unposted("nothing was sent: that is where this gateway itself listens")
            if getattr(address, "scope_id", None) is not None:
                raise Unposted("nothing was sent: the host is an address of one link only")
            if not any(address in network for network in private):
                self._check_public(address, target)

    def _check_public(self, address: Address, target: Target) -> None:
        if is_refused(address):
            why = "the host has an address that is not public; if it is meant, add its network to allow_private"
            raise Unposted(f"nothing was sent: {why}")
        if target.address is not None or not target.is_https:
            what = "named by address" if target.is_https else "posted to by http"
            raise Unposted(f"nothing was sent: only what allow_private names may be {what}")

    async def _connected(self, addresses: Sequence[Address], target: Target) -> Streams:
        tried = addresses[:_MOST_TRIED]
        for left, address in zip(range(len(tried) - 1, -1, -1), tried, strict=True):
            try:
                async with asyncio.timeout(self.seconds / len(tried)):
                    return await self.connect(str(address), target.port, target.host if target.is_https else None)
            except (OSError, TimeoutError) as failure:
                if not left:
                    raise _unconnected(failure, self.seconds) from None
        raise Unposted("no connection: the host name has no address")


def _unconnected(failure: OSError | TimeoutError, seconds: float) -> Unposted:
    if isinstance(failure, TimeoutError):
        return Unposted(f"no connection within {seconds:g} seconds")
    return Unposted(why_not(failure)[1] if isinstance(failure, ssl.SSLError) else unreached(failure)[1])


async def connect(address: str, port: int, server_name: str | None, ca_file: str | None = None) -> Streams:
    """To that address and no other; by TLS the certificate must be for the name. No proxy is asked for."""
    if server_name is None:
        return await asyncio.open_connection(address, port)
    context = context_for(Endpoint(server_name, port, "ssl", ca_file))
    return await asyncio.open_connection(address, port, ssl=context, server_hostname=server_name)
