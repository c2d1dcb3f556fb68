"""What commands have in common: the configuration, the database, and failures told in a sentence."""

from __future__ import annotations

import asyncio
import errno
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn, TypeVar

import click

from postroom.base.clock import SystemClock
from postroom.base.files import FileFault
from postroom.config import Config, ConfigError, find, load
from postroom.store.audit import tip
from postroom.store.audithead import write_head
from postroom.store.database import Database
from postroom.store.worker import StoreError

T = TypeVar("T")

_BAD_CONFIG = 2
_NO_LISTENING = (errno.EADDRINUSE, errno.EADDRNOTAVAIL, errno.EACCES)

config_option = click.option("--config", "config_path", type=click.Path(path_type=Path), help="The configuration file.")
insecure_option = click.option(
    "--insecure-permissions", is_flag=True, help="Do not look at owner and mode of files (loopback only)."
)


def loaded(path: Path | None, insecure_permissions: bool, *, check_references: bool = True) -> Config:
    """The configuration; for tokens alone, what its credentials refer to need not be within reach."""
    with config_faults_told():
        file = find(path, os.environ)
        return load(file, insecure_permissions=insecure_permissions, check_references=check_references)


@contextmanager
def config_faults_told() -> Iterator[None]:
    """Every fault of a configuration file is told, each in a line, and ends the command."""
    try:
        yield
    except ConfigError as error:
        fail(str(error), _BAD_CONFIG)


def with_store(config: Config, work: Callable[[Database], Awaitable[T]]) -> T:
    """Do something with the database, on a loop of its own."""

    async def opened() -> T:
        database = await Database.of(config)
        try:
            return await work(database)
        finally:
            await database.close()

    with failures_told():
        return asyncio.run(opened())


def changing_store(config: Config, work: Callable[[Database], Awaitable[T]]) -> T:
    """The same for what is written to the audit trail: `audit.head` follows it."""

    async def done(database: Database) -> T:
        result = await work(database)
        write_head(config.state_dir, await tip(database), SystemClock().now())
        return result

    return with_store(config, done)


@contextmanager
def failures_told() -> Iterator[None]:
    """What the operator can repair is told in a sentence; anything else is a defect and keeps its traceback."""
    try:
        yield
    except (FileFault, StoreError) as failure:
        fail(str(failure))
    except OSError as failure:
        if failure.errno not in _NO_LISTENING or failure.filename2 is None:
            raise
        told = f"cannot listen at {failure.filename}: {failure.strerror}"
        fail(f"{told}; end what uses the port, or choose another one as {failure.filename2}")


def fail(message: str, status: int = 1) -> NoReturn:
    click.echo(message, err=True)
    sys.exit(status)
