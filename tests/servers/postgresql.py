"""A PostgreSQL of the tests' own: its own folder and port, loopback, any user; a database for each who asks."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg

from tests.servers.ports import free_port

PASSWORD = "pg-correct-horse"
_PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
_PATIENCE = 20.0
_SETTINGS = ("fsync=off", "max_connections=200", "listen_addresses=127.0.0.1", "unix_socket_directories=")


@dataclass
class Postgresql:
    """A server that can be killed and started again over the same files."""

    folder: Path
    port: int
    settings: tuple[str, ...] = _SETTINGS
    _process: subprocess.Popen[bytes] | None = None
    _names: Iterator[int] = field(default_factory=itertools.count)

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postroom:{PASSWORD}@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """The URL of one that is empty."""
        name = f"store_{next(self._names)}"
        self.sql(f"CREATE DATABASE {name}")
        return self.url(name)

    def sql(self, statement: str, *rows: Sequence[Any], url: str | None = None) -> list[tuple[Any, ...]]:
        """As anybody could who may use the database: the statement once, or for each row of values."""
        with ThreadPoolExecutor(1) as elsewhere:  # the caller may be in an event loop
            return elsewhere.submit(asyncio.run, _sql(statement, rows, url or self.url())).result()

    def start(self) -> None:
        options = [part for setting in (*self.settings, f"port={self.port}") for part in ("-c", setting)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*_as_ordinary_user(), _program("postgres"), "-D", self.folder / "data", *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._await_answer()

    def kill(self) -> None:
        """As when the power fails: nobody is told, nothing is put away."""
        assert self._process is not None
        children = _children(self._process.pid)
        for pid in (self._process.pid, *children):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait(_PATIENCE)

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)  # its way of ending at once
            self._process.wait(_PATIENCE)

    def _await_answer(self) -> None:
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                self.sql("SELECT 1")
                return
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                if time.monotonic() > deadline:
                    raise AssertionError((self.folder / "log").read_text()) from None
                time.sleep(0.05)


async def _sql(statement: str, rows: Sequence[Sequence[Any]], url: str) -> list[tuple[Any, ...]]:
    connection = await asyncpg.connect(url, timeout=_PATIENCE)
    try:
        if rows:
            await connection.executemany(statement, rows)
            return []
        return [tuple(row) for row in await connection.fetch(statement)]
    finally:
        await connection.close()


@contextlib.contextmanager
def running_postgresql(*settings: str) -> Iterator[Postgresql]:
    """Up when the block begins, gone with all its files when it ends."""
    folder = Path(tempfile.mkdtemp(prefix="postroom-postgresql-"))
    try:
        (folder / "password").write_text(PASSWORD)
        if os.getuid() == 0:
            owner = pwd.getpwnam("postgres")
            for path in (folder, folder / "password"):
                os.chown(path, owner.pw_uid, owner.pw_gid)
        initdb = [_program("initdb"), "-D", folder / "data", "-U", "postroom", "-A", "md5", "--no-sync"]
        initdb += [f"--pwfile={folder / 'password'}", "-E", "UTF8", "--locale=C.UTF-8"]
        subprocess.run([*_as_ordinary_user(), *initdb], check=True, capture_output=True)
        server = Postgresql(folder, free_port(), (*_SETTINGS, *settings))
        try:
            server.start()
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _program(name: str) -> str:
    found = next((str(place / name) for place in _PLACES if (place / name).exists()), None) or shutil.which(name)
    assert found, "PostgreSQL is not installed: run scripts/install-servers"
    return found


def _as_ordinary_user() -> list[str]:
    """It refuses to run as root."""
    if os.getuid() != 0:
        return []
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]


def _children(pid: int) -> list[int]:
    told = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(one) for one in told.split()]
