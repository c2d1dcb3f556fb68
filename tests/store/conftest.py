"""A database in a fresh folder."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from postroom.store.database import Database


@pytest.fixture
async def db(tmp_path: Path, anyio_backend: str) -> AsyncIterator[Database]:
    database = await Database.open(tmp_path / "state" / "postroom.sqlite3")
    yield database
    await database.close()
