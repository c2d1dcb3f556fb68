"""From an endpoint and an identity to a connection that is ready for commands: connect, TLS, login, introduction."""

from __future__ import annotations

import asyncio

from postroom.base.cause import Cause
from postroom.base.tls import Endpoint, inspecting
from postroom.imap.connection import Connection
from postroom.imap.conversation import Deadlines
from postroom.imap.faults import DeadlineFault, ImapFault, LostFault, RefusedFault, TlsFault
from postroom.imap.login import Identity
from postroom.imap.stream import connect
from postroom.imap.wire import Atom


async def open_connection(endpoint: Endpoint, identity: Identity, deadlines: Deadlines) -> Connection:
    """Connect, agree on TLS, log in, introduce ourselves. Raises an `ImapFault` and leaves nothing open."""
    try:
        async with asyncio.timeout(deadlines.connect + deadlines.command):
            connection = await _logged_in(endpoint, identity, deadlines)
            if await _introduced(connection):
                return connection
            return await _logged_in(endpoint, identity, deadlines)
    except TimeoutError:
        raise DeadlineFault("the server did not let us in in time") from None


async def inspect_certificate(endpoint: Endpoint, tls: str, deadlines: Deadlines) -> bytes:
    """The certificate that the server shows by this TLS mode, as DER; empty if none is seen. No credential is sent."""
    try:
        (await _secured(inspecting(endpoint, tls), deadlines)).close()
    except TlsFault as fault:
        return fault.certificate
    except ImapFault:
        pass
    return b""


async def _logged_in(endpoint: Endpoint, identity: Identity, deadlines: Deadlines) -> Connection:
    connection = await _secured(endpoint, deadlines)
    try:
        await connection.authenticate(identity)
    except BaseException:
        connection.close()
        raise
    return connection


async def _secured(endpoint: Endpoint, deadlines: Deadlines) -> Connection:
    """Connected, greeted, and behind TLS as the endpoint wants it."""
    try:
        async with asyncio.timeout(deadlines.connect):
            stream = await connect(endpoint)
    except TimeoutError:
        raise DeadlineFault("no connection in time", Cause.NO_ANSWER) from None
    connection = Connection(stream, endpoint, deadlines)
    try:
        await _greeted(connection)
        if endpoint.tls == "starttls":
            await connection.start_tls()
    except BaseException:
        connection.close()
        raise
    return connection


async def _greeted(connection: Connection) -> None:
    try:
        await connection.greeted()
    except DeadlineFault as fault:
        raise DeadlineFault("the server did not greet in time", Cause.SILENT) from fault


async def _introduced(connection: Connection) -> bool:
    """ID (RFC 2971): some providers let nobody in who does not say who they are.

    A refusal costs nothing. False if it cost the connection: such a server is met again without it.
    """
    if "ID" in connection.capabilities:
        try:
            await connection.run("ID", Atom('("name" "postroom")'))
        except RefusedFault:
            return True
        except LostFault:
            return False
    return True
