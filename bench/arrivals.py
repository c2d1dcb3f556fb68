"""How long after the mail server's own word new mail reaches a webhook's receiver and a waiting call."""

from __future__ import annotations

import contextlib
import http.server
import json
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from urllib.parse import quote

from bench.clients import Http
from bench.corpus import Corpus, Sent
from bench.floor import Imap
from bench.servers import Gateway, Hook, MailServer, free_port, gateway

AT_MOST = 50.0
"""Milliseconds after the raw IDLE line, for 95 of 100 arrivals."""
ARRIVALS = 200
_USER = "u05"
_PATIENCE = 45.0
"""Seconds: where inotify tells Dovecot nothing, it looks by itself after half a minute."""
_MOST_BEFORE = 20
_CALM = 2.0
"""Seconds in which everything is told of a message, when nothing else happens."""


@dataclass(frozen=True, slots=True)
class Delay:
    """Milliseconds after the raw IDLE line; below nothing where the product was told first."""

    what: str
    median: float
    slow: float
    """95 of 100 are under it."""

    @property
    def good(self) -> bool:
        return self.slow <= AT_MOST


@dataclass(slots=True)
class Seen:
    """When each arrival was noticed, in order, and by whom."""

    who: str
    times: list[float] = field(default_factory=list)
    _more: threading.Condition = field(default_factory=threading.Condition)

    def now(self) -> None:
        with self._more:
            self.times.append(time.perf_counter())
            self._more.notify_all()

    def wait_for(self, count: int) -> None:
        with self._more:
            if not self._more.wait_for(lambda: len(self.times) >= count, _PATIENCE):
                raise RuntimeError(f"{self.who} has not noticed arrival {count} in {_PATIENCE:.0f} s")


def delays(server: MailServer, folder: Path, arrivals: int = ARRIVALS) -> list[Delay]:
    """Deliver mail one by one, and see when a raw IDLE, a receiver and a waiting call notice each."""
    posted, answered, told = Seen("the receiver"), Seen("the waiting call"), Seen("the raw IDLE")
    with (
        _receiver(posted) as hook,
        gateway(folder, server, hook=hook) as running,
        _idling(server, told),
        _waiting(running, answered),
    ):
        with Imap(server.port, _USER) as mail:
            messages = _messages(arrivals + _MOST_BEFORE)
            _warm_up(mail, messages, (told, posted, answered))
            for number, message in enumerate(islice(messages, arrivals), 1):
                mail.append([message])
                for seen in (told, posted, answered):
                    seen.wait_for(number)
        _remove(server)
    return [
        _delay("a webhook's receiver has it", posted, told),
        _delay("a waiting inbox call is answered", answered, told),
    ]


def _warm_up(mail: Imap, messages: Iterator[Sent], all_seen: Sequence[Seen]) -> None:
    """Until everybody is listening: what was there before the first look is nobody's news."""
    for message in islice(messages, _MOST_BEFORE):
        mail.append([message])
        time.sleep(_CALM)
        if all(seen.times for seen in all_seen):
            break
    for seen in all_seen:
        seen.times.clear()


def _delay(what: str, seen: Seen, told: Seen) -> Delay:
    late = sorted((one - line) * 1000 for one, line in zip(seen.times, told.times, strict=True))
    return Delay(what, statistics.median(late), late[int(len(late) * 0.95)])


def _messages(count: int) -> Iterator[Sent]:
    return Corpus(_USER, count).messages()


@contextlib.contextmanager
def _receiver(seen: Seen) -> Iterator[Hook]:
    """A receiver that takes everything at once."""

    class Receiver(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.now()
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing."""

    port = free_port()
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), Receiver) as listening:
        thread = threading.Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        try:
            yield Hook(_USER, port)
        finally:
            listening.shutdown()
            thread.join()


@contextlib.contextmanager
def _idling(server: MailServer, seen: Seen) -> Iterator[None]:
    """The floor: a socket in IDLE that reads the EXISTS line."""
    with Imap(server.port, _USER) as mail:
        mail.send(b"IDLE")

        def listen() -> None:
            with contextlib.suppress(OSError, ValueError):
                for line in mail.lines():
                    if line.endswith(b" EXISTS"):
                        seen.now()

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                mail.hang_up()
            thread.join(timeout=_PATIENCE)


@contextlib.contextmanager
def _waiting(running: Gateway, seen: Seen) -> Iterator[None]:
    """A caller that asks again as soon as it was answered."""
    ended = threading.Event()
    asking = Http(running.port, running.token)
    cursor = json.loads(asking.get(f"/inbox?mailbox={_USER}&checkpoint=true&limit=1"))["cursor"]

    def ask(cursor: str) -> None:
        with contextlib.suppress(OSError, EOFError):
            while not ended.is_set():
                path = f"/inbox?mailbox={_USER}&wait_seconds=5&since_cursor={quote(cursor)}"
                answer = json.loads(asking.get(path))
                cursor = answer["cursor"]
                for _ in answer["messages"]:
                    seen.now()

    thread = threading.Thread(target=ask, args=(cursor,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(timeout=_PATIENCE)
        asking.close()


def _remove(server: MailServer) -> None:
    """What was delivered here: the next run finds the mail as it was made."""
    with Imap(server.port, _USER) as mail:
        mail.run(b"UID STORE %d:* +FLAGS.SILENT (\\Deleted)" % (server.small + 1))
        mail.run(b"EXPUNGE")
