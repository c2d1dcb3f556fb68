"""A mailbox's way out: a few logged-in sessions that are kept for a while, and one attempt for each message."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from postroom.base.clock import Clock
from postroom.base.secret import Secret
from postroom.mail.outgoing.model import Cleared
from postroom.smtp.faults import SmtpFault
from postroom.smtp.outcome import Answer, BeforeMessage, Outcome, Rejected
from postroom.smtp.session import Session
from postroom.smtp.submission import Submission
from postroom.smtp.transaction import begin, finish

SESSIONS = 2
KEPT_SECONDS = 30.0
"""A session that was idle for longer is not used again: servers close them, and some count them."""
REFUSED_REST = 900.0
"""Seconds for which a refused secret is not tried again; another secret is tried at once."""
_CLOSING = 421


class Submitter:
    """Hands over messages of one mailbox, each at most once. Nobody else logs in to send."""

    def __init__(self, submission: Submission, clock: Clock) -> None:
        self._submission = submission
        self._clock = clock
        self._room = asyncio.Semaphore(SESSIONS)
        self._opening = asyncio.Lock()
        self._idle: list[tuple[Session, float]] = []
        self._refused: tuple[Secret, float] | None = None
        self._closed = False

    async def submit(self, cleared: Cleared, *, partial: bool, before_message: BeforeMessage) -> Outcome:
        """One attempt to hand over a message; it is never made again here.

        `partial` lets the message go to some recipients though others are refused. `before_message` is awaited right
        before the first octet of the message is written, with what will be the outcome if the server takes it: until
        then nothing can have been sent. Raises `SmtpFault`
        if the server certainly does not have the message; of anything else that is raised or cancelled after
        `before_message` only the caller's journal knows, and it must count as unknown.
        """
        async with self._place():
            session, answer = await self._begun(cleared)
            try:
                if not answer.is_positive:
                    await session.reset()
                    return Rejected("sender", answer.code, answer.enhanced, answer.is_temporary)
                outcome = await finish(session, cleared, partial=partial, before_message=before_message)
            except BaseException:
                session.close()
                raise
            finally:
                self._keep(session)
            return outcome

    async def probe(self) -> None:
        """Connect, log in and leave, whatever rest is due: a person asked. Raises `SmtpFault`."""
        self._refused = None
        await self._submission.probe()

    def close(self) -> None:
        """Close what is idle; what is in use closes when it is done."""
        self._closed = True
        while self._idle:
            self._idle.pop()[0].close()

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._submission.command_seconds):
                await self._room.acquire()
        except TimeoutError:
            raise SmtpFault("busy", "all connections of this mailbox are in use") from None
        try:
            yield
        finally:
            self._room.release()

    async def _begun(self, cleared: Cleared) -> tuple[Session, Answer]:
        """A session with the server's answer to MAIL. One that died while it was idle is known by it, and replaced:
        before that answer nothing has begun.
        """
        while (session := self._take()) is not None:
            try:
                answer = await self._asked(session, cleared)
            except SmtpFault as fault:
                if fault.reason in ("too_large", "not_offered"):
                    raise
                continue
            if answer.code != _CLOSING:
                return session, answer
            session.close()
        session = await self._open()
        return session, await self._asked(session, cleared)

    async def _asked(self, session: Session, cleared: Cleared) -> Answer:
        try:
            return await begin(session, cleared)
        except BaseException as error:
            if isinstance(error, SmtpFault) and error.reason in ("too_large", "not_offered"):
                self._keep(session)
            else:
                session.close()
            raise

    def _take(self) -> Session | None:
        while self._idle:
            session, since = self._idle.pop()
            if not session.closed and self._clock.monotonic() - since <= KEPT_SECONDS:
                return session
            session.close()
        return None

    def _keep(self, session: Session) -> None:
        if self._closed:
            session.close()
        if not session.closed:
            self._idle.append((session, self._clock.monotonic()))

    async def _open(self) -> Session:
        async with self._opening:
            secret = await self._secret()
            try:
                client = await self._submission.connect(secret)
            except SmtpFault as fault:
                if fault.reason == "login_refused" and secret is not None:
                    self._refused = (secret, self._clock.monotonic() + REFUSED_REST)
                raise
            self._refused = None
            return Session(client, self._submission.command_seconds)

    async def _secret(self) -> Secret | None:
        if self._submission.secret is None:
            return None
        try:
            async with asyncio.timeout(self._submission.connect_seconds):
                secret = await self._submission.secret()
        except TimeoutError:
            raise SmtpFault("credential", "the password or token did not come in time") from None
        if self._refused is not None:
            refused, until = self._refused
            if refused == secret and self._clock.monotonic() < until:
                raise SmtpFault("login_refused", "the server refused the user name or the password before")
        return secret
