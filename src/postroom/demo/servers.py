"""An IMAP server with the sample mail and an SMTP server that delivers to it, in this process, on loopback."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime

from aiosmtpd.smtp import SMTP, Envelope, Session
from proxyprotocol.reader import ProxyProtocolReader
from pymap.backend.dict import Config, Login
from pymap.backend.dict.filter import FilterSet
from pymap.backend.dict.mailbox import MailboxData, MailboxSet
from pymap.concurrent import Subsystem
from pymap.imap import IMAPServer
from pymap.parsing.message import AppendMessage
from pymap.parsing.specials.flag import Flag
from pymap.user import UserMetadata
from pysasl.hashing import Cleartext

from postroom.base.clock import Clock
from postroom.base.secret import Secret
from postroom.demo.samples import Sample

HOST = "127.0.0.1"
_NAME = "demo.postroom.example"
_LARGEST_MESSAGE = 40_000_000
_FOLDERS = ("Sent", "Drafts", "Archive", "Trash")  # pymap knows no SPECIAL-USE: names must speak for themselves


@dataclass(frozen=True, slots=True)
class MailServers:
    """Where the two servers listen, on HOST."""

    imap_port: int
    smtp_port: int


@asynccontextmanager
async def mail_servers(
    addresses: Mapping[str, str], password: Secret, mail: Iterable[Sample], clock: Clock
) -> AsyncIterator[MailServers]:
    """Both servers while the context lasts.

    `addresses` maps each mailbox's name to its address, which is also its login; all share `password`. Mail to one
    of these addresses that is handed to the SMTP server arrives in its INBOX; all other mail is taken and dropped.
    """
    store = _Store(addresses, password)
    await store.fill(mail)
    imap = await asyncio.start_server(store.connected, HOST, 0)
    smtp = await asyncio.get_running_loop().create_server(lambda: _smtp(_Delivery(store, clock)), HOST, 0)
    try:
        yield MailServers(_port(imap), _port(smtp))
    finally:
        smtp.close()
        imap.close()


def _port(server: asyncio.Server) -> int:
    return int(server.sockets[0].getsockname()[1])


class _QuietConfig(Config):
    """pymap's settings without its question to DNS, at every greeting, for the name of this machine."""

    @property
    def greeting(self) -> bytes:
        return b"Postroom demo, sample mail only"


class _Store:
    """The accounts of the IMAP server, filled without going over the wire."""

    def __init__(self, addresses: Mapping[str, str], password: Secret) -> None:
        config = _config()
        login = Login(config)
        self._addresses = addresses
        self._mailboxes = {address: MailboxSet() for address in addresses.values()}
        for address, mailboxes in self._mailboxes.items():
            login.users_dict[address] = UserMetadata(config, address, password=password.reveal())
            config.set_cache[address] = (mailboxes, FilterSet())
        self.connected = ProxyProtocolReader(config.proxy_protocol).get_callback(IMAPServer(login, config))

    def __contains__(self, address: str) -> bool:
        return address in self._mailboxes

    async def fill(self, mail: Iterable[Sample]) -> None:
        """Make the folders and put every sample into its own."""
        for mailboxes in self._mailboxes.values():
            for name in _FOLDERS:
                await mailboxes.add_mailbox(name)
        for sample in mail:
            folder = await _folder(self._mailboxes[self._addresses[sample.mailbox]], sample.folder)
            await folder.append(AppendMessage(sample.message, sample.arrived, _flags(sample)))

    async def deliver(self, address: str, message: bytes, at: datetime) -> None:
        """Put a new message into the INBOX of a known address."""
        inbox = await self._mailboxes[address].get_mailbox("INBOX")
        await inbox.append(AppendMessage(message, at), recent=True)


def _config() -> Config:
    return _QuietConfig(
        Namespace(proxy_protocol=None),
        host=HOST,
        port=0,
        tls_enabled=False,
        demo_data=False,
        demo_user="",
        demo_password="",
        hash_context=Cleartext(),  # a slow hash would cost half a second for each connection of the gateway
        cpu_subsystem=Subsystem.for_asyncio(),
    )


async def _folder(mailboxes: MailboxSet, name: str) -> MailboxData:
    try:
        return await mailboxes.get_mailbox(name)
    except KeyError:
        await mailboxes.add_mailbox(name)
        return await mailboxes.get_mailbox(name)


def _flags(sample: Sample) -> frozenset[Flag]:
    return frozenset(Flag(b"\\" + flag.capitalize().encode("ascii")) for flag in sample.flags)


class _Delivery:
    """What the SMTP server does with a message."""

    def __init__(self, store: _Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd's
        now = self._clock.now()
        content = envelope.content
        body = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content or b""
        for recipient in dict.fromkeys(map(str.lower, envelope.rcpt_tos)):
            if recipient in self._store:
                await self._store.deliver(recipient, _trace(envelope, now) + body, now)
        return "250 2.0.0 taken"


def _trace(envelope: Envelope, now: datetime) -> bytes:
    """The lines a server puts on top at delivery (RFC 5321, 4.4)."""
    sender = envelope.mail_from or ""
    return (
        f"Return-Path: <{sender}>\r\nReceived: from gateway by {_NAME} with ESMTP;\r\n\t{format_datetime(now)}\r\n"
    ).encode()


def _smtp(delivery: _Delivery) -> SMTP:
    return SMTP(
        delivery,
        hostname=_NAME,
        ident="Postroom demo",
        loop=asyncio.get_running_loop(),
        data_size_limit=_LARGEST_MESSAGE,
        enable_SMTPUTF8=True,
    )
