"""What two configurations are compared on: folders, people, labels, messages and files that their policies speak of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice

from postroom.config.faults import Where
from postroom.config.plain import entries, texts
from postroom.config.policies.trials import TrialMessage
from postroom.config.policies.values import KEYWORDS, SPECIAL_USES, is_special, list_named
from postroom.config.schema import ConfigFile
from postroom.policy.attachmentrules import PartFacts
from postroom.policy.folderrules import canonical_pattern

_FOLDER_KEYS = frozenset(("match", "except", "move_to", "create_under"))
_PEOPLE_KEYS = frozenset(("from", "recipient", "recipient_all", "reply_to", "allow", "deny"))
_MOST = 200
"""Of each kind."""


@dataclass(frozen=True, slots=True)
class Probes:
    """A finite catalogue: what is decided alike on all of it may still differ elsewhere."""

    folders: tuple[tuple[str, str | None], ...]
    """Canonical paths, each with its special use."""
    labels: tuple[str, ...]
    addresses: tuple[str, ...]
    messages: tuple[TrialMessage, ...]
    files: tuple[PartFacts, ...]


def probes_of(*files: ConfigFile) -> Probes:
    """What the policies of these files speak of, and the usual."""
    said = [one for file in files for one in _said(file)]
    patterns = {text for key, text in said if key in _FOLDER_KEYS and not is_special(text)}
    paths = sorted({"INBOX", "Other", *(_instance(canonical_pattern(text)) for text in patterns)})
    uses = [("Probe", use) for use in SPECIAL_USES if use != "inbox"]
    people = {text for key, text in said if key in _PEOPLE_KEYS}
    people |= {text for file in files for patterns_ in file.lists.values() for text in patterns_}
    people |= {f"*@{text}" for key, text in said if key == "sender_domain"}
    people |= {f"*@{domain}" for file in files for box in file.mailboxes for domain in box.internal_domains}
    addresses = sorted({"someone@elsewhere.example", *_people(people)})[:_MOST]
    return Probes(
        folders=(*((path, "inbox" if path == "INBOX" else None) for path in paths[:_MOST]), *uses),
        labels=tuple(sorted({_instance(text) for key, text in said if key == "labels"})[:_MOST]),
        addresses=tuple(addresses),
        messages=tuple(islice(_messages(addresses, said, files), 4 * _MOST)),
        files=tuple(_files(said)),
    )


def _said(file: ConfigFile) -> Iterator[tuple[str, str]]:
    """Every key of every policy with each text that it has."""
    policies = [file.ceiling, *file.policies.values()]
    nowhere: Where = ()
    for policy in policies:
        plain = policy.model_dump(mode="json", by_alias=True, exclude_unset=True)
        for _, key, value in entries(plain, nowhere):
            yield from ((key, text) for _, text in texts(value, nowhere))


def _instance(pattern: str) -> str:
    """Something that a glob matches."""
    return pattern.replace("**", "x/y").replace("*", "x").replace("?", "x")


def _people(patterns: Iterable[str]) -> Iterator[str]:
    for pattern in patterns:
        if pattern not in KEYWORDS and list_named(pattern) is None and "@" in pattern:
            yield _instance(pattern)


def _messages(
    addresses: list[str], said: list[tuple[str, str]], files: tuple[ConfigFile, ...]
) -> Iterator[TrialMessage]:
    """A message that says nothing, and one for each thing that rules speak of."""
    usual = {"from": "someone@elsewhere.example", "subject": "Hello", "text": "Hello"}
    yield _message(usual)
    yield _message({"from": "someone@elsewhere.example"})
    for address in addresses:
        yield _message({**usual, "from": address})
        yield _message({**usual, "from": address, "auth": {"dmarc": "pass"}})
        yield _message({**usual, "to": address})
    for text in sorted({text for key, text in said if key in ("contains", "equals", "subject", "pattern")}):
        yield _message({**usual, "subject": text, "text": text})
    for glob in sorted({text for key, text in said if key == "list_id" and text not in ("present", "absent")}):
        yield _message({**usual, "headers": {"list-id": f"<{_instance(glob)}>"}})
    yield _message({**usual, "headers": {"list-id": "<probe.elsewhere.example>"}})
    for age in sorted({age for file in files for age in _ages(file)}):
        yield _message({**usual, "age": age})
    for flag in ("seen", "flagged", "answered", "draft"):
        yield _message({**usual, "flags": [flag]})
    for name in sorted({text for key, text in said if key == "anomaly"}):
        yield _message({**usual, "signals": [name]})
    for name in sorted({text for key, text in said if key == "detector"}):
        yield _message({**usual, "detections": [name]})


def _message(fields: Mapping[str, object]) -> TrialMessage:
    return TrialMessage.model_validate(fields)


def _ages(file: ConfigFile) -> Iterator[timedelta]:
    """Just before and at each age that a rule speaks of."""
    for policy in (file.ceiling, *file.policies.values()):
        for rule in policy.messages.rules:
            waiting = [rule.match, *([rule.except_] if rule.except_ else [])]
            while waiting:
                match = waiting.pop()
                waiting += match.inner
                for age in (match.older_than, match.newer_than):
                    if age is not None:
                        yield from (age, age - timedelta(seconds=1))


def _files(said: list[tuple[str, str]]) -> Iterator[PartFacts]:
    types = sorted({_instance(text) for key, text in said if "/" in text and key in ("allow", "deny")})
    endings = sorted({text for key, text in said if key in ("allow", "deny") and text.isalnum()})
    plain = PartFacts("a.txt", "text/plain", 1_000, scannable=True)
    yield plain
    for kind in ("application/pdf", "image/png", *types[:_MOST]):
        for size in (1_000, 100 << 20):
            yield PartFacts("a", kind, size, scannable=True)
    for ending in ("exe", "html", *endings[:_MOST]):
        yield PartFacts(f"a.{ending}", "text/plain", 1_000, scannable=True)
    yield PartFacts("a.zip", "application/zip", 1_000, is_archive=True, members=(plain,), scannable=True)
    yield PartFacts("a", "application/pdf", 1_000, encrypted=True, scannable=True)
    yield PartFacts("a", "application/pdf", 1_000, macros=True, scannable=True)
    yield PartFacts("a", "application/pdf", 1_000, scannable=False)
    yield PartFacts("a", None, 1_000, scannable=True)
    yield from (PartFacts("a", "text/plain", 1_000, ordinal=at, scannable=True) for at in (3, 20, 50))
