"""A short form of the long run: mail arrives while gateways, connections, the receiver and the database are killed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from soak.arrivals import Plan, Soak
from tests.servers.dovecot import Dovecot
from tests.servers.postgresql import Postgresql

pytestmark = pytest.mark.anyio
BRIEF = Plan(arrivals=300, users=2, calm=(0.5, 2.0), patience=360.0, receiver_deaths=1)
"""The receiver dies once: after the second failure of a POST there is a rest of minutes."""


async def test_each_message_gives_one_event_that_is_seen_and_in_one_wording(tmp_path: Path, dovecot: Dovecot) -> None:
    report = await Soak(BRIEF, tmp_path, dovecot).run()
    assert report.good, report
    assert report.deaths


async def test_the_same_holds_with_several_gateways_on_a_database_that_dies_too(
    tmp_path: Path, dovecot: Dovecot, postgresql: Postgresql
) -> None:
    report = await Soak(replace(BRIEF, gateways=3, prefix="shared"), tmp_path, dovecot, postgresql).run()
    assert report.good, report
    assert report.deaths
