"""From a bearer token to the caller it stands for; anything else is nobody."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import date

from postroom.base.caller import Binding, Caller, Scope, Toolset
from postroom.base.clock import Clock
from postroom.base.errors import Code, GatewayError
from postroom.base.token import token_hash, well_formed
from postroom.config import TokenConfig
from postroom.operations.trail import Counted, Trail
from postroom.store import tokens
from postroom.store.database import Database
from postroom.store.tokens import TokenRecord
from postroom.store.worker import StoreError

_BEARER = re.compile(r"bearer +([\x21-\x7e]{8,512}) *\Z", re.IGNORECASE | re.ASCII)


class Authenticator:
    """Looks tokens up by the SHA-256 of the whole token: the configured ones, then those in the store."""

    def __init__(
        self,
        configured: Iterable[TokenConfig],
        mailboxes: Iterable[str],
        database: Database,
        clock: Clock,
        trail: Trail | None = None,
    ) -> None:
        self._configured = {token.token_hash: token for token in configured}
        self._mailboxes = frozenset(mailboxes)
        self._database = database
        self._clock = clock
        self._trail = trail
        self._used: dict[str, date] = {}

    async def caller(self, authorization: str | None, source: str) -> Caller | None:
        """The caller of an Authorization header, or None. A revoked or expired token is nobody from now on.

        Who is nobody is counted under `source`, the address that the request came from. Raises `unavailable` when
        the store cannot be read: that says nothing about the token.
        """
        caller = await self._found(authorization)
        if caller is None and self._trail is not None:
            self._trail.count(Counted("event", "auth.failure", outcome="refused", source=source))
        return caller

    async def _found(self, authorization: str | None) -> Caller | None:
        match = _BEARER.match(authorization or "")
        if not match:
            return None
        hashed = token_hash(match[1])
        configured = self._configured.get(hashed)
        if configured is not None:
            return self._configured_caller(configured)
        # Issued tokens have our form: what has not is no guess worth a look into the store.
        record = await self._issued(hashed) if well_formed(match[1]) else None
        now = self._clock.now()
        if record is None or not record.live(now):
            return None
        await self._note_use(record, now.date())
        caller = self._caller(record.name, record.scopes, record.mailboxes)
        return replace(caller, toolset=record.toolset, binding=_binding(record.user, record.profile, ()))

    async def _issued(self, hashed: str) -> TokenRecord | None:
        try:
            return await tokens.by_hash(self._database, hashed)
        except StoreError as error:
            message = "The gateway cannot look up tokens now. Try again; the operator must look at its state_dir."
            raise GatewayError(Code.UNAVAILABLE, message) from error

    async def _note_use(self, record: TokenRecord, day: date) -> None:
        """Once a day: a write for each request would tell more than is wanted and cost a commit."""
        if self._used.get(record.id) != day:
            self._used[record.id] = day
            # Only a note: a full disk must not lock out whoever has a good token.
            with contextlib.suppress(StoreError):
                await tokens.touch(self._database, record.id, day)

    def _configured_caller(self, token: TokenConfig) -> Caller:
        named = token.mailboxes if token.mailbox is None else frozenset({token.mailbox})
        caller = self._caller(token.name, token.scopes, named)
        return replace(
            caller, toolset=Toolset(token.toolset), binding=_binding(token.user, token.profile, token.restrict)
        )

    def _caller(self, name: str, scopes: Iterable[Scope], mailboxes: Iterable[str]) -> Caller:
        return Caller(token=name, scopes=frozenset(scopes), mailboxes=frozenset(mailboxes) & self._mailboxes)


def _binding(user: str | None, profile: str | None, restrict: tuple[str, ...]) -> Binding | None:
    return Binding(user, profile, restrict) if user is not None and profile is not None else None
