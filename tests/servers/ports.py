"""Ports: some that were free a moment ago, and some at which nobody will ever answer."""

from __future__ import annotations

import functools
import socket


def free_port(host: str = "127.0.0.1") -> int:
    with socket.create_server((host, 0)) as listener:
        return int(listener.getsockname()[1])


@functools.cache
def refusing_port() -> int:
    """A port held by a socket that never listens: connections are refused there until the process ends."""
    _HELD.bind(("127.0.0.1", 0))
    return int(_HELD.getsockname()[1])


_HELD = socket.socket()
