"""Kept connections: one that says nothing of itself, and one with the token that may do everything."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from tests.servers.gateway import Gateway


@pytest.fixture(scope="module")
def anyone(gateway: Gateway) -> Iterator[httpx2.Client]:
    with gateway.http(None) as client:
        yield client


@pytest.fixture(scope="module")
def client(gateway: Gateway) -> Iterator[httpx2.Client]:
    with gateway.http("all") as client:
        yield client
