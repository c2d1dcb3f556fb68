"""The gateway in a process of its own, which ends itself by SIGKILL at a chosen step of the work it is given."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Coroutine, Generator
from contextvars import Context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from postroom.app import run as run_program
from postroom.app import running
from postroom.base.clock import SystemClock
from postroom.base.logs import Log
from postroom.config import load


def serve_until_step(config_file: Path, log_file: Path, last: int, pipe: Connection) -> None:
    """Tell the pipe where the gateway listens; count steps from when the pipe is told to, and die at the `last` one."""
    steps = _Steps(last)

    async def program() -> None:
        loop, clock = asyncio.get_running_loop(), SystemClock()
        loop.set_task_factory(steps.task)
        with log_file.open("a") as log:
            async with running(load(config_file), clock=clock, log=Log(clock, log)) as gateway:
                loop.add_reader(pipe.fileno(), steps.count_when_told, pipe)
                pipe.send(gateway.url)
                await asyncio.Event().wait()

    run_program(program())


class _Steps:
    """A step begins or ends wherever a task begun since the count waits for something, and where it ends.

    Both ends count: uvloop writes what a task wrote only when the task has come to wait.
    """

    def __init__(self, last: int) -> None:
        self._left = last
        self._counting = False

    def count_when_told(self, pipe: Connection) -> None:
        pipe.recv()
        self._counting = True
        pipe.send("counting")

    def take(self) -> None:
        self._left -= 1
        if self._left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def task(
        self,
        loop: asyncio.AbstractEventLoop,
        work: Coroutine[Any, Any, Any] | Generator[Any, None, Any],
        context: Context | None = None,
    ) -> asyncio.Task[Any]:
        """The loop's task factory."""
        assert isinstance(work, Coroutine)
        return asyncio.Task(_Counted(work, self) if self._counting else work, loop=loop, context=context)


class _Counted(Coroutine[Any, Any, Any]):
    """A coroutine, with a step taken before and after each of its turns."""

    def __init__(self, work: Coroutine[Any, Any, Any], steps: _Steps) -> None:
        self._work = work
        self._steps = steps

    def send(self, value: Any) -> Any:
        self._steps.take()
        try:
            return self._work.send(value)
        finally:
            self._steps.take()

    def throw(self, *error: Any) -> Any:
        self._steps.take()
        try:
            return self._work.throw(*error)
        finally:
            self._steps.take()

    def close(self) -> None:
        self._work.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._work.__await__()
