"""One gateway for one store: what is on its way is known to the process that sends it, and to no other."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from postroom.store.worker import StoreError

_NAME = "gateway.lock"


@contextmanager
def one_gateway(state_dir: Path) -> Iterator[None]:
    """Have the folder for this process while the block runs; the system gives it back if the process ends.

    Raises StoreError if another process has it. Commands that only read or write the database need no lock.
    """
    lock = os.open(state_dir / _NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = f"{state_dir} is in use by another gateway; stop that one, or give this one another state_dir"
            raise StoreError(message) from None
        yield
    finally:
        os.close(lock)
