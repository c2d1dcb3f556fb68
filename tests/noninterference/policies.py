"""The policies that worlds are seen under, and by what each of them hides a message."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from postroom.config import Config
from postroom.config.load import load

_LIMITS = "limits: {requests_per_minute: 6000, burst: 500, concurrent: 32, body_search_messages: 3}"
_FOLDERS = """
      default: hidden
      rules:
        - {match: INBOX, access: writable}
        - {match: Archive, access: writable}
        - {match: Shown, access: visible}
        - {match: "special:sent", access: readable}
        - {match: "Agent/**", access: readable}
        - {match: ["Legal", "Legal/**"], access: hidden}
"""
_RATE = """
      rate:
        messages: {per_minute: 60, per_hour: 500, per_day: 500}
        recipients: {per_day: 500}
        same_recipient: {per_hour: 100, per_day: 100}
"""

TEXT = f"""
server: {{listen: '127.0.0.1:0', public_url: 'http://localhost:8000'}}
mailboxes:
  - name: work
    address: ana@corp.example
    identities: [Ana <ana@corp.example>]
    internal_domains: [corp.example]
    trusted_authserv_ids: [mx.corp.example]
    imap: {{host: 127.0.0.1, port: 1, tls: none, username: work, password: correct-horse}}
    smtp: {{host: 127.0.0.1, port: 1, tls: none, username: work, password: correct-horse}}
policies:
  heads:
    {_LIMITS}
    folders:
      counts: true{_FOLDERS}
    messages:
      rules:
        - {{id: clinic, match: {{from: ["*@clinic.example"]}}, action: hide}}
        - {{id: private, match: {{subject: "[private]"}}, action: hide}}
        - {{id: lists, match: {{list_id: ["secret.*"]}}, action: hide}}
        - {{id: old, match: {{older_than: 180d}}, action: hide}}
        - {{id: board, match: {{subject: "[board]"}}, action: withhold}}
    attachments: {{mode: download, unscanned: allow}}
    actions:
      flags: [seen, flagged, answered]
      labels: ["agent/*"]
      move_to: [Archive]
      create_under: ["Agent/**", Secret]
      trash: true
      erase: true
    outbound:
      mode: send
      recipients: {{allow: [anyone], max: 5, bcc: allow}}
      reply_only: correspondent
      reply_all: allow
      forward: raw
      after_untrusted_read: {{action: send}}
      attachments: {{mode: allow, unscanned: allow}}{_RATE}
  texts:
    {_LIMITS}
    folders:
      counts: true{_FOLDERS}
    messages:
      rules:
        - {{id: words, match: {{contains: {{pattern: classified}}}}, action: hide}}
        - {{id: cards, match: {{contains: {{detector: card}}}}, action: hide}}
        - {{id: clinic, match: {{from: ["*@clinic.example"]}}, action: hide}}
        - {{id: money, match: {{contains: {{pattern: invoice}}}}, action: withhold}}
    content:
      body: text+html
      links: {{mode: remove}}
      detectors: {{iban: hide}}
    attachments: {{mode: metadata, unscanned: allow}}
    actions: {{flags: [seen], labels: ["agent/*"], move_to: [Archive], trash: true}}
    outbound:
      mode: send
      recipients: {{allow: [anyone], max: 5}}
      reply_only: thread
      after_untrusted_read: {{action: draft}}
      drafts: all{_RATE}
  bare:
    {_LIMITS}
    folders:
      default: visible
      rules:
        - {{match: INBOX, access: readable}}
        - {{match: Archive, access: readable}}
        - {{match: ["Legal", "Legal/**", "Hidden", "Secret"], access: hidden}}
        - {{match: ["special:sent", "special:drafts", "special:trash"], access: hidden}}
    messages:
      default: withhold
      withhold_subject: true
      rules:
        - {{id: friends, match: {{from: ["*@friends.example", "*@corp.example"]}}, action: allow}}
        - {{id: clinic, match: {{from: ["*@clinic.example"]}}, action: hide}}
        - {{id: private, match: {{subject: "[private]"}}, action: hide}}
    content: {{max_chars: 200, quoted_history: collapse, spotlight: fence}}
    attachments: {{mode: none}}
    actions: {{flags: [seen]}}
    outbound:
      mode: draft
      recipients: {{allow: ["*@friends.example", "*@far.example"]}}{_RATE}
  raw:
    {_LIMITS}
    folders:{_FOLDERS}
    messages:
      rules:
        - {{id: clinic, match: {{from: ["*@clinic.example"]}}, action: hide}}
        - {{id: board, match: {{subject: "[board]"}}, action: withhold}}
    content: {{raw: true, raw_overrides_content: true}}
    attachments: {{mode: download, unscanned: allow}}
    outbound:
      mode: send
      recipients: {{allow: [anyone], max: 5}}
      reply_only: "off"
      forward: raw
      after_untrusted_read: {{action: send}}
      attachments: {{mode: allow, unscanned: allow, max_count: 5}}
      drafts: all{_RATE}
  known:
    {_LIMITS}
    folders:
      counts: true{_FOLDERS}
    messages:
      rules:
        - {{id: clinic, match: {{from: ["*@clinic.example"]}}, action: hide}}
        - {{id: private, match: {{subject: "[private]"}}, action: hide}}
        - {{id: board, match: {{subject: "[board]"}}, action: withhold}}
        - id: unknown
          match: {{not: {{known_correspondent: {{sources: [visible, own]}}}}}}
          action: withhold
    attachments: {{mode: download, unscanned: allow}}
    actions: {{flags: [seen], move_to: [Archive], trash: true}}
    outbound:
      mode: send
      recipients: {{allow: [anyone]}}
      after_untrusted_read: {{action: send}}{_RATE}
  no-archive:
    folders: {{default: pass, rules: [{{match: Archive, access: hidden}}]}}
  look-only:
    folders: {{default: readable}}
    attachments: {{mode: metadata}}
    outbound: {{mode: draft}}
  quiet:
    messages: {{default: pass, rules: [{{id: plans, match: {{contains: {{pattern: plan}}}}, action: hide}}]}}
    actions: {{flags: [flagged], move_to: []}}
  envelopes:
    messages: {{default: withhold}}
    outbound: {{recipients: {{internal_only: true}}}}
  little:
    content: {{body: none, headers: [from, to, cc, date], detectors: {{email_address: redact}}}}
    attachments: {{mode: none}}
    outbound: {{reply_only: thread, recipients: {{deny: ["*@friends.example"]}}}}
  short:
    content: {{max_chars: 12, links: {{mode: remove}}, calendar: none}}
    outbound: {{require_draft: true}}
  narrow:
    folders: {{default: pass, rules: [{{match: Shown, access: hidden}}]}}
    messages: {{default: pass, rules: [{{id: gala, match: {{subject: gala}}, action: hide}}]}}
