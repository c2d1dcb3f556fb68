"""One gateway for one folder of state: whoever has it knows that the one before is gone."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from postroom.base.files import private_folder
from postroom.store.worker import StoreError

_NAME = "gateway.lock"
_LONGEST_ID = 64


@contextmanager
def one_gateway(state_dir: Path, gateway: str = "", *, checked: bool = True) -> Iterator[str]:
    """Have the folder for this process while the block runs; the system gives it back if the process ends.

    It is made if it is not there. Gives the id of the gateway that had it before, "" if there was none, and keeps ours
    for the next; one without an id is no gateway and leaves no trace. Raises StoreError if another process has it, and
    FileFault if it is open to others, unless `checked` is false. Commands that only read or write the database need
    no lock.
    """
    private_folder(state_dir, checked=checked)
    lock = os.open(state_dir / _NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = f"{state_dir} is in use by another gateway; stop that one, or give this one another state_dir"
            raise StoreError(message) from None
        before = os.pread(lock, _LONGEST_ID, 0).decode("ascii", "replace")
        if gateway:
            os.pwrite(lock, gateway.encode(), 0)
            os.ftruncate(lock, len(gateway))
        yield before
    finally:
        os.close(lock)
