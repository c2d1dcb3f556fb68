"""What downloads cost the gateway in memory: one, sixteen at once, and readers that hardly read."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.clients import Http
from bench.corpus import LARGE_FILE_SIZE, Places
from bench.servers import Gateway

AT_MOST = 32.0
"""Megabytes that a gateway may grow by, however many download at once."""
_AT_ONCE = 16
_SMALL_BUFFER = 16 * 1024
_SLOW_CALLS = 20


@dataclass(frozen=True, slots=True)
class Growth:
    """Megabytes that the process grew by at most while something was done, after all was warm."""

    what: str
    megabytes: float

    @property
    def good(self) -> bool:
        return self.megabytes <= AT_MOST


def growths(gateway: Gateway, places: Places) -> list[Growth]:
    """What each way of downloading 20 MB costs a gateway that did nothing before."""
    file = _large_file(places)

    def fetch(_number: int = 0) -> None:
        with contextlib.closing(Http(gateway.port, gateway.token)) as http:
            size = sum(map(len, http.stream(file)))
        if size != LARGE_FILE_SIZE:
            raise RuntimeError(f"{size} octets of {LARGE_FILE_SIZE}")

    def fetch_at_once() -> None:
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            list(threads.map(fetch, range(_AT_ONCE)))

    with contextlib.closing(Http(gateway.port, gateway.token)) as http:
        http.get("/mailboxes/big/messages?limit=50")
    return [
        Growth("a download of 20 MB", _growth(gateway, fetch)),
        Growth(f"{_AT_ONCE} such downloads at once", _growth(gateway, fetch_at_once)),
        Growth(
            f"{_AT_ONCE} readers that do not read, while a list is answered",
            _growth(gateway, lambda: list_beside_slow_readers(gateway, places)),
        ),
    ]


def _large_file(places: Places) -> str:
    return f"/mailboxes/big/messages/{places.large_file}/attachments/2"


def list_beside_slow_readers(gateway: Gateway, places: Places) -> None:
    """All of them have begun and stopped; whoever asks now must not wait for a connection that they hold."""
    with contextlib.ExitStack() as stack:
        for _ in range(_AT_ONCE):
            slow = stack.enter_context(contextlib.closing(Http(gateway.port, gateway.token, _SMALL_BUFFER)))
            next(slow.stream(_large_file(places)))
        http = stack.enter_context(contextlib.closing(Http(gateway.port, gateway.token)))
        for _ in range(_SLOW_CALLS):
            http.get("/mailboxes/big/messages?limit=50")
            time.sleep(0.05)


def _growth(gateway: Gateway, work: Callable[[], object]) -> float:
    """By how much the process's highest resident size exceeds its present one."""
    before = _megabytes(gateway.pid, "VmRSS")
    Path(f"/proc/{gateway.pid}/clear_refs").write_text("5")  # resets the highest (proc_pid_clear_refs(5))
    work()
    return _megabytes(gateway.pid, "VmHWM") - before


def _megabytes(pid: int, field: str) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition(f"{field}:")[2].split()[0]) / 1024
