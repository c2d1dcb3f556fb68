"""The command line, with a real configuration and a real state folder."""

import os
import pty
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import postroom.cli
from postroom.base.token import token_hash, well_formed
from postroom.cli import main

CONFIG = f"""\
mailboxes:
  - name: work
    imap: {{host: imap.example.com, username: ana@example.com, password_env: SURELY_NOT_SET_HERE}}
  - name: home
    smtp: {{host: smtp.example.com}}
tokens:
  - {{name: fixed, token_hash: "sha256:{"0" * 64}"}}
"""

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def _keep_the_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "postroom.yaml"
    path.write_text(CONFIG)
    path.chmod(0o600)
    return path


@pytest.fixture
def run(config: Path) -> Run:
    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(main, arguments, env={"POSTROOM_CONFIG": str(config)})

    return invoke


def test_the_version_and_the_commands_are_told(run: Run) -> None:
    assert run("--version").output.startswith("postroom ")
    help_ = run("--help").output
    assert [word in help_ for word in ("serve", "check", "demo", "token")] == [True] * 4


def test_a_token_is_created_and_written_to_stdout_alone(run: Run, tmp_path: Path) -> None:
    result = run("token", "create", "script", "--scopes", "read, draft", "--mailboxes", "work,home", "--print")
    assert result.exit_code == 0
    assert well_formed(result.stdout.removesuffix("\n"))
    (token_id,) = re.findall(r"Token script \(id (\w{10})\) expires: \d{4}-\d\d-\d\d", result.stderr)
    assert token_id in result.stdout
    state = b"".join(file.read_bytes() for file in (tmp_path / "state").iterdir())
    assert token_hash(result.stdout.strip()).encode() in state
    assert result.stdout.strip().encode() not in state


@pytest.mark.parametrize(
    ("options", "missing"),
    [((), ["scopes", "mailboxes"]), (("--scopes", "read"), ["mailboxes"]), (("--mailboxes", "work"), ["scopes"])],
    ids=str,
)
def test_a_token_that_can_do_next_to_nothing_is_told_of(run: Run, options: tuple[str, ...], missing: list[str]) -> None:
    result = run("token", "create", "script", *options, "--print")
    assert well_formed(result.stdout.removesuffix("\n"))
    assert re.findall(r"It has no (\w+)\. .* give --\w+ to a new one", result.stderr) == missing


def test_without_a_terminal_nothing_is_created_unless_told_to_print(run: Run, tmp_path: Path) -> None:
    result = run("token", "create", "script")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "stdout is no terminal" in result.stderr
    assert "--print" in result.stderr
    assert not (tmp_path / "state").exists()


def test_on_a_terminal_the_token_is_shown(config: Path) -> None:
    ours, theirs = pty.openpty()
    program = "from postroom.cli import main; main()"
    command = [sys.executable, "-c", program, "token", "create", "script", "--config", str(config)]
    done = subprocess.run(command, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, check=True)
    os.close(theirs)
    assert well_formed(os.read(ours, 1000).decode().strip())
    assert b"It is shown this once" in done.stderr
    os.close(ours)


def test_a_token_lives_ninety_days_unless_said_otherwise(run: Run) -> None:
    today = datetime.now(UTC).date()
    for name, expires, day in (
        ("a", [], str(today + timedelta(days=90))),
        ("b", ["--expires", "7d"], str(today + timedelta(days=7))),
        ("c", ["--expires", "never"], "never"),
        ("d", ["--expires", "2999-01-31"], "2999-01-31"),
        ("e", ["--expires", "2999-01-31T23:30:00-02:00"], "2999-02-01"),
    ):
        result = run("token", "create", name, "--print", *expires)
        assert f"expires: {day}. It" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["bad name"], "may hold letters, digits, _ and - only"),
        (["fixed"], "the configuration file has a token named fixed already"),
        (["x", "--scopes", "raed"], 'there is no scope "raed"; did you mean "read"?'),
        (["x", "--scopes", "zzz"], 'there is no scope "zzz"; there are: read, draft, organize, delete, send, admin'),
        (["x", "--mailboxes", "wrok"], 'there is no mailbox "wrok"; did you mean "work"?'),
        (["x", "--mailboxes", "zzz"], 'there is no mailbox "zzz"; there are: work, home'),
        (["x", "--expires", "soon"], "must be a number of days such as 90d, an ISO date, or never"),
        (["x", "--expires", "0d"], "must be a number of days such as 90d, an ISO date, or never"),
        (["x", "--expires", "99999d", "--mailboxes", "zzz"], "zzz"),
        (["x", "--expires", "2020-01-01"], "is in the past"),
    ],
)
def test_what_cannot_be_issued_is_told_and_nothing_is_kept(
    run: Run, tmp_path: Path, arguments: list[str], told: str
) -> None:
    result = run("token", "create", *arguments, "--print")
    assert result.exit_code in (1, 2)
    assert told in " ".join(result.stderr.split())
    assert result.stdout == ""
    assert not (tmp_path / "state").exists()


