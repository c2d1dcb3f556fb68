"""One authenticated connection to an IMAP server: greeting, TLS, login, opening a folder, listening."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from postroom.base.cause import Cause
from postroom.base.tls import Endpoint
from postroom.imap import login as logins
from postroom.imap.conversation import Conversation, Deadlines, refusal_of
from postroom.imap.faults import BusyFault, LostFault, RefusedFault, TlsFault, WireFault
from postroom.imap.reply import Reply, Selected, read_selected
from postroom.imap.stream import Stream
from postroom.imap.wire import Status


class Connection(Conversation):
    """Made by `open_connection`. After any fault but `RefusedFault` it is closed: its state cannot be trusted."""

    def __init__(self, stream: Stream, endpoint: Endpoint, deadlines: Deadlines) -> None:
        super().__init__(stream, deadlines)
        self._endpoint = endpoint
        self._preauthenticated = False
        self._idling: asyncio.Timeout | None = None
        self._idled_enough = False
        self.idles = 0
        """How many IDLEs the server has begun."""

    async def idle(self) -> bool:
        """Listen (IDLE, RFC 2177) until `end_idle`; what the server tells goes to `hear`. False if it did not wait.

        Raises as `run`. Whoever calls it ends it within 29 minutes.
        """
        self._idled_enough, self._telling_flags = False, False
        async with self._lock, self._whole_or_closed() as deadline:
            tag = self._next_tag()
            reply = Reply(Status(None, "OK", None, [], ""))
            await self._stream.write(tag + b" IDLE\r\n")
            done = await self._read_until(tag, reply, None, wants_continuation=True)
            if done is None:
                done = await self._listen(tag, reply, deadline)
        if refused := refusal_of(done):
            raise refused
        return self._idled_enough

    def end_idle(self) -> None:
        """Have `idle` return; from now on the server has the time of one command to let it."""
        self._idled_enough = True
        if self._idling is not None:
            self._idling.reschedule(asyncio.get_running_loop().time() + self._deadlines.command)
            self._idling = None
            self._stream.post(b"DONE\r\n")

    async def authenticate(self, identity: logins.Identity) -> None:
        """Log in. Raises `LoginFault` when refused, which nobody may try again with the same secret."""
        if self._preauthenticated:
            return
        sasl = logins.choose(identity, self._capabilities, self._endpoint.host, self._endpoint.port)
        self._announced = False
        try:
            if sasl is None:
                await self.run("LOGIN", identity.username, identity.secret.reveal())
            else:
                await self._sasl(sasl)
        except RefusedFault as error:
            self.close()
            raise logins.refusal(error, identity) from None
        if not self._announced:
            with suppress(RefusedFault):
                await self.run("CAPABILITY")

    async def start_tls(self) -> None:
        if self._preauthenticated or "STARTTLS" not in self._capabilities:
            self.close()
            raise TlsFault("the server offers no STARTTLS; set tls to ssl, or fix the server", Cause.NO_STARTTLS)
        try:
            await self.run("STARTTLS")
        except RefusedFault:
            self.close()
            raise TlsFault("the server refused STARTTLS", Cause.NO_STARTTLS) from None
        async with self._whole_or_closed(self._deadlines.connect):
            await self._stream.start_tls(self._endpoint)
        await self.run("CAPABILITY")

    async def greeted(self) -> None:
        """Read the greeting (RFC 9051 7.1.5) and learn the capabilities."""
        async with self._whole_or_closed(self._deadlines.connect):
            greeting = await self._incoming.read_response(None)
        if not isinstance(greeting, Status) or greeting.kind not in ("OK", "PREAUTH"):
            self.close()
            if isinstance(greeting, Status) and greeting.kind == "BYE":
                raise BusyFault("the server turned the connection away")
            raise WireFault("the server does not greet like an IMAP server; is the port right?")
        self._preauthenticated = greeting.kind == "PREAUTH"
        self._note_status(greeting)
        if not self._announced:
            await self.run("CAPABILITY")

    async def select(self, name: bytes, *, read_only: bool) -> Selected:
        """Open a folder. Raises `RefusedFault` if it cannot be; then none is open."""
        self.selected = None
        self.news += 1
        reply = await self._opened(name, read_only=read_only)
        self.selected = read_selected(Selected(name, read_only, examined=read_only), reply)
        if not reply.of("EXISTS"):
            # Some servers tell it late; a folder that says nothing is not therefore empty.
            with suppress(RefusedFault):
                await self.run("NOOP")
        return self.selected

    async def _opened(self, name: bytes, *, read_only: bool) -> Reply:
        try:
            return await self.run("EXAMINE" if read_only else "SELECT", name)
        except RefusedFault as fault:
            if not (read_only and fault.unknown):
                raise
        # A server without EXAMINE: what is only read with PEEK does not change under SELECT either.
        return await self.run("SELECT", name)

    async def _listen(self, tag: bytes, reply: Reply, deadline: asyncio.Timeout) -> Reply:
        self.idles += 1
        self._idling = deadline
        deadline.reschedule(None)
        if self._idled_enough:
            self.end_idle()
        try:
            done = await self._read_until(tag, reply, None, wants_continuation=False)
        finally:
            self._idling = None
        if done is None:
            raise WireFault("the server asks for more of an IDLE")
        return done

    async def _sasl(self, sasl: logins.Sasl) -> None:
        initial = logins.encoded(sasl)
        async with self._lock, self._whole_or_closed():
            tag = self._next_tag()
            line = b"%s AUTHENTICATE %s" % (tag, sasl.mechanism.encode())
            reply = Reply(Status(None, "OK", None, [], ""))
            if "SASL-IR" in self._capabilities:
                await self._stream.write(line + b" " + initial.encode() + b"\r\n")
            else:
                await self._stream.write(line + b"\r\n")
                if await self._read_until(tag, reply, None, wants_continuation=True) is None:
                    await self._stream.write(initial.encode() + b"\r\n")
            done = await self._finish_sasl(tag, reply)
        if refused := refusal_of(done):
            raise refused

    async def _finish_sasl(self, tag: bytes, reply: Reply) -> Reply:
        """The mechanisms' error challenge (RFC 7628 3.2.3) is answered with an empty line, then comes the NO."""
        if reply.status.tag == tag:
            return reply
        done = await self._read_until(tag, reply, None, wants_continuation=True)
        if done is not None:
            return done
        await self._stream.write(b"\r\n")
        done = await self._read_until(tag, reply, None, wants_continuation=False)
        if done is None:
            raise LostFault("the login did not end")
        return done
