"""The bridge as a process: this process's pipes, until they end, break, or a signal comes."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from functools import partial

from postroom.base.secret import Secret
from postroom.bridge.address import Address
from postroom.bridge.carrying import Carrier
from postroom.bridge.exchange import post
from postroom.bridge.pipes import Hand, read_lines, write_line

STDIN, STDOUT = 0, 1


def run(address: Address, token: Secret, tell: Callable[[str], None]) -> bool:
    """Carry messages until stdin ends or SIGINT or SIGTERM comes; False if the client stopped listening before."""
    return asyncio.run(_until_told(address, token, tell))


async def _until_told(address: Address, token: Secret, tell: Callable[[str], None]) -> bool:
    lost = asyncio.Event()
    stop = _stopper()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    for descriptor in (STDIN, STDOUT):
        os.set_blocking(descriptor, True)
    reading, writing = Hand(), Hand()

    async def write(line: bytes) -> None:
        try:
            await write_line(STDOUT, writing, line)
        except OSError:
            lost.set()
            stop()

    try:
        await Carrier(partial(post, address, token), write, tell).carry(read_lines(STDIN, reading))
    except asyncio.CancelledError:
        return not lost.is_set()
    return not lost.is_set()


def _stopper() -> Callable[[], object]:
    """Ends what runs now, and every call in it, by its cancellation."""
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("no task is running")
    return task.cancel
