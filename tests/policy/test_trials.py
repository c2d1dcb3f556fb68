"""Tests of policies within the file: which pass, and what is told of those that do not."""

from __future__ import annotations

import pytest

from postroom.policy.trials import failures
from tests.policy.declaring import declared

POLICIES = """\
policies:
  a:
    folders: {rules: [{match: INBOX, access: readable}, {match: "special:junk", access: hidden}]}
    messages:
      rules:
        - {id: old, match: {older_than: 90d}, action: hide}
        - {id: big, match: {size_over: 1m}, action: withhold}
        - {id: theirs, match: {not: {internal: true}}, action: withhold}
        - {id: codes, match: {contains: {detector: otp}}, action: hide}
        - {id: files, match: {attachment: {extension: exe}}, action: hide}
        - {id: bills, match: {header: {name: X-Kind, pattern: bill}}, action: hide}
profiles: {p: {policy: a}}
tests:
"""
BO = "from: Bo <bo@corp.example>, auth: {dmarc: pass}"
READ = "text: Hello"


@pytest.mark.parametrize(
    "test",
    [
        "folder: INBOX, expect: {access: readable}",
        "folder: Other, expect: {access: hidden}",
        "folder: INBOX, special_use: junk, expect: {access: hidden}",
        f"message: {{{BO}, {READ}}}, expect: {{verdict: allow}}",
        f"message: {{{BO}}}, expect: {{verdict: hide}}",
        f"message: {{{BO}, {READ}, age: 90d}}, expect: {{verdict: hide}}",
        f"message: {{{BO}, {READ}, size: 2m}}, expect: {{verdict: withhold}}",
        f"message: {{from: bo@corp.example, {READ}}}, expect: {{verdict: withhold}}",
        f"message: {{{BO}, {READ}, detections: [otp]}}, expect: {{verdict: hide}}",
        f"message: {{{BO}, {READ}, attachments: [{{name: a.exe}}]}}, expect: {{verdict: hide}}",
        f"message: {{{BO}, {READ}, headers: {{x-kind: a bill}}}}, expect: {{verdict: hide}}",
    ],
)
def test_what_comes_out_as_it_is_meant_is_no_failure(test: str) -> None:
    assert failures(declared(f"{POLICIES}  - {{name: t, profile: p, {test}}}")) == []


def test_a_failure_names_the_test_what_came_of_it_and_the_rules_that_made_it_so() -> None:
    tests = (
        "  - {name: Sent, profile: p, folder: Sent, expect: {access: readable}}\n"
        f"  - {{name: old, profile: p, message: {{{BO}, age: 1000d}}, expect: {{verdict: allow}}}}\n"
        f"  - {{name: good, profile: p, message: {{{BO}, {READ}}}, expect: {{verdict: allow}}}}\n"
        f"  - {{name: plain, profile: p, mailbox: work, message: {{{BO}, {READ}}}, expect: {{verdict: hide}}}}"
    )
    assert list(map(str, failures(declared(POLICIES + tests)))) == [
        'tests[0] "Sent": readable was expected, hidden came of it',
        'tests[1] "old": allow was expected, hide came of it because of a.old, a.codes?, a.files?',
        'tests[3] "plain": hide was expected, allow came of it',
    ]


SENDING = """\
policies:
  a:
    outbound:
      mode: send
      recipients: {allow: [internal, "*@partner.example"], max: 2}
      quiet_hours: {timezone: UTC, windows: ["22:00-07:00"], action: hold}
  no-drafts: {outbound: {require_draft: true}}
profiles: {p: {policy: a}, q: {policy: a, restrict: [no-drafts]}}
tests:
"""


@pytest.mark.parametrize(
    "test",
    [
        "profile: p, send: {to: bo@corp.example}, expect: {outcome: send}",
        "profile: p, send: {to: cy@partner.example}, expect: {outcome: deny}",
        "profile: p, send: {to: cy@partner.example, wrote: cy@partner.example}, expect: {outcome: send}",
        "profile: p, send: {to: c@partner.example, wrote: c@partner.example, has_read: true}, expect: {outcome: hold}",
        "profile: p, send: {to: bo@corp.example, bcc: cy@corp.example}, expect: {outcome: deny}",
        "profile: p, send: {to: bo@corp.example, text: 'Your code is 482913'}, expect: {outcome: deny}",
        "profile: q, send: {to: bo@corp.example}, expect: {outcome: deny}",
        "profile: q, send: {to: bo@corp.example, was_draft: true}, expect: {outcome: send}",
    ],
)
def test_what_is_sent_ends_as_a_test_means_it(test: str) -> None:
    assert failures(declared(f"{SENDING}  - {{name: t, {test}}}")) == []


def test_a_failure_of_sending_names_the_rules_with_the_policies_that_they_stand_in() -> None:
    tests = (
        "  - {name: out, profile: p, send: {to: [x@evil.example]}, expect: {outcome: send}}\n"
        "  - {name: undrafted, profile: q, send: {to: [bo@corp.example]}, expect: {outcome: send}}\n"
        "  - {name: nobody, profile: p, send: {to: [bo]}, expect: {outcome: send}}"
    )
    assert list(map(str, failures(declared(SENDING + tests)))) == [
        'tests[0] "out": send was expected, deny came of it because of a.outbound.recipients.allow, '
        "a.outbound.reply_only",
        'tests[1] "undrafted": send was expected, deny came of it because of no-drafts.outbound.require_draft',
        'tests[2] "nobody": send was expected, no message (there is no @; write local@domain) came of it',
    ]
