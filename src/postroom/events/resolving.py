"""Host names to addresses, in threads of their own, and which addresses are this machine's."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv6Address

from postroom.config.targets import Address


class Resolver:
    """The system's resolver. Its threads are not the loop's: a name server that is silent keeps nobody else waiting."""

    def __init__(self, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="postroom-resolver")

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(self._threads, _asked, host, port)
        return [str(entry[4][0]) for entry in found]

    def close(self) -> None:
        """Nobody waits for what is still being asked."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _asked(host: str, port: int) -> Sequence[tuple[object, object, object, object, tuple[object, ...]]]:
    return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)


def is_of_this_machine(address: Address) -> bool:
    """Whether a socket of this machine could have this address; that of no interface in particular counts too."""
    family = socket.AF_INET6 if isinstance(address, IPv6Address) else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError:
        return address.is_loopback or address.is_unspecified
    return True
