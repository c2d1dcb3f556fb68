"""Each preset makes a sound configuration, and none reads mail from outside and then sends it on without a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from postroom.base.caller import Scope
from postroom.config import Config, load
from postroom.config.policies.hazards import hazards
from postroom.config.presets import MAILBOX, PRESETS, PROFILE, Beginning, Preset, Server, beginning

ASKED = Beginning("ana@corp.example", "ana", Server("imap.corp.example"), Server("::1", 587), "password_file", "pw")


def begun(folder: Path, preset: Preset, asked: Beginning = ASKED) -> Config:
    (folder / "pw").write_text("secret\n")
    file = folder / "postroom.yaml"
    file.write_text(beginning(asked, preset))
    file.chmod(0o600)
    return load(file)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_a_preset_is_sound_and_open_to_nothing_that_a_start_warns_of(tmp_path: Path, preset: Preset) -> None:
    config = begun(tmp_path, preset)
    assert (config.profiles[PROFILE].grant(MAILBOX), list(config.policies)) == ("default", ["default"])
    assert [str(one) for one in hazards(config) if one.mailbox is None] == []
    assert preset.purpose.lower().startswith(("a " + preset.name, preset.name))


def test_who_reads_cannot_send_without_a_person_and_who_sends_cannot_read(tmp_path: Path) -> None:
    can = {}
    for preset in PRESETS.values():
        policy = begun(tmp_path, preset).policies["default"]
        can[preset.name] = (bool(policy.folders.rules), policy.outbound.mode, Scope.SEND in preset.scopes)
    assert can == {
        "reader": (True, "deny", False),
        "triage": (True, "deny", False),
        "drafter": (True, "draft", False),
        "replier": (True, "hold", True),
        "notifier": (False, "send", True),
    }


def test_answers_come_back_as_they_were_given(tmp_path: Path) -> None:
    odd = Beginning(
        "zoë@corp.example", 'CORP\\ana "#1": x', Server("imap.corp.example"), Server("h", 465), "password_file", "./pw"
    )
    (mailbox,) = begun(tmp_path, PRESETS["reader"], odd).mailboxes
    assert mailbox.imap is not None
    assert mailbox.smtp is not None
    assert (mailbox.address, mailbox.imap.username) == ("zoë@corp.example", 'CORP\\ana "#1": x')
    assert (mailbox.imap.port, mailbox.imap.tls, mailbox.smtp.port, mailbox.smtp.tls) == (993, "ssl", 465, "ssl")


def test_a_port_that_begins_in_the_clear_means_starttls(tmp_path: Path) -> None:
    assert [Server("h", port).tls for port in (25, 143, 587, 465, 993, 1993, None)] == ["starttls"] * 3 + ["ssl"] * 4
    (mailbox,) = begun(tmp_path, PRESETS["reader"]).mailboxes
    assert mailbox.smtp is not None
    assert (mailbox.smtp.host, mailbox.smtp.port, mailbox.smtp.tls) == ("::1", 587, "starttls")