profiles:
  heads: {{policy: heads}}
  texts: {{policy: texts}}
  bare: {{policy: bare}}
  raw: {{policy: raw}}
  known: {{policy: known}}
  narrowed: {{policy: heads, restrict: [narrow]}}
tokens: []
"""

PROFILES: Mapping[str, tuple[str, ...]] = {
    "heads": ("clinic", "private", "list", "old", "label"),
    "texts": ("clinic", "classified", "card", "iban", "label"),
    "bare": ("clinic", "private", "label"),
    "raw": ("clinic", "label"),
    "known": ("clinic", "private", "label"),
    "narrowed": ("clinic", "private", "list", "old", "label", "gala"),
}
"""By what a message can be hidden under each profile's policy."""
WITHHOLDING: Mapping[str, str] = {
    "heads": "board",
    "texts": "invoice",
    "bare": "stranger",
    "raw": "board",
    "known": "board",
    "narrowed": "board",
}
"""By what a message is withheld under it."""
ATTACHMENTS_NEVER_TOLD = frozenset({"bare"})
"""Profiles whose policy mentions no attachment."""


def declared(folder: Path, text: str = TEXT) -> Config:
    """The configuration as the product reads it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / "postroom.yaml"
    file.write_text(text)
    file.chmod(0o600)
    return load(file)


TOLD_AS_IT_CAME = frozenset({"raw"})
"""Profiles whose policy gives a message's own octets, and so what is redacted or removed elsewhere."""
RESTRICTIONS = ("no-archive", "look-only", "quiet", "envelopes", "little", "short", "narrow")
"""Policies that a token may be restricted by."""
