"""What a sound configuration opens all the same, in sentences for the operator: nothing here stops a start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from postroom.config.policies.policy import PolicyConfig
from postroom.config.schema import ConfigFile

_OUTCOMES = ("deny", "draft", "hold", "send")
_LINKS = ("remove", "domain", "full")
_FILES = ("none", "metadata", "text", "download")


@dataclass(frozen=True, slots=True)
class Hazard:
    """Something that is open, of a profile or of a mailbox."""

    key: str
    """What it is called in the log."""
    sentence: str
    """For the operator: who, what, and what to do."""
    profile: str | None = None
    mailbox: str | None = None

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, slots=True)
class _Profile:
    """A profile in one mailbox: its grant, and all that restricts it."""

    name: str
    grant: PolicyConfig
    restrictions: tuple[PolicyConfig, ...]

    def least(self, section: str, key: str, order: tuple[str, ...]) -> str:
        """The strictest value of a key in this order."""
        said = [getattr(one, section) for one in self.restrictions if getattr(one, section).said(key)]
        values: list[str] = [getattr(one, key) for one in (getattr(self.grant, section), *said)]
        return min(values, key=order.index)


def hazards(file: ConfigFile) -> list[Hazard]:
    """What `doctor` tells, and a start."""
    found = [
        Hazard(key, f"Profile {profile.name} {what}", profile=profile.name)
        for profile in _profiles(file)
        for key, what in _of_profile(profile)
    ]
    return [*dict.fromkeys(found), *_of_mailboxes(file)]


def _of_profile(profile: _Profile) -> Iterator[tuple[str, str]]:
    outbound = profile.grant.outbound
    sends = profile.least("outbound", "mode", _OUTCOMES) == "send"
    if sends and "anyone" in outbound.recipients.allow:
        yield (
            "sends_to_anyone",
            "may send to anyone without a person; name its recipients in outbound.recipients.allow.",
        )
    files = profile.least("attachments", "mode", _FILES)
    if files == "download" and profile.grant.attachments.unscanned == "allow":
        yield (
            "unscanned_files",
            "may download files that no detector can look into; write attachments.unscanned: deny.",
        )
    if _links(profile) == "full":
        yield (
            "whole_links",
            "sees whole link addresses, which may carry secrets; write content.links.mode: domain.",
        )
    if sends and _is_open(profile):
        yield (
            "trifecta",
            "reads mail from outside and may then send to others without a person, so that a message can make it send "
            "what it read; write outbound.after_untrusted_read.action: hold.",
        )


def _links(profile: _Profile) -> str:
    said = [one.content.links.mode for one in profile.restrictions if one.content.links.said("mode")]
    return min([profile.grant.content.links.mode, *said], key=_LINKS.index)


def _is_open(profile: _Profile) -> bool:
    """It reads, and nothing holds back what it sends after that."""
    rules = [profile.grant.outbound.after_untrusted_read]
    rules += [
        one.outbound.after_untrusted_read for one in profile.restrictions if one.outbound.said("after_untrusted_read")
    ]
    reads = profile.grant.content.body != "none" and _opens_a_folder(profile.grant)
    inside = all(one == "internal" or one == "self" for one in profile.grant.outbound.recipients.allow)
    return reads and not inside and all(rule.action == "send" for rule in rules)


def _opens_a_folder(policy: PolicyConfig) -> bool:
    levels = (policy.folders.default, *(rule.access for rule in policy.folders.rules))
    return any(level in ("readable", "writable") for level in levels)


def _of_mailboxes(file: ConfigFile) -> Iterator[Hazard]:
    if not file.profiles:
        return
    for mailbox in file.mailboxes:
        name = mailbox.name
        if not mailbox.internal_domains:
            sentence = f"Mailbox {name} has no internal_domains, so that nobody is internal to its policies."
            yield Hazard("nobody_internal", sentence, mailbox=name)
        if not mailbox.trusted_authserv_ids:
            sentence = f"Mailbox {name} has no trusted_authserv_ids, so that no sender is proven to its policies."
            yield Hazard("nobody_proven", sentence, mailbox=name)


def _profiles(file: ConfigFile) -> Iterator[_Profile]:
    for name, profile in file.profiles.items():
        restrictions = tuple(file.policies[one] for one in profile.restrict if one in file.policies)
        for granted in dict.fromkeys((profile.policy, *profile.policies.values())):
            if granted is not None and granted in file.policies:
                yield _Profile(name, file.policies[granted], (file.ceiling, *restrictions))
