"""Several gateways in processes of their own over one PostgreSQL, before one mailbox that they send by and read."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from postroom.app import run as run_program
from postroom.app import running
from postroom.base.clock import SystemClock
from postroom.base.logs import Log
from postroom.base.token import mint, token_hash
from postroom.config import load
from postroom.store import gateways
from tests.servers import stores
from tests.servers.dovecot import PASSWORD, Dovecot
from tests.servers.gateway import Gateway, written
from tests.servers.smtp import Letterbox, running_smtp

_SCOPES = "read, draft, organize, delete, send, admin"
_PATIENCE = 30
_USERS = itertools.count()
_nursery = multiprocessing.get_context("forkserver")
_nursery.set_forkserver_preload(["__main__", __name__])


@dataclass(frozen=True)
class Member:
    """One of them, and its process."""

    gateway: Gateway
    process: ForkServerProcess
    config_file: Path

    def kill(self) -> None:
        """At once, without a word to anybody."""
        self.process.kill()
        self.process.join()

    def pause(self) -> None:
        assert self.process.pid is not None
        os.kill(self.process.pid, signal.SIGSTOP)

    def wake(self) -> None:
        assert self.process.pid is not None
        os.kill(self.process.pid, signal.SIGCONT)


@dataclass(frozen=True)
class Fleet:
    """All of them, and what was sent by any."""

    members: Sequence[Member]
    letterbox: Letterbox
    dovecot: Dovecot
    user: str
    state: Path
    """The folder of the first one, to which the database belongs."""

    @property
    def gateways(self) -> list[Gateway]:
        return [member.gateway for member in self.members]


@contextlib.contextmanager
def fleet(
    folder: Path, dovecot: Dovecot, number: int, limits: str = "", letterbox: Letterbox | None = None, url: str = ""
) -> Iterator[Fleet]:
    """So many gateways that answer; a dead one is missed after three seconds here, not fifteen.

    `limits` are lines of the configuration; with the policy `desk` among them there is a token `bound` to it. `url`
    is the database, if it is not one of the tests' common server.
    """
    user, letterbox = f"fleet-{next(_USERS)}", letterbox or Letterbox()
    dovecot.deliver(user, [])
    with (
        running_smtp(dovecot.certificate, dovecot.folder / "key.pem", letterbox) as port,
        contextlib.ExitStack() as running_ones,
    ):
        smtp = f"{{host: 127.0.0.1, port: {port}, tls: starttls, username: work, password: {PASSWORD}, "
        mailboxes = (
            '  - name: work\n    identities: ["Ana <ana@example.org>"]\n    imap: '
            f"{{host: 127.0.0.1, port: {dovecot.port}, tls: none, username: {user}, password: {PASSWORD}}}\n"
            f"    smtp: {smtp}ca_file: {dovecot.certificate}}}\n"
        )
        files, tokens = _configured(folder, number, mailboxes, limits, url)
        members = [running_ones.enter_context(_member(file, tokens)) for file in files]
        yield Fleet(members, letterbox, dovecot, user, folder / "0" / "state")


def _configured(folder: Path, number: int, mailboxes: str, limits: str, url: str) -> tuple[list[Path], dict[str, str]]:
    """The same file in each gateway's folder."""
    files = []
    for place in range(number):
        (folder / str(place)).mkdir()
        files.append(folder / str(place) / "postroom.yaml")
    first, tokens = written(folder / "0", mailboxes, {"all": (_SCOPES, "work"), "other": (_SCOPES, "work")}, limits)
    line = stores.setting_of(folder / "0" / "state")
    text = first.read_text().replace(line, f"store: {url or stores.url_of(folder / '0' / 'state')}")
    if "desk:" in limits:
        tokens = {**tokens, "bound": mint().text.reveal()}
        of = "scopes: [read, draft, send], mailboxes: [work], user: ana, profile: desk"
        text += f"  - {{name: bound, token_hash: '{token_hash(tokens['bound'])}', {of}}}\n"
    for file in files:
        file.write_text(text)
        file.chmod(0o600)
    return files, dict(tokens)


@contextlib.contextmanager
def _member(file: Path, tokens: dict[str, str]) -> Iterator[Member]:
    ours, theirs = _nursery.Pipe()
    log_file = file.with_name("log")
    process = _nursery.Process(target=_serve, args=(file, log_file, theirs))
    process.start()
    theirs.close()
    try:
        assert ours.poll(_PATIENCE), log_file.read_text() if log_file.exists() else "it did not start"
        yield Member(Gateway(ours.recv(), tokens), process, file)
    finally:
        with contextlib.suppress(ValueError):
            process.kill()
            process.join()
        ours.close()


def _serve(file: Path, log_file: Path, pipe: Connection) -> None:
    gateways.HELD = timedelta(seconds=3)
    gateways.BEAT = 1.0

    async def program() -> None:
        clock = SystemClock()
        with log_file.open("a") as log:
            async with running(load(file), clock=clock, log=Log(clock, log)) as gateway:
                pipe.send(gateway.url)
                await asyncio.Event().wait()

    run_program(program())
