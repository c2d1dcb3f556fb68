"""The command line: start the gateway, check the mailboxes, show the demonstration, and issue tokens."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import NoReturn, TypeVar

import click

from postroom.base.caller import Scope
from postroom.base.clock import SystemClock
from postroom.base.files import PRIVATE_UMASK, FileFault
from postroom.base.token import mint, token_hash
from postroom.config import Config, ConfigError, find, load
from postroom.config.faults import nearest
from postroom.config.values import checked_name
from postroom.store import tokens
from postroom.store.database import FILE_NAME, Database
from postroom.store.tokens import TokenRecord
from postroom.store.worker import StoreError
from postroom.version import VERSION

T = TypeVar("T")

_BAD_CONFIG = 2
_NO_LISTENING = (errno.EADDRINUSE, errno.EADDRNOTAVAIL, errno.EACCES)
_HEADINGS = ("NAME", "ID", "STATE", "SCOPES", "MAILBOXES", "EXPIRES", "LAST USED")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, message="postroom %(version)s")
def main() -> None:
    """Postroom, a mail gateway for agents."""
    os.umask(PRIVATE_UMASK)


_config_option = click.option(
    "--config", "config_path", type=click.Path(path_type=Path), help="The configuration file."
)
_insecure_option = click.option(
    "--insecure-permissions", is_flag=True, help="Do not look at owner and mode of files (loopback only)."
)


@main.command("serve")
@_config_option
@_insecure_option
def serve_gateway(config_path: Path | None, insecure_permissions: bool) -> None:
    """Run the gateway until it is told to stop."""
    config = _load(config_path, insecure_permissions)
    from postroom.app import serve  # noqa: PLC0415 - the server's libraries would slow every other command

    with _failures_told():
        serve(config)


@main.command("check")
@click.option("--verbose", is_flag=True, help="Tell also what each server offers.")
@_config_option
@_insecure_option
def check_mailboxes(verbose: bool, config_path: Path | None, insecure_permissions: bool) -> None:
    """Try every mailbox's servers and say what is wrong and what to do."""
    config = _load(config_path, insecure_permissions)
    from postroom.checkup import run  # noqa: PLC0415 - the mail clients would slow every other command

    lines, well = run(config, verbose=verbose)
    for line in lines:
        click.echo(line)
    sys.exit(0 if well else 1)


@main.command("demo")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes a free one.")
@click.option("--json", "as_json", is_flag=True, help="Tell address and tokens as one line of JSON.")
def run_demo(port: int, as_json: bool) -> None:
    """Run the gateway with a mail server and sample mail, for a first look."""
    try:
        from postroom.demo import run  # noqa: PLC0415 - needs libraries that only the extra "demo" installs
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith("postroom"):
            raise
        _fail(f"the demo needs {missing.name}, which is not installed; run: pip install 'postroom[demo]'")
    with _failures_told():
        run(port, as_json)


@main.group()
def token() -> None:
    """Issue, list and revoke tokens."""


def _name(_context: click.Context, _parameter: click.Parameter, text: str) -> str:
    try:
        return checked_name(text)
    except ValueError as failure:
        raise click.BadParameter(str(failure)) from None


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
@click.option("--expires", default="90d", show_default=True, callback=_expiry, help="Days, an ISO date, or never.")
@click.option("--print", "to_pipe", is_flag=True, help="Write the token to stdout although it is no terminal.")
@_config_option
@_insecure_option
def create_token(
    name: str,
    scopes: frozenset[Scope],
    mailboxes: str,
    expires: datetime | None,
    to_pipe: bool,
    config_path: Path | None,
    insecure_permissions: bool,
) -> None:
    """Issue a token and show it, this once."""
    if not (to_pipe or sys.stdout.isatty()):
        _fail("stdout is no terminal, so the token would land in a file or a log; add --print if that is meant")
    config = _load(config_path, insecure_permissions, check_references=False)
    if any(configured.name == name for configured in config.tokens):
        _fail(f"the configuration file has a token named {name} already; take another name")
    known = [mailbox.name for mailbox in config.mailboxes]
    issued, now = mint(), SystemClock().now()
    record = TokenRecord(
        id=issued.id,
        name=name,
        hash=token_hash(issued.text.reveal()),
        scopes=scopes,
        mailboxes=frozenset(_chosen(mailboxes, known, "mailbox")),
        created=now,
        expires=expires,
    )
    _with_store(config, partial(tokens.create, record=record))
    click.echo(f"Token {name} (id {issued.id}) expires: {_day(expires)}. It is shown this once:", err=True)
    click.echo(issued.text.reveal())


