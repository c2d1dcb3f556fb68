"""Which migrations a database lacks, and what they are called in PostgreSQL."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import count

from postroom.store.migrations import MIGRATIONS
from postroom.store.worker import StoreError

_SQLITE_ONLY = re.compile(r"\)\s*(?:STRICT|WITHOUT ROWID)(?:,\s*WITHOUT ROWID)?\s*\Z")
_TYPES = {"INTEGER": "BIGINT", "BLOB": "BYTEA", "TEXT": 'TEXT COLLATE "C"'}
"""Text is ordered by its code points in both: times rest on that."""


def newest() -> int:
    """The version that this Postroom writes."""
    return len(MIGRATIONS)


def missing(version: int, where: str) -> list[str]:
    """The statements that bring a database of that version up to date. Raises StoreError for a newer one.

    `where` names the database to the operator.
    """
    if version > newest():
        raise StoreError(
            f"{where} was written by a newer Postroom: its schema is {version}, this one knows up to "
            f"{newest()}; install that version, or restore a copy from before it"
        )
    return [statement for step in MIGRATIONS[version:] for statement in step]


def in_postgresql(definition: str) -> str:
    """The statement of a migration as PostgreSQL takes it."""
    plain = _SQLITE_ONLY.sub(")", definition.strip())
    return re.sub(r"\b(INTEGER|BLOB|TEXT)\b", lambda found: _TYPES[found[1]], plain)


@lru_cache(maxsize=1024)
def for_postgresql(statement: str) -> str:
    """A statement with numbers for its values, and the two functions that have another name there."""
    numbers = count(1)
    said = re.sub(r"CAST\((\w+) AS BLOB\)", r"convert_to(\1, 'UTF8')", statement)
    said = re.sub(r"json_extract\((\w+), '\$\.(\w+)'\)", r"(CAST(\1 AS JSON) ->> '\2')", said)
    return re.sub(r"\?", lambda _: f"${next(numbers)}", said)
