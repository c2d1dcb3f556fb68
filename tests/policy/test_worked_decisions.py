"""The decisions on folders and messages that the policy's design works through, one by one."""

from __future__ import annotations

from datetime import timedelta

import pytest

from postroom.base.levels import Access, Verdict
from postroom.policy.effective import Policy
from postroom.policy.evidence import Evidence
from tests.policy.declaring import granted, mail

FOLDERS = """{default: hidden, rules: [
  {match: INBOX, access: writable},
  {match: ["special:sent", "special:drafts"], access: readable},
  {match: "Support/**", except: ["Support/Legal/**"], access: writable}]}"""
MESSAGES = """{default: allow, rules: [
  {id: old, match: {older_than: 180d}, action: hide},
  {id: private, match: {any: [{subject: {contains: "[private]"}}, {from: ["*@clinic.example"]}]}, action: hide},
  {id: spoof, match: {anomaly: [internal_name_external_address]}, action: withhold},
  {id: bulk, match: {list_id: present}, except: {list_id: ["dev.corp.example"]}, action: hide}]}"""
SUPPORT = f"{{folders: {FOLDERS}, messages: {MESSAGES}}}"
TREE = {
    "INBOX": "inbox",
    "Sent": "sent",
    "Drafts": "drafts",
    "Support/A": None,
    "Support/Legal/X": None,
    "Finance": None,
}
SPOKEN = "From: bob@partner.example\nSubject: {}"
TWO_SENDERS = "From: a@corp.example, x@evil.test\nSubject: Hello"


def shown(policy: Policy) -> dict[str, Access]:
    levels = {path: policy.folders.access(path, use) for path, use in TREE.items()}
    return {path: level for path, level in levels.items() if level > Access.HIDDEN}


def test_1_an_exception_of_a_rule_leaves_a_folder_to_the_default() -> None:
    assert shown(granted(SUPPORT)) == {
        "INBOX": Access.WRITABLE,
        "Sent": Access.READABLE,
        "Drafts": Access.READABLE,
        "Support/A": Access.WRITABLE,
    }


def test_2_a_folder_that_the_default_hides_is_as_one_that_is_not_there() -> None:
    folders = granted(SUPPORT).folders
    assert folders.access("Support/Legal/X", None) == folders.access("Nope", None) == Access.HIDDEN


def test_3_a_restriction_that_passes_says_nothing_of_other_folders() -> None:
    restricted = granted(SUPPORT, "{folders: {default: pass, rules: [{match: INBOX, access: readable}]}}")
    assert shown(restricted) == {**shown(granted(SUPPORT)), "INBOX": Access.READABLE}


def test_4_a_restriction_with_a_default_speaks_of_all_folders() -> None:
    restricted = granted(SUPPORT, "{folders: {default: hidden, rules: [{match: INBOX, access: readable}]}}")
    assert shown(restricted) == {"INBOX": Access.READABLE}


@pytest.mark.parametrize(
    ("message", "verdict"),
    [
        (mail(SPOKEN.format("Hello"), age=timedelta(days=180)), Verdict.HIDE),
        (mail(SPOKEN.format("Hello"), age=timedelta(days=180, seconds=-1)), Verdict.ALLOW),
        (mail(SPOKEN.format("[Private] lunch")), Verdict.HIDE),
        (mail(SPOKEN.format("Hello") + "\nList-Id: Developers <dev.corp.example>"), Verdict.ALLOW),
        (mail(SPOKEN.format("Hello") + "\nList-Id: <news.shop.example>"), Verdict.HIDE),
        (mail(SPOKEN.format("Hello") + "\nList-Id: news of the shop"), Verdict.HIDE),
    ],
    ids=["5 old", "5 not yet", "8 private", "9 excepted list", "other list", "list without an identifier"],
)
def test_5_8_9_rules_on_messages(message: Evidence, verdict: Verdict) -> None:
    messages = granted(SUPPORT).messages
    assert messages.verdict(message) == messages.ceiling(message) == verdict


def test_6_of_two_senders_one_allowed_does_not_admit_a_message() -> None:
    rule = "{id: ours, match: {from: [internal]}, action: allow}"
    policy = granted(f"{{messages: {{default: hide, rules: [{rule}]}}}}")
    assert policy.messages.verdict(mail(TWO_SENDERS)) is Verdict.HIDE
    assert policy.messages.verdict(mail("From: a@corp.example")) is Verdict.ALLOW


def test_7_of_two_senders_one_unwanted_hides_a_message() -> None:
    policy = granted('{messages: {rules: [{id: evil, match: {from: ["*@evil.test"]}, action: hide}]}}')
    assert policy.messages.verdict(mail(TWO_SENDERS)) is Verdict.HIDE
    assert policy.messages.verdict(mail("From: a@corp.example")) is Verdict.ALLOW


def test_10_who_is_internal_without_proof_is_not_known_to_be() -> None:
    policy = granted("{messages: {rules: [{id: theirs, match: {not: {internal: true}}, action: withhold}]}}")
    proven = "Authentication-Results: mx.corp.example; dmarc=pass\nFrom: bo@corp.example"
    assert policy.messages.verdict(mail("From: bo@corp.example")) is Verdict.WITHHOLD
    assert policy.messages.verdict(mail(proven)) is Verdict.ALLOW
    assert policy.messages.verdict(mail("From: bo@elsewhere.example")) is Verdict.WITHHOLD


def test_fields_and_content_that_rules_need_are_told() -> None:
    messages = granted(SUPPORT).messages
    assert "list-id" in messages.fields
    assert "from" not in messages.fields
    assert not messages.needs_body
    assert granted("{messages: {rules: [{id: a, match: {contains: {pattern: x}}, action: hide}]}}").messages.needs_body