@token.command("list")
@_config_option
@_insecure_option
def list_tokens(config_path: Path | None, insecure_permissions: bool) -> None:
    """Show issued tokens, also those that ended; tokens of the configuration file are not among them."""
    config = _load(config_path, insecure_permissions, check_references=False)
    records = _with_store(config, tokens.listing)
    now = SystemClock().now()
    rows = [_HEADINGS, *(_row(record, now) for record in records)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(map(str.ljust, row, widths)).rstrip())


@token.command("revoke")
@click.argument("name_or_id")
@_config_option
@_insecure_option
def revoke_token(name_or_id: str, config_path: Path | None, insecure_permissions: bool) -> None:
    """End a token, by its name or id."""
    config = _load(config_path, insecure_permissions, check_references=False)
    at = SystemClock().now()
    revoked = _with_store(config, partial(tokens.revoke, name_or_id=name_or_id, at=at))
    for record in revoked:
        click.echo(f"Token {record.name} (id {record.id}) is revoked.")
    if not revoked:
        known = [record.name for record in _with_store(config, tokens.listing) if record.live(at)]
        _fail(_not_revocable(name_or_id, known, config))


def _load(path: Path | None, insecure_permissions: bool, *, check_references: bool = True) -> Config:
    """The configuration; for tokens alone, what its credentials refer to need not be within reach."""
    try:
        file = find(path, os.environ)
        return load(file, insecure_permissions=insecure_permissions, check_references=check_references)
    except ConfigError as error:
        _fail(str(error), _BAD_CONFIG)


def _with_store(config: Config, work: Callable[[Database], Awaitable[T]]) -> T:
    """Do something with the database, on a loop of its own."""

    async def opened() -> T:
        path = config.state_dir / FILE_NAME
        database = await Database.open(path, insecure_permissions=config.insecure_permissions)
        try:
            return await work(database)
        finally:
            await database.close()

    with _failures_told():
        return asyncio.run(opened())


@contextmanager
def _failures_told() -> Iterator[None]:
    """What the operator can repair is told in a sentence; anything else is a defect and keeps its traceback."""
    try:
        yield
    except (FileFault, StoreError) as failure:
        _fail(str(failure))
    except OSError as failure:
        if failure.errno not in _NO_LISTENING:
            raise
        _fail(f"cannot listen there: {os.strerror(failure.errno)}; end what uses the port, or choose another one")


def _chosen(text: str, known: Iterable[str], noun: str) -> list[str]:
    """The words of a comma-separated list, each of which must be known."""
    known = list(known)
    words = [word.strip() for word in text.split(",") if word.strip()]
    for word in words:
        if word not in known:
            choice = nearest(word, known) or f"there are: {', '.join(known) or 'none'}"
            raise click.BadParameter(f'there is no {noun} "{word}"; {choice}')
    return words


def _row(record: TokenRecord, now: datetime) -> tuple[str, ...]:
    ended = "revoked" if record.revoked is not None else "expired"
    return (
        record.name,
        record.id,
        "live" if record.live(now) else ended,
        ",".join(sorted(record.scopes)) or "-",
        ",".join(sorted(record.mailboxes)) or "-",
        _day(record.expires),
        "never" if record.last_used is None else record.last_used.isoformat(),
    )


def _day(moment: datetime | None) -> str:
    return "never" if moment is None else moment.date().isoformat()


def _not_revocable(name_or_id: str, known: Iterable[str], config: Config) -> str:
    if any(configured.name == name_or_id for configured in config.tokens):
        return f"{name_or_id} is a token of the configuration file; remove it there"
    guess = nearest(name_or_id, known) or "see: postroom token list"
    return f'there is no token named "{name_or_id}" that could be revoked; {guess}'


def _fail(message: str, status: int = 1) -> NoReturn:
    click.echo(message, err=True)
    sys.exit(status)
