"""What a configuration excepts from its own promises by name, and rules whose question a mailbox cannot answer."""

from __future__ import annotations

from collections.abc import Iterator

from postroom.config.policies.matching import MatchConfig
from postroom.config.policies.policy import PolicyConfig
from postroom.config.schema import ConfigFile, MailboxConfig


def exceptions(file: ConfigFile) -> list[str]:
    """Keys by which answers may come to depend on what is hidden; each has to be switched on, and each is told."""
    return [f"Policy {name} {what}" for name, policy in _policies(file) for what in _of_policy(policy)]


def blind_rules(file: ConfigFile) -> list[str]:
    """Rules that ask who a sender is, for each mailbox that has not what it takes to know."""
    return [
        f"Rule {name}.{rule} asks for {key}, and mailbox {mailbox.name} cannot tell: it has no {lacking}."
        for mailbox in file.mailboxes
        for name, policy in _policies(file)
        for rule, key in dict.fromkeys(_questions(policy))
        for lacking in _lacking(mailbox, key)
    ]


def _policies(file: ConfigFile) -> Iterator[tuple[str, PolicyConfig]]:
    yield "ceiling", file.ceiling
    yield from file.policies.items()


def _of_policy(policy: PolicyConfig) -> Iterator[str]:
    if policy.folders.duplicates == "accepted":
        yield "opens folders that show the mail of others once more (folders.duplicates: accepted)."
    if policy.content.raw and policy.content.raw_overrides_content:
        yield "gives messages as they came, with all that is redacted in them (content.raw_overrides_content: true)."
    for rule, match in _matches(policy):
        if match.known_correspondent is not None and match.known_correspondent.declassify:
            yield f"lets rule {rule} tell of the Sent folder (known_correspondent.declassify: true)."


def _questions(policy: PolicyConfig) -> Iterator[tuple[str, str]]:
    for rule, match in _matches(policy):
        if match.auth is not None:
            yield rule, "auth"
        if match.internal is not None:
            yield rule, "internal"


def _lacking(mailbox: MailboxConfig, key: str) -> Iterator[str]:
    if key == "internal" and not mailbox.internal_domains:
        yield "internal_domains"
    if not mailbox.trusted_authserv_ids and not (key == "internal" and mailbox.internal_without_dmarc):
        yield "trusted_authserv_ids"


def _matches(policy: PolicyConfig) -> Iterator[tuple[str, MatchConfig]]:
    """Every condition of every rule on messages, those within others too."""
    for rule in policy.messages.rules:
        waiting = [rule.match, *([rule.except_] if rule.except_ else [])]
        while waiting:
            match = waiting.pop()
            yield rule.id, match
            waiting += match.inner
