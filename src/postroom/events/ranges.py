"""Addresses that nothing is posted to unless the operator permits them: a table of our own, after unwrapping."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_network

from postroom.config.targets import Address

REFUSED = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",
            "240.0.0.0/4",
            "::/128",
            "::1/128",
            "::/96",
            "64:ff9b:1::/48",
            "100::/64",
            "2001::/23",
            "2001:db8::/32",
            "3fff::/20",
            "fc00::/7",
            "fe80::/10",
            "fec0::/10",
            "ff00::/8",
        ),
    )
)
"""Python's `is_global` takes some of these for public. Teredo is in 2001::/23, IPv4-compatible addresses in ::/96.
Where in 64:ff9b:1::/48 (RFC 8215) an address lies is its network's own affair, so all of it is refused."""
_NAT64 = ip_network("64:ff9b::/96")
_6TO4 = ip_network("2002::/16")
_GLOBAL_UNICAST = ip_network("2000::/3")
"""All of IPv6 that is assigned for hosts on the Internet (RFC 4291 2.4), but for NAT64."""


def spoken_to(address: Address) -> Address:
    """The address that a connection to this one really goes to: an IPv4-mapped one is IPv4."""
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


def is_refused(address: Address) -> bool:
    """Whether this address, or one that is wrapped in it, is none of the public Internet."""
    return any(_is_listed(one) for one in (spoken_to(address), *_wrapped(address)))


def _is_listed(address: Address) -> bool:
    if isinstance(address, IPv6Address) and not (address in _GLOBAL_UNICAST or address in _NAT64):
        return True
    return any(address in network for network in REFUSED)


def _wrapped(address: Address) -> list[IPv4Address]:
    """The IPv4 address that a relay or translator on the way would take from it."""
    if isinstance(address, IPv4Address):
        return []
    octets = address.packed
    if address in _NAT64:
        return [IPv4Address(octets[12:])]
    return [IPv4Address(octets[2:6])] if address in _6TO4 else []
