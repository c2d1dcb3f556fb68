"""What is counted of a running gateway, for a monitor: numbers by words of closed sets, nothing of mail or people."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

CONTENT_TYPE = CONTENT_TYPE_LATEST
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
"""Upper ends of the classes that the time of calls is counted in."""


class Meters:
    """One for the process; whoever counts gets it as an argument."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._calls = Counter(
            "postroom_calls", "Calls, by how they ended.", ("tool", "surface", "outcome"), registry=self._registry
        )
        self._seconds = Histogram(
            "postroom_call_seconds", "Time of calls.", ("surface",), buckets=_SECONDS, registry=self._registry
        )
        self._turned_away = Counter(
            "postroom_requests_turned_away", "Requests answered 503 for overload.", registry=self._registry
        )
        self._posts = Counter(
            "postroom_posts", "Attempts to tell webhooks, by how they ended.", ("outcome",), registry=self._registry
        )

    def call(self, tool: str, surface: str, outcome: str, seconds: float) -> None:
        """A call ended: `ok`, the code of its error, or `cancelled`."""
        self._calls.labels(tool, surface, outcome).inc()
        self._seconds.labels(surface).observe(seconds)

    def turned_away(self) -> None:
        """A request came when there was no room for it."""
        self._turned_away.inc()

    def post(self, outcome: str) -> None:
        """An attempt to tell an endpoint ended: it was `taken`, `refused`, or `unanswered`."""
        self._posts.labels(outcome).inc()

    def watch(self, name: str, words: str, read: Callable[[], float]) -> None:
        """Ask for a number whenever somebody looks, such as the length of a queue; `read` must not fail or wait."""
        Gauge(f"postroom_{name}", words, registry=self._registry).set_function(read)

    def exposition(self) -> bytes:
        """Everything, in the text format of Prometheus."""
        return generate_latest(self._registry)
