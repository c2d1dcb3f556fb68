"""Everything that lies in a SQLite file, copied into a PostgreSQL database that is empty, whole or not at all."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

from postroom.store.connection import Connection, StatementError
from postroom.store.database import Database
from postroom.store.sqlite import SqliteSession, open_file
from postroom.store.worker import StoreError

_PAGE = 500
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"


async def copy(source: Path, target: Database, *, insecure_permissions: bool = False) -> dict[str, int]:
    """Rows by table. No gateway may work with either meanwhile.

    Raises StoreError, also for a target with anything in it, and FileFault for a source that is open to others.
    """
    writing, reading, glancing = await asyncio.to_thread(open_file, source, checked=not insecure_permissions)
    with closing(writing), closing(reading), closing(glancing):
        try:
            return await target.write(lambda connection: _copy(reading, connection))
        except StatementError as failure:
            raise StoreError(f"the new store does not take what is in the old one: {failure}") from failure


def _copy(source: SqliteSession, target: Connection) -> dict[str, int]:
    tables = [name for (name,) in source.execute(_TABLES)]
    for table in tables:
        if target.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone():  # noqa: S608 - names of ours
            raise StoreError(f"the new store is not empty, there are {table} in it; give it a fresh database")
    return {table: _copy_table(source, target, table) for table in tables}


def _copy_table(source: SqliteSession, target: Connection, table: str) -> int:
    columns = [f'"{row[1]}"' for row in source.execute(f"PRAGMA table_info({table})")]
    names, places = ", ".join(columns), ", ".join("?" for _ in columns)
    insert = f"INSERT INTO {table} ({names}) VALUES ({places})"  # noqa: S608 - names of ours
    count = 0
    for rows in source.pages(f"SELECT {names} FROM {table}", _PAGE):  # noqa: S608 - names of ours
        target.executemany(insert, rows)
        count += len(rows)
    return count
