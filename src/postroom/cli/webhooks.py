"""`postroom webhook`: make a secret, try a receiver, see how endpoints do, and enable one again."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from postroom.base.clock import SystemClock
from postroom.base.webhooksecret import fresh_secret
from postroom.cli.state import changing_store, config_option, fail, insecure_option, loaded, with_store
from postroom.config import Config
from postroom.config.faults import nearest
from postroom.config.webhooks import WebhookConfig
from postroom.store import endpoints
from postroom.store.database import Database
from postroom.store.endpoints import Standing

_HEADINGS = ("MAILBOX", "NAME", "STATE", "WAITING", "HOST", "SEES")
_mailbox = click.argument("mailbox")
_name = click.argument("name")


@click.group("webhook")
def webhook() -> None:
    """Look after webhooks."""


@webhook.command("secret")
def print_secret() -> None:
    """Print a fresh secret, for the gateway and for one receiver."""
    click.echo(fresh_secret().reveal())


@webhook.command("test")
@_mailbox
@_name
@config_option
@insecure_option
def try_out(mailbox: str, name: str, config_path: Path | None, insecure_permissions: bool) -> None:
    """Post one signed event of the type webhook.test now, by the way that all take, and say what came of it."""
    config = loaded(config_path, insecure_permissions)
    settings = _found(config, mailbox, name)
    from postroom.events.trying import try_endpoint  # noqa: PLC0415 - its libraries would slow every other command

    well, told = asyncio.run(try_endpoint(config, mailbox, settings, SystemClock()))
    for line in told:
        click.echo(line)
    sys.exit(0 if well else 1)


@webhook.command("enable")
@_mailbox
@_name
@config_option
@insecure_option
def enable(mailbox: str, name: str, config_path: Path | None, insecure_permissions: bool) -> None:
    """Tell an endpoint again what happens from now on, after it was disabled."""
    config = loaded(config_path, insecure_permissions, check_references=False)
    _found(config, mailbox, name)
    place, now = (mailbox, name), SystemClock().now()
    before = changing_store(config, lambda database: endpoints.enable(database, place, now))
    if before.disabled is None:
        click.echo("It was not disabled; that it failed is forgotten.")
    else:
        click.echo("It is told of what happens from now on; a delivery of before can be replayed with replay_webhook.")


@webhook.command("list")
@config_option
@insecure_option
def show(config_path: Path | None, insecure_permissions: bool) -> None:
    """List every webhook: whether it works, how many events wait for it, where it leads, and whose eyes it has."""
    config = loaded(config_path, insecure_permissions, check_references=False)
    known = [(mailbox.name, hook) for mailbox in config.mailboxes for hook in mailbox.webhooks]
    if not known:
        click.echo("The configuration has no webhook.")
        return

    async def standings(database: Database) -> list[Standing]:
        return [await endpoints.standing(database, (mailbox, hook.name)) for mailbox, hook in known]

    found = with_store(config, standings)
    rows = [_row(mailbox, hook, standing) for (mailbox, hook), standing in zip(known, found, strict=True)]
    widths = [max(map(len, column)) for column in zip(_HEADINGS, *rows, strict=True)]
    for row in (_HEADINGS, *rows):
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _row(mailbox: str, hook: WebhookConfig, standing: Standing) -> tuple[str, ...]:
    """Of the URL the host alone: a path may be a secret of its receiver."""
    sees = "everything" if hook.unbound else f"{hook.user}/{hook.profile}"
    return mailbox, hook.name, _state(standing), f"{standing.waiting:,}", hook.url.authority, sees


def _state(standing: Standing) -> str:
    if standing.disabled is not None:
        return f"disabled since {standing.disabled:%Y-%m-%d %H:%M}"
    if standing.failing_since is not None:
        return f"failing since {standing.failing_since:%Y-%m-%d %H:%M}"
    return "well"


def _found(config: Config, mailbox: str, name: str) -> WebhookConfig:
    """The webhook of that name; ends with a sentence where there is none."""
    known = {one.name: one for one in config.mailboxes}
    if mailbox not in known:
        fail(f'there is no mailbox "{mailbox}"; {_choice(mailbox, known)}')
    hooks = {one.name: one for one in known[mailbox].webhooks}
    if name not in hooks:
        fail(f'mailbox {mailbox} has no webhook "{name}"; {_choice(name, hooks)}')
    return hooks[name]


def _choice(word: str, known: Iterable[str]) -> str:
    return nearest(word, known) or f"there are: {', '.join(known) or 'none'}"
