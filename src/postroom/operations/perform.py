"""The one corridor that every call walks: offered, budget, shape, scope, run; only here the unexpected is caught."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Mapping
from functools import partial
from typing import Any

from pydantic import ValidationError

from postroom.base.caller import Caller
from postroom.base.clock import Clock
from postroom.base.errors import Code, GatewayError, internal, invalid, not_found
from postroom.base.logs import Log
from postroom.mailbox.directory import Directory
from postroom.operations.answer import Answer
from postroom.operations.blob import Blob
from postroom.operations.books import Books
from postroom.operations.catalogue import CATALOGUE
from postroom.operations.faults import argument_error
from postroom.operations.operation import Call, Operation, Surface
from postroom.operations.rate import Rate

_MOST_ARGUMENTS = 100
_LONGEST_NAME = 64
_FEW_ENTRIES = 1_000
"""Entries of an answer's lists that are told in passing: a millisecond's work."""


class Corridor:
    """Runs operations of the catalogue for callers, over one directory of mailboxes."""

    def __init__(
        self,
        directory: Directory,
        clock: Clock,
        log: Log,
        requests_per_minute: int,
        inline_max_bytes: int = 1_000_000,
        books: Books | None = None,
    ) -> None:
        self._directory = directory
        self._log = log
        self._rate = Rate(requests_per_minute, clock)
        self._inline_max_bytes = inline_max_bytes
        self._books = books

    def offered(self, caller: Caller) -> list[Operation[Any, Any]]:
        """The operations that this caller may see, in the catalogue's order."""
        return [operation for operation in CATALOGUE.values() if operation.access.offered(caller)]

    def admit(self, name: str, caller: Caller) -> Operation[Any, Any]:
        """The operation of that name. Raises `not_found`, or `permission_denied` without its scope."""
        operation = CATALOGUE.get(name)
        if operation is None:
            raise self._unknown(name, caller)
        if not operation.access.offered(caller):
            raise operation.access.refusal()
        return operation

    async def perform(
        self, name: str, arguments: Mapping[str, Any], caller: Caller, surface: Surface
    ) -> dict[str, Any] | Blob:
        """The answer as JSON values, or as octets to be streamed where that can be. Raises `GatewayError` alone."""
        operation = self.admit(name, caller)
        self._spend(caller)
        if len(arguments) > _MOST_ARGUMENTS:
            raise invalid("arguments", f"are more than {_MOST_ARGUMENTS}")
        try:
            ask = operation.ask.model_validate(dict(arguments))
        except ValidationError as error:
            raise argument_error(error, operation.ask.model_fields) from None
        if lacking := operation.access.missing(ask, caller):
            raise lacking
        call = Call(caller, surface, self._directory, partial(self._failed, name), self._books)
        return await self._run(operation, ask, call)

    async def _run(self, operation: Operation[Any, Any], ask: Any, call: Call) -> dict[str, Any] | Blob:
        try:
            answer = await operation.run(call, ask)
            if isinstance(answer, Blob):
                return answer if call.surface is Surface.HTTP else await answer.inlined(self._inline_max_bytes)
            return await _json_ready(answer)
        except GatewayError as error:
            self._failed(operation.name, error)
            raise
        except Exception as error:
            self._log.error("call.failed", error, tool=operation.name, token=call.caller.token)
            raise internal() from error

    def _failed(self, tool: str, error: GatewayError) -> None:
        """Log a mail server's failure; what a caller did wrong is the caller's business."""
        if error.code in (Code.IMAP_ERROR, Code.SMTP_ERROR):
            mailbox, reason = str(error.details.get("mailbox")), str(error.details.get("reason"))
            self._log.warning("mail.failed", tool=tool, mailbox=mailbox, code=error.code, reason=reason)

    def _spend(self, caller: Caller) -> None:
        seconds = self._rate.spend(caller.token)
        if seconds:
            message = f"This token makes too many calls; try again in {seconds} s."
            raise GatewayError(Code.RATE_LIMITED, message, retry_after=seconds)

    def _unknown(self, name: str, caller: Caller) -> GatewayError:
        names = [operation.name for operation in self.offered(caller)]
        nearest = difflib.get_close_matches(name[:_LONGEST_NAME], names, n=1)
        hint = f" Did you mean {nearest[0]}?" if nearest else ""
        return not_found(f"There is no such tool.{hint}", tools=names)


async def _json_ready(answer: Answer) -> dict[str, Any]:
    """In a thread if there is much to it: a page of long recipient lists is a second of work."""
    entries = answer.entries
    if entries is not None and entries <= _FEW_ENTRIES:
        return answer.json_ready()
    return await asyncio.to_thread(answer.json_ready)
