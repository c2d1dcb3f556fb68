"""For who a mailbox may speak as: its own addresses, and domains of which every address is one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from postroom.base.domain import a_labels
from postroom.base.errors import Code, GatewayError
from postroom.mail.outgoing.address import read_address, strict_address
from postroom.mail.outgoing.model import StrictAddress


@dataclass(frozen=True, slots=True)
class Identities:
    """What a mailbox's identities say; those that mail cannot be sent from are in `listed` alone."""

    exact: Mapping[str, StrictAddress]
    """By `StrictAddress.key`, with the display names of the configuration."""
    domains: frozenset[str]
    """Of `*@domain`: A-labels; below them nothing is meant."""
    own: StrictAddress | None
    """The sender where the caller names none."""
    listed: tuple[str, ...]
    """As they are told to callers."""

    @classmethod
    def read(cls, identities: Iterable[str], own_address: str) -> Identities:
        """From the texts of the configuration: `local@domain`, `Name <local@domain>`, `*@domain`."""
        listed = tuple(identities)
        exact: dict[str, StrictAddress] = {}
        for text in listed:
            if not text.startswith("*@") and (one := _strict(text)) is not None:
                exact.setdefault(one.key, one)
        domains = {domain for text in listed if text.startswith("*@") for domain in _domain(text[2:])}
        own = _strict(own_address)
        return cls(exact, frozenset(domains), own and exact.get(own.key, own), listed)

    def owns(self, address: StrictAddress) -> bool:
        """It is one of the exact addresses, or the mailbox's own; a pattern makes nobody the owner."""
        return address.key in self.exact or (self.own is not None and address.key == self.own.key)

    def allows(self, sender: StrictAddress) -> bool:
        """Mail may be sent as this address."""
        return sender.key in self.exact or sender.domain in self.domains

    def sender(self, given: str | None, argument: str = "from") -> StrictAddress:
        """The sender that a caller names, with the name of the identity if none is given; else the mailbox's own.

        Whether it is allowed is for `policy.outbound` to say. Raises `validation_error` or `invalid_identity`.
        """
        if given is not None:
            named = read_address(given, argument)
            known = self.exact.get(named.key)
            return replace(named, name=known.name) if known and named.name is None else named
        if self.own is None:
            message = "The mailbox has no address of its own; name one of its identities as from."
            raise GatewayError(Code.INVALID_IDENTITY, message, argument=argument, identities=list(self.listed))
        return self.own


def _strict(text: str) -> StrictAddress | None:
    try:
        return strict_address(text)
    except ValueError:
        return None


def _domain(text: str) -> tuple[str, ...]:
    try:
        return (a_labels(text),)
    except ValueError:
        return ()
