"""Work for a client who has gone is ended: nobody waits for the answer, and others wait for the connection."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect
from starlette.types import Receive

T = TypeVar("T")


async def while_present(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """What `work` returns or raises; it is cancelled, and `ClientDisconnect` raised, if the client hangs up before.

    The request's body must have been read. Closing the stream is how MCP's modern era cancels a call.
    """
    async with asyncio.TaskGroup() as tasks:
        working = tasks.create_task(_outcome(work))
        watching = tasks.create_task(_gone(receive))
        await asyncio.wait((working, watching), return_when=asyncio.FIRST_COMPLETED)
        working.cancel()
        watching.cancel()
    if working.cancelled():
        raise ClientDisconnect
    result, error = working.result()
    if error is not None:
        try:
            raise error
        finally:
            del error, working  # else the error holds this frame and the frame the error, and so all of the call
    return result  # type: ignore[return-value]  # a result stands wherever no error does


async def _outcome(work: Coroutine[Any, Any, T]) -> tuple[T | None, Exception | None]:
    """Kept apart from the group, which would wrap an error in a group of one."""
    try:
        return await work, None
    except Exception as error:  # noqa: BLE001 - raised again above
        return None, error


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
