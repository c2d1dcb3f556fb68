"""Ports that were free a moment ago."""

from __future__ import annotations

import socket


def free_port(host: str = "127.0.0.1") -> int:
    with socket.create_server((host, 0)) as listener:
        return int(listener.getsockname()[1])
