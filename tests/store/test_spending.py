"""What a token may spend in an hour, whichever hour that is, and over restarts."""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.base.clock import HandClock
from postroom.store.database import Database
from postroom.store.migrations import MIGRATIONS
from postroom.store.spending import spend, spend_in
from tests.servers import stores

pytestmark = pytest.mark.anyio

START = HandClock().now()


async def test_the_hour_rolls_and_the_wait_that_is_told_is_enough_and_not_too_long(db: Database) -> None:
    def at(minutes: float) -> datetime:
        return START + timedelta(minutes=minutes)

    assert await spend(db, "a", "moves", 6, 10, at(0)) == 0
    assert await spend(db, "a", "moves", 4, 10, at(30)) == 0
    assert await spend(db, "a", "moves", 1, 10, at(59)) == 60
    assert await spend(db, "a", "moves", 7, 10, at(59)) == 31 * 60
    assert await spend(db, "b", "moves", 10, 10, at(59)) == 0
    assert await spend(db, "a", "sends", 10, 10, at(59)) == 0
    assert await spend(db, "a", "moves", 6, 10, at(60)) == 0
    assert await spend(db, "a", "moves", 1, 10, at(60)) == 30 * 60


async def test_more_than_the_limit_at_once_is_never_granted(db: Database) -> None:
    assert await spend(db, "a", "moves", 11, 10, START) == 3600
    assert await spend(db, "a", "moves", 10, 10, START) == 0


async def test_what_was_spent_before_a_clock_was_set_back_counts_and_locks_nobody_out_for_long(db: Database) -> None:
    assert await spend(db, "a", "moves", 3, 3, START + timedelta(minutes=50)) == 0
    assert await spend(db, "a", "moves", 1, 3, START) == 110 * 60
    assert await spend(db, "b", "moves", 3, 3, START + timedelta(days=300)) == 0
    assert await spend(db, "b", "moves", 3, 3, START) == 0


async def test_a_restart_forgets_nothing(tmp_path: Path, kind: str) -> None:
    for waited in (0, 3600):
        database = await stores.opened(tmp_path / "state", kind)
        assert await spend(database, "a", "moves", 3, 3, START) == waited
        await database.close()


@given(asked=st.lists(st.tuples(st.integers(1, 12), st.integers(0, 3000)), max_size=25))
def test_no_hour_ever_holds_more_than_the_limit(asked: list[tuple[int, int]]) -> None:
    connection = sqlite3.connect(":memory:")
    for statement in (statement for step in MIGRATIONS for statement in step):
        connection.execute(statement)
    now, granted = START, list[tuple[datetime, int]]()
    for count, wait in asked:
        now += timedelta(seconds=wait)
        seconds = spend_in(connection, ("a", "moves"), count, 10, now)
        if seconds and count <= 10:
            now += timedelta(seconds=seconds)
            assert spend_in(connection, ("a", "moves"), count, 10, now) == 0
        if count <= 10:
            granted.append((now, count))
    for end, _ in granted:
        assert sum(n for at, n in granted if end - timedelta(hours=1) < at <= end) <= 10
    connection.close()
