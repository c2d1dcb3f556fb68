"""The one corridor that every call walks: offered, budget, shape, scope, run; only here the unexpected is caught."""

from __future__ import annotations

import asyncio
import difflib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import orjson
from pydantic import ValidationError

from postroom.base.caller import Caller, Toolset
from postroom.base.clock import Clock
from postroom.base.errors import Code, GatewayError, internal, invalid, not_found
from postroom.base.logs import Log, duration
from postroom.base.meters import Meters
from postroom.config import LimitsConfig
from postroom.mailbox.directory import Directory
from postroom.mailbox.discretion import discreet
from postroom.mailbox.waiting import Stands
from postroom.operations import entries
from postroom.operations.answer import Answer
from postroom.operations.ask import Ask, MailboxAsk
from postroom.operations.blob import Blob
from postroom.operations.books import Books, stopped_by_operator
from postroom.operations.catalogue import CATALOGUES, Catalogue
from postroom.operations.eventstream import EventStream
from postroom.operations.faults import argument_error
from postroom.operations.operation import Call, Operation, Surface
from postroom.operations.places import Place
from postroom.operations.rate import Allowance, Rate
from postroom.operations.trail import Counted, Trail, unwritable
from postroom.operations.visit import Visit
from postroom.store.switch import Stopped
from postroom.store.worker import StoreError

Streamed: TypeAlias = Blob | EventStream
_MOST_ARGUMENTS = 100
_LONGEST_NAME = 64
_WITHOUT_LEAVE = (Code.PERMISSION_DENIED, Code.POLICY_DENIED)
_FEW_ENTRIES = 1_000
"""Entries of an answer's lists that are told in passing: a millisecond's work."""


