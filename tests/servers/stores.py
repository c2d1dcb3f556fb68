"""Where a store under test lies: SQLite in a state folder, or a database of the tests' PostgreSQL for that folder."""

from __future__ import annotations

import contextlib
import secrets
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from postroom.config.storeurl import StoreUrl
from postroom.store.database import FILE_NAME, Database
from postroom.store.schema import for_postgresql
from tests.servers.postgresql import Postgresql, running_postgresql

KINDS = ("sqlite", "postgresql")
_server: list[Postgresql] = []
_ending = contextlib.ExitStack()
_urls: dict[Path, str] = {}
_chosen = "sqlite"


def choose(kind: str) -> None:
    """What gateways of tests that say nothing else keep their books in."""
    global _chosen
    _chosen = kind


def chosen() -> str:
    return _chosen


def only_on(kind: str, why: str) -> pytest.MarkDecorator:
    """For a test that says something of one database alone."""
    return pytest.mark.skipif(_chosen != kind, reason=why)


def postgresql() -> Postgresql:
    """The server, started when somebody first asks, for all tests."""
    if not _server:
        _server.append(_ending.enter_context(running_postgresql()))
    return _server[0]


def end() -> None:
    """When the run is over."""
    _ending.close()
    _server.clear()


def url_of(state: Path) -> str:
    """The URL of the database that belongs to the folder: the same each time, and empty the first time."""
    if state not in _urls:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        _urls[state] = postgresql().new_database()
    return _urls[state]


def setting_of(state: Path) -> str:
    """The line of a configuration file."""
    return "store: sqlite" if _chosen == "sqlite" else f"store: {url_of(state)}"


async def opened(state: Path, kind: str | None = None) -> Database:
    """The store of a state folder, beside whoever else has it open."""
    if (kind or _chosen) == "sqlite":
        return await Database.open(state / FILE_NAME)
    return await Database.connect(StoreUrl.of(url_of(state)))


def sql(state: Path, statement: str, *rows: Sequence[Any], kind: str | None = None) -> list[Any]:
    """One statement, once or for each row of values, past everything that is ours."""
    if (kind or _chosen) == "postgresql":
        return postgresql().sql(for_postgresql(statement), *rows, url=url_of(state))
    with closing(sqlite3.connect(state / FILE_NAME)) as connection, connection:
        if rows:
            connection.executemany(statement, rows)
            return []
        return connection.execute(statement).fetchall()


def share(state: Path, other: Path) -> None:
    """Two folders of state, one database."""
    _urls[other] = url_of(state)


@contextlib.contextmanager
def copied(state: Path, copy: Path, kind: str) -> Iterator[None]:
    """The same store again in another folder, while the block runs and nobody has the first one open."""
    shutil.copytree(state, copy)
    if kind == "sqlite":
        yield
        return
    name = f"copy_{secrets.token_hex(8)}"
    postgresql().sql(f"CREATE DATABASE {name} TEMPLATE {url_of(state).rpartition('/')[2]}")
    _urls[copy] = postgresql().url(name)
    try:
        yield
    finally:
        del _urls[copy]
        postgresql().sql(f"DROP DATABASE {name}")
