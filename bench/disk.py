"""What the disk takes for a commit, whoever makes it: a block written to a file that is there, and flushed."""

from __future__ import annotations

import os
import tempfile

_BLOCK = bytes(4096)
_BLOCKS = 64


class Disk:
    """Where the state of the gateways lies: the system's folder for temporary files."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - `close` closes it
        self._file.write(_BLOCK * _BLOCKS)
        self._file.flush()
        self._at = 0

    def commit(self) -> None:
        """One block, on the disk."""
        self._at = (self._at + 1) % _BLOCKS
        os.pwrite(self._file.fileno(), _BLOCK, self._at * len(_BLOCK))
        os.fdatasync(self._file.fileno())

    def close(self) -> None:
        self._file.close()
