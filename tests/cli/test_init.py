"""`postroom init` writes a file that loads, asks for what is missing, and overwrites nothing."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from postroom.cli import main
from postroom.config import load

GIVEN = ("--address", "ana@x.example", "--username", "ana", "--imap-host", "imap.x.example", "--smtp-host", "s.x:587")


@pytest.fixture(autouse=True)
def _keep_the_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def run(folder: Path, *arguments: str) -> Result:
    (folder / "pw").write_text("secret\n")
    return CliRunner().invoke(main, ("init", "--config", str(folder / "mail.yaml"), *arguments))


def test_a_configuration_is_written_for_its_owner_alone_and_the_next_steps_are_told(tmp_path: Path) -> None:
    done = run(tmp_path, *GIVEN, "--password-file", "pw", "--preset", "triage")
    file = tmp_path / "mail.yaml"
    assert (done.exit_code, file.stat().st_mode & 0o777) == (0, 0o600)
    assert load(file).policies["default"].actions.flags == ("seen", "flagged", "answered")
    wanted = "token create helper --profile assistant --user me --mailboxes main --scopes read,organize --config"
    assert wanted in done.stdout
    assert f"postroom check --config {file}" in done.stdout


def test_the_token_that_is_told_of_can_be_created(tmp_path: Path) -> None:
    told = run(tmp_path, *GIVEN, "--password-file", "pw").stdout
    command = next(line.split()[1:] for line in told.splitlines() if " token create " in line)
    assert CliRunner().invoke(main, [*command, "--print"]).exit_code == 0


def test_what_is_there_already_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mail.yaml").symlink_to(tmp_path / "elsewhere")
    done = run(tmp_path, *GIVEN, "--password-file", "pw")
    assert done.exit_code == 1
    assert "is there already and stays as it is" in done.stderr
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((*GIVEN[2:], "--password-file", "pw"), "give --address"),
        (GIVEN, "give --password-file"),
        ((*GIVEN, "--password-file", "pw", "--password-env", "PW"), "not both"),
        ((*GIVEN, "--password-file", "missing"), "there is no such file"),
        ((*GIVEN, "--password-env", "SURELY_NOT_SET_HERE"), "environment variable is not set"),
        ((*GIVEN, "--password-file", "pw", "--imap-host", "https://x.example"), "must be HOST or HOST:PORT"),
        ((*GIVEN, "--password-file", "pw", "--imap-host", "h:99999"), "mailboxes[0].imap.port"),
        ((*GIVEN, "--password-file", "pw", "--address", "ana"), "must be an address"),
        ((*GIVEN, "--password-file", "pw", "--username", "a\nb"), "must be one line"),
    ],
)
def test_what_cannot_become_a_configuration_is_told_and_no_file_stays(
    tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    done = run(tmp_path, *arguments)
    assert done.exit_code == 1
    assert told in done.stderr
    assert [one.name for one in tmp_path.iterdir()] == ["pw"]


def answer(terminal: int, question: str, words: str) -> None:
    """Wait for the question: a password that is typed before it is asked for is thrown away."""
    shown = ""
    while question not in shown:
        assert select.select([terminal], [], [], 30)[0], shown
        shown += os.read(terminal, 1_000).decode()
    os.write(terminal, f"{words}\n".encode())


def test_at_a_terminal_it_asks_and_keeps_the_password_in_a_file_of_its_own(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", "from postroom.cli import main; main()", "init", "--smtp-host", "smtp.x.example"]
    environment = {name: value for name, value in os.environ.items() if name != "POSTROOM_CONFIG"}
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=tmp_path, env=environment, start_new_session=True
    ) as asking:
        try:
            answer(ours, "Address of the mailbox: ", "ana@x.example")
            answer(ours, "User name to log in with [ana@x.example]: ", "")
            answer(ours, "IMAP server (HOST or HOST:PORT): ", "imap.x.example")
            answer(ours, "Password (kept in a file of its own): ", "secret word")
            assert asking.wait(timeout=30) == 0
        finally:
            asking.kill()
    os.close(theirs)
    os.close(ours)
    assert (tmp_path / "main.password").read_text() == "secret word\n"
    assert (tmp_path / "main.password").stat().st_mode & 0o777 == 0o600
    (mailbox,) = load(tmp_path / "postroom.yaml").mailboxes
    assert mailbox.imap is not None
    assert (mailbox.imap.username, mailbox.imap.password_file) == ("ana@x.example", tmp_path / "main.password")
