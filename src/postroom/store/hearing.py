"""Hearing what other gateways announce: a connection that listens, comes back after it was lost, and says so."""

from __future__ import annotations

import json
import secrets

import asyncpg

from postroom.base.clock import Clock
from postroom.config.storeurl import StoreUrl
from postroom.store.announcing import Board
from postroom.store.connection import Announcement
from postroom.store.postgresql import CHANNEL, LOSSES, connect
from postroom.store.worker import StoreError

_LONGEST = 7_900
"""Octets of what PostgreSQL takes for one notification, less than 8,000."""
_LOOKS = 1.0
"""Seconds between looks at whether the connection is still there, and between attempts to have another."""
_LOOKS_BEFORE_ASKING = 15


class Post:
    """Of one database; what was announced by ourselves we have heard without it."""

    def __init__(self, url: StoreUrl, board: Board) -> None:
        self._url = url
        self._board = board
        self._origin = secrets.token_hex(8)

    def letter(self, announced: Announcement) -> str:
        """What the others are sent; of a payload that is too long only that there was one."""
        whole = json.dumps([self._origin, *announced])
        return whole if len(whole) <= _LONGEST else json.dumps([self._origin, announced.topic, None])

    async def keep(self, clock: Clock) -> None:
        """For as long as the process runs."""
        while True:
            try:
                connection = await connect(self._url)
            except StoreError:  # whoever reads or writes is told of it
                await clock.sleep(_LOOKS)
                continue
            try:
                await connection.add_listener(CHANNEL, self._heard)
                self._board.missed()
                await _while_it_lives(connection, clock)
            except LOSSES:
                await clock.sleep(_LOOKS)
            finally:
                connection.terminate()

    def _heard(self, _connection: object, _pid: int, _channel: str, letter: object) -> None:
        try:
            origin, topic, payload = json.loads(str(letter))
        except (ValueError, TypeError, RecursionError):  # anybody who may use the database can send anything
            self._board.missed()
            return
        if origin == self._origin:
            return
        if isinstance(topic, str) and isinstance(payload, str):
            self._board.pin([Announcement(topic, payload)])
        else:
            self._board.missed(topic if isinstance(topic, str) else None)


async def _while_it_lives(connection: asyncpg.Connection, clock: Clock) -> None:
    """Returns or raises when it is gone: a server that vanished says nothing, so it is asked now and then."""
    while True:
        for _ in range(_LOOKS_BEFORE_ASKING):
            await clock.sleep(_LOOKS)
            if connection.is_closed():
                return
        await connection.fetchval("SELECT 1")
