"""`audit.head`: the last record's number and hash in a file of its own, by which a cut tail is noticed."""

from __future__ import annotations

import contextlib
import os
import secrets
from datetime import datetime
from pathlib import Path

import orjson

from postroom.base.files import FileFault, read_guarded
from postroom.store.audit import Tip, canonical
from postroom.store.times import to_text
from postroom.store.worker import StoreError

FILE_NAME = "audit.head"
_LARGEST = 4096
_LARGEST_ANCHOR = 64_000_000


def write_head(folder: Path, tip: Tip, now: datetime) -> None:
    """Replace the file (0600): at any moment it is whole, the old one or the new. It blocks.

    Raises StoreError if that cannot be done.
    """
    path, fresh = folder / FILE_NAME, folder / f".{FILE_NAME}.{secrets.token_hex(4)}"
    octets = canonical({"v": 1, "seq": tip.seq, "hash": tip.hash, "at": to_text(now)}) + b"\n"
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(octets)
            file.flush()
            os.fsync(descriptor)
        os.replace(fresh, path)
    except OSError as failure:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise StoreError(f"{path} cannot be written: {failure.strerror}") from failure


def read_head(folder: Path) -> Tip | None:
    """What the file says, or None if there is none. Raises StoreError for one that says nothing."""
    path = folder / FILE_NAME
    if not path.exists():
        return None
    tips = read_anchor(path, _LARGEST)
    if len(tips) != 1:
        raise StoreError(f"{path} does not name one record")
    return tips[0]


def missing_head(*, shared: bool) -> str:
    """What is said where records are and the file is not; `shared` is a store of several gateways."""
    told = f"{FILE_NAME} is missing: whether the end of the audit was cut off cannot be told without it"
    return f"{told}; if no gateway was started with this state_dir yet, start it" if shared else told


def read_anchor(path: Path, largest: int = _LARGEST_ANCHOR) -> list[Tip]:
    """The records named by a copy of `audit.head`, or by lines of the gateway's log that tell of it."""
    try:
        lines = read_guarded(path, largest).data.splitlines()
    except FileFault as failure:
        raise StoreError(str(failure)) from failure
    return [tip for line in lines if (tip := _tip(line)) is not None]


def _tip(line: bytes) -> Tip | None:
    start = line.find(b"{")  # a log may put a time before it
    try:
        value = orjson.loads(line[max(start, 0) :])
    except orjson.JSONDecodeError:
        return None
    seq, hash_ = (value.get("seq"), value.get("hash")) if isinstance(value, dict) else (None, None)
    if type(seq) is int and seq >= 0 and isinstance(hash_, str) and len(hash_) == 64:
        return Tip(seq, hash_)
    return None
