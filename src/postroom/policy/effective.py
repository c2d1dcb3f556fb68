"""A profile's policy for one mailbox: what is granted, and everything that restricts it, compiled once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from postroom.config.policies.limits import LimitPolicy
from postroom.config.policies.outbound import OutboundPolicy
from postroom.config.policies.policy import PolicyConfig
from postroom.config.schema import Config, ConfigFile, MailboxConfig
from postroom.mail.model import Address
from postroom.mail.signals import Household
from postroom.policy.actionrules import Actions, compile_actions
from postroom.policy.attachmentrules import Attachments, compile_attachments
from postroom.policy.condition import Condition, Terms
from postroom.policy.contentmeet import compile_content
from postroom.policy.contentrules import ContentRules
from postroom.policy.detectors import DETECTORS_VERSION
from postroom.policy.folderrules import Folders, compile_folder_rules
from postroom.policy.messagerules import Messages, Report, compile_message_rules
from postroom.policy.people import People
from postroom.policy.personkeys import internal

SANITIZER_VERSION = "1"
"""Of the projector: another one may show the same message otherwise."""
CEILING = "ceiling"


class NoGrant(LookupError):
    """A profile, a policy that it names, or a mailbox does not exist, or nothing is granted there."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on work and rates: the smallest of all policies."""

    requests_per_minute: int
    burst: int
    concurrent: int
    response_bytes: int
    scan_chars: int
    body_search_messages: int


@dataclass(frozen=True, slots=True)
class Policy:
    """What one profile may see, change and send in one mailbox. It does not change."""

    profile: str
    mailbox: str
    hash: bytes
    """SHA-256 over all that the decisions rest on."""
    parties: tuple[str, ...]
    """The names of the policies that have a say: the grant, the ceiling, and what restricts in its order."""
    folders: Folders
    messages: Messages
    content: ContentRules
    attachments: Attachments
    actions: Actions
    outbound: tuple[OutboundPolicy, ...]
    """What each policy says of sending, the grant first; a restriction says nothing of keys that it leaves out."""
    limits: Limits
    people: People
    internal: Condition
    """A message is from inside, and it is certain."""


def compile_policy(
    config: Config | ConfigFile,
    profile: str,
    mailbox: str,
    extra_restrictions: Sequence[str] = (),
    report: Report = lambda fault: None,
) -> Policy:
    """The policy of a profile for a mailbox, restricted further by the policies named. `report` is told of errors.

    Raises `NoGrant` for names that do not exist, and where the profile grants nothing.
    """
    settings = _mailbox(config, mailbox)
    (granted, grant), restrictions = _parties(config, profile, mailbox, extra_restrictions)
    policies = [policy for _, policy in restrictions]
    people = People.of(settings, config.lists)
    limits = _limits(grant.limits, [one.limits for one in policies])
    content = compile_content(grant.content, [one.content for one in policies], limits.scan_chars)
    terms = _terms(settings, people, limits.scan_chars)
    folders = compile_folder_rules(grant.folders, [one.folders for one in policies])
    return Policy(
        profile=profile,
        mailbox=mailbox,
        hash=_hash(grant, policies, settings, people),
        parties=(granted, *(name for name, _ in restrictions)),
        folders=folders,
        messages=compile_message_rules(
            (granted, grant.messages),
            [(name, one.messages) for name, one in restrictions],
            terms,
            content,
            report,
        ),
        content=content,
        attachments=compile_attachments(grant.attachments, [one.attachments for one in policies], content),
        actions=compile_actions(grant.actions, [one.actions for one in policies], folders),
        outbound=(grant.outbound, *(one.outbound for one in policies)),
        limits=limits,
        people=people,
        internal=internal(True, terms),
    )


def policies_of(config: Config | ConfigFile, profile: str, mailbox: str) -> list[PolicyConfig]:
    """What has a say there as the file has it, the grant first. Raises `NoGrant` as `compile_policy` does."""
    (_, grant), restrictions = _parties(config, profile, mailbox, ())
    return [grant, *(policy for _, policy in restrictions)]


Party = tuple[str, PolicyConfig]
"""A policy with its name."""


def _parties(
    config: Config | ConfigFile, profile: str, mailbox: str, extra: Sequence[str]
) -> tuple[Party, list[Party]]:
    """The grant, and what restricts it: the ceiling, the profile's restrictions, and those of the token."""
    declared = config.profiles.get(profile)
    granted = None if declared is None else declared.grant(mailbox)
    if declared is None or granted is None:
        raise NoGrant(profile)
    restrictions = [(CEILING, config.ceiling)]
    restrictions += [(name, _named(config.policies, name)) for name in (*declared.restrict, *extra)]
    return (granted, _named(config.policies, granted)), restrictions


def _named(policies: Mapping[str, PolicyConfig], name: str) -> PolicyConfig:
    if name not in policies:
        raise NoGrant(name)
    return policies[name]


def _mailbox(config: Config | ConfigFile, name: str) -> MailboxConfig:
    for mailbox in config.mailboxes:
        if mailbox.name == name:
            return mailbox
    raise NoGrant(name)


def _terms(mailbox: MailboxConfig, people: People, scan_chars: int) -> Terms:
    own = [Address(one.name, one.address) for one in mailbox.identities if not one.is_pattern]
    own += [Address(None, mailbox.own_address)] if mailbox.own_address else []
    return Terms(
        people=people,
        scan_chars=scan_chars,
        tags=False,
        internal_without_dmarc=mailbox.internal_without_dmarc,
        trusts_results=bool(mailbox.trusted_authserv_ids),
        household=Household(tuple(own), frozenset(mailbox.internal_domains)),
    )


def _limits(grant: LimitPolicy, restrictions: Sequence[LimitPolicy]) -> Limits:
    def least(key: str) -> int:
        values: list[int] = [getattr(one, key) for one in (grant, *restrictions) if one is grant or one.said(key)]
        return min(values)

    return Limits(**{key: least(key) for key in Limits.__dataclass_fields__})


def _hash(grant: PolicyConfig, restrictions: Sequence[PolicyConfig], mailbox: MailboxConfig, people: People) -> bytes:
    """The grant with its defaults, so that another default makes another hash; of restrictions what they say."""
    effective = {
        "grant": grant.model_dump(mode="json", by_alias=True),
        "restrictions": [one.model_dump(mode="json", by_alias=True, exclude_unset=True) for one in restrictions],
        "lists": {name: list(patterns) for name, patterns in people.lists.items()},
        "internal": sorted(people.internal),
        "own": sorted(people.own),
        "trusted": [sorted(mailbox.trusted_authserv_ids), mailbox.trusted_hops, mailbox.internal_without_dmarc],
        "versions": [DETECTORS_VERSION, SANITIZER_VERSION],
    }
    return hashlib.sha256(json.dumps(effective, sort_keys=True, separators=(",", ":")).encode()).digest()
