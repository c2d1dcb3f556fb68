"""A database of these tests' own: they kill it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.postgresql import Postgresql, running_postgresql


@pytest.fixture(scope="module")
def postgresql() -> Iterator[Postgresql]:
    with running_postgresql() as server:
        yield server
