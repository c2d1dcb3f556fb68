"""Every key of a rule on messages: when it holds, when it does not, and when that is not known."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, get_args

import pytest

from postroom.base.kleene import Truth
from postroom.config.policies.matching import Anomaly, MatchConfig
from postroom.mail.model import Part
from postroom.mail.signals import SIGNALS
from postroom.policy.effective import compile_policy
from postroom.policy.evidence import Evidence
from postroom.policy.matchrules import _KEYS
from tests.policy.declaring import declared, granted, mail

TRUSTED = "Authentication-Results: mx.corp.example; {}\n"
FORGED = "Received: from a\nAuthentication-Results: mx.corp.example; dmarc=pass\n"
BARE = mail("")
"""A message of whose head nothing could be read."""
DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)


class Records:
    """The gateway knows bo from visible mail, cy from what it sent, and one message of its own."""

    def in_reply_to_own(self, ids: tuple[str, ...]) -> Truth:
        return "<own@corp.example>" in ids

    def known_correspondent(self, address: str, source: str) -> Truth:
        return address in {"visible": ("bo@x.example",), "own": ("cy@x.example",), "sent": ("di@x.example",)}[source]


def part(name: str, kind: str = "application/pdf", size: int | None = 100) -> Part:
    return Part("2", kind, None, "base64", name, False, None, size, False)


def read(head: str = "From: a@x.example\nSubject: s", **known: Any) -> Evidence:
    """A message whose content was read: a file, the words "red" and "blue", and two findings."""
    at_hand: dict[str, Any] = {
        "signals": frozenset(),
        "parts": (part("A.pdf.EXE"),),
        "subject": "red",
        "text": "blue",
        "found_in_subject": frozenset({"otp"}),
        "found_in_body": frozenset({"card"}),
    }
    return mail(head, **{**at_hand, **known})


def truth(match: str, evidence: Evidence) -> Truth:
    """What a rule with this match makes of a message."""
    policy = granted(f"{{messages: {{rules: [{{id: r, match: {match}, action: hide}}]}}}}")
    return policy.messages.explain(evidence)[0].truth


TWO = "From: a@x.example, b@y.example"
UNREADABLE = 'From: "a b"@x.example'
TABLE: dict[str, list[tuple[str, Evidence, Truth]]] = {
    "from": [
        ("{from: '*@x.example'}", mail("From: a@x.example, b@x.example"), True),
        ("{from: ['*@x.example', b@y.example]}", mail(TWO), True),
        ("{from: '*@z.example'}", mail(TWO), False),
        ("{from: '*@x.example'}", mail(TWO), None),
        ("{from: '*@x.example'}", mail("From: a@x.example\nFrom: b@y.example"), None),
        ("{from: '*@x.example'}", mail(UNREADABLE), None),
        ("{from: '*@x.example'}", mail("Subject: no sender"), None),
        ("{from: '*@x.example'}", BARE, None),
        ("{from: a@x.example}", mail("From: a+tag@x.example"), True),
        ("{not: {from: a@x.example}}", mail("From: a+tag@x.example"), True),
    ],
    "sender_domain": [
        ("{sender_domain: x.example}", mail("From: a@x.example"), True),
        ("{sender_domain: '*.x.example'}", mail("From: a@b.x.example"), True),
        ("{sender_domain: '*.x.example'}", mail("From: a@x.example"), False),
        ("{sender_domain: x.example}", mail(TWO), None),
        ("{sender_domain: x.example}", BARE, None),
    ],
    "recipient": [
        ("{recipient: a@x.example}", mail("To: b@x.example\nCc: a@x.example"), True),
        ("{recipient: a@x.example}", mail("Delivered-To: a@x.example"), True),
        ("{recipient: a@x.example}", mail("X-Original-To: a@x.example"), True),
        ("{recipient: a@x.example}", mail("To: b@x.example"), False),
        ("{recipient: a@x.example}", mail("From: a@x.example"), False),
        ("{recipient: a@x.example}", mail('To: b@x.example, "a a"@x.example'), None),
        ("{recipient: a@x.example}", BARE, None),
    ],
    "recipient_all": [
        ("{recipient_all: '*@x.example'}", mail("To: b@x.example\nCc: a@x.example"), True),
        ("{recipient_all: '*@x.example'}", mail("To: b@x.example\nCc: a@y.example"), False),
        ("{recipient_all: '*@x.example'}", mail('To: b@x.example, "a a"@x.example'), None),
        ("{recipient_all: '*@x.example'}", mail("From: a@x.example"), None),
    ],
    "reply_to": [
        ("{reply_to: a@x.example}", mail("From: b@y.example\nReply-To: a@x.example"), True),
        ("{reply_to: a@x.example}", mail("From: a@x.example\nReply-To: b@y.example"), False),
        ("{reply_to: a@x.example}", mail("From: a@x.example"), True),
        ("{reply_to: a@x.example}", mail("From: a@x.example\nReply-To: <>"), None),
        ("{reply_to: a@x.example}", BARE, None),
    ],
    "subject": [
        ("{subject: hello}", mail("Subject: =?utf-8?q?Say_HELLO?="), True),
        ("{subject: hello}", mail("Subject: Bye"), False),
        ("{subject: hello}", mail("From: a@x.example"), False),
        ("{subject: {re2: '^$'}}", mail("From: a@x.example"), True),
        ("{subject: hello}", BARE, None),
    ],
    "header": [
        ("{header: {name: X-Kind, pattern: bill}}", mail("X-Kind: a\nX-KIND: a bill"), True),
        ("{header: [{name: X-A, pattern: b}, {name: X-Kind, pattern: bill}]}", mail("X-Kind: a bill"), True),
        ("{header: {name: X-Kind, pattern: bill}}", mail("X-Kind: a"), False),
        ("{header: {name: X-Kind, pattern: bill}}", mail("From: a@x.example"), False),
        ("{header: {name: X-Kind, pattern: bill}}", BARE, None),
    ],
    "list_id": [
        ("{list_id: present}", mail("List-Id: news"), True),
        ("{list_id: absent}", mail("List-Id: news"), False),
        ("{list_id: absent}", mail("From: a@x.example"), True),
        ("{list_id: '*.corp.example'}", mail("List-Id: News <NEWS.corp.example>"), True),
        ("{list_id: '*.corp.example'}", mail("List-Id: <news.x.example>"), False),
        ("{list_id: '*.corp.example'}", mail("From: a@x.example"), False),
        ("{list_id: '*.corp.example'}", mail("List-Id: news.corp.example"), None),
        ("{list_id: present}", BARE, None),
    ],
    "older_than": [
        ("{older_than: 1d}", mail(age=DAY), True),
        ("{older_than: 1d}", mail(age=DAY - SECOND), False),
        ("{older_than: 1d}", mail(received_at=None), None),
    ],
    "newer_than": [
        ("{newer_than: 1d}", mail(age=DAY - SECOND), True),
        ("{newer_than: 1d}", mail(age=DAY), False),
        ("{newer_than: 1d}", mail(received_at=None), None),
    ],
    "size_over": [
        ("{size_over: 1k}", mail(size=1_025), True),
        ("{size_over: 1k}", mail(size=1_024), False),
        ("{size_over: 1k}", mail(size=None), None),
    ],
    "size_under": [
        ("{size_under: 1k}", mail(size=1_023), True),
        ("{size_under: 1k}", mail(size=1_024), False),
        ("{size_under: 1k}", mail(size=None), None),
    ],
    "flags": [
        ("{flags: [seen, -flagged]}", mail(flags=frozenset({"\\SEEN"})), True),
        ("{flags: [seen, -flagged]}", mail(flags=frozenset({"\\Seen", "\\Flagged"})), False),
        ("{flags: -seen}", mail(flags=frozenset()), True),
        ("{flags: seen}", mail(flags=None), None),
    ],
    "auth": [
        ("{auth: {dmarc: pass}}", mail(TRUSTED.format("dmarc=pass")), True),
        ("{auth: {dmarc: [fail, none], spf: pass}}", mail(TRUSTED.format("dmarc=none; spf=pass")), True),
        ("{auth: {dmarc: pass}}", mail(TRUSTED.format("dmarc=fail")), False),
        ("{auth: {dmarc: pass}}", mail(TRUSTED.format("spf=pass")), None),
        ("{auth: {dmarc: pass}}", mail(FORGED + FORGED), True),
        ("{auth: {dmarc: pass}}", mail("Received: from b\n" + FORGED), None),
        ("{auth: {dkim: pass}}", mail("From: a@x.example"), None),
        ("{auth: {aligned: true}}", mail(TRUSTED.format("dmarc=pass")), True),
        ("{auth: {aligned: false}}", mail(TRUSTED.format("dmarc=fail")), True),
        ("{auth: {aligned: true}}", mail(TRUSTED.format("dmarc=none")), None),
        ("{auth: {dkim_domain: x.example}}", mail(dkim_domains=frozenset({"x.example"})), True),
        ("{auth: {dkim_domain: '*.x.example'}}", mail(dkim_domains=frozenset({"x.example"})), False),
        ("{auth: {dkim_domain: x.example}}", mail(), None),
    ],
    "internal": [
        ("{internal: true}", mail(TRUSTED.format("dmarc=pass") + "From: a@corp.example"), True),
        ("{internal: true}", mail(TRUSTED.format("dmarc=fail") + "From: a@corp.example"), None),
        ("{internal: false}", mail("From: a@corp.example"), None),
        ("{internal: true}", mail("From: a@sub.corp.example"), False),
        ("{internal: false}", mail("From: a@x.example"), True),
        ("{internal: true}", mail(TRUSTED.format("dmarc=pass") + "From: a@corp.example, x@evil.test"), None),
    ],
    "anomaly": [
        ("{anomaly: multiple_from}", mail(TWO), True),
        ("{anomaly: multiple_from}", mail("From: a@x.example"), False),
        ("{anomaly: [multiple_from, hidden_text]}", mail("From: a@x.example"), None),
        ("{anomaly: hidden_text}", read(), False),
        ("{anomaly: hidden_text}", read(signals=frozenset({"hidden_text"})), True),
        ("{anomaly: invisible_characters}", mail("Subject: a\u2060b"), True),
        ("{anomaly: invisible_characters}", mail("Subject: ab"), None),
        ("{anomaly: dmarc_fail}", mail(TRUSTED.format("dmarc=fail") + "From: a@x.example"), True),
        ("{anomaly: dmarc_fail}", mail("From: a@x.example"), False),
        ("{anomaly: auth_unknown}", mail("From: a@x.example"), True),
        ("{anomaly: auth_unknown}", mail(TRUSTED.format("spf=pass") + "From: a@x.example"), False),
        ("{anomaly: first_time_sender}", mail("From: bo@x.example", known=Records()), False),
        ("{anomaly: first_time_sender}", mail("From: cy@x.example", known=Records()), True),
        ("{anomaly: first_time_sender}", mail("From: bo@x.example"), None),
        ("{anomaly: multiple_from}", BARE, None),
    ],
    "attachment": [
        ("{attachment: {any: true}}", read(), True),
        ("{attachment: {any: false}}", read(), False),
        ("{attachment: {any: true}}", read(parts=()), False),
        ("{attachment: {type: 'application/*', extension: exe}}", read(), True),
        ("{attachment: {extension: pdf}}", read(), True),
        ("{attachment: {extension: a}}", read(), False),
        ("{attachment: {type: 'image/*', extension: exe}}", read(), False),
        ("{attachment: {type: 'image/*', extension: exe}}", read(parts=(part("a.exe"), part("b", "image/png"))), False),
        ("{attachment: {name: {glob: 'a.*'}}}", read(), True),
        ("{attachment: {size_over: 99}}", read(), True),
        ("{attachment: {size_over: 100}}", read(), False),
        ("{attachment: {size_over: 99}}", read(parts=(part("a", size=None),)), None),
        ("{attachment: {count_over: 0}}", read(), True),
        ("{attachment: {count_over: 1}}", read(), False),
        ("{attachment: {extension: zip}}", read(signals=frozenset({"mime_ambiguous"})), None),
        ("{attachment: {any: false}}", read(parts=(), signals=frozenset({"too_complex"})), None),
        ("{attachment: {any: true}}", mail(), None),
    ],
    "contains": [
        ("{contains: {detector: otp}}", read(), True),
        ("{contains: {detector: otp, where: body}}", read(), False),
        ("{contains: {detector: [iban, card], where: body}}", read(), True),
        ("{contains: {pattern: red}}", read(), True),
        ("{contains: {pattern: red, where: body}}", read(), False),
        ("{contains: {pattern: blue, where: subject}}", read(), False),
        ("{contains: {detector: otp, pattern: blue}}", read(), True),
        ("{contains: {detector: otp, pattern: green}}", read(), False),
        ("{contains: {pattern: green}}", read(text="x" * 1_000_001), None),
        ("{contains: {pattern: green}}", read(signals=frozenset({"truncated"})), None),
        ("{contains: {pattern: green}}", read(signals=frozenset({"truncated"}), is_whole=True), False),
        ("{contains: {pattern: green}}", read(signals=frozenset({"too_complex"}), is_whole=True), None),
        ("{contains: {pattern: red}}", mail(), None),
        ("{contains: {detector: otp}}", mail(), None),
    ],
    "in_reply_to_own": [
        ("{in_reply_to_own: true}", mail("In-Reply-To: <own@corp.example>", known=Records()), True),
        ("{in_reply_to_own: true}", mail("References: <a@x> <own@corp.example>", known=Records()), True),
        ("{in_reply_to_own: true}", mail("In-Reply-To: <a@x>", known=Records()), False),
        ("{in_reply_to_own: false}", mail("Subject: s"), True),
        ("{in_reply_to_own: true}", mail("In-Reply-To: <own@corp.example>"), None),
        ("{in_reply_to_own: true}", BARE, None),
    ],
    "known_correspondent": [
        ("{known_correspondent: {sources: visible}}", mail("From: Bo@x.example", known=Records()), True),
        ("{known_correspondent: {sources: visible}}", mail("From: cy@x.example", known=Records()), False),
        ("{known_correspondent: {sources: [visible, own]}}", mail("From: cy@x.example", known=Records()), True),
        (
            "{known_correspondent: {sources: sent, declassify: true}}",
            mail("From: di@x.example", known=Records()),
            True,
        ),
        ("{known_correspondent: {}}", mail("From: bo@x.example, ed@x.example", known=Records()), None),
        ("{known_correspondent: {sources: visible}}", mail("From: bo@x.example"), None),
    ],
    "any": [
        ("{any: [{size_over: 1}, {flags: seen}]}", mail(flags=None), True),
        ("{any: [{size_over: 1m}, {flags: seen}]}", mail(), False),
        ("{any: [{size_over: 1m}, {flags: seen}]}", mail(flags=None), None),
    ],
    "all": [
        ("{all: [{size_over: 1}, {flags: -seen}]}", mail(), True),
        ("{all: [{size_over: 1m}, {flags: seen}]}", mail(flags=None), False),
        ("{all: [{size_over: 1}, {flags: seen}]}", mail(flags=None), None),
        ("{size_over: 1, flags: seen}", mail(flags=None), None),
    ],
    "not": [
        ("{not: {size_over: 1m}}", mail(), True),
        ("{not: {size_over: 1}}", mail(), False),
        ("{not: {flags: seen}}", mail(flags=None), None),
    ],
}
CASES = [(match, evidence, expected) for cases in TABLE.values() for match, evidence, expected in cases]


@pytest.mark.parametrize(
    ("match", "evidence", "expected"), CASES, ids=[str(at) + one[0] for at, one in enumerate(CASES)]
)
def test_what_a_key_makes_of_a_message(match: str, evidence: Evidence, expected: Truth) -> None:
    assert truth(match, evidence) is expected


def test_every_key_has_its_three_answers_here() -> None:
    assert set(TABLE) == {field.alias or name for name, field in MatchConfig.model_fields.items()}
    assert set(_KEYS) | {"any", "all", "not_"} == set(MatchConfig.model_fields)
    for key, cases in TABLE.items():
        assert {expected for _, _, expected in cases} == {True, False, None}, key


def test_a_header_that_was_cut_may_have_held_more() -> None:
    flood = "\n".join(["X-A: b"] * 2_000)
    assert truth("{anomaly: bulk}", mail(flood)) is None
    assert truth("{header: {name: X-Kind, pattern: bill}}", mail(flood)) is None
    assert truth("{from: a@x.example}", mail("From: a@x.example\n" + flood)) is None


def test_a_mailbox_whose_server_lets_no_other_in_needs_no_proof() -> None:
    rule = "{id: r, match: {internal: true}, action: hide}"
    text = f"policies: {{a: {{messages: {{rules: [{rule}]}}}}}}\nprofiles: {{p: {{policy: a}}}}"
    file = declared(text)
    mailbox = file.mailboxes[0].model_copy(update={"internal_without_dmarc": True})
    policy = compile_policy(file.model_copy(update={"mailboxes": (mailbox,)}), "p", "work")
    assert policy.messages.explain(mail("From: bo@corp.example"))[0].truth is True


def test_the_signals_a_rule_may_ask_for_are_those_there_are_but_for_what_rules_make() -> None:
    assert set(get_args(Anomaly)) == set(SIGNALS) - {"withheld"}
