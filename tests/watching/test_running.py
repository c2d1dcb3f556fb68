"""The whole process watches: what it finds lies in its store, by the policy in force, and it ends in good order."""

from __future__ import annotations

import asyncio
import io
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from postroom.app import running
from postroom.base.clock import SystemClock
from postroom.base.logs import Log
from postroom.config import Config
from postroom.store.database import FILE_NAME
from tests.servers.dovecot import Dovecot
from tests.servers.mail import plain
from tests.servers.patience import until
from tests.watching.standing import DANA, RECEIVED, configuration, endpoint

pytestmark = pytest.mark.anyio


def rows(folder: Path, query: str) -> list[Any]:
    connection = sqlite3.connect(folder / FILE_NAME)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def placed(config: Config, folder: Path) -> Config:
    server = config.server.model_copy(update={"listen": replace(config.server.listen, port=0)})
    return config.model_copy(update={"state_dir": folder, "server": server})


async def test_a_gateway_watches_from_its_start_to_its_end_and_by_the_policies_in_force(
    dovecot: Dovecot, tmp_path: Path
) -> None:
    user, log, folder = f"running-{tmp_path.name}", io.StringIO(), tmp_path / "state"
    hooks = [endpoint("desk", RECEIVED), endpoint("bound", RECEIVED, profile="desk")]
    config = placed(configuration(dovecot.port, user, hooks), folder)
    narrowed = placed(configuration(dovecot.port, user, hooks, rules=DANA), folder)
    told = "SELECT endpoint, uid FROM deliveries ORDER BY endpoint, uid"
    await asyncio.to_thread(dovecot.deliver, user, [plain("Old")])
    async with running(config, log=Log(SystemClock(), log), read_again=lambda: narrowed) as gateway:
        await until(lambda: rows(folder, "SELECT uid FROM marks") == [(1,)])
        await asyncio.to_thread(dovecot.deliver, user, [plain("New")])
        await until(lambda: rows(folder, told) == [("bound", 2), ("desk", 2)])
        await gateway.reload()
        await asyncio.to_thread(dovecot.deliver, user, [plain("New")])
        await until(lambda: rows(folder, told) == [("bound", 2), ("desk", 2), ("desk", 3)])
        await until(lambda: rows(folder, "SELECT uid FROM marks") == [(3,)])
    assert rows(folder, "SELECT until FROM leases") == [("",)]
    assert "failed" not in log.getvalue()
