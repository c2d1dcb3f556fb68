"""Sealing keys: made once, kept over restarts, rotated, and erased in their time."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from postroom.base.seal import Seal, SealError
from postroom.store import keys
from postroom.store.database import Database
from postroom.store.worker import StoreError
from tests.servers import stores

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)


async def test_the_first_key_is_made_once_and_kept_over_restarts(tmp_path: Path, kind: str) -> None:
    db = await stores.opened(tmp_path / "state", kind)
    first = await keys.ring(db, NOW)
    assert (first.current, list(first.keys), len(first.keys[1])) == (1, [1], 32)
    await db.close()
    again = await stores.opened(tmp_path / "state", kind)
    assert await keys.ring(again, NOW + timedelta(days=1000)) == first
    await again.close()


async def test_two_installations_have_different_keys(tmp_path: Path, kind: str) -> None:
    rings = []
    for name in ("one", "two"):
        db = await stores.opened(tmp_path / name, kind)
        rings.append(await keys.ring(db, NOW))
        await db.close()
    assert rings[0].keys[1] != rings[1].keys[1]


async def test_an_old_id_opens_for_thirty_days_after_a_rotation_and_then_no_more(db: Database) -> None:
    text = Seal(await keys.ring(db, NOW)).seal("m", b"x", identity="i", bound=())
    rotated = await keys.rotate(db, NOW)
    assert (rotated.current, sorted(rotated.keys)) == (2, [1, 2])
    assert Seal(rotated).seal("m", b"x", identity="i", bound=()) != text
    last = await keys.ring(db, NOW + timedelta(days=30, seconds=-1))
    assert Seal(last).open("m", text, identity="i", bound=()) == b"x"
    after = await keys.ring(db, NOW + timedelta(days=30))
    assert list(after.keys) == [2]
    with pytest.raises(SealError):
        Seal(after).open("m", text, identity="i", bound=())


async def test_a_second_rotation_does_not_lengthen_the_life_of_the_oldest_key(db: Database) -> None:
    await keys.ring(db, NOW)
    await keys.rotate(db, NOW)
    await keys.rotate(db, NOW + timedelta(days=20))
    assert sorted((await keys.ring(db, NOW + timedelta(days=29))).keys) == [1, 2, 3]
    assert sorted((await keys.ring(db, NOW + timedelta(days=31))).keys) == [2, 3]


async def test_a_rotation_that_keeps_nothing_ends_the_old_key_at_once(db: Database) -> None:
    before = await keys.ring(db, NOW)
    rotated = await keys.rotate(db, NOW, keep_days=0)
    assert len(rotated.keys) == 1
    assert list(rotated.keys.values()) != list(before.keys.values())


async def test_there_is_an_end_to_the_key_ids_and_it_is_told(db: Database) -> None:
    await keys.ring(db, NOW)
    for _ in range(254):
        ring = await keys.rotate(db, NOW)
    with pytest.raises(StoreError, match="255 sealing keys already"):
        await keys.rotate(db, NOW)
    assert await keys.ring(db, NOW) == ring
    assert list((await keys.ring(db, NOW + timedelta(days=30))).keys) == [255]
    assert (await keys.rotate(db, NOW + timedelta(days=30))).current == 1


async def test_a_rotation_that_keeps_nothing_ends_keys_that_were_kept_before(db: Database) -> None:
    text = Seal(await keys.ring(db, NOW)).seal("m", b"x", identity="i", bound=())
    await keys.rotate(db, NOW, 30)
    dropped = await keys.rotate(db, NOW, 0)
    assert dropped.current in dropped.keys
    assert len(dropped.keys) == 1
    with pytest.raises(SealError):
        Seal(dropped).open("m", text, identity="i", bound=())
