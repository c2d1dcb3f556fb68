"""One call again and again: to a gateway that dies at the first step of it, at the second, and so on to the last."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import signal
from collections.abc import Iterator, Mapping
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any, Protocol

import httpx2

from postroom.store.auditcheck import Verdict, verify
from tests.crashes.steps import serve_until_step
from tests.servers import stores
from tests.servers.gateway import Gateway, written

_PATIENCE = 20
_MOST_STEPS = 2_000
_nursery = multiprocessing.get_context("forkserver")
_nursery.set_forkserver_preload(["__main__", serve_until_step.__module__])


class Trial(Protocol):
    """A call, what it needs, and what must be true whenever it was cut off."""

    def prepare(self, gateway: Gateway) -> None:
        """Before each call, while no step is counted: lay out fresh mail, have connections warm."""

    def call(self, gateway: Gateway) -> Any:
        """The one call. Its answer goes to `check`."""

    def check(self, gateway: Gateway, answer: Any | None) -> None:
        """After the death, on a gateway started anew with the same store; None is the answer of a call cut off."""


def die_at_every_step(trial: Trial, folder: Path, mailboxes: str, tokens: Mapping[str, tuple[str, str]]) -> int:
    """How many steps the call has. After each death it is also checked that every intent in the audit has an outcome.

    When the call is answered at last the gateway is killed all the same, before it can have written anything more.
    The token `all` must have the scope `admin`.
    """
    config_file, minted = written(folder, mailboxes, tokens, "limits: {moves_per_hour: 0, sends_per_hour: 0}")
    answer: Any | None = None
    for step in range(1, _MOST_STEPS):
        with _mortal(config_file, minted, step) as mortal:
            if step > 1:
                _check_settled(mortal.gateway)
                trial.check(mortal.gateway, answer)
            if answer is not None:
                break
            answer = mortal.answer(trial)
    else:
        raise AssertionError(f"the call is not answered within {_MOST_STEPS} steps")
    assert asyncio.run(_verdict(folder)).findings == ()
    return step - 2


class _Mortal:
    def __init__(self, gateway: Gateway, pipe: Connection, process: ForkServerProcess) -> None:
        self.gateway = gateway
        self._pipe = pipe
        self._process = process

    def answer(self, trial: Trial) -> Any | None:
        """None if the gateway died on the way."""
        trial.prepare(self.gateway)
        self._pipe.send("count")
        assert self._pipe.poll(_PATIENCE), "the gateway does not run"
        assert self._pipe.recv() == "counting"
        try:
            return trial.call(self.gateway)
        except httpx2.TransportError:
            self._process.join(_PATIENCE)
            assert self._process.exitcode == -signal.SIGKILL, self._process.exitcode
            return None


@contextlib.contextmanager
def _mortal(config_file: Path, tokens: Mapping[str, str], step: int) -> Iterator[_Mortal]:
    """A gateway that dies at that step, or by our hand when the block ends."""
    ours, theirs = _nursery.Pipe()
    log_file = config_file.with_name("log")
    process = _nursery.Process(target=serve_until_step, args=(config_file, log_file, step, theirs))
    process.start()
    theirs.close()
    try:
        assert ours.poll(_PATIENCE), log_file.read_text()
        yield _Mortal(Gateway(ours.recv(), tokens), ours, process)
    finally:
        process.kill()
        process.join()
        ours.close()


def _check_settled(gateway: Gateway) -> None:
    """What a death left open was settled at the start, before anything was answered."""
    records = gateway.get("/audit", limit=500).json()["records"]
    assert not [record for record in records if record["request"] and not record["outcome"]]


async def _verdict(folder: Path) -> Verdict:
    database = await stores.opened(folder / "state")
    try:
        return await verify(database, ())
    finally:
        await database.close()
