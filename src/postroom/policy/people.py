"""For who is who: address patterns compiled, and the addresses of mail read tolerantly but matched strictly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from postroom.base.domain import a_labels
from postroom.base.glob import Glob, text_glob
from postroom.config.policies.values import list_named
from postroom.config.schema import MailboxConfig
from postroom.mail.address import MAX_ADDRESSES, MAX_VALUE, parse_addresses, unreadable_in
from postroom.mail.outgoing.address import of_parts
from postroom.mail.outgoing.model import StrictAddress

_LONGEST_REMEMBERED = 2_000


@dataclass(frozen=True, slots=True)
class People:
    """Whom the patterns of one mailbox mean by `internal`, `self` and `list:NAME`."""

    internal: frozenset[str] = frozenset()
    """Domains as A-labels; what lies below them is not meant."""
    own: frozenset[str] = frozenset()
    """Keys of the mailbox's own addresses (`StrictAddress.key`)."""
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, mailbox: MailboxConfig, lists: Mapping[str, tuple[str, ...]]) -> People:
        """As the configuration has them; an identity that is a pattern makes nobody the owner."""
        texts = [one.address for one in mailbox.identities if not one.is_pattern]
        texts.append(mailbox.own_address)
        own = {address.key for text in texts if (address := strictly(text)) is not None}
        return cls(frozenset(_a_labels(mailbox.internal_domains)), frozenset(own), lists)


@dataclass(frozen=True, slots=True)
class AddressSet:
    """Compiled address patterns: who is one of them; made by `compile_addresses`."""

    exact: frozenset[str] = frozenset()
    """Keys of addresses."""
    domains: frozenset[str] = frozenset()
    below: tuple[str, ...] = ()
    """Domains with a dot before them, below which everybody is meant."""
    globs: tuple[tuple[Glob, str], ...] = ()
    """A glob over the local part, and its domain."""
    everybody: bool = False
    tags: bool = False
    """`local+anything@domain` is `local@domain` too."""

    def holds(self, address: StrictAddress) -> bool:
        """Whether the address is one of those meant."""
        if self.everybody or address.domain in self.domains or address.domain.endswith(self.below):
            return True
        local = address.key.rpartition("@")[0]
        return any(self._names(one, address.domain) for one in self._readings(local))

    def _readings(self, local: str) -> tuple[str, ...]:
        return (local, local.partition("+")[0]) if self.tags and "+" in local else (local,)

    def _names(self, local: str, domain: str) -> bool:
        if f"{local}@{domain}" in self.exact:
            return True
        return any(domain == theirs and glob.matches(local) for glob, theirs in self.globs)


class Named(NamedTuple):
    """Who a header field names."""

    addresses: tuple[StrictAddress, ...]
    unreadable: bool
    """It may name others, who cannot be told."""


def compile_addresses(patterns: Iterable[str], people: People, *, tags: bool) -> AddressSet:
    """The people that patterns mean. `tags` is for rules that restrict: there `bob@x` is also `bob+anything@x`."""
    exact, domains = set[str](), set[str]()
    below: list[str] = []
    globs: list[tuple[Glob, str]] = []
    texts = list(_spelled_out(patterns, people))
    for text in texts:
        local, at, domain = text.rpartition("@")
        if text == "internal":
            domains |= people.internal
        elif text == "self":
            exact |= people.own
        elif at and domain.startswith("*."):
            below.append(domain[1:])
        elif at and local == "*":
            domains.add(domain)
        elif at and "*" in local:
            globs.append((text_glob(local), domain))
        elif at:
            exact.add(text)
    everybody = not {"*", "anyone"}.isdisjoint(texts)
    return AddressSet(frozenset(exact), frozenset(domains), tuple(below), tuple(globs), everybody, tags)


def named_in(value: bytes) -> Named:
    """Who an address field names, in the strict grammar; what is not in it is unreadable."""
    return _remembered(value) if len(value) <= _LONGEST_REMEMBERED else _named(value)


def strictly(address: str) -> StrictAddress | None:
    """The address of mail in the strict grammar, or None for one that is outside of it."""
    try:
        return of_parts(None, address, utf8=True)
    except ValueError:
        return None


def _named(value: bytes) -> Named:
    found = [strictly(one.address) for one in parse_addresses(value)]
    strict = tuple(address for address in found if address is not None)
    cut = len(value) > MAX_VALUE or len(found) >= MAX_ADDRESSES
    return Named(strict, cut or len(strict) < len(found) or unreadable_in(value) > 0)


_remembered = lru_cache(maxsize=2_000)(_named)


def _spelled_out(patterns: Iterable[str], people: People) -> Iterable[str]:
    for pattern in patterns:
        name = list_named(pattern)
        if name is None:
            yield pattern
        else:
            yield from people.lists.get(name, ())


def _a_labels(domains: Iterable[str]) -> Iterable[str]:
    for domain in domains:
        try:
            yield a_labels(domain)
        except ValueError:
            continue  # nobody has an address there
