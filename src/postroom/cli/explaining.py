"""`postroom policy explain`: why a message is shown, or sent, as it is."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from postroom.base.clock import SystemClock
from postroom.base.errors import GatewayError
from postroom.base.files import read_guarded
from postroom.cli.state import config_faults_told, config_option, fail, failures_told, insecure_option, loaded
from postroom.config import Config
from postroom.config.faults import nearest

if TYPE_CHECKING:
    from postroom.policy.effective import Policy

_LARGEST = 100 << 20


def _moment(_context: click.Context, _parameter: click.Parameter, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter("must be an ISO date or time, such as 2026-03-01") from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


@click.command("explain")
@click.option("--profile", required=True, help="Whose policy it is.")
@click.option("--mailbox", help="In which mailbox; may be left out if there is one only.")
@click.option("--message", help="A message that was received, as a file (.eml), or - for stdin.")
@click.option(
    "--folder", default="INBOX", show_default=True, help="Where it lies: a path, or special:sent and the like."
)
@click.option("--received", callback=_moment, help="When it arrived, in ISO 8601; now if left out.")
@click.option("--send", help="A message to be sent: a file (.eml), or its keys as YAML or JSON (.yaml, .json).")
@click.option("--wrote", multiple=True, help="Suppose that this address wrote before; may be given again.")
@click.option("--has-read", is_flag=True, help="Suppose that mail from outside was just read.")
@click.option("--was-draft", is_flag=True, help="Suppose that it was saved as a draft before.")
@config_option
@insecure_option
def explain(  # noqa: PLR0913 - each option of the command is an argument
    profile: str,
    mailbox: str | None,
    message: str | None,
    folder: str,
    received: datetime | None,
    send: str | None,
    wrote: tuple[str, ...],
    has_read: bool,
    was_draft: bool,
    config_path: Path | None,
    insecure_permissions: bool,
) -> None:
    """Tell what each rule makes of a message that is read (--message) or sent (--send), and what comes of it.

    What it says is not printed: where something is redacted, only the detector is named.
    """
    if (message is None) == (send is None):
        fail("give one of --message and --send")
    config = loaded(config_path, insecure_permissions, check_references=False)
    from postroom.explaining import of_message, of_sending, sending_in, with_more  # noqa: PLC0415 - slow

    policy = _policy(config, profile, _mailbox(config, mailbox))
    if send is None:
        now = SystemClock().now()
        _print(of_message(config, policy, _octets(message or ""), folder, received or now, now))
        return
    try:
        with config_faults_told():
            outgoing, supposed = sending_in(_octets(send), send, config.mailbox(policy.mailbox).own_address)
        supposed = with_more(supposed, wrote, has_read=has_read, was_draft=was_draft)
        _print(of_sending(policy, outgoing, supposed))
    except (GatewayError, ValueError) as error:
        fail(f"this is no message that can be sent: {error}")


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)


def _policy(config: Config, profile: str, mailbox: str) -> Policy:
    from postroom.policy.effective import NoGrant, compile_policy  # noqa: PLC0415 - slow

    _check_known("profile", profile, config.profiles)
    try:
        return compile_policy(config, profile, mailbox)
    except NoGrant:
        fail(f"profile {profile} grants nothing in mailbox {mailbox}; give it a policy there")


def _mailbox(config: Config, name: str | None) -> str:
    """The mailbox of that name, or the only one."""
    names = [mailbox.name for mailbox in config.mailboxes]
    if name is None and len(names) != 1:
        fail(f"name the mailbox with --mailbox; there are: {', '.join(names) or 'none'}")
    _check_known("mailbox", name or names[0], names)
    return name or names[0]


def _check_known(noun: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        choice = nearest(name, known) or f"there are: {', '.join(known) or 'none'}"
        fail(f'there is no {noun} "{name}"; {choice}')


def _octets(file: str) -> bytes:
    """Of a file, or of stdin for `-`, with the line ends that mail has (RFC 5322 2.1)."""
    if file == "-":
        return sys.stdin.buffer.read(_LARGEST)
    with failures_told():
        return read_guarded(Path(file), _LARGEST).data
