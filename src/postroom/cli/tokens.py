"""`postroom token`: issue, list and revoke tokens."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import click

from postroom.base.caller import Scope, Toolset
from postroom.base.clock import SystemClock
from postroom.base.token import mint, token_hash
from postroom.cli.state import changing_store, config_option, fail, insecure_option, loaded, with_store
from postroom.config import Config
from postroom.config.faults import nearest
from postroom.config.values import checked_name
from postroom.store import tokens
from postroom.store.tokens import TokenRecord

_HEADINGS = ("NAME", "ID", "STATE", "SCOPES", "MAILBOXES", "BOUND TO", "EXPIRES", "LAST USED")


@click.group()
def token() -> None:
    """Issue, list and revoke tokens."""


def _name(_context: click.Context, _parameter: click.Parameter, text: str) -> str:
    try:
        return checked_name(text)
    except ValueError as failure:
        raise click.BadParameter(str(failure)) from None


def _optional_name(context: click.Context, parameter: click.Parameter, text: str | None) -> str | None:
    return None if text is None else _name(context, parameter, text)


def _check_bound(
    config: Config, profile: str | None, user: str | None, scopes: frozenset[Scope], relay: frozenset[str] | None
) -> None:
    """Ends with a sentence for a token that could not be what was asked for; `relay` are the mailboxes of a relay's."""
    if (profile is None) != (user is None):
        fail("a bound token needs both --profile and --user")
    if profile is not None and profile not in config.profiles:
        choice = nearest(profile, config.profiles) or f"there are: {', '.join(config.profiles) or 'none'}"
        fail(f'there is no profile "{profile}"; {choice}')
    if profile is not None and Scope.ADMIN in scopes:
        fail("a bound token may not hold admin; issue another token for that")
    if relay is not None and (profile is None or scopes or len(relay) != 1):
        fail("a relay token needs --profile, --user and one mailbox, and takes no scopes: its policy decides")


def _scopes(_context: click.Context, _parameter: click.Parameter, text: str) -> frozenset[Scope]:
    return frozenset(Scope(scope) for scope in _chosen(text, list(Scope), "scope"))


def _expiry(_context: click.Context, _parameter: click.Parameter, text: str) -> datetime | None:
    """A number of days, an ISO 8601 date or time (UTC unless it has a zone), or None for `never`."""
    if text == "never":
        return None
    now = SystemClock().now()
    days = re.fullmatch(r"([1-9][0-9]{0,4})d", text, re.ASCII)
    try:
        moment = now + timedelta(days=int(days[1])) if days else datetime.fromisoformat(text)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise click.BadParameter("must be a number of days such as 90d, an ISO date, or never") from None
    if moment <= now:
        raise click.BadParameter("is in the past")
    return moment


@token.command("create")
@click.argument("name", callback=_name)
@click.option(
    "--scopes", default="", callback=_scopes, help=f"Comma-separated, of {', '.join(Scope)}; none if omitted."
)
@click.option("--mailboxes", default="", help="Comma-separated names of mailboxes; none if omitted.")
@click.option("--profile", help="Bind it to this profile of the configuration; needs --user.")
@click.option("--user", callback=_optional_name, help="Whose it is: ids and cursors are good for USER/PROFILE.")
@click.option("--relay", is_flag=True, help="The relay toolset: one mailbox, no scopes; its policy decides.")
@click.option("--expires", default="90d", show_default=True, callback=_expiry, help="Days, an ISO date, or never.")
@click.option("--print", "to_pipe", is_flag=True, help="Write the token to stdout although it is no terminal.")
@config_option
@insecure_option
def create_token(  # noqa: PLR0913 - each option of the command is an argument
    name: str,
    scopes: frozenset[Scope],
    mailboxes: str,
    profile: str | None,
    user: str | None,
    relay: bool,
    expires: datetime | None,
    to_pipe: bool,
    config_path: Path | None,
    insecure_permissions: bool,
) -> None:
    """Issue a token and show it, this once."""
    if not (to_pipe or sys.stdout.isatty()):
        fail("stdout is no terminal, so the token would land in a file or a log; add --print if that is meant")
    config = loaded(config_path, insecure_permissions, check_references=False)
    if any(configured.name == name for configured in config.tokens):
        fail(f"the configuration file has a token named {name} already; take another name")
    known = [mailbox.name for mailbox in config.mailboxes]
    chosen = frozenset(_chosen(mailboxes, known, "mailbox"))
    _check_bound(config, profile, user, scopes, chosen if relay else None)
    issued, now = mint(), SystemClock().now()
    record = TokenRecord(
        id=issued.id,
        name=name,
        hash=token_hash(issued.text.reveal()),
        scopes=scopes,
        mailboxes=chosen,
        created=now,
        expires=expires,
        toolset=Toolset.RELAY if relay else Toolset.MAILBOX,
        user=user,
        profile=profile,
    )
    changing_store(config, partial(tokens.create, record=record))
    click.echo(f"Token {name} (id {issued.id}) expires: {_day(expires)}. It is shown this once:", err=True)
    click.echo(issued.text.reveal())
    for option in _left_out(record):
        click.echo(f"It has no {option}. If that is not meant, revoke it and give --{option} to a new one.", err=True)


