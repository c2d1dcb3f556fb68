"""New mail while everything dies: each message must give one event, seen at least once, and never in two wordings."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from soak.receiver import secret_of
from tests.servers.dovecot import PASSWORD, Dovecot
from tests.servers.ports import free_port
from tests.servers.postgresql import Postgresql
from tests.servers.proxy import Proxy, proxied

_PROGRAM = "from postroom.cli import main; main()"
_SETTLED = 30.0
"""Seconds between looks at whether everything has come, at the longest."""


@dataclass(frozen=True, slots=True)
class Plan:
    """`calm` are the least and the most seconds between two deaths; `patience` those that the end may take."""

    arrivals: int = 10_000
    gateways: int = 1
    users: int = 4
    calm: tuple[float, float] = (1.0, 6.0)
    patience: float = 900.0
    seed: int = 0
    receiver_deaths: int = 1_000_000
    """At the most; each may put a POST off for minutes."""
    prefix: str = "soak"
    """Of the users' names, whose mailboxes are new."""


@dataclass(slots=True)
class Report:
    """What came of it."""

    arrivals: int = 0
    deaths: Counter[str] = field(default_factory=Counter)
    posts: int = 0
    events: int = 0
    missing: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    """Messages with more than one event id."""
    reworded: list[str] = field(default_factory=list)
    """Event ids with more than one body."""
    forged: int = 0
    seconds: float = 0.0

    @property
    def good(self) -> bool:
        return not (self.missing or self.twice or self.reworded or self.forged) and self.events >= self.arrivals

    def table(self) -> str:
        """In Markdown."""
        deaths = ", ".join(f"{what} {count}" for what, count in sorted(self.deaths.items()))
        rows = {
            "messages that arrived": self.arrivals,
            "events": self.events,
            "POSTs seen by the receiver": self.posts,
            "messages without an event": len(self.missing),
            "messages with two event ids": len(self.twice),
            "event ids with two bodies": len(self.reworded),
            "signatures that are wrong": self.forged,
            "deaths": deaths,
            "seconds": f"{self.seconds:.0f}",
        }
        return "\n".join(["| what | |", "| --- | --: |", *(f"| {what} | {value} |" for what, value in rows.items())])


class Program:
    """A process that is started again whenever it was killed."""

    def __init__(self, *command: str, environment: dict[str, str]) -> None:
        self._command = command
        self._environment = os.environ | environment
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *self._command, env=self._environment, stdin=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
        )

    def send(self, what: signal.Signals) -> None:
        """Such as SIGSTOP, which it notices nothing of."""
        if self._process is not None:
            self._process.send_signal(what)

    async def kill(self, away: float) -> None:
        """It is gone for so many seconds."""
        await self.stop(signal.SIGKILL)
        await asyncio.sleep(away)
        await self.start()

    async def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(how)
            await self._process.wait()


