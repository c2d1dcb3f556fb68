"""`postroom doctor`: what an operator is told before an agent is let in."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from pwd import struct_passwd

import pytest
from click.testing import CliRunner, Result

from postroom.base.token import token_hash
from postroom.cli import main
from postroom.config import load
from postroom.config.storeurl import StoreUrl
from postroom.doctor import of_clock, of_store, of_user
from tests.servers import stores

SOUND = """\
mailboxes:
  - name: work
    address: ana@corp.example
    imap: {host: imap.corp.example, username: ana, password_file: pw}
    internal_domains: [corp.example]
    trusted_authserv_ids: [mx.corp.example]
policies:
  desk:
    folders: {rules: [{match: INBOX, access: readable}]}
    messages: {rules: [{id: strangers, match: {not: {internal: true}}, action: hide}]}
profiles: {helper: {policy: desk}}
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postroom.cli.doctoring.pwd.getpwuid", lambda _: user("/usr/sbin/nologin"))
    (tmp_path / "pw").write_text("s3cret\n")
    (tmp_path / "pw").chmod(0o600)


def user(program: str, uid: int = 998) -> struct_passwd:
    return struct_passwd(("postroom", "x", uid, uid, "", "/", program))


def examined(folder: Path, text: str = SOUND, *command: str) -> Result:
    file = folder / "postroom.yaml"
    file.write_text(text)
    file.chmod(0o600)
    return CliRunner().invoke(main, [*(command or ("doctor",)), "--config", str(file)])


def test_where_nothing_is_amiss_all_is_well(tmp_path: Path) -> None:
    result = examined(tmp_path)
    assert (result.exit_code, result.output) == (0, "All is well.\n")


OPEN = "outbound: {mode: send, recipients: {allow: [anyone]}, after_untrusted_read: {action: send}}"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "    messages:",
            f"    {OPEN}\n    messages:",
            [
                "Warning: Profile helper may send to anyone without a person; name its recipients in "
                "outbound.recipients.allow.",
                "Warning: Profile helper reads mail from outside and may then send to others without a person, so that "
                "a message can make it send what it read; write outbound.after_untrusted_read.action: hold.",
            ],
        ),
        (
            "    trusted_authserv_ids: [mx.corp.example]\n",
            "",
            [
                "Warning: Mailbox work has no trusted_authserv_ids, so that no sender is proven to its policies.",
                "Warning: Rule desk.strangers asks for internal, and mailbox work cannot tell: it has no "
                "trusted_authserv_ids.",
            ],
        ),
        (
            "    messages:",
            "    content: {raw: true, raw_overrides_content: true}\n    messages:",
            [
                "Excepted: Policy desk gives messages as they came, with all that is redacted in them "
                "(content.raw_overrides_content: true)."
            ],
        ),
        (
            "{not: {internal: true}}",
            "{not: {known_correspondent: {sources: [sent], declassify: true}}}",
            [
                "Excepted: Policy desk lets rule strangers tell of the Sent folder "
                "(known_correspondent.declassify: true)."
            ],
        ),
        (
            "rules: [{match: INBOX, access: readable}]",
            "duplicates: accepted, rules: [{match: 'special:all', access: readable}]",
            [
                "Excepted: Policy desk opens folders that show the mail of others once more "
                "(folders.duplicates: accepted)."
            ],
        ),
        (
            "password_file: pw",
            "password_file: pw, tls: none, allow_insecure: true",
            ["Warning: Mailbox work speaks imap without TLS: mail and password go in the clear."],
        ),
        (
            "password_file: pw",
            "password: s3cret",
            [
                "Warning: Mailbox work has its password in the configuration file; use password_file or another "
                "reference."
            ],
        ),
        (
            "profiles:",
            f"tokens: [{{name: script, token_hash: '{token_hash('a' * 40)}'}}]\nprofiles:",
            [
                "Warning: Tokens of the configuration file never expire (script); those of postroom token create do.",
            ],
        ),
    ],
)
def test_what_is_open_or_excepted_is_told_and_stops_nothing(
    tmp_path: Path, old: str, new: str, told: list[str]
) -> None:
    assert old in SOUND
    result = examined(tmp_path, SOUND.replace(old, new))
    warnings = sum(line.startswith("Warning") for line in told)
    last = f"0 to repair, {warnings} to think about." if warnings else "All is well."
    assert (result.exit_code, result.output.splitlines()) == (0, [*told, last])


def test_a_test_of_policies_that_fails_must_be_repaired(tmp_path: Path) -> None:
    test = "tests: [{name: no inbox, profile: helper, folder: INBOX, expect: {access: hidden}}]\n"
    result = examined(tmp_path, SOUND + test)
    assert (result.exit_code, result.output.splitlines()) == (
        1,
        [
            'To repair: tests[0] "no inbox": hidden was expected, readable came of it.',
            "1 to repair, 0 to think about.",
        ],
    )


