"""The rules on sending of a grant and of what restricts it, from their configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import NamedTuple
from zoneinfo import ZoneInfo

from postroom.base.expression import compile_expression
from postroom.base.levels import Files, Finding, Outcome
from postroom.config.policies.attachments import AttachmentPolicy
from postroom.config.policies.outbound import (
    OutboundContentConfig,
    OutboundDetectorsConfig,
    OutboundPatternConfig,
    OutboundPolicy,
    QuietHoursConfig,
    RateConfig,
    RecipientsConfig,
)
from postroom.config.policies.values import list_named
from postroom.config.section import Section
from postroom.policy.attachmentrules import PartFacts, compile_attachments
from postroom.policy.contentrules import ContentRules
from postroom.policy.effective import Policy
from postroom.policy.outbound.holding import compile_hold
from postroom.policy.outbound.rules import (
    Circle,
    FileRules,
    Forwarding,
    LinkRules,
    LoopRules,
    OutboundPattern,
    OutboundRules,
    Quantity,
    QuietHours,
    RateLimit,
    RecipientRules,
    ReplyTo,
    UntrustedReads,
    WordRules,
)
from postroom.policy.people import AddressSet, People, compile_addresses
from postroom.policy.textpatterns import ScannedExpression

Said = Callable[[Section, str], bool]
"""Whether a policy speaks of a key: a grant of all of them, a restriction of those that its text has."""


def compile_outbound(policies: Sequence[OutboundPolicy], people: People, scan_chars: int) -> tuple[OutboundRules, ...]:
    """The rules of each policy, the grant first; a restriction has no opinion on what it leaves out."""
    passes = _passes(policies)
    return tuple(
        _rules(one, people, scan_chars, passes, _all_said if at == 0 else _said) for at, one in enumerate(policies)
    )


class Acquainted(NamedTuple):
    """Whom the configuration of a mailbox knows: what `SendEvidence` needs of it."""

    internal: AddressSet
    """Its organisation, and its own addresses."""
    own: AddressSet
    contacts: AddressSet
    """The list `contacts`, if there is one."""


def acquainted(people: People) -> Acquainted:
    """Of one mailbox."""
    patterns = (("internal", "self"), ("self",), ("list:contacts",))
    return Acquainted(*(compile_addresses(one, people, tags=False) for one in patterns))


class WayOut(NamedTuple):
    """All that a policy has to say of what is sent, compiled."""

    rules: tuple[OutboundRules, ...]
    """Of each of its parties, the grant first."""
    known: Acquainted


def way_out(policy: Policy) -> WayOut:
    """Takes some milliseconds, so it is kept by whoever judges more than once."""
    rules = compile_outbound(policy.outbound, policy.people, policy.limits.scan_chars)
    return WayOut(rules, acquainted(policy.people))


def _all_said(section: Section, key: str) -> bool:
    return True


def _said(section: Section, key: str) -> bool:
    return section.said(key)


def _rules(
    policy: OutboundPolicy, people: People, scan_chars: int, passes: Callable[[PartFacts], bool], said: Said
) -> OutboundRules:
    senders = compile_addresses(policy.from_ or ("self",), people, tags=False)
    return OutboundRules(
        mode=_outcome(policy.mode) if said(policy, "mode") else Outcome.SEND,
        senders=senders if said(policy, "from_") else None,
        recipients=_recipients(policy.recipients, people, said),
        draft_recipients_any=policy.draft_recipients == "any" and said(policy, "draft_recipients"),
        circle=Circle[policy.reply_only.upper()] if said(policy, "reply_only") else Circle.OFF,
        reply_all=_outcome(policy.reply_all) if said(policy, "reply_all") else Outcome.SEND,
        reply_to=ReplyTo[policy.reply_to.upper()] if said(policy, "reply_to") else ReplyTo.FOLLOW,
        forward=Forwarding[policy.forward.upper()] if said(policy, "forward") else Forwarding.RAW,
        require_draft=policy.require_draft and said(policy, "require_draft"),
        untrusted=_untrusted(policy, said),
        holds=tuple(compile_hold(one, scan_chars) for one in policy.hold_when),
        words=_words(policy.content, scan_chars, said),
        files=FileRules(_files_mode(policy, said), passes),
        rates=tuple(_rates(policy.rate, said)),
        quiet_hours=_quiet(policy.quiet_hours),
        loop=_loop(policy, said),
        scan_chars=scan_chars,
    )


def _outcome(word: str) -> Outcome:
    """Of a word for an outcome; `allow` and `flag` let a message be sent, and `flag` notes it."""
    return Outcome.SEND if word in ("allow", "flag") else Outcome[word.upper()]


def _recipients(config: RecipientsConfig, people: People, said: Said) -> RecipientRules:
    allows = said(config, "allow")
    named = {name for pattern in config.allow for name in (pattern, *people.lists.get(list_named(pattern) or "", ()))}
    return RecipientRules(
        allow=compile_addresses(config.allow, people, tags=False) if allows else None,
        allows_self=not allows or not named.isdisjoint(("self", "anyone", "*")),
        deny=compile_addresses(config.deny, people, tags=True) if config.deny else None,
        most=config.max if said(config, "max") else None,
        bcc=config.bcc == "allow" or not said(config, "bcc"),
        internal_only=config.internal_only and said(config, "internal_only"),
    )


def _untrusted(policy: OutboundPolicy, said: Said) -> UntrustedReads | None:
    """The section goes as a whole: its keys mean nothing without each other."""
    if not said(policy, "after_untrusted_read"):
        return None
    config = policy.after_untrusted_read
    except_to = config.except_to
    return UntrustedReads(config.window, _outcome(config.action), "thread" in except_to, "internal" in except_to)


def _quiet(config: QuietHoursConfig | None) -> QuietHours | None:
    return None if config is None else QuietHours(ZoneInfo(config.timezone), config.windows, _outcome(config.action))


def _words(config: OutboundContentConfig, scan_chars: int, said: Said) -> WordRules:
    links = LinkRules(frozenset(config.links.allow_domains), _outcome(config.links.others))
    return WordRules(
        max_chars=config.max_chars if said(config, "max_chars") else None,
        html=config.html == "allow" or not said(config, "html"),
        detectors=_detectors(config.detectors, said),
        patterns=tuple(_pattern(one, scan_chars) for one in config.patterns if one.action != "off"),
        links=links if said(config, "links") and links.others is not Outcome.SEND else None,
        quote_max_lines=config.quote_max_lines if said(config, "quote_max_lines") else None,
    )


def _pattern(config: OutboundPatternConfig, scan_chars: int) -> OutboundPattern:
    expression = compile_expression(config.re2, case=config.case)
    return OutboundPattern(config.name, ScannedExpression(expression, scan_chars), _outcome(config.action))


def _detectors(config: OutboundDetectorsConfig, said: Said) -> Mapping[str, Outcome]:
    actions: dict[str, str] = {name: getattr(config, name) for name in type(config).model_fields if said(config, name)}
    return MappingProxyType({name: _outcome(action) for name, action in actions.items() if action != "off"})


def _files_mode(policy: OutboundPolicy, said: Said) -> Outcome:
    return _outcome(policy.attachments.mode) if said(policy.attachments, "mode") else Outcome.SEND


def _passes(policies: Sequence[OutboundPolicy]) -> Callable[[PartFacts], bool]:
    """Whether all policies let a file go, by the rules that read attachments too."""
    if not policies:
        return lambda facts: False
    looks = any(getattr(one.content.detectors, name) != "off" for one in policies for name in _DETECTORS)
    content = ContentRules(detectors={"any": Finding.REDACT} if looks else {})
    grant, *restrictions = map(_as_read, policies)
    compiled = compile_attachments(grant, restrictions, content)
    return lambda facts: compiled.level(facts) is Files.DOWNLOAD


_DETECTORS = tuple(OutboundDetectorsConfig.model_fields)


def _as_read(policy: OutboundPolicy) -> AttachmentPolicy:
    """The same rules as of files that are read, with whatever mode apart."""
    rules = policy.attachments
    values = {name: getattr(rules, name) for name in type(rules).model_fields if name != "mode"}
    said = (rules.model_fields_set | {"mode"}) & AttachmentPolicy.model_fields.keys()
    return AttachmentPolicy.model_construct(_fields_set=said, mode="download", **values)


_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
_WINDOWS = {"per_minute": _MINUTE, "per_hour": _HOUR, "per_day": _DAY}
_QUANTITIES: tuple[Quantity, ...] = ("messages", "recipients", "same_recipient", "bytes")


def _rates(config: RateConfig, said: Said) -> Iterator[RateLimit]:
    for quantity in _QUANTITIES:
        section: Section = getattr(config, quantity)
        for key in type(section).model_fields:
            if said(section, key):
                yield RateLimit(f"outbound.rate.{quantity}.{key}", quantity, getattr(section, key), _WINDOWS[key])


def _loop(policy: OutboundPolicy, said: Said) -> LoopRules:
    config = policy.loop
    limits_turns = said(config, "max_turns") or said(config, "window")
    refuses = said(config, "no_reply_to")
    return LoopRules(
        max_turns=config.max_turns if limits_turns else None,
        window=config.window,
        no_reply_to=frozenset(config.no_reply_to if refuses else ()),
    )
