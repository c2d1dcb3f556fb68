"""Whole policies as people write them: they are sound, and come out as they are meant."""

from __future__ import annotations

from postroom.base.levels import Access, Files, Finding, Verdict
from postroom.config.nodes import compose, plain
from postroom.config.plain import table
from postroom.config.policies.rules import broken_policies
from postroom.policy.attachmentrules import PartFacts
from postroom.policy.effective import compile_policy
from tests.policy.declaring import MAILBOX, declared, mail

NEWCOMER = """\
policies:
  default:
    folders: {default: hidden, rules: [{match: INBOX, access: readable}, {match: "special:drafts", access: readable}]}
    messages: {default: allow, rules: []}
    content: {}
    attachments: {}
    actions: {}
    outbound: {mode: draft, require_draft: true}
profiles:
  assistant: {policy: default}
"""
SUPPORT = """\
lists:
  partners: ["*@partner.example", "*@*.partner.example"]
  contacts: [bo@x.example]
ceiling: {outbound: {mode: hold}}
policies:
  support:
    folders:
      default: hidden
      rules:
        - {match: INBOX, access: writable}
        - {match: ["special:sent", "special:drafts", "special:archive"], access: readable}
        - {match: "Support/**", except: ["Support/Legal/**"], access: writable}
    messages:
      default: allow
      rules:
        - {id: old, match: {older_than: 180d}, action: hide}
        - {id: spoof, match: {anomaly: [internal_name_external_address]}, action: withhold}
        - {id: strangers, match: {not: {known_correspondent: {sources: [contacts]}}}, action: withhold}
    content:
      body: text
      max_chars: 20000
      headers: [from, to, cc, reply-to, subject, date, list-id]
      hidden_text: remove
      links: {mode: domain, unwrap: true, allow_domains: ["docs.corp.example"], show_full_for: []}
      detectors: {otp: redact, iban: flag}
      patterns:
        - {name: project-x, re2: 'project\\s+x\\b', action: redact, where: both}
    attachments:
      mode: download
      types: {allow: ["application/pdf", "image/*"], deny: []}
      max_bytes: 10m
      max_count: 20
    actions:
      flags: [seen, flagged, answered]
      labels: ["agent/*"]
      move_to: ["Support/**", "special:archive"]
      create_under: ["Support/Agent/**"]
      trash: true
      max_messages_per_day: 500
    outbound:
      mode: hold
      from: ["ana@corp.example"]
      recipients: {allow: [internal, "list:partners"], deny: ["*@competitor.example"], max: 5, bcc: deny}
      reply_only: correspondent
      after_untrusted_read: {window: 24h, action: hold, except_to: [thread, internal]}
      hold_when:
        - {external: true, attachments: true}
        - {detector: [iban, card]}
        - {rolling: {recipients: 20, per: 1d}}
      content:
        detectors: {secret: deny, card: hold}
        patterns: [{name: codeword, re2: 'project\\s+x\\b', action: deny}]
        links: {allow_domains: ["corp.example"], others: hold}
      attachments: {mode: deny, types: {allow: ["application/pdf"]}, max_bytes: 5m, max_count: 3}
      rate: {messages: {per_minute: 2, per_hour: 20, per_day: 100}, bytes: {per_day: 50m}}
      quiet_hours: {timezone: "Europe/Berlin", windows: ["22:00-07:00", "Sat 00:00-24:00"], action: hold}
      loop: {max_turns: 6, window: 24h, no_reply_to: [auto, list, noreply]}
  no-finance:
    folders: {default: pass, rules: [{match: "Finance/**", access: hidden}]}
profiles:
  triage: {policy: support, restrict: [no-finance]}
"""


def faults(text: str) -> list[object]:
    root, _ = compose(MAILBOX + text)
    assert root is not None
    return list(broken_policies(table(plain(root))))


def test_what_a_newcomer_gets_is_read_only_and_redacted() -> None:
    assert faults(NEWCOMER) == []
    policy = compile_policy(declared(NEWCOMER), "assistant", "work")
    assert policy.folders.access("INBOX", "inbox") is Access.READABLE
    assert policy.folders.access("Work", None) is Access.HIDDEN
    assert policy.messages.verdict(mail("From: a@x.example")) is Verdict.ALLOW
    assert not policy.messages.needs_body
    assert policy.content.detectors["otp"] is Finding.REDACT
    assert policy.attachments.level(PartFacts("a.pdf", "application/pdf", 10, scannable=True)) is Files.METADATA
    assert policy.outbound[0].require_draft


def test_a_policy_with_all_its_sections_is_sound_and_compiled() -> None:
    assert faults(SUPPORT) == []
    policy = compile_policy(declared(SUPPORT), "triage", "work")
    assert policy.folders.access("Finance/2026", None) is Access.HIDDEN
    assert policy.folders.concealed("Finance/2026", None)
    assert policy.messages.verdict(mail("From: bo@x.example")) is Verdict.ALLOW
    assert policy.messages.verdict(mail("From: cy@x.example")) is Verdict.WITHHOLD
    assert policy.messages.verdict(mail('From: "Bo@corp.example" <bo@x.example>')) is Verdict.WITHHOLD
    assert policy.actions.may_move_to("Support/A", None)
    assert not policy.actions.may_move_to("Archive", "archive")
    assert policy.actions.may_create("Support/Agent/New")
    assert [one.mode for one in policy.outbound if one.said("mode")] == ["hold", "hold"]