def test_files_that_others_may_read_or_change_must_be_repaired(tmp_path: Path) -> None:
    examined(tmp_path, SOUND, "stop")
    (tmp_path / "pw").chmod(0o644)
    (tmp_path / "state" / "audit.head").chmod(0o666)
    (tmp_path / "state" / "postroom.sqlite3").chmod(0o640)
    (tmp_path / "state").chmod(0o755)
    result = examined(tmp_path)
    state = f"{tmp_path}/state"
    assert (result.exit_code, result.output.splitlines()) == (
        1,
        [
            "To repair: Others may read the password or token file of mailbox work; run chmod 600 on it.",
            f"To repair: {state}: is open to others (mode 0755); run: chmod 700 {state}.",
            f"To repair: {state}/postroom.sqlite3: others may read it (mode 0640); "
            f"run: chmod 600 {state}/postroom.sqlite3.",
            f"To repair: {state}/audit.head: others may write to it (mode 0666); run: chmod go-w {state}/audit.head.",
            "4 to repair, 0 to think about.",
        ],
    )


def test_a_store_that_cannot_be_read_is_told_beside_all_else(tmp_path: Path) -> None:
    examined(tmp_path, SOUND, "stop")
    (tmp_path / "state" / "audit.head").write_text("nothing")
    assert examined(tmp_path).output.startswith(f"To repair: {tmp_path}/state/audit.head does not name one record.")
    (tmp_path / "state" / "postroom.sqlite3").write_text("no database at all, whatever it is called")
    assert f"To repair: {tmp_path}/state/postroom.sqlite3 cannot be used: " in examined(tmp_path).output


def test_how_the_password_of_the_store_and_what_is_kept_there_travel_is_told(tmp_path: Path) -> None:
    url = stores.url_of(tmp_path / "state")
    assert examined(tmp_path, SOUND + f"store: {url}\n").output.splitlines() == [
        "Warning: The store's password is in the configuration file; use PGPASSWORD or a passfile (PGPASSFILE).",
        "0 to repair, 1 to think about.",
    ]
    far = [str(one) for one in of_store(StoreUrl.of("postgresql://postroom@db.example/postroom"))]
    assert far == [
        "Warning: The store (postgresql://postroom@db.example/postroom) may be spoken to without TLS; "
        "add ?sslmode=verify-full to its URL."
    ]
    assert not list(of_store(StoreUrl.of("postgresql://postroom@db.example/postroom?sslmode=verify-full")))
    assert not list(of_store(StoreUrl.of("postgresql://postroom@localhost:5433,127.0.0.2/postroom")))


def test_a_trail_that_was_tampered_with_must_be_repaired(tmp_path: Path) -> None:
    examined(tmp_path, SOUND, "stop")
    examined(tmp_path, SOUND, "resume")
    assert examined(tmp_path).output == "All is well.\n"
    with closing(sqlite3.connect(tmp_path / "state" / "postroom.sqlite3")) as connection, connection:
        connection.execute("DELETE FROM audit WHERE seq = 1")
    result = examined(tmp_path)
    assert result.exit_code == 1
    assert result.output.startswith("To repair: The audit trail is not whole, first at record 1: ")
    (tmp_path / "state" / "audit.head").unlink()
    assert "audit.head is missing" in examined(tmp_path).output


def test_issued_tokens_without_an_end_or_a_profile_are_told(tmp_path: Path) -> None:
    bound = ("--user", "ana", "--profile", "helper", "--mailboxes", "work", "--relay")
    examined(tmp_path, SOUND, "token", "create", "ever", "--expires", "never", "--print")
    examined(tmp_path, SOUND, "token", "create", "lost", *bound, "--print")
    result = examined(tmp_path, SOUND.replace("helper:", "desk:"))
    assert (result.exit_code, result.output.splitlines()) == (
        0,
        [
            "Warning: Token ever never expires; issue one that does, and revoke it.",
            "Warning: Token lost is bound to profile helper, which is no more; revoke it.",
            "0 to repair, 2 to think about.",
        ],
    )


def test_a_clock_that_was_never_set_or_set_back_must_be_repaired(tmp_path: Path) -> None:
    examined(tmp_path)
    file = tmp_path / "postroom.yaml"
    written = datetime(2027, 5, 1, 12, 0, tzinfo=UTC)
    os.utime(file, (written.timestamp(), written.timestamp()))
    config = load(file)
    assert list(of_clock(config, file, written)) == []
    (behind,) = of_clock(config, file, written.replace(hour=11))
    assert f"The clock says 2027-05-01 11:00, and {file} was written at 2027-05-01 12:00 (UTC)." in str(behind)
    assert str(next(of_clock(config, file, datetime(1970, 1, 1, tzinfo=UTC)))).startswith(
        "To repair: The clock says 1970-01-01; set it"
    )


@pytest.mark.parametrize(
    ("who", "told"),
    [
        (user("/bin/bash", uid=1000), ["Warning: Postroom runs as postroom, who can log in"]),
        (user("/usr/sbin/nologin"), []),
        (user("/bin/bash", uid=0), ["Warning: Postroom runs as root"]),
    ],
)
def test_a_user_whom_an_agent_may_share_is_told(who: struct_passwd, told: list[str]) -> None:
    assert [str(one)[: len(start)] for one, start in zip(of_user(who), told, strict=True)] == told
