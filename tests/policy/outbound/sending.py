"""Messages to judge, what is known of those they concern, and policies from their text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from postroom.mail.head import parse_head
from postroom.mail.outgoing.address import strict_address
from postroom.mail.outgoing.model import Outgoing, StrictAddress
from postroom.policy.attachmentrules import PartFacts
from postroom.policy.effective import compile_policy
from postroom.policy.outbound.compiling import acquainted, compile_outbound
from postroom.policy.outbound.judgement import Judgement
from postroom.policy.outbound.judging import judge
from postroom.policy.outbound.ownsecrets import OwnSecrets
from postroom.policy.outbound.plan import Answered, Operation, Plan, SendEvidence, SentRecord
from postroom.policy.outbound.rules import OutboundRules
from postroom.policy.people import People
from tests.policy.declaring import declared

NOON = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
"""A Wednesday."""
OPEN = (
    "mode: send, recipients: {allow: [anyone], bcc: allow, max: 500}, reply_only: 'off', reply_all: allow, "
    "reply_to: follow, forward: raw, content: {html: allow, links: {others: allow}, quote_max_lines: 1000, "
    "detectors: {otp: 'off', secret: 'off', private_key: 'off', jwt: 'off', card: 'off', iban: 'off'}}, "
    "attachments: {mode: allow, extensions: {deny: []}, archives: inspect, encrypted: allow, macros: allow, "
    "unscanned: allow}, after_untrusted_read: {window: 24h, action: send}, "
    "rate: {messages: {per_minute: 999, per_hour: 999, per_day: 999}, recipients: {per_day: 9999}, "
    "same_recipient: {per_hour: 999, per_day: 999}}, loop: {max_turns: 999, no_reply_to: []}"
)
"""A grant under which nearly everything is sent: what a test changes is what it is about."""
LISTS = """\
lists:
  partners: ["*@partner.example", "*@*.partner.example"]"""
BOB = "bob@partner.example"
EVE = "eve@evil.example"
CAROL = "carol@corp.example"


def rules(grant: str, *restrictions: str) -> tuple[OutboundRules, ...]:
    """Of a grant and restrictions, each the inside of `outbound: {...}`."""
    policies = {"granted": grant, **{f"r{at}": one for at, one in enumerate(restrictions)}}
    lines = [f"  {name}: {{outbound: {{{one}}}}}" for name, one in policies.items()]
    named = ", ".join(list(policies)[1:])
    text = "\n".join([LISTS, "policies:", *lines, "profiles:", f"  p: {{policy: granted, restrict: [{named}]}}"])
    policy = compile_policy(declared(text), "p", "work")
    return compile_outbound(policy.outbound, policy.people, policy.limits.scan_chars)


def opened(changes: str) -> tuple[OutboundRules, ...]:
    """The open grant, restricted by these."""
    return rules(OPEN, changes)


def person(text: str) -> StrictAddress:
    return strict_address(text)


def message(*to: str, text: str = "Hello.", cc: Sequence[str] = (), bcc: Sequence[str] = (), **more: Any) -> Outgoing:
    return Outgoing(
        from_=more.pop("from_", person("ana@corp.example")),
        to=tuple(map(person, to)),
        cc=tuple(map(person, cc)),
        bcc=tuple(map(person, bcc)),
        subject=more.pop("subject", "Hello"),
        text=text,
        files=more.pop("octets_of_files", ()),
        message_id="<new@corp.example>",
        **more,
    )


def plan(*to: str, operation: Operation = Operation.SEND, answered: Answered | None = None, **more: Any) -> Plan:
    kept = {
        name: more.pop(name)
        for name in ("derived", "own_draft", "files", "file_texts", "file_pages", "files_unread", "octets")
        if name in more
    }
    return Plan(message(*to, **more), **{"octets": 500, **kept}, operation=operation, answered=answered)


def answer(head: str, *participants: str, thread: str = "t") -> Answered:
    """A message with these header lines, in a thread of these people."""
    parsed = parse_head(head.replace("\n", "\r\n").encode() + b"\r\n")
    return Answered(parsed, frozenset(person(one).key for one in participants), thread)


PDF = PartFacts("a.pdf", "application/pdf", 1_000, scannable=True)


class Found(NamedTuple):
    name: str


def detect(text: str, names: Collection[str], context: str = "") -> Iterator[Found]:
    """Two detectors in little: a code after its word, and an account number."""
    for name, pattern in (("otp", r"code\D{1,20}\d{6}"), ("iban", r"DE\d{20}")):
        if name in names and re.search(pattern, text):
            yield Found(name)


PEOPLE = People(internal=frozenset({"corp.example"}), own=frozenset({"ana@corp.example"}))


def known(**more: Any) -> SendEvidence:
    """Nothing was sent and nothing from outside was read; Bob wrote, and Eve did not."""
    told: dict[str, Any] = {
        "now": NOON,
        **acquainted(PEOPLE)._asdict(),
        "secrets": OwnSecrets((), b"key"),
        "detect": detect,
        "correspondents": {BOB: True, EVE: False},
        "sent": (),
        "written_to": frozenset(),
        "reads_known": True,
    }
    return SendEvidence(**{**told, **more})


def record(age: timedelta, *recipients: str, **more: Any) -> SentRecord:
    """A message that was sent so long before noon, to Bob if nobody is named."""
    told: dict[str, Any] = {"new_recipients": 0, "octets": 500, "message_id": "<old@corp.example>", **more}
    return SentRecord(NOON - age, frozenset(recipients or (BOB,)), **told)


def judged(wanted: Plan, under: tuple[OutboundRules, ...], **evidence: Any) -> Judgement:
    return judge(wanted, known(**evidence), under)
