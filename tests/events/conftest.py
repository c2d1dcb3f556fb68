"""A database and a hand-wound clock for whoever delivers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from postroom.base.clock import HandClock
from postroom.store.database import FILE_NAME, Database
from tests.events.posts import Office


@pytest.fixture
async def office(tmp_path: Path, anyio_backend: str) -> AsyncIterator[Office]:
    database = await Database.open(tmp_path / "state" / FILE_NAME)
    yield Office(database, HandClock())
    await database.close()
