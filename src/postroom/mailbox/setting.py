"""What the configuration says about whose mail a mailbox holds, for reading it."""

from __future__ import annotations

from postroom.config import MailboxConfig
from postroom.mail.model import Address
from postroom.mail.signals import Household
from postroom.policy.content import Setting


def setting_of(mailbox: MailboxConfig) -> Setting:
    """Its own addresses and domains, and the servers whose word on senders counts."""
    own = [Address(one.name, one.address) for one in mailbox.identities if not one.is_pattern]
    if mailbox.own_address:
        own.append(Address(None, mailbox.own_address))
    return Setting(
        Household(tuple(own), frozenset(mailbox.internal_domains)),
        frozenset(mailbox.trusted_authserv_ids),
        mailbox.trusted_hops,
    )
