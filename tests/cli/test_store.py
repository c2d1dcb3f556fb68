"""`postroom store migrate`: a schema brought up to date, and a SQLite file that is in PostgreSQL afterwards, or not."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from postroom.cli import main
from postroom.store import sends, spending, switch, tokens
from postroom.store.database import FILE_NAME, Database
from postroom.store.lock import one_gateway
from postroom.store.own import Own, OwnMessage
from postroom.store.sends import Claim
from postroom.store.switch import Stopped
from tests.servers import stores

NOW = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)
SECRET = "pg-correct-horse"


def run(folder: Path, store: str, *words: str) -> Result:
    file = folder / "postroom.yaml"
    file.write_text(f"store: {store}\n")
    file.chmod(0o600)
    done = CliRunner().invoke(main, words, env={"POSTROOM_CONFIG": str(file)})
    assert SECRET not in done.output
    return done


def url(folder: Path) -> str:
    return stores.url_of(folder / "state")


async def filled(folder: Path) -> None:
    database = await Database.open(folder / "state" / FILE_NAME)
    claim = Claim("r_1", "agent", "key", False, "print", "work", "<a@example.org>")
    await sends.claim(database, claim, 5, NOW)
    await sends.accepted_soon(database, "r_1", {"outcome": "accepted", "to": ["é"]})
    await spending.spend(database, "agent", "moves", 3, 10, NOW)
    own = Own(database, "ana/desk", "work")
    await own.note_sent(OwnMessage("<1@a>", NOW, ("bo@example.com",), 1, 100, held=True))
    await own.note_draft("<2@a>", "0" * 64, NOW)
    await own.note_trashed(7, range(1, 1_201), NOW)
    await switch.turn(database, Stopped.SENDS, NOW)
    await database.close()


def rows(folder: Path, kind: str) -> dict[str, list[object]]:
    names = "tokens, sealing_keys, audit, audit_key, sends, spending, stop_switch, own_messages, own_drafts, own_trash"
    state = folder / "state"
    return {name: sorted(map(str, stores.sql(state, f"SELECT * FROM {name}", kind=kind))) for name in names.split(", ")}  # noqa: S608 - names of ours


def test_a_gateway_that_joins_a_store_is_told_why_it_has_no_head_of_the_audit_yet(tmp_path: Path) -> None:
    first, second, shared = tmp_path / "first", tmp_path / "second", url(tmp_path)
    first.mkdir(), second.mkdir()
    assert run(first, shared, "stop").exit_code == 0
    hint = "; if no gateway was started with this state_dir yet, start it"
    for words in (("audit", "verify"), ("doctor",)):
        joining = run(second, shared, *words)
        assert (joining.exit_code, hint in joining.output) == (1, True)
    run(tmp_path, "sqlite", "stop")
    (tmp_path / "state" / "audit.head").unlink()
    assert "audit.head is missing" in (alone := run(tmp_path, "sqlite", "audit", "verify").output)
    assert hint not in alone


@pytest.mark.parametrize("kind", stores.KINDS)
def test_a_store_is_brought_up_to_date_without_a_gateway(tmp_path: Path, kind: str) -> None:
    setting = "sqlite" if kind == "sqlite" else url(tmp_path)
    for _ in range(2):
        told = run(tmp_path, setting, "store", "migrate")
        assert (told.exit_code, told.output.endswith(") is up to date.\n")) == (0, True)


def test_everything_of_a_sqlite_file_is_in_postgresql_afterwards_and_the_trail_is_whole(tmp_path: Path) -> None:
    for words in (("token", "create", "script", "--scopes", "read", "--print"), ("keys", "rotate")):
        assert run(tmp_path, "sqlite", *words).exit_code == 0
    asyncio.run(filled(tmp_path))
    assert run(tmp_path, "sqlite", "stop", "--changes").exit_code == 0  # `audit.head` follows
    before = rows(tmp_path, "sqlite")
    told = run(tmp_path, url(tmp_path), "store", "migrate", "--from", "sqlite")
    assert told.exit_code == 0, told.output
    assert "own_trash: 1,200\n" in told.output
    assert "tokens: 1\n" in told.output
    assert rows(tmp_path, "postgresql") == before
    verdict = run(tmp_path, url(tmp_path), "audit", "verify")
    assert verdict.output.startswith(f"The trail is whole: {len(before['audit'])} records"), verdict.output
    assert "script" in run(tmp_path, url(tmp_path), "token", "list").output
    assert run(tmp_path, url(tmp_path), "resume").output == "What was stopped (changes) goes on.\n"

    async def found() -> bool:
        database = await stores.opened(tmp_path / "state", "postgresql")
        record = (await tokens.listing(database))[0]
        known = await sends.of_request(database, "r_1")
        await database.close()
        return record.name == "script" and known is not None and known.answer["to"] == ["é"]

    assert asyncio.run(found())


def test_a_store_with_anything_in_it_is_not_copied_into_and_nothing_of_it_is_lost(tmp_path: Path) -> None:
    asyncio.run(filled(tmp_path))
    assert run(tmp_path, url(tmp_path), "stop").exit_code == 0
    before = rows(tmp_path, "postgresql")
    told = run(tmp_path, url(tmp_path), "store", "migrate", "--from", "sqlite")
    assert (told.exit_code, told.output) == (
        1,
        "the new store is not empty, there are audit in it; give it a fresh database\n",
    )
    assert rows(tmp_path, "postgresql") == before


def test_a_copy_that_fails_in_the_middle_leaves_nothing_behind(tmp_path: Path) -> None:
    asyncio.run(filled(tmp_path))
    assert run(tmp_path, url(tmp_path), "store", "migrate").exit_code == 0
    stores.sql(tmp_path / "state", "ALTER TABLE stop_switch ADD CHECK (what <> 'sends')", kind="postgresql")
    assert run(tmp_path, url(tmp_path), "store", "migrate", "--from", "sqlite").exit_code == 1
    assert not any(rows(tmp_path, "postgresql").values())


def test_nothing_is_copied_while_a_gateway_runs(tmp_path: Path) -> None:
    asyncio.run(filled(tmp_path))
    run(tmp_path, url(tmp_path), "store", "migrate")
    with one_gateway(tmp_path / "state", "g_1"):
        told = run(tmp_path, url(tmp_path), "store", "migrate", "--from", "sqlite")
    assert (told.exit_code, "in use by another gateway" in told.output) == (1, True)
    assert not any(rows(tmp_path, "postgresql").values())


@pytest.mark.parametrize(
    ("sqlite", "told"),
    [(True, "the configuration says store: sqlite; write the URL"), (False, "there is no ")],
)
def test_what_cannot_be_copied_is_told(tmp_path: Path, sqlite: bool, told: str) -> None:
    done = run(tmp_path, "sqlite" if sqlite else url(tmp_path), "store", "migrate", "--from", "sqlite")
    assert (done.exit_code, done.output.startswith(told)) == (1, True)


def test_a_database_that_is_not_there_is_told_and_what_to_do(tmp_path: Path) -> None:
    for words in (("store", "migrate"), ("stop",), ("token", "list"), ("audit", "verify"), ("doctor",)):
        done = run(tmp_path, f"postgresql://u:{SECRET}@127.0.0.1:1/d", *words)
        assert done.exit_code == 1
        assert "postgresql://u@127.0.0.1:1/d cannot be reached: " in done.output