def test_a_name_is_issued_once_until_it_is_revoked(run: Run) -> None:
    assert run("token", "create", "script", "--print").exit_code == 0
    again = run("token", "create", "script", "--print")
    assert (again.exit_code, again.stdout) == (1, "")
    assert "there is a token named script already" in again.stderr
    assert run("token", "revoke", "script").exit_code == 0
    assert run("token", "create", "script", "--print").exit_code == 0


def test_tokens_are_listed_with_what_they_may_do(run: Run) -> None:
    assert run("token", "list").output.split() == [
        "NAME",
        "ID",
        "STATE",
        "SCOPES",
        "MAILBOXES",
        "BOUND",
        "TO",
        "EXPIRES",
        "LAST",
        "USED",
    ]
    run(
        "token",
        "create",
        "script",
        "--scopes",
        "read,draft",
        "--mailboxes",
        "work",
        "--expires",
        "2999-01-01",
        "--print",
    )
    run("token", "create", "idle", "--expires", "never", "--print")
    run("token", "revoke", "idle")
    heading, script, idle = run("token", "list").output.splitlines()
    assert re.fullmatch(r"script  \w{10}  live     draft,read  work       -         2999-01-01  never", script)
    assert re.fullmatch(r"idle    \w{10}  revoked  -           -          -         never       never", idle)
    assert heading.index("STATE") == script.index("live")


def test_a_token_is_revoked_by_its_id(run: Run) -> None:
    text = run("token", "create", "script", "--print").stdout
    token_id = text.split("_")[2]
    assert run("token", "revoke", token_id).output == f"Token script (id {token_id}) is revoked.\n"


def test_what_cannot_be_revoked_is_told(run: Run) -> None:
    run("token", "create", "script", "--print")
    for name, told in (
        ("scrpt", 'there is no token named "scrpt" that could be revoked; did you mean "script"?'),
        ("zzz", 'there is no token named "zzz" that could be revoked; see: postroom token list'),
        ("fixed", "fixed is a token of the configuration file; remove it there"),
    ):
        result = run("token", "revoke", name)
        assert (result.exit_code, result.stderr) == (1, told + "\n")


@pytest.mark.parametrize("command", [["serve"], ["token", "list"], ["token", "create", "x", "--print"]])
def test_faults_of_the_configuration_are_told_line_by_line_with_status_two(
    run: Run, config: Path, command: list[str]
) -> None:
    config.write_text(CONFIG.replace("imap:", "imop:") + "stor: sqlite\n")
    result = run(*command)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f'{config}:3: mailboxes[0].imop: unknown key; did you mean "imap"?\n' in result.stderr
    assert f'{config}:8: stor: unknown key; did you mean "store"?\n' in result.stderr


def test_serving_needs_the_credentials_that_tokens_do_not(run: Run) -> None:
    assert run("token", "list").exit_code == 0
    result = run("serve")
    assert result.exit_code == 2
    assert "password_env: this environment variable is not set" in result.stderr


@pytest.mark.parametrize("key", ["listen", "metrics_listen"])
def test_a_port_that_is_taken_is_told_with_its_key(run: Run, config: Path, key: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        server = f"server: {{listen: '127.0.0.1:0', metrics_listen: '127.0.0.1:{port}'}}\n"
        server = server if key == "metrics_listen" else f"server: {{listen: 127.0.0.1:{port}}}\n"
        config.write_text(CONFIG.replace("SURELY_NOT_SET_HERE", "PATH") + server)
        result = run("serve")
    assert result.exit_code == 1
    assert result.stderr == (
        f"cannot listen at 127.0.0.1:{port}: Address already in use; "
        f"end what uses the port, or choose another one as server.{key}\n"
    )


def test_a_missing_configuration_is_told(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["serve", "--config", str(tmp_path / "nix.yaml")])
    assert result.exit_code == 2
    assert f"{tmp_path}/nix.yaml: does not exist" in result.stderr


def test_a_state_folder_open_to_others_is_refused_unless_nobody_asks(run: Run, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state").chmod(0o777)
    result = run("token", "list")
    assert result.exit_code == 1
    assert "is open to others (mode 0777); run: chmod 700" in result.stderr
    assert run("token", "list", "--insecure-permissions").exit_code == 0


def test_everything_the_program_makes_is_private(run: Run) -> None:
    run("token", "list")
    assert os.umask(0o077) == 0o077


def test_issuing_tokens_loads_neither_the_server_nor_the_demo() -> None:
    program = f"import sys; import {postroom.cli.__name__}; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout.split()
    assert {"postroom.store.tokens"} <= set(modules)
    assert not {"postroom.app", "postroom.demo", "starlette", "uvicorn", "aiosmtplib"} & set(modules)