class Corridor:
    """Runs operations of the catalogue for callers, over one directory of mailboxes.

    Without books everything that changes anything is refused: what cannot be written down is not done.
    """

    def __init__(  # noqa: PLR0913 - whatever a call may need on its way
        self,
        directory: Directory,
        clock: Clock,
        log: Log,
        limits: LimitsConfig,
        books: Books | None = None,
        catalogues: Mapping[Toolset, Catalogue] = CATALOGUES,
        public_url: str = "",
        meters: Meters | None = None,
    ) -> None:
        self.catalogues = catalogues
        self._meters = meters or Meters()
        self._public_url = public_url
        self._directory = directory
        self._clock = clock
        self._log = log
        self._books = books
        self._rate = Rate(clock) if books is None else books.rate
        self._allowance = Allowance(limits.requests_per_minute, limits.requests_per_minute)
        self._running: Counter[str] = Counter()
        self._inline_max_bytes = limits.mcp_inline_max_bytes

    def over(self, directory: Directory) -> Corridor:
        """The same corridor, with what is counted in it, before another directory."""
        another = copy(self)
        another._directory = directory
        return another

    def offered(self, caller: Caller) -> list[Operation[Any, Any]]:
        """The operations that this caller may see, in the catalogue's order."""
        return [operation for operation in self.catalogues[caller.toolset].values() if operation.access.offered(caller)]

    async def admit(self, name: str, caller: Caller, surface: Surface, mailbox: object = None) -> Operation[Any, Any]:
        """The operation of that name. Raises `not_found`, or `permission_denied` without its scope.

        `mailbox` is what the caller calls the one it is about; so says the audit of a refusal.
        """
        operation = self.catalogues[caller.toolset].get(name)
        if operation is None or (surface is Surface.MCP and not operation.is_tool):
            raise self._unknown(name, caller)
        if not operation.access.offered(caller):
            raise await self.refused(operation, caller, surface, operation.access.refusal(), mailbox)
        return operation

    async def refused(
        self,
        operation: Operation[Any, Any],
        caller: Caller,
        surface: Surface,
        error: GatewayError,
        mailbox: object = None,
    ) -> GatewayError:
        """What to answer, once it is written down that a change, or a read without leave, was refused."""
        if self._books is None or (operation.effect.read_only and error.code not in _WITHOUT_LEAVE):
            return error
        where = self._name(operation, caller, mailbox)
        refusal = entries.refusal(entries.action_of(operation, surface), caller.token, where, error, self._clock.now())
        try:
            await self._books.trail.write(refusal)
        except GatewayError as unavailable:
            return error if operation.effect.read_only else unavailable
        return error

    async def perform(
        self, name: str, arguments: Mapping[str, Any], caller: Caller, surface: Surface, visit: Visit | None = None
    ) -> dict[str, Any] | Streamed:
        """The answer as JSON values, or as octets to be streamed where that can be. Raises `GatewayError` alone.

        `visit` is the request that it came with; without one it gets one of its own.
        """
        visit = visit or Visit()
        with self._told(name, caller, surface, visit.name):
            operation = await self.admit(name, caller, surface, arguments.get("mailbox"))
            call = self._call(operation, caller, surface, visit)
            if caller.binding is None:
                return await self._performed(operation, arguments, call)
            policy = self._directory.policy(caller)
            try:
                if policy is None:
                    return await self._performed(operation, arguments, call)
                with self._one_more(caller, policy.limits.concurrent):
                    answer = await self._performed(operation, arguments, call)
                return _within(answer, policy.limits.response_bytes)
            except GatewayError as error:
                raise discreet(error) from error

    def _call(self, operation: Operation[Any, Any], caller: Caller, surface: Surface, visit: Visit) -> Call:
        return Call(
            caller,
            surface,
            self._directory,
            partial(self._failed, operation.name),
            self._books,
            request=visit.name,
            public_url=self._public_url,
            stands=partial(self._stands, visit.stands),
        )

    @contextmanager
    def _told(self, name: str, caller: Caller, surface: Surface, request: str) -> Iterator[None]:
        """Count a call, and say in the log how it ended, once it has."""
        since, outcome = self._clock.monotonic(), "cancelled"
        try:
            yield
            outcome = "ok"
        except GatewayError as error:
            outcome = error.code
            raise
        finally:
            seconds = self._clock.monotonic() - since
            tool = name if name in self.catalogues[caller.toolset] else "unknown"
            self._meters.call(tool, surface.value, outcome, seconds)
            self._log.info(
                "call.done",
                request=request,
                token=caller.token,
                tool=tool,
                method=surface.value,
                outcome=outcome,
                duration=duration(seconds),
            )

    @contextmanager
    def _one_more(self, caller: Caller, most: int) -> Iterator[None]:
        """So many calls of a bound token at a time."""
        if self._running[caller.token] >= most:
            message = f"This token may make {most} calls at a time; wait for the answer to one of them."
            raise GatewayError(Code.RATE_LIMITED, message, retry_after=1, limit=most)
        self._running[caller.token] += 1
        try:
            yield
        finally:
            self._running[caller.token] -= 1
            if not self._running[caller.token]:
                del self._running[caller.token]

    async def _performed(
        self, operation: Operation[Any, Any], arguments: Mapping[str, Any], call: Call
    ) -> dict[str, Any] | Streamed:
        caller = call.caller
        try:
            ask = await self._shaped(operation, arguments, call)
            if operation.effect.read_only:
                return await self._read(operation, ask, call)
            mailbox = self._directory.named(caller, ask.mailbox).name if isinstance(ask, MailboxAsk) else None
        except GatewayError as error:
            named = arguments.get("mailbox")
            raise await self.refused(operation, caller, call.surface, error, named) from error.__cause__
        return await self._change(operation, ask, call, mailbox)

    async def _shaped(self, operation: Operation[Any, Any], arguments: Mapping[str, Any], call: Call) -> Ask:
        """The arguments as validated, of a call that may be made."""
        await self._spend(call.caller)
        await self._check_stopped(call, Stopped.ALL if operation.effect.read_only else Stopped.CHANGES)
        if len(arguments) > _MOST_ARGUMENTS:
            raise invalid("arguments", f"are more than {_MOST_ARGUMENTS}")
        try:
            ask: Ask = operation.ask.model_validate(dict(arguments))
        except ValidationError as error:
            raise argument_error(error, operation.ask.model_fields) from None
        if lacking := operation.access.missing(ask, call.caller):
            raise lacking
        if operation.sends(ask):
            await self._check_stopped(call, Stopped.SENDS)
        return ask

    async def _check_stopped(self, call: Call, what: Stopped) -> None:
        if self._books is not None and await self._books.stopped(what):
            raise stopped_by_operator()

    async def _stands(self, stands: Stands) -> bool:
        """Whether a call that was begun could still be made."""
        stopped = self._books is not None and await self._books.stopped(Stopped.ALL)
        return not stopped and await stands()

    async def _read(self, operation: Operation[Any, Any], ask: Ask, call: Call) -> dict[str, Any] | Streamed:
        if self._books is not None:
            where = self._name(operation, call.caller, getattr(ask, "mailbox", None))
            action = entries.action_of(operation, call.surface)
            self._books.trail.count(Counted("summary", action, call.caller.token, where))
        return await self._run(operation, ask, call)

    async def _change(
        self, operation: Operation[Any, Any], ask: Ask, call: Call, mailbox: str | None
    ) -> dict[str, Any] | Streamed:
        """Once begun it is finished, and its outcome written, whether anybody waits for the answer or not."""
        if self._books is None:
            raise unwritable()
        call = replace(call, place=Place(self._books.large))
        answer, error = await self._books.finish(self._carried_out(operation, ask, call, mailbox, self._books.trail))
        if error is not None:
            try:
                raise error
            finally:
                del error  # else error and frame hold each other, and with them all that the call was given
        return answer  # type: ignore[return-value]  # an answer stands wherever no error does

    async def _carried_out(
        self, operation: Operation[Any, Any], ask: Ask, call: Call, mailbox: str | None, trail: Trail
    ) -> tuple[dict[str, Any] | Streamed | None, GatewayError | None]:
        """Intent, effect, outcome; errors are returned, since nobody may be there to raise them to."""
        try:
            begun = entries.intent(operation, call, mailbox, ask, self._clock.now())
            await trail.write(begun)
        except GatewayError as unavailable:
            return None, unavailable
        except Exception as unforeseen:  # noqa: BLE001 - it must not end the process that runs this for all
            self._unforeseen(operation, call, unforeseen)
            return None, internal()
        answer, error = None, None
        try:
            answer = await self._run(operation, ask, call)
        except GatewayError as failure:
            error = failure.with_traceback(None)  # nor does it hold the frames that it came through
        finally:
            call.place.give_back()
        await trail.end(entries.outcome(begun, call, error, self._clock.now()))
        return answer, error

    def _name(self, operation: Operation[Any, Any], caller: Caller, mailbox: object) -> str | None:
        """The name of a mailbox that the caller may use, whatever it was called; nothing else is written down."""
        if not issubclass(operation.ask, MailboxAsk) or not isinstance(mailbox, str | None):
            return None
        try:
            return self._directory.named(caller, mailbox).name
        except GatewayError:
            return None

    async def _run(self, operation: Operation[Any, Any], ask: Any, call: Call) -> dict[str, Any] | Streamed:
        try:
            answer = await operation.run(call, ask)
            if isinstance(answer, EventStream):
                return answer
            if isinstance(answer, Blob):
                return answer if call.surface is Surface.HTTP else await answer.inlined(self._inline_max_bytes)
            return await _json_ready(answer)
        except GatewayError as error:
            self._failed(operation.name, error)
            raise
        except StoreError as failure:
            raise unwritable() from failure
        except Exception as error:
            self._unforeseen(operation, call, error)
            raise internal() from error

    def _unforeseen(self, operation: Operation[Any, Any], call: Call, error: Exception) -> None:
        self._log.error("call.failed", error, request=call.request, tool=operation.name, token=call.caller.token)

    def _failed(self, tool: str, error: GatewayError) -> None:
        """Log a mail server's failure; what a caller did wrong, or is told once more, is the caller's business."""
        if error.code in (Code.IMAP_ERROR, Code.SMTP_ERROR) and not error.details.get("repeated"):
            mailbox, reason = str(error.details.get("mailbox")), str(error.details.get("reason"))
            self._log.warning("mail.failed", tool=tool, mailbox=mailbox, code=error.code, reason=reason)

    async def _spend(self, caller: Caller) -> None:
        policy = self._directory.policy(caller)
        allowance = self._allowance
        if policy is not None:
            allowance = Allowance(policy.limits.requests_per_minute, policy.limits.burst)
        try:
            seconds = await self._rate.take(caller.token, allowance)
        except StoreError as failure:
            raise unwritable() from failure
        if seconds:
            message = f"This token makes too many calls; try again in {seconds} s."
            raise GatewayError(Code.RATE_LIMITED, message, retry_after=seconds)

    def _unknown(self, name: str, caller: Caller) -> GatewayError:
        names = [operation.name for operation in self.offered(caller) if operation.is_tool]
        nearest = difflib.get_close_matches(name[:_LONGEST_NAME], names, n=1)
        hint = f" Did you mean {nearest[0]}?" if nearest else ""
        return not_found(f"There is no such tool.{hint}", tools=names)


def _within(answer: dict[str, Any] | Streamed, most: int) -> dict[str, Any] | Streamed:
    """The answer, unless a bound caller may have none of that size."""
    if isinstance(answer, Blob | EventStream) or len(orjson.dumps(answer)) <= most:
        return answer
    message = f"The answer has more than the {most:,} octets that the policy of this token allows. Ask for less."
    raise GatewayError(Code.TOO_LARGE, message, limit=most)


async def _json_ready(answer: Answer) -> dict[str, Any]:
    """In a thread if there is much to it: a page of long recipient lists is a second of work."""
    entries = answer.entries
    if entries is not None and entries <= _FEW_ENTRIES:
        return answer.json_ready()
    return await asyncio.to_thread(answer.json_ready)
