"""`postroom init`: the first configuration file, from a few questions."""

from __future__ import annotations

import os
import re
import shlex
import sys
from contextlib import suppress
from pathlib import Path

import click

from postroom.base.files import FileFault, new_private_file
from postroom.cli.state import fail
from postroom.config import ConfigError, load
from postroom.config.load import PLACES
from postroom.config.presets import DEFAULT, MAILBOX, PRESETS, PROFILE, USER, Beginning, Preset, Server, beginning

_QUESTIONS = {
    "address": "Address of the mailbox",
    "username": "User name to log in with",
    "imap_host": "IMAP server (HOST or HOST:PORT)",
    "smtp_host": "SMTP server (HOST or HOST:PORT)",
}
_SERVER = re.compile(r"(?P<host>[^:\s]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?", re.ASCII)
_PASSWORD_FILE = f"{MAILBOX}.password"


@click.command("init")
@click.option("--preset", type=click.Choice(list(PRESETS)), default=DEFAULT, show_default=True, help="The policy.")
@click.option("--address", help="The mailbox's own address.")
@click.option("--username", help="The login of both servers, often the address.")
@click.option("--imap-host", help="HOST or HOST:PORT; ports 143, 587 and 25 mean STARTTLS, any other TLS.")
@click.option("--smtp-host", help="HOST or HOST:PORT.")
@click.option("--password-file", help="File that holds the password, seen from the configuration's folder.")
@click.option("--password-env", help="Environment variable that holds the password.")
@click.option("--config", "config_path", type=click.Path(path_type=Path), help="The file to write: postroom.yaml.")
def init(
    preset: str, config_path: Path | None, password_file: str | None, password_env: str | None, **given: str | None
) -> None:
    """Write a first configuration: one mailbox, and the policy of an agent.

    Asks for what no option says. An existing file is never overwritten.
    """
    path = config_path or Path(os.environ.get("POSTROOM_CONFIG") or PLACES[0])
    if os.path.lexists(path):
        fail(f"{path} is there already and stays as it is; give another path with --config")
    if password_file and password_env:
        fail("give --password-file or --password-env, not both")
    said = _asked(given, asks_password=not (password_file or password_env))
    try:
        _write(path, said, PRESETS[preset], password_file, password_env)
    except (FileFault, ConfigError) as failure:
        fail(f"{failure}\nNothing was written.")
    _tell(path, PRESETS[preset])


def _asked(given: dict[str, str | None], *, asks_password: bool) -> dict[str, str]:
    """Every answer, the password among them if it is asked for; ends with what is missing if nobody can be asked."""
    missing = [name for name in _QUESTIONS if not given[name]]
    if (missing or asks_password) and not sys.stdin.isatty():
        options = [*(f"--{name.replace('_', '-')}" for name in missing), *["--password-file"] * asks_password]
        fail(f"stdin is no terminal to ask at; give {', '.join(options)}")
    said = {name: value for name, value in given.items() if value}
    for name in missing:
        said[name] = click.prompt(_QUESTIONS[name], default=said.get("address") if name == "username" else None)
    if asks_password:
        said["password"] = click.prompt("Password (kept in a file of its own)", hide_input=True)
    return said


def _write(
    path: Path, said: dict[str, str], preset: Preset, password_file: str | None, password_env: str | None
) -> None:
    """The file, and the password's if it was typed; neither stays if the configuration is at fault."""
    asked = Beginning(
        said["address"],
        said["username"],
        _server(said["imap_host"], "--imap-host"),
        _server(said["smtp_host"], "--smtp-host"),
        "password_env" if password_env else "password_file",
        password_env or password_file or _PASSWORD_FILE,
    )
    written = []
    try:
        if "password" in said:
            written.append(new_private_file(path.with_name(_PASSWORD_FILE), f"{said['password']}\n".encode()))
        written.append(new_private_file(path, beginning(asked, preset).encode()))
        load(path)
    except (FileFault, ConfigError):
        for one in written:
            with suppress(FileNotFoundError):
                one.unlink()
        raise


def _server(text: str, option: str) -> Server:
    parts = _SERVER.fullmatch(text)
    if parts is None:
        fail(f"{option} must be HOST or HOST:PORT, such as imap.example.org or imap.example.org:143")
    return Server(parts["host"].strip("[]"), int(parts["port"]) if parts["port"] else None)


def _tell(path: Path, preset: Preset) -> None:
    place = "" if path in PLACES else f" --config {shlex.quote(str(path))}"
    scopes = ",".join(preset.scopes)
    click.echo(f"{path} is written. {preset.purpose}")
    click.echo("Look through it, then:")
    click.echo(f"  postroom check{place}")
    click.echo(
        f"  postroom token create helper --profile {PROFILE} --user {USER} --mailboxes {MAILBOX}"
        f" --scopes {scopes}{place}"
    )
    click.echo(f"  postroom serve{place}")
