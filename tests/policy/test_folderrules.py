"""Folders: their canonical paths, what rules make of them, and what restrictions can do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.base.levels import Access
from postroom.policy.folderrules import canonical
from tests.policy.declaring import granted

LEVELS = ["hidden", "visible", "readable", "writable"]
PATHS = ["INBOX", "INBOX/A", "A", "A/B", "A/B/C", "Sent", "All Mail"]
USES = [None, "inbox", "sent", "all", "junk"]
patterns = st.sampled_from(["INBOX", "A/*", "A/**", "**", "?", "special:sent", "special:all", "special:inbox", "Se*"])


@pytest.mark.parametrize(
    ("name", "delimiter", "path"),
    [
        ("inbox", "/", "INBOX"),
        ("InBox.Work", ".", "INBOX/Work"),
        ("Support.Legal", "/", "Support.Legal"),
        ("A/B.C%", ".", "A%2FB/C%25"),
        ("A/B", None, "A%2FB"),
        ("Entwu\u0308rfe", "/", "Entwürfe"),
        ("Inboxes", "/", "Inboxes"),
    ],
)
def test_the_canonical_path_of_a_folder(name: str, delimiter: str | None, path: str) -> None:
    assert canonical(name, delimiter) == path


@st.composite
def folder_policies(draw: st.DrawFn, defaults: tuple[str, ...] = (*LEVELS, "pass")) -> tuple[str, list[str]]:
    """A default, and rules that may stand in any order."""
    rules = draw(
        st.lists(
            st.builds(
                lambda match, exempt, access: (
                    f"{{match: ['{match}'], access: {access}" + (f", except: ['{exempt}']}}" if exempt else "}")
                ),
                patterns,
                st.none() | patterns,
                st.sampled_from(LEVELS),
            ),
            max_size=4,
        )
    )
    return draw(st.sampled_from(defaults)), rules


def spelled(policy: tuple[str, list[str]]) -> str:
    default, rules = policy
    return f"{{folders: {{default: {default}, duplicates: accepted, rules: [{', '.join(rules)}]}}}}"


def levels(*policies: str) -> list[Access]:
    folders = granted(*policies).folders
    return [folders.access(path, use) for path in PATHS for use in USES]


@given(folder_policies(defaults=("hidden", "readable")), st.randoms())
def test_the_order_of_rules_decides_nothing(policy: tuple[str, list[str]], random: object) -> None:
    default, rules = policy
    shuffled = list(rules)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert levels(spelled((default, rules))) == levels(spelled((default, shuffled)))


@given(folder_policies(defaults=("hidden", "readable")), st.lists(folder_policies(), min_size=1, max_size=3))
def test_no_restriction_opens_a_folder(
    policy: tuple[str, list[str]], restrictions: list[tuple[str, list[str]]]
) -> None:
    texts = [spelled(one) for one in restrictions]
    before, after = levels(spelled(policy), *texts[:-1]), levels(spelled(policy), *texts)
    assert all(now <= then for now, then in zip(after, before, strict=True))


def test_a_folder_is_meant_by_its_name_and_by_its_use_and_the_stricter_rule_wins() -> None:
    folders = granted(
        "{folders: {rules: [{match: '**', access: writable}, {match: 'special:junk', access: hidden}]}}"
    ).folders
    assert folders.access("Spam", None) is Access.WRITABLE
    assert folders.access("Spam", "junk") is Access.HIDDEN


@pytest.mark.parametrize("use", ["all", "flagged", "important"])
def test_a_folder_that_shows_mail_once_more_is_hidden_until_that_is_accepted(use: str) -> None:
    rules = "rules: [{match: '**', access: writable}]"
    assert granted(f"{{folders: {{{rules}}}}}").folders.access("X", use) is Access.HIDDEN
    assert granted(f"{{folders: {{duplicates: accepted, {rules}}}}}").folders.access("X", use) is Access.WRITABLE


def test_only_a_rule_conceals_a_folder_and_not_the_default() -> None:
    folders = granted("{folders: {rules: [{match: Legal, access: hidden}]}}", "{folders: {default: hidden}}").folders
    assert folders.concealed("Legal", None)
    assert not folders.concealed("Other", None)
    assert folders.access("Other", None) is Access.HIDDEN


def test_counts_need_leave_of_all_and_labels_taint_if_any_says_so() -> None:
    open_ = "{folders: {counts: true, taint_labels: false}}"
    assert (granted(open_).folders.counts, granted(open_).folders.taint_labels) == (True, False)
    closed = granted(open_, "{folders: {counts: false}}", "{folders: {taint_labels: true}}").folders
    assert (closed.counts, closed.taint_labels) == (False, True)
    silent = granted(open_, "{folders: {default: pass}}").folders
    assert (silent.counts, silent.taint_labels) == (True, False)
