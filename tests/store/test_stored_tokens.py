"""Issued tokens: kept, found by hash, used, and ended."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from postroom.base.caller import Scope
from postroom.base.token import mint, token_hash
from postroom.store import tokens
from postroom.store.database import Database
from postroom.store.tokens import NameTakenError, TokenRecord

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)


def record(name: str = "script", created: datetime = NOW, life: timedelta | None = timedelta(days=90)) -> TokenRecord:
    token = mint()
    return TokenRecord(
        id=token.id,
        name=name,
        hash=token_hash(token.text.reveal()),
        scopes=frozenset({Scope.READ, Scope.DRAFT}),
        mailboxes=frozenset({"work", "home"}),
        created=created,
        expires=None if life is None else created + life,
    )


async def test_a_token_is_found_by_its_hash_as_it_was_kept(db: Database) -> None:
    script, helper = record(), replace(record("helper", life=None), scopes=frozenset(), mailboxes=frozenset())
    await tokens.create(db, script)
    await tokens.create(db, helper)
    assert await tokens.by_hash(db, script.hash) == script
    assert await tokens.by_hash(db, helper.hash) == helper
    assert await tokens.by_hash(db, token_hash("another")) is None


async def test_tokens_are_listed_oldest_first_whatever_zone_they_were_made_in(db: Database) -> None:
    east = timezone(timedelta(hours=10))
    late, early = record("late"), record("early", created=datetime(2026, 3, 3, 18, 59, tzinfo=east))
    for each in (late, early):
        await tokens.create(db, each)
    assert [each.name for each in await tokens.listing(db)] == ["early", "late"]
    assert await tokens.listing(db) == [early, late]


async def test_a_name_is_free_again_when_its_token_has_ended(db: Database) -> None:
    await tokens.create(db, record())
    with pytest.raises(NameTakenError, match="there is a token named script already; revoke it, or take another name"):
        await tokens.create(db, record(created=NOW + timedelta(days=89)))
    await tokens.create(db, record(created=NOW + timedelta(days=90)))
    await tokens.revoke(db, "script", NOW + timedelta(days=91))
    await tokens.create(db, record(created=NOW + timedelta(days=91)))
    assert len(await tokens.listing(db)) == 3


async def test_a_token_is_live_until_it_expires_or_is_revoked() -> None:
    script = record(life=timedelta(days=1))
    assert script.live(NOW + timedelta(days=1, seconds=-1))
    assert not script.live(NOW + timedelta(days=1))
    assert record(life=None).live(NOW + timedelta(days=10000))
    assert not replace(script, revoked=NOW).live(NOW)


@pytest.mark.parametrize("key", ["name", "id"])
async def test_a_token_is_revoked_by_name_or_id_and_only_once(db: Database, key: str) -> None:
    script, other = record(), record("other")
    await tokens.create(db, script)
    await tokens.create(db, other)
    revoked = replace(script, revoked=NOW)
    assert await tokens.revoke(db, getattr(script, key), NOW) == [revoked]
    assert await tokens.by_hash(db, script.hash) == revoked
    assert await tokens.by_hash(db, other.hash) == other
    assert await tokens.revoke(db, getattr(script, key), NOW) == []
    assert await tokens.revoke(db, "nobody", NOW) == []


async def test_the_last_day_of_use_never_goes_back(db: Database) -> None:
    script = record()
    await tokens.create(db, script)
    for day, noted in ((3, 3), (5, 5), (4, 5)):
        await tokens.touch(db, script.id, date(2026, 3, day))
        found = await tokens.by_hash(db, script.hash)
        assert found is not None
        assert found.last_used == date(2026, 3, noted)
    await tokens.touch(db, "nobody", date(2026, 3, 3))


async def test_a_time_without_zone_is_not_kept(db: Database) -> None:
    with pytest.raises(ValueError, match="needs its zone"):
        await tokens.create(db, record(created=datetime(2026, 3, 3), life=None))
    assert await tokens.listing(db) == []
