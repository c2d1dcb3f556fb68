"""Deliveries as they are looked up, in either database."""

from __future__ import annotations

import pytest

from postroom.store.database import Database
from postroom.store.deliverylist import find

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("identifier", ["evt_\0", "\0", "evt_'; --", ""])
async def test_what_can_be_no_id_is_not_found(db: Database, identifier: str) -> None:
    assert await db.write(lambda connection: find(connection, "work", identifier)) is None
