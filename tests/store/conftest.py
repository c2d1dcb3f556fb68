"""A database of either kind, in a fresh folder."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from postroom.store.database import Database
from tests.servers import stores


@pytest.fixture(params=stores.KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Which database."""
    return str(request.param)


@pytest.fixture
async def db(tmp_path: Path, kind: str, anyio_backend: str) -> AsyncIterator[Database]:
    database = await stores.opened(tmp_path / "state", kind)
    yield database
    await database.close()