@token.command("list", short_help="Show issued tokens, also those that ended.")
@config_option
@insecure_option
def list_tokens(config_path: Path | None, insecure_permissions: bool) -> None:
    """Show issued tokens, also those that ended; tokens of the configuration file are not among them."""
    config = loaded(config_path, insecure_permissions, check_references=False)
    records = with_store(config, tokens.listing)
    now = SystemClock().now()
    rows = [_HEADINGS, *(_row(record, now) for record in records)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(map(str.ljust, row, widths)).rstrip())


@token.command("revoke")
@click.argument("name_or_id")
@config_option
@insecure_option
def revoke_token(name_or_id: str, config_path: Path | None, insecure_permissions: bool) -> None:
    """End a token, by its name or id."""
    config = loaded(config_path, insecure_permissions, check_references=False)
    at = SystemClock().now()
    revoked = changing_store(config, partial(tokens.revoke, name_or_id=name_or_id, at=at))
    for record in revoked:
        click.echo(f"Token {record.name} (id {record.id}) is revoked.")
    if not revoked:
        known = [record.name for record in with_store(config, tokens.listing) if record.live(at)]
        fail(_not_revocable(name_or_id, known, config))


def _chosen(text: str, known: Iterable[str], noun: str) -> list[str]:
    """The words of a comma-separated list, each of which must be known."""
    known = list(known)
    words = [word.strip() for word in text.split(",") if word.strip()]
    for word in words:
        if word not in known:
            choice = nearest(word, known) or f"there are: {', '.join(known) or 'none'}"
            raise click.BadParameter(f'there is no {noun} "{word}"; {choice}')
    return words


def _left_out(record: TokenRecord) -> list[str]:
    """The options without which a token can do next to nothing, of those that were not given."""
    given = {"scopes": record.scopes or record.toolset is Toolset.RELAY, "mailboxes": record.mailboxes}
    return [option for option, values in given.items() if not values]


def _row(record: TokenRecord, now: datetime) -> tuple[str, ...]:
    ended = "revoked" if record.revoked is not None else "expired"
    return (
        record.name,
        record.id,
        "live" if record.live(now) else ended,
        ",".join(sorted(record.scopes)) or "-",
        ",".join(sorted(record.mailboxes)) or "-",
        _bound_to(record),
        _day(record.expires),
        "never" if record.last_used is None else record.last_used.isoformat(),
    )


def _bound_to(record: TokenRecord) -> str:
    if record.profile is None:
        return "-"
    relayed = " (relay)" if record.toolset is Toolset.RELAY else ""
    return f"{record.user}/{record.profile}{relayed}"


def _day(moment: datetime | None) -> str:
    return "never" if moment is None else moment.date().isoformat()


def _not_revocable(name_or_id: str, known: Iterable[str], config: Config) -> str:
    if any(configured.name == name_or_id for configured in config.tokens):
        return f"{name_or_id} is a token of the configuration file; remove it there"
    guess = nearest(name_or_id, known) or "see: postroom token list"
    return f'there is no token named "{name_or_id}" that could be revoked; {guess}'
