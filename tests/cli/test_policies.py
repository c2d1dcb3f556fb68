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
        ("older_than: 90d", "older_than: 30d", ""),
        ("access: readable", "access: writable", "helper in work: folder INBOX: readable became writable\n"),
    ],
)
def test_what_a_change_opens_is_told_and_what_it_closes_is_not(tmp_path: Path, old: str, new: str, told: str) -> None:
    before = written(tmp_path, MAILBOX + POLICIES, "old.yaml")
    after = written(tmp_path, MAILBOX + POLICIES.replace(old, new), "new.yaml")
    result = command("policy", "diff", before, after)
    assert (result.exit_code, result.output) == (1 if told else 0, told)
