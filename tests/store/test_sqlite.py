"""SQLite's file: ours alone, durable, and told when it is none or full."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from postroom.base.files import FileFault
from postroom.store.database import Database
from postroom.store.worker import StoreError

pytestmark = pytest.mark.anyio


@pytest.fixture
async def db(tmp_path: Path, anyio_backend: str) -> AsyncIterator[Database]:
    database = await Database.open(tmp_path / "state" / "postroom.sqlite3")
    yield database
    await database.close()


async def test_folder_and_files_are_for_this_user_alone(db: Database, tmp_path: Path) -> None:
    await db.write(lambda c: c.execute("CREATE TABLE notes (n)") and None)
    folder = tmp_path / "state"
    assert folder.stat().st_mode & 0o777 == 0o700
    modes = {file.name: file.stat().st_mode & 0o777 for file in folder.iterdir()}
    assert modes == dict.fromkeys(("postroom.sqlite3", "postroom.sqlite3-wal", "postroom.sqlite3-shm"), 0o600)


async def test_the_file_is_durable(db: Database) -> None:
    assert await db.write(lambda c: c.execute("PRAGMA journal_mode").fetchone()) == ("wal",)
    assert await db.write(lambda c: c.execute("PRAGMA synchronous").fetchone()) == (2,)


async def test_a_full_disk_is_a_store_error_and_room_later_is_enough(db: Database) -> None:
    await db.write(lambda c: c.execute("CREATE TABLE blobs (b BLOB)") and None)
    await db.write(lambda c: c.execute("PRAGMA max_page_count = 20").fetchone())
    with pytest.raises(StoreError, match="full"):
        await db.write(lambda c: c.execute("INSERT INTO blobs VALUES (zeroblob(1000000))") and None)
    await db.write(lambda c: c.execute("PRAGMA max_page_count = 100000").fetchone())
    await db.write(lambda c: c.execute("INSERT INTO blobs VALUES (zeroblob(1000000))") and None)


async def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    path = tmp_path / "state" / "db"
    await (await Database.open(path)).close()
    path.write_bytes(b"something else entirely, " * 100)
    with pytest.raises(StoreError, match="db cannot be used: file is not a database"):
        await Database.open(path)


async def test_a_folder_or_file_that_is_open_to_others_is_refused_unless_told_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "state" / "db"
    await (await Database.open(path)).close()
    for changed, private in ((path, 0o600), (path.parent, 0o700)):
        changed.chmod(0o755)
        with pytest.raises(FileFault, match="run: chmod"):
            await Database.open(path)
        await (await Database.open(path, insecure_permissions=True)).close()
        changed.chmod(private)


async def test_nothing_is_left_beside_the_file_when_it_was_closed(tmp_path: Path) -> None:
    db = await Database.open(tmp_path / "state" / "db")
    await db.write(lambda c: c.execute("CREATE TABLE notes (n)") and None)
    await db.close()
    assert sorted(file.name for file in (tmp_path / "state").iterdir()) == ["db"]
