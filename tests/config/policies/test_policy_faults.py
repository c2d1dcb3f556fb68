"""Every kind of fault a policy can have: what is told, where, and what to write instead."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Faults = Callable[[str], list[str]]
HASH = "sha256:" + "0" * 64


def policy(section: str, *, granted: bool = False) -> str:
    """A file with a policy whose section stands in line 3."""
    profile = "\nprofiles: {p: {policy: a}}" if granted else ""
    return f"policies:\n  a:\n    {section}{profile}"


@pytest.mark.parametrize(
    ("section", "fault"),
    [
        ("folder: {}", 'policies.a.folder: unknown key; did you mean "folders"?'),
        ("folders: {defualt: hidden}", 'policies.a.folders.defualt: unknown key; did you mean "default"?'),
        (
            "folders: {default: hide}",
            "policies.a.folders.default: must be one of hidden, visible, readable, writable, pass; "
            'did you mean "hidden"?',
        ),
        ("folders: {rules: [{access: hidden}]}", "policies.a.folders.rules[0].match: is required, but missing"),
        ("folders: {rules: [{match: [], access: hidden}]}", "policies.a.folders.rules[0].match: must not be empty"),
        (
            "folders: {rules: [{match: 'special:outbox', access: hidden}]}",
            "policies.a.folders.rules[0].match[0]: must be special: and one of "
            "inbox, sent, drafts, trash, junk, archive, all, flagged, important",
        ),
        (
            "folders: {rules: [{match: /INBOX, access: hidden}]}",
            "policies.a.folders.rules[0].match[0]: must be a folder's path with / between its levels, "
            "such as Support/**",
        ),
        (
            "folders: {rules: [{match: A, access: hidden, exept: B}]}",
            'policies.a.folders.rules[0].exept: unknown key; did you mean "except"?',
        ),
        (
            "messages: {rules: [{id: a, match: {}, action: hide}]}",
            "policies.a.messages.rules[0].match: must name at least one condition; for all messages use default",
        ),
        (
            "messages: {rules: [{id: a, match: {frm: a@b.example}, action: hide}]}",
            'policies.a.messages.rules[0].match.frm: unknown key; did you mean "from"?',
        ),
        (
            "messages: {rules: [{id: a, match: {older_than: 180}, action: hide}]}",
            "policies.a.messages.rules[0].match.older_than: "
            "must be a whole number with s, m, h or d, such as 30m or 90d",
        ),
        (
            "messages: {rules: [{id: a, match: {size_over: 0}, action: hide}]}",
            "policies.a.messages.rules[0].match.size_over: "
            "must be a whole number of octets from 1, or one with k or m, such as 10m",
        ),
        (
            "messages: {rules: [{id: a, match: {subject: {re2: '(?=x)'}}, action: hide}]}",
            "policies.a.messages.rules[0].match.subject[0].re2: "
            "is no regular expression of RE2: invalid perl operator: (?=",
        ),
        (
            "messages: {rules: [{id: a, match: {subject: {re2: '((((x{9}){9}){9}){9})'}}, action: hide}]}",
            "policies.a.messages.rules[0].match.subject[0].re2: "
            "is no regular expression of RE2: invalid repetition size: {9}",
        ),
        (
            "messages: {rules: [{id: a, match: {subject: {re2: '((abcdefghij){30}){20}'}}, action: hide}]}",
            "policies.a.messages.rules[0].match.subject[0].re2: the regular expression is too large; repeat less in it",
        ),
        (
            "messages: {rules: [{id: a, match: {subject: {contains: a, glob: b}}, action: hide}]}",
            "policies.a.messages.rules[0].match.subject[0]: must have exactly one of contains, equals, glob, re2",
        ),
        (
            "messages: {rules: [{id: a, match: {from: bob}, action: hide}]}",
            "policies.a.messages.rules[0].match.from[0]: "
            "must be local@domain, *@domain, *@*.domain, internal, self, anyone or list:NAME",
        ),
        (
            "messages: {rules: [{id: a, match: {known_correspondent: {sources: [sent]}}, action: hide}]}",
            "policies.a.messages.rules[0].match.known_correspondent: the source sent reads mail that may be hidden; "
            "leave it out, or write declassify: true",
        ),
        (
            "outbound: {quiet_hours: {timezone: Berlin, windows: []}}",
            "policies.a.outbound.quiet_hours.timezone: must be a time zone of the IANA database, such as Europe/Berlin",
        ),
        (
            "outbound: {quiet_hours: {timezone: UTC, windows: [25:00-07:00]}}",
            "policies.a.outbound.quiet_hours.windows[0]: must be HH:MM-HH:MM, with days before it if meant, "
            "such as 22:00-07:00 or Sat,Sun 00:00-24:00",
        ),
        ("limits: {requests_per_minute: 6001}", "policies.a.limits.requests_per_minute: must be at most 6000"),
        ("limits: {response_bytes: 5m}", "policies.a.limits.response_bytes: must be at most 4194304"),
    ],
)
def test_faults_of_the_shape_of_a_policy(faults_of: Faults, section: str, fault: str) -> None:
    assert faults_of(policy(section)) == [f"3: {fault}"]


HIDDEN_LEGAL = "folders: {rules: [{match: 'Legal/**', access: hidden}]}, "


@pytest.mark.parametrize(
    ("section", "fault"),
    [
        (
            "folders: {default: pass}",
            "folders.default: a policy that is granted must have an opinion; "
            "write another one, such as hidden, or use the policy in restrict only",
        ),
        (
            "outbound: {mode: send}",
            "outbound: may send, but to nobody; add recipients: {allow: [...]}, with anyone for everybody",
        ),
        (
            "content: {raw: true, hidden_text: mark, links: {mode: full}}",
            "content.raw: shows what other keys of content take out; "
            "write raw_overrides_content: true if that is meant",
        ),
        (
            "folders: {rules: [{match: 'special:all', access: readable}]}",
            "folders.rules[0]: opens a folder that shows the mail of others once more; "
            "write duplicates: accepted in folders if that is meant",
        ),
    ],
)
def test_faults_of_a_policy_that_is_granted_and_of_no_other(faults_of: Faults, section: str, fault: str) -> None:
    assert faults_of(policy(section, granted=True)) == [f"3: policies.a.{fault}"]
    assert faults_of(policy(section)) == []


@pytest.mark.parametrize(
    "section",
    [
        "outbound: {mode: send, recipients: {allow: [anyone]}}",
        "content: {raw: true, raw_overrides_content: true}",
        "folders: {duplicates: accepted, rules: [{match: 'special:all', access: readable}]}",
        "messages: {default: hide}",
        "outbound: {mode: hold, hold_when: [{always: true}], quiet_hours: {timezone: UTC, windows: ['22:00-07:00']}}",
        "outbound: {undo_window: 0}",
    ],
)
def test_what_a_policy_may_say(faults_of: Faults, section: str) -> None:
    assert faults_of(policy(section, granted=True)) == []


@pytest.mark.parametrize(
    ("section", "fault"),
    [
        (
            "messages: {rules: [{id: a, match: {from: 'list:partner'}, action: hide}]}",
            'messages.rules[0].match.from: there is no such list; did you mean "partners"?',
        ),
        (
            "outbound: {recipients: {deny: ['list:zzz']}}",
            "outbound.recipients.deny[0]: there is no such list",
        ),
        (
            "messages: {rules: [{id: a, match: {known_correspondent: {sources: [contacts]}}, action: allow}]}",
            "messages.rules[0].match.known_correspondent.sources[0]: there is no list contacts; "
            "add it to lists, or leave the source out",
        ),
        (
            "messages: {rules: [{id: a, match: {contains: {detector: [opt]}}, action: hide}]}",
            'messages.rules[0].match.contains.detector[0]: there is no such detector; did you mean "otp"?',
        ),
        (
            "messages: {rules: [{id: a, match: {size_over: 1}, action: hide}, "
            "{id: a, match: {size_over: 2}, action: hide}]}",
            "messages.rules[1].id: another one has the same; every id must be unique",
        ),
        (
            "content: {patterns: [{name: otp, re2: x, action: redact}]}",
            "content.patterns[0].name: another one has the same; every name must be unique",
        ),
        (
            "content: {headers: [from, Received]}",
            "content.headers[1]: is never shown: it tells of the way mail took; remove it",
        ),
        (
            "outbound: {recipients: {allow: ['*']}}",
            "outbound.recipients.allow[0]: lets mail go to everybody; write anyone if that is meant",
        ),
        ("outbound: {from: [internal]}", "outbound.from[0]: must be an address, or *@domain for all of a domain"),
        (
            "outbound: {undo_window: 60s}",
            "outbound.undo_window: calling a message back is not built yet; write undo_window: 0, or remove it",
        ),
        (
            "outbound: {approval: {approvers: 2}}",
            "outbound.approval: a person's approval is not built yet; "
            "remove it; what is held ends as a draft, or as denied",
        ),
        (
            "limits: {parse_seconds: 5}",
            "limits.parse_seconds: a process of its own for reading mail is not built yet; remove it",
        ),
    ],
)
def test_faults_of_any_policy(faults_of: Faults, section: str, fault: str) -> None:
    text = f"{policy(section)}\nlists: {{partners: ['*@partner.example']}}"
    assert faults_of(text) == [f"3: policies.a.{fault}"]


@pytest.mark.parametrize(
    ("key", "pattern", "hidden", "meets"),
    [
        ("create_under", "Legal/New/**", "Legal/**", True),
        ("create_under", "**", "Legal/**", True),
        ("create_under", "L*/x", "Legal/**", True),
        ("create_under", "L?/x", "Legal/**", False),
        ("create_under", "*", "Legal/**", False),
        ("create_under", "Support/**", "Legal/**", False),
        ("create_under", "inbox/x", "INBOX/*", True),
        ("move_to", "special:trash", "special:trash", True),
        ("move_to", "special:archive", "Legal/**", False),
        ("create_under", "**/x", "**/y", False),
        ("create_under", "A/**", "**/B", True),
    ],
)
def test_moving_and_creating_may_not_meet_what_a_rule_hides(
    faults_of: Faults, key: str, pattern: str, hidden: str, meets: bool
) -> None:
    text = (
        f"policies:\n  a:\n    folders: {{rules: [{{match: '{hidden}', access: hidden}}]}}\n"
        f"    actions: {{{key}: ['{pattern}']}}"
    )
    fault = "can meet a folder that a rule of folders hides; make one of them narrower"
    assert faults_of(text) == ([f"4: policies.a.actions.{key}[0]: {fault}"] if meets else [])


def test_a_folder_that_is_created_is_named_by_its_path(faults_of: Faults) -> None:
    told = faults_of(policy("actions: {create_under: ['special:archive']}"))
    assert told == [
        "3: policies.a.actions.create_under[0]: a folder that is created has no special use yet; write its path"
    ]


@pytest.mark.parametrize(
    ("profile", "fault"),
    [
        ("{}", "profiles.p: grants nothing; give it a policy, or policies by mailbox"),
        ("{policy: suport}", 'profiles.p.policy: there is no such policy; did you mean "support"?'),
        ("{policy: support, restrict: [zz]}", "profiles.p.restrict[0]: there is no such policy"),
        ("{policies: {wrk: support}}", 'profiles.p.policies.wrk: there is no such mailbox; did you mean "work"?'),
        ("{policies: {work: zz}}", "profiles.p.policies.work: there is no such policy"),
    ],
)
def test_faults_of_a_profile(faults_of: Faults, profile: str, fault: str) -> None:
    assert faults_of(f"policies: {{support: {{}}}}\nprofiles: {{p: {profile}}}") == [f"2: {fault}"]


@pytest.mark.parametrize(
    ("token", "faults"),
    [
        ("toolset: relay, user: ana, mailbox: work, profile: p", []),
        ("scopes: [read], mailboxes: [work], user: ana, profile: p, restrict: [support]", []),
        (
            "toolset: relay",
            [
                "tokens[0]: a token of the relay toolset needs user",
                "tokens[0]: a token of the relay toolset needs mailbox",
                "tokens[0]: a token of the relay toolset needs profile",
            ],
        ),
        (
            "toolset: relay, user: ana, mailbox: wokr, profile: p, scopes: [read], mailboxes: [work]",
            [
                "tokens[0].scopes: does not go with the relay toolset; its policy decides; remove it",
                "tokens[0].mailboxes: does not go with the relay toolset; write mailbox: NAME",
                'tokens[0].mailbox: there is no such mailbox; did you mean "work"?',
            ],
        ),
        (
            "scopes: [read, admin], mailboxes: [work], profile: pp",
            [
                "tokens[0].profile: a bound token needs a user too; add user: NAME",
                "tokens[0].scopes[1]: a bound token cannot hold admin; use a token of its own",
                'tokens[0].profile: there is no such profile; did you mean "p"?',
            ],
        ),
        ("user: ana", ["tokens[0].user: goes with a profile only; add profile: NAME, or remove it"]),
        (
            "user: ana, profile: q, mailboxes: [work]",
            [
                "tokens[0].profile: grants nothing in one of the token's mailboxes; give the profile a policy for it",
            ],
        ),
        ("user: ana, profile: p, restrict: [zz]", ["tokens[0].restrict[0]: there is no such policy"]),
    ],
)
def test_faults_of_a_bound_token(faults_of: Faults, token: str, faults: list[str]) -> None:
    text = (
        "policies: {support: {}}\nprofiles: {p: {policy: support}, q: {policies: {home: support}}}\n"
        f"tokens: [{{name: t, token_hash: '{HASH}', {token}}}]"
    )
    told = [one for one in faults_of(text) if one.startswith("3: ")]
    assert told == [f"3: {fault}" for fault in faults]


def test_a_list_holds_addresses_and_nobody_elses_list(faults_of: Faults) -> None:
    assert faults_of("lists: {a: ['list:b', anyone, bob@x.example], b: []}") == [
        "1: lists.a[0]: a list cannot name a list; write its addresses out",
        "1: lists.a[1]: everybody is no list; write anyone in the rule itself",
    ]


@pytest.mark.parametrize(
    ("test", "fault"),
    [
        ("profile: q, folder: A, expect: {access: hidden}", "tests[0].profile: there is no such profile"),
        (
            "profile: p, mailbox: wrk, folder: A, expect: {access: hidden}",
            'tests[0].mailbox: there is no such mailbox; did you mean "work"?',
        ),
        ("profile: p, expect: {access: hidden}", "tests[0]: must have exactly one of folder, message, send"),
        (
            "profile: p, folder: A, expect: {verdict: hide}",
            "tests[0]: expect must have access, and nothing else",
        ),
        (
            "profile: p, send: {to: a@x.example}, expect: {verdict: hide}",
            "tests[0]: expect must have outcome, and nothing else",
        ),
    ],
)
def test_faults_of_a_test(faults_of: Faults, test: str, fault: str) -> None:
    text = f"policies: {{a: {{}}}}\nprofiles: {{p: {{policy: a}}}}\ntests: [{{name: t, {test}}}]"
    assert faults_of(text) == [f"3: {fault}"]
