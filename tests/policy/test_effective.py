"""A compiled policy: its actions, limits and hash, and what cannot be compiled."""

from __future__ import annotations

from datetime import timedelta

import pytest

from postroom.base.levels import Access, Verdict
from postroom.policy.effective import NoGrant, Policy, compile_policy
from tests.policy.declaring import declared, granted, mail

WRITABLE = "folders: {rules: [{match: '**', access: writable}, {match: 'Legal/**', access: hidden}]}"


def acting(actions: str, *restrictions: str) -> Policy:
    return granted(f"{{{WRITABLE}, actions: {actions}}}", *(f"{{actions: {one}}}" for one in restrictions))


def test_nothing_may_be_changed_unless_it_is_granted() -> None:
    actions = granted(f"{{{WRITABLE}}}").actions
    assert (actions.flags, actions.trash, actions.erase, actions.max_messages_per_day) == (
        frozenset(),
        False,
        False,
        200,
    )
    assert not actions.may_label("agent/x")
    assert not actions.may_move_to("A", None)
    assert not actions.may_create("A")


@pytest.mark.parametrize(
    ("grant", "restriction", "flags", "relay"),
    [
        ("{}", "{}", set(), {"seen", "flagged", "answered"}),
        ("{flags: [seen]}", "{}", {"seen"}, {"seen"}),
        ("{}", "{flags: [seen]}", set(), {"seen"}),
        ("{flags: []}", "{}", set(), set()),
        ("{flags: [seen, flagged]}", "{flags: [flagged, answered]}", {"flagged"}, {"flagged"}),
    ],
)
def test_a_relay_token_may_set_all_flags_where_nothing_is_said_of_them(
    grant: str, restriction: str, flags: set[str], relay: set[str]
) -> None:
    actions = acting(grant, restriction).actions
    assert (actions.flags, actions.relay_flags) == (flags, relay)


def test_a_label_must_fit_every_policy_that_speaks_of_labels() -> None:
    actions = acting("{labels: ['agent/*', todo]}", "{labels: ['agent/*']}", "{trash: true}").actions
    assert [label for label in ("agent/x", "todo", "agent/ü", "agent/" + "x" * 48) if actions.may_label(label)] == [
        "agent/x"
    ]


def test_mail_moves_into_folders_that_are_named_and_writable() -> None:
    actions = acting("{move_to: ['A/**', 'special:archive', 'Legal/**']}").actions
    assert actions.may_move_to("A/B", None)
    assert actions.may_move_to("Old", "archive")
    assert not actions.may_move_to("Old", None)
    assert not actions.may_move_to("Legal/X", None)


def test_a_folder_is_created_only_where_it_could_be_seen() -> None:
    actions = acting("{create_under: ['**']}").actions
    assert actions.may_create("A/B")
    assert not actions.may_create("Legal/X")
    hidden = granted("{folders: {default: hidden}, actions: {create_under: ['**']}}").actions
    assert not hidden.may_create("A/B")


def test_of_figures_the_stricter_counts() -> None:
    actions = acting(
        "{trash: true, erase: true, max_messages_per_day: 500}",
        "{trash: false, erase_after: 48h}",
        "{max_messages_per_day: 9}",
    ).actions
    assert (actions.trash, actions.erase, actions.erase_after) == (False, True, timedelta(hours=48))
    assert actions.max_messages_per_day == 9
    limits = granted("{limits: {scan_chars: 500}}", "{limits: {requests_per_minute: 6000, concurrent: 2}}").limits
    assert (limits.scan_chars, limits.requests_per_minute, limits.concurrent) == (500, 120, 2)
    assert (limits.body_search_messages, limits.response_bytes) == (2_000, 512 << 10)


def test_sending_is_told_policy_by_policy_with_what_each_says() -> None:
    grant, ceiling, restriction = granted(
        "{outbound: {recipients: {allow: [internal]}}}", "{outbound: {recipients: {deny: [bob@x.example]}}}"
    ).outbound
    assert grant.recipients.allow == ("internal",)
    assert (grant.mode, grant.reply_only, grant.recipients.max) == ("draft", "correspondent", 5)
    assert not ceiling.model_fields_set
    assert restriction.said("recipients")
    assert restriction.recipients.said("deny")
    assert not restriction.recipients.said("allow")


FILE = """\
lists: {{contacts: [{contact}@x.example]}}
ceiling: {ceiling}
policies:
  a: {{messages: {{rules: [{{id: r, match: {{older_than: {age}}}, action: hide}}]}}}}
  b: {{}}
profiles:
  p: {{policies: {{work: a}}, policy: {policy}, restrict: [{restrict}]}}
"""
PLAIN = {"contact": "bo", "ceiling": "{}", "age": "90d", "policy": "b", "restrict": ""}


def hash_of(**changes: str) -> bytes:
    return compile_policy(declared(FILE.format(**(PLAIN | changes))), "p", "work").hash


def test_the_hash_is_of_all_that_decides_and_of_nothing_else() -> None:
    assert len(hash_of()) == 32
    assert hash_of() == hash_of(policy="a")
    changed = [
        {"contact": "cy"},
        {"age": "91d"},
        {"ceiling": "{outbound: {mode: hold}}"},
        {"restrict": "b"},
        {"ceiling": "{outbound: {mode: draft}}"},
    ]
    assert len({hash_of(), *(hash_of(**change) for change in changed)}) == 6


def test_the_ceiling_is_over_every_profile() -> None:
    file = declared(FILE.format(**(PLAIN | {"ceiling": "{folders: {default: hidden}, messages: {default: withhold}}"})))
    policy = compile_policy(file, "p", "work")
    assert policy.folders.access("INBOX", "inbox") is Access.HIDDEN
    assert policy.messages.verdict(mail()) is Verdict.WITHHOLD


@pytest.mark.parametrize(
    ("profile", "mailbox", "extra"), [("q", "work", []), ("p", "home", []), ("p", "work", ["zz"]), ("none", "work", [])]
)
def test_what_is_not_there_grants_nothing(profile: str, mailbox: str, extra: list[str]) -> None:
    file = declared("policies: {a: {}}\nprofiles: {p: {policy: a}, none: {policies: {home: a}}}")
    with pytest.raises(NoGrant):
        compile_policy(file, profile, mailbox, extra)
