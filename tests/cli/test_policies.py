"""`postroom policy`: what an operator is told of policies before anybody is bound by them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from postroom.cli import main

MAILBOX = """\
mailboxes:
  - name: work
    address: ana@corp.example
    imap: {host: imap.corp.example, username: ana, password_env: NOT_SET_HERE}
    internal_domains: [corp.example]
    trusted_authserv_ids: [mx.corp.example]
"""
POLICIES = """\
policies:
  desk:
    folders: {rules: [{match: INBOX, access: readable}]}
    messages: {rules: [{id: old, match: {older_than: 90d}, action: hide}]}
profiles: {helper: {policy: desk}}
"""
TESTS = """\
tests:
  - {name: archive is not there, profile: helper, folder: Archive, expect: {access: hidden}}
  - {name: old mail is not there, profile: helper, message: {from: bo@x.example, age: 90d}, expect: {verdict: hide}}
"""


def written(folder: Path, text: str, name: str = "postroom.yaml") -> Path:
    path = folder / name
    path.write_text(text)
    path.chmod(0o600)
    return path


def command(*arguments: str | Path, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)), input=stdin)


def test_tests_that_pass_are_counted(tmp_path: Path) -> None:
    result = command("policy", "test", "--config", written(tmp_path, MAILBOX + POLICIES + TESTS))
    assert (result.exit_code, result.output) == (0, "All 2 tests passed.\n")


def test_each_test_that_fails_is_told_in_words(tmp_path: Path) -> None:
    wrong = TESTS.replace("verdict: hide", "verdict: allow")
    result = command("policy", "test", "--config", written(tmp_path, MAILBOX + POLICIES + wrong))
    assert result.exit_code == 1
    assert result.output == (
        'tests[1] "old mail is not there": allow was expected, hide came of it because of desk.old\n'
        "1 of 2 tests failed.\n"
    )


def test_the_gateway_does_not_start_over_a_test_that_fails_and_names_its_line(tmp_path: Path) -> None:
    wrong = POLICIES + TESTS.replace("access: hidden", "access: readable")
    path = written(tmp_path, "mailboxes: [{name: work, smtp: {host: smtp.corp.example}}]\n" + wrong)
    result = command("serve", "--config", path)
    assert result.exit_code == 2
    assert result.output == (
        f'{path}:8: tests[0]: "archive is not there" fails: readable was expected, hidden came of it; '
        "repair the policy, or the test\n"
    )


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("older_than: 90d", "older_than: 90d", ""),
        ("action: hide}", "action: hide}, {id: bo, match: {from: bo@x.example}, action: hide}", ""),
        ("older_than: 90d", "older_than: 30d", "helper in work: messages.rules: old is not what it was\n"),
        ("access: readable", "access: writable", "helper in work: folder INBOX: readable became writable\n"),
    ],
)
def test_what_a_change_opens_is_told_and_what_it_closes_is_not(tmp_path: Path, old: str, new: str, told: str) -> None:
    before = written(tmp_path, MAILBOX + POLICIES, "old.yaml")
    after = written(tmp_path, MAILBOX + POLICIES.replace(old, new), "new.yaml")
    result = command("policy", "diff", before, after)
    assert (result.exit_code, result.output) == (1 if told else 0, told)


STRANGERS = """\
policies:
  desk:
    folders: {rules: [{match: INBOX, access: readable}]}
    messages:
      rules:
        - {id: old, match: {older_than: 90d}, action: hide}
        - {id: strangers, match: {not: {internal: true}}, action: withhold}
    content: {patterns: [{name: tender, re2: 'lot \\d+', action: redact}]}
    attachments: {mode: download, types: {allow: [text/plain]}}
    outbound: {mode: send, recipients: {allow: [internal, "*@partner.example"]}}
  narrow: {outbound: {mode: hold}}
profiles: {helper: {policy: desk}, held: {policy: desk, restrict: [narrow]}}
"""
MESSAGE = """\
Authentication-Results: mx.corp.example; dmarc=pass header.from=corp.example
Received: from a by mx.corp.example; Sun, 1 Mar 2026 10:00:00 +0000
From: Bo <bo@corp.example>
To: ana@corp.example
Subject: lot 17 and your code
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain

Your verification code is 482913. DE89 3704 0044 0532 0130 00
--b
Content-Type: text/plain; name=a.txt
Content-Disposition: attachment

Hello
--b
Content-Type: application/pdf; name=a.pdf
Content-Disposition: attachment

