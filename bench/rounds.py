"""Floor and product by turns, in a shuffled order each round: what else the machine does meets both alike."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bench.clients import Http
from bench.corpus import Places
from bench.disk import Disk
from bench.floor import Floor
from bench.jobs import WITHOUT_MAIL, Job
from bench.servers import SMALL_USERS, Gateway, MailServer

_MOST_CALLS = 100
"""Calls of one side in one round."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure: rounds for each job, and seconds for each side in a round."""

    rounds: int = 15
    seconds: float = 0.3


@dataclass(frozen=True, slots=True)
class Outcome:
    """Medians in milliseconds over all calls of one job; no floor where the job has none."""

    job: Job
    postroom: float
    slow: float
    """What one call in twenty of the product took longer than."""
    floor: float | None
    call: float = 0.0
    """One that needs no mail, where the job's parts are looked at."""
    commit: float = 0.0
    """One of the disk's own."""

    @property
    def least(self) -> float:
        """Milliseconds for what no skill can save: a call, the commits before its answer, and the floor itself."""
        return self.call + (self.job.commits or 0) * self.commit + (self.floor or 0.0)

    @property
    def value(self) -> float:
        """What the job's bound is about."""
        return self.postroom / self.floor if self.floor else self.postroom

    @property
    def good(self) -> bool:
        return self.job.at_most is None or self.value <= self.job.at_most


def measure(job: Job, server: MailServer, gateway: Gateway, effort: Effort) -> Outcome:
    """Run one job. Raises `RuntimeError` if an answer is not what was asked for."""
    floor = Floor(server.port, server.smtp_port, server.large, server.small, SMALL_USERS)
    http, places = Http(gateway.port, gateway.relay if job.relay else gateway.token), Places(server.large)
    whole, single, disk = Http(gateway.port, gateway.token), Http(gateway.port, gateway.single), Disk()
    try:
        _check(job, job.ask(http, places))
        sides: dict[str, Callable[[], object]] = {"postroom": lambda: job.ask(http, places)}
        if job.floor is not None:
            raw = job.floor
            sides["floor"] = lambda: raw(floor)
        if job.beside is not None:
            beside = job.beside
            sides["floor"] = lambda: beside(whole, places)
        if job.commits is not None:
            sides |= {"call": lambda: WITHOUT_MAIL(single, places), "commit": disk.commit}
        taken = _taken(sides, effort)
    finally:
        floor.close()
        http.close()
        whole.close()
        single.close()
        disk.close()
    median = {side: quantile(times, 0.5) for side, times in taken.items()}
    slow, parts = quantile(taken["postroom"], 0.95), (median.get("call", 0.0), median.get("commit", 0.0))
    return Outcome(job, median["postroom"], slow, median.get("floor"), *parts)


def _taken(sides: Mapping[str, Callable[[], object]], effort: Effort) -> dict[str, list[float]]:
    """Milliseconds of each call of each side."""
    chance = random.Random(effort.rounds)
    calls = {side: _calls(run, effort.seconds) for side, run in sides.items()}
    taken: dict[str, list[float]] = {side: [] for side in sides}
    for _ in range(effort.rounds):
        for side in chance.sample(list(sides), len(sides)):
            taken[side] += [_timed(sides[side]) for _ in range(calls[side])]
    return taken


def _calls(run: Callable[[], object], seconds: float) -> int:
    """How often to call in one round, after the first calls that warm everything up."""
    first = min(_timed(run) for _ in range(3))
    return max(1, min(_MOST_CALLS, int(1_000 * seconds / first)))


def _timed(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return 1_000 * (time.perf_counter() - started)


def quantile(values: list[float], share: float) -> float:
    """The value that this share of all values stays under."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def _check(job: Job, answer: bytes) -> None:
    rows = answer.count(b'"uid":')
    if rows < job.rows:
        raise RuntimeError(f"{job.name}: {rows} messages instead of {job.rows}: {answer[:300]!r}")