@dataclass(slots=True)
class Soak:
    """One run."""

    plan: Plan
    folder: Path
    dovecot: Dovecot
    postgresql: Postgresql | None = None
    """None keeps everything in SQLite."""
    report: Report = field(default_factory=Report)
    store: str = ""
    """Where the gateways keep their books, once they run."""

    async def run(self) -> Report:
        """Deliver, kill, wait until all was told or the patience is at its end, and count."""
        since, chance = time.monotonic(), random.Random(self.plan.seed)
        async with (
            proxied(self.dovecot.port) as proxy,
            self.receiver() as (receiver, port),
            self.gateways(proxy, port) as gateways,
        ):
            await self.watching(port)
            deaths = asyncio.create_task(self._deaths(chance, proxy, receiver, gateways))
            await self._deliver(chance)
            deaths.cancel()
            await asyncio.wait([deaths])
            await self.settled()
        self.count()
        self.report.seconds = time.monotonic() - since
        return self.report

    @property
    def users(self) -> list[str]:
        return [f"{self.plan.prefix}{number}" for number in range(self.plan.users)]

    @property
    def _log(self) -> Path:
        return self.folder / "received"

    @contextlib.asynccontextmanager
    async def receiver(self) -> AsyncIterator[tuple[Program, int]]:
        port = free_port()
        command = (sys.executable, "-m", "soak.receiver", str(port), str(self._log))
        receiver = Program(*command, environment=self._environment)
        await receiver.start()
        try:
            yield receiver, port
        finally:
            await receiver.stop()

    @contextlib.asynccontextmanager
    async def gateways(self, proxy: Proxy, port: int) -> AsyncIterator[list[Program]]:
        store = "sqlite" if self.postgresql is None else self.postgresql.new_database()
        self.store = store
        gateways = []
        for number in range(self.plan.gateways):
            folder = self.folder / f"gateway{number}"
            folder.mkdir(mode=0o700)
            config = folder / "postroom.yaml"
            config.write_text(json.dumps(self._configuration(proxy, port, store, folder / "state")))
            config.chmod(0o600)
            command = (sys.executable, "-c", _PROGRAM, "serve", "--config", str(config))
            gateways.append(Program(*command, environment=self._environment))
        try:
            for gateway in gateways:
                await gateway.start()
            yield gateways
        finally:
            for gateway in gateways:
                await gateway.stop()

    @property
    def _environment(self) -> dict[str, str]:
        return {_variable(user): secret_of(user) for user in self.users}

    def _configuration(self, proxy: Proxy, port: int, store: str, state: Path) -> dict[str, Any]:
        imap = {"host": "127.0.0.1", "port": proxy.port, "tls": "none", "password": PASSWORD}
        mailboxes = [
            {"name": user, "imap": imap | {"username": user}, "watch": ["INBOX"], "webhooks": [_hook(user, port)]}
            for user in self.users
        ]
        return {"server": {"listen": "127.0.0.1:0"}, "state_dir": str(state), "store": store, "mailboxes": mailboxes}

    async def watching(self, port: int) -> None:
        """Until a first message of every mailbox was told: what came before the first look is nobody's news."""
        for _ in range(120):
            told = {user for user, _ in self.told()}
            if told >= set(self.users):
                return
            for user in set(self.users) - told:
                await asyncio.to_thread(self.dovecot.deliver, user, [message(0)])
                self.report.arrivals += 1
            await asyncio.sleep(0.5)
        raise RuntimeError(f"nothing is told at port {port}")

    async def _deliver(self, chance: random.Random) -> None:
        left = self.plan.arrivals
        while left > 0:
            count = min(left, chance.randint(1, 40))
            messages = [message(number) for number in range(count)]
            await asyncio.to_thread(self.dovecot.deliver, chance.choice(self.users), messages)
            self.report.arrivals += count
            left -= count
            await asyncio.sleep(chance.random())

    async def _deaths(self, chance: random.Random, proxy: Proxy, receiver: Program, gateways: list[Program]) -> None:
        async def cut() -> None:
            proxy.cut()

        async def database() -> None:
            if self.postgresql is not None:
                await asyncio.to_thread(self.postgresql.kill)
                await asyncio.sleep(chance.random())
                await asyncio.to_thread(self.postgresql.start)

        ways: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {
            "gateway": lambda: chance.choice(gateways).kill(chance.random()),
            "imap": cut,
            "receiver": lambda: receiver.kill(chance.random()),
            **({"postgresql": database} if self.postgresql is not None else {}),
        }
        while True:
            await asyncio.sleep(chance.uniform(*self.plan.calm))
            what = chance.choice(list(ways))
            if what == "receiver" and self.report.deaths[what] >= self.plan.receiver_deaths:
                continue
            self.report.deaths[what] += 1
            await asyncio.shield(ways[what]())

    async def settled(self) -> None:
        """Until everything was told, or nothing has come for as long as the longest rest between two attempts."""
        deadline, pause = time.monotonic() + self.plan.patience, 0.2
        while self._left() and time.monotonic() < deadline:
            await asyncio.sleep(pause)
            pause = min(_SETTLED, pause * 1.5)

    def _left(self) -> int:
        return len(self.owed() - set(self.told()))

    def owed(self) -> set[tuple[str, str]]:
        """What lies there and must be told: all from the first that was, since what is older is nobody's news."""
        told = self.told()
        first = {user: min(_order(one) for one in told if one[0] == user) for user in self.users}
        return {one for one in self._there() if _order(one) >= first[one[0]]}

    def _there(self) -> set[tuple[str, str]]:
        """What lies in the mailboxes: user and uid as events give it."""
        found = set()
        for user in self.users:
            with self.dovecot.login(user) as client:
                client.select("INBOX", readonly=True)
                validity = client.response("UIDVALIDITY")[1][0].decode()
                uids = client.uid("SEARCH", "ALL")[1][0].split()
                found |= {(user, f"{uid.decode()}-{validity}") for uid in uids}
        return found

    def _lines(self) -> list[list[str]]:
        if not self._log.exists():
            return []
        return [line.split(" ", 3) for line in self._log.read_text().split("\n")[:-1]]

    def told(self) -> dict[tuple[str, str], set[str]]:
        """Event ids by user and uid."""
        told = defaultdict[tuple[str, str], set[str]](set)
        for name, _, _, body in self._lines():
            data = json.loads(body)["data"]
            told[data["mailbox"], data["uid"]].add(name)
        return told

    def count(self) -> None:
        report, told, bodies = self.report, self.told(), defaultdict[str, set[str]](set)
        lines = self._lines()
        for name, digest, verdict, _ in lines:
            bodies[name].add(digest)
            report.forged += verdict != "signed"
        there = self.owed()
        report.arrivals, report.posts, report.events = len(there), len(lines), len(bodies)
        report.missing = sorted("/".join(one) for one in there - told.keys())
        report.twice = sorted("/".join(one) for one, names in told.items() if len(names) > 1)
        report.reworded = sorted(name for name, digests in bodies.items() if len(digests) > 1)


def _variable(user: str) -> str:
    return f"SOAK_{user.upper()}"


def _hook(user: str, port: int) -> dict[str, Any]:
    return {
        "name": "soak",
        "url": f"http://127.0.0.1:{port}/{user}",
        "secret_env": _variable(user),
        "events": ["message.received"],
        "unbound": True,
        "ports": [port],
        "allow_private": ["127.0.0.1/32"],
    }


def _order(one: tuple[str, str]) -> int:
    return int(one[1].partition("-")[0])


def message(number: int) -> bytes:
    """One that is new in every mailbox."""
    head = f"From: a@x.example\r\nSubject: {number}\r\nMessage-ID: <{random.random()}@x.example>\r\n\r\n"
    return f"{head}Hello.\r\n".encode()