%PDF-1.7
--b--
"""


def explained(folder: Path, *arguments: str, profile: str = "helper", stdin: str | None = None) -> list[str]:
    """The lines after the heading, which is asked for here."""
    config = written(folder, MAILBOX + STRANGERS)
    result = command("policy", "explain", "--config", config, "--profile", profile, *arguments, stdin=stdin)
    restricted = {"helper": "ceiling", "held": "ceiling, narrow"}[profile]
    heading, *lines = result.output.splitlines()
    assert heading == f"Profile {profile} in mailbox work: granted by desk, restricted by {restricted}."
    assert result.exit_code == 0
    return lines


def test_a_message_is_explained_by_every_rule_and_without_a_word_that_is_redacted(tmp_path: Path) -> None:
    file = written(tmp_path, MESSAGE, "message.eml")
    lines = explained(tmp_path, "--message", str(file))
    assert lines == [
        "Folder INBOX: readable.",
        "  false    desk.old: hide",
        "  false    desk.strangers: withhold",
        "Verdict: allow, by default.",
        "Redacted: otp, tender.",
        "Told as a signal: iban.",
        "Attachment 1 as it is described, text/plain, 5 octets: download.",
        "Attachment 2 as it is described, application/pdf, 8 octets: metadata.",
    ]


def test_what_is_not_certain_is_told_as_unknown_and_counts_where_a_rule_restricts(tmp_path: Path) -> None:
    forged = MESSAGE.replace("dmarc=pass", "dmarc=fail")
    lines = explained(tmp_path, "--message", "-", "--folder", "Archive", "--received", "2020-01-01", stdin=forged)
    assert lines[:5] == [
        "Folder Archive: hidden.",
        "  No message in it can be read, whatever the rules on messages say of it.",
        "  true     desk.old: hide",
        "  unknown  desk.strangers: withhold",
        "Verdict: hide, because of desk.old.",
    ]
    assert lines[-1] == "Reading it counts as reading mail from outside (outbound.after_untrusted_read)."
    lines = explained(tmp_path, "--message", "-", stdin=forged)
    assert lines[3] == ("Verdict: withhold, because of desk.strangers (unknown, which counts where a rule restricts).")


SUPPOSED = "Supposed: it is Wednesday 12:00 UTC; nothing was sent before; "


def test_a_message_to_be_sent_is_explained_by_every_reason_and_by_what_it_ends_as(tmp_path: Path) -> None:
    keys = written(tmp_path, "{to: [cy@partner.example], text: 'Your code is 482913', has_read: true}", "send.yaml")
    assert explained(tmp_path, "--send", str(keys), "--was-draft", profile="held") == [
        "  deny  desk.outbound.reply_only: Mail may only be sent to those who wrote before, so not to: "
        "cy@partner.example.",
        "  deny  desk.outbound.content.detectors.otp: The message seems to hold a one-time code.",
        "  hold  desk.outbound.after_untrusted_read: Mail from outside was read shortly before: a message to others "
        "than its thread or colleagues must wait.",
        "  hold  narrow.outbound.mode: Every message waits for a person.",
        "Outcome: deny.",
        "  toolset mailbox: it is refused (policy_denied), and nothing is stored",
        "  toolset relay: it is refused (policy_denied), and nothing is stored",
        f"{SUPPOSED}nobody wrote before; mail from outside was just read; it was a draft.",
    ]


def test_the_same_is_told_of_a_message_file_and_of_what_is_supposed_in_options(tmp_path: Path) -> None:
    file = written(tmp_path, "From: ana@corp.example\nTo: cy@partner.example\nSubject: Hi\n\nHello\n", "out.eml")
    assert explained(tmp_path, "--send", str(file), "--wrote", "cy@partner.example") == [
        "Outcome: send, for no rule is against it.",
        "  toolset mailbox: it is sent",
        "  toolset relay: it is sent",
        f"{SUPPOSED}cy@partner.example wrote before; no mail from outside was read; it was no draft.",
    ]
    assert explained(tmp_path, "--send", str(file), "--wrote", "cy@partner.example", profile="held")[1:4] == [
        "Outcome: hold.",
        "  toolset mailbox: it is saved in Drafts, for a person to send",
        "  toolset relay: it is refused (policy_denied), and nothing is stored",
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--profile", "helper"), "give one of --message and --send"),
        (("--profile", "hlper", "--message", "-"), 'there is no profile "hlper"; did you mean "helper"?'),
        (("--profile", "helper", "--mailbox", "wrok", "--message", "-"), 'there is no mailbox "wrok"; did you mean'),
        (("--profile", "helper", "--message", "missing.eml"), "missing.eml: does not exist; create it, or give"),
        (("--profile", "helper", "--send", "-"), "this is no message that can be sent: to: the draft has somebody"),
        (("--profile", "helper", "--send", "bad.yaml"), "bad.yaml:1: too: unknown key; did you mean"),
    ],
)
def test_what_cannot_be_explained_is_told_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "too: [a@x.example]", "bad.yaml")
    config = written(tmp_path, MAILBOX + STRANGERS)
    result = command("policy", "explain", "--config", config, *arguments, stdin="To: a@@x\n\nHello\n")
    assert result.exit_code in (1, 2)
    assert sentence in result.output
