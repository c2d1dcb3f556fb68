"""What is told of a sound configuration that opens more than is wise."""

from __future__ import annotations

import pytest

from postroom.config.nodes import compose, plain
from postroom.config.policies.hazards import hazards
from postroom.config.schema import ConfigFile

SAFE = "imap: {host: h, username: a, password: p}, internal_domains: [x.example], trusted_authserv_ids: [mx]"
READS = "folders: {rules: [{match: INBOX, access: readable}]}"
OPEN = "outbound: {mode: send, recipients: {allow: [anyone]}, after_untrusted_read: {action: send}}"


def told(policy: str, *, ceiling: str = "{}", mailbox: str = SAFE) -> list[str]:
    root, _ = compose(
        f"mailboxes: [{{name: work, {mailbox}}}]\nceiling: {ceiling}\n"
        f"policies: {{a: {{{policy}}}}}\nprofiles: {{p: {{policy: a}}}}"
    )
    assert root is not None
    return list(map(str, hazards(ConfigFile.model_validate(plain(root), context={}))))


def test_a_cautious_policy_is_no_hazard() -> None:
    assert told(READS) == []


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("outbound: {mode: send, recipients: {allow: [anyone]}}", ["may send to anyone"]),
        ("attachments: {mode: download, unscanned: allow}", ["may download files"]),
        ("content: {links: {mode: full}}", ["sees whole link addresses"]),
        (f"{READS}, {OPEN}", ["may send to anyone", "reads mail from outside"]),
    ],
)
def test_what_a_policy_opens_is_told(policy: str, words: list[str]) -> None:
    sentences = told(policy)
    assert len(sentences) == len(words)
    assert all(f"Profile p {start}" in sentence for start, sentence in zip(words, sentences, strict=True))


def test_what_the_ceiling_closes_is_not_told() -> None:
    assert told(f"{READS}, {OPEN}", ceiling="{outbound: {mode: hold}}") == []
    assert told("content: {links: {mode: full}}", ceiling="{content: {links: {mode: domain}}}") == []


def test_a_mailbox_of_which_nobody_is_known_to_be_internal_is_told() -> None:
    sentences = told("", mailbox="imap: {host: h, username: a, password: p}")
    assert [sentence.partition(",")[0] for sentence in sentences] == [
        "Mailbox work has no internal_domains",
        "Mailbox work has no trusted_authserv_ids",
    ]
