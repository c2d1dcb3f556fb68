"""Three gateways watch fifty mailboxes between them; one is killed, another one sleeps and wakes up."""

from __future__ import annotations

from pathlib import Path

import pytest

from soak.arrivals import Plan, Soak
from soak.sharing import Sharing
from tests.servers.dovecot import Dovecot
from tests.servers.postgresql import Postgresql

pytestmark = pytest.mark.anyio
PLAN = Plan(gateways=3, users=50, patience=120.0, prefix="shared-watching")
AGAIN = 20.0
"""Seconds within which what a dead gateway watched is watched by another."""


async def test_each_mailbox_is_watched_once_whoever_dies_or_sleeps(
    tmp_path: Path, dovecot: Dovecot, postgresql: Postgresql
) -> None:
    shares = await Sharing(Soak(PLAN, tmp_path, dovecot, postgresql), postgresql).run()
    assert shares.at_first == [16, 17, 17]
    assert (shares.untold, shares.twice) == (0, 0)
    assert shares.told >= 4 * 50
    assert max(shares.after_a_death, shares.after_a_sleep) < AGAIN
