"""Files of a message, in ranges: a slow reader holds no connection, and memory does not grow with the file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from postroom.base.errors import Code, GatewayError
from postroom.mail.model import Part, Released
from postroom.mail.parse import leaf_octets
from postroom.mail.sniff import sniff
from postroom.mail.streams import decoder_for
from postroom.mailbox.account import Account
from postroom.mailbox.reading import BEGINNING
from postroom.mailbox.uids import changed, gone

RANGE = 256 * 1024
"""Octets that are fetched at a time."""


@dataclass(frozen=True, slots=True)
class Place:
    """The message that a file is of; `uid` is what the caller called it."""

    uid: str
    folder: str
    number: int
    uid_validity: int


class Download:
    """A file ready to be read once: its beginning has been fetched, so that what is wrong is known before it leaves."""

    def __init__(self, part: Part, first: bytes, rest: AsyncIterator[bytes]) -> None:
        self.part = part
        self._first = first
        self._rest = rest

    @property
    def sniffed(self) -> str:
        """What its first octets say that it is."""
        return sniff(self._first)

    @property
    def first(self) -> bytes:
        """What has been fetched of it."""
        return self._first

    async def whole(self, most: int) -> Download:
        """The same with all of it fetched. Raises `too_large` past so many octets."""
        pieces, size = [], 0
        async for piece in self.octets():
            pieces.append(piece)
            if (size := size + len(piece)) > most:
                message = f"The file has more than {most:,} octets, too many to be looked into."
                raise GatewayError(Code.TOO_LARGE, message, limit=most)
        return Download(self.part, b"".join(pieces), _nothing())

    async def octets(self) -> AsyncIterator[bytes]:
        """The decoded file. Raises a `GatewayError` if it turns out to be another size than was told, or is gone."""
        given = len(self._first)
        self._check(given <= (self.part.size or given))
        yield self._first
        async for piece in self._rest:
            given += len(piece)
            self._check(given <= (self.part.size or given))
            yield piece
        self._check(self.part.size in (None, given))

    def _check(self, fits: bool) -> None:
        if not fits:
            message = "The server gave another size of this file than before. Read the message again."
            raise GatewayError(Code.IMAP_ERROR, message, reason="protocol")


async def open_download(account: Account, place: Place, released: Released, *, by_section: bool) -> Download:
    """A released part as a download. Raises `not_found`, `imap_error`, or `conflict` if it cannot be had alone."""
    part = released.part
    if not by_section:
        return Download(part, await _split_from_message(account, place, part), _nothing())
    pieces = _decoded(account, place, part)
    return Download(part, await anext(pieces, b""), pieces)


async def _nothing() -> AsyncIterator[bytes]:
    return
    yield b""


async def _decoded(account: Account, place: Place, part: Part) -> AsyncIterator[bytes]:
    decoder = decoder_for(part.encoding)
    async for octets in _ranges(account, place, part.section):
        # Half a megabyte of base64 takes a millisecond, damaged encodings some more: elsewhere, so that nobody waits.
        if piece := await asyncio.to_thread(decoder.feed, octets):
            yield piece
    if last := await asyncio.to_thread(decoder.finish):
        yield last


async def _ranges(account: Account, place: Place, section: str) -> AsyncIterator[bytes]:
    offset = 0
    while True:
        octets = await _range(account, place, section, offset, RANGE)
        if octets:
            yield octets
        if len(octets) < RANGE:
            return
        offset += len(octets)


async def _range(account: Account, place: Place, section: str, offset: int, count: int) -> bytes:
    """On a connection that is given back at once."""
    async with account.open(place.folder) as opened:
        if not await opened.has_numbering(place.uid_validity):
            raise changed(place.uid)
        octets = await opened.octets(place.number, section, offset, count)
    if octets is None:
        raise gone(place.uid)
    return octets


async def _split_from_message(account: Account, place: Place, part: Part) -> bytes:
    """A part of a message that we split ourselves, as it was split when it was listed."""
    message = await _range(account, place, "", 0, BEGINNING)
    found = await asyncio.to_thread(leaf_octets, message, part.section, cut=len(message) >= BEGINNING)
    if found is None:
        raise GatewayError(
            Code.CONFLICT,
            "The server cannot say where this file lies in the message; take it out of get_raw_message.",
            argument="attachment_id",
        )
    return found
