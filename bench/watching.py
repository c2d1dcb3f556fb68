"""`python -m bench.watching`: what many watched mailboxes cost one process: memory, time, connections."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import sys
import tempfile
import threading
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bench import report
from bench.clients import Http
from bench.floor import PASSWORD
from bench.servers import Gateway, configured, free_port, process, program
from postroom.base.token import mint, token_hash
from tests.servers.certificates import make_certificate

MANY = 1_000
_FEW = 20
AT_MOST_KB = 60.0
_WAITERS = 200
_PATIENCE = 180.0
_SETTLED = 170.0
"""Seconds after which what was opened for the first look is closed again."""
_CALM = 30.0
"""Seconds over which an idle process is looked at."""
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": "131072"}
"""What docs/deployment.md says of the C library's memory, and the unit and the image set."""


@dataclass(frozen=True, slots=True)
class Watched:
    """Of one gateway."""

    mailboxes: int
    kilobytes: float
    """For each mailbox beyond the first few, over TLS."""
    cpu: float
    """Share of a core, in percent, while nothing happens."""
    connections: int
    one_waiting: int
    """Connections while one call waits in one of them."""
    all_waiting: int
    """Connections while many do."""


def watched(folder: Path, many: int = MANY, allocator: Mapping[str, str] = ALLOCATOR) -> Watched:
    """Watch a few mailboxes, then many, each with a webhook of its own."""
    with _mail_server(folder) as (port, certificate):
        small = _measured(folder / "few", port, certificate, _FEW, allocator)
        large = _measured(folder / "many", port, certificate, many, allocator)
    return replace(large, kilobytes=(large.kilobytes - small.kilobytes) / (many - _FEW))


def table(seen: Watched) -> str:
    """Markdown."""
    crowd = seen.all_waiting - seen.one_waiting
    rows = [
        ("what", "measured", "aim"),
        ("---", "--:", "--:"),
        ("resident memory for each", f"{seen.kilobytes:.0f} kB", f"{AT_MOST_KB:.0f} kB"),
        ("connections", f"{seen.connections:,}", f"{seen.mailboxes:,}"),
        ("more of them while one call waits in one mailbox", f"{seen.one_waiting - seen.connections}", ""),
        (f"and more again while {_WAITERS} calls wait there", f"{crowd}", "0"),
        ("of one core, while nothing happens", f"{seen.cpu:.1f} %", ""),
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


@contextlib.contextmanager
def _mail_server(folder: Path) -> Iterator[tuple[int, Path]]:
    """Dovecot that wants TLS and takes thousands of connections; mailboxes are empty and made when asked for."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    certificate, key, _ = make_certificate(folder)
    more = f"""
        ssl = required
        ssl_cert = <{certificate}
        ssl_key = <{key}
        service imap-login {{
          service_count = 0
          process_min_avail = 2
          client_limit = 4000
          vsz_limit = 1 G
        }}
        service imap {{
          process_limit = 4000
        }}
        service anvil {{
          client_limit = 10000
        }}
        service auth {{
          client_limit = 10000
        }}
    """
    port = free_port()
    with process([program(), "-F", "-c", str(configured(folder, port, more))], port):
        yield port, certificate


def _measured(folder: Path, port: int, certificate: Path, count: int, allocator: Mapping[str, str]) -> Watched:
    """`kilobytes` are those of the whole process."""
    with _gateway(folder, port, certificate, count, allocator) as running:
        _await(lambda: _connections(running.pid, port) >= count, f"{count} mailboxes are not watched")
        time.sleep(_SETTLED)
        kilobytes = _kilobytes(running.pid)
        before = _cpu(running.pid)
        time.sleep(_CALM)
        cpu = (_cpu(running.pid) - before) / _CALM * 100
        connections = _connections(running.pid, port)
        with _waiters(running, 1):
            one_waiting = _connections(running.pid, port)
        with _waiters(running, _WAITERS):
            all_waiting = _connections(running.pid, port)
    return Watched(count, kilobytes, cpu, connections, one_waiting, all_waiting)


@contextlib.contextmanager
def _gateway(folder: Path, port: int, certificate: Path, count: int, allocator: Mapping[str, str]) -> Iterator[Gateway]:
    own, token = free_port(), mint().text.reveal()
    folder.mkdir(parents=True)
    config = folder / "postroom.yaml"
    names = [f"m{number:04}" for number in range(count)]
    tokens = [{"name": "bench", "token_hash": token_hash(token), "scopes": ["read"], "mailboxes": names}]
    settings = {
        "server": {"listen": f"127.0.0.1:{own}"},
        "state_dir": str(folder / "state"),
        "limits": {"connect_seconds": 60},
        "mailboxes": [_mailbox(name, port, certificate) for name in names],
        "tokens": tokens,
    }
    config.write_text(json.dumps(settings))
    config.chmod(0o600)
    secrets = {_variable(name): f"whsec_{b64encode(hashlib.sha256(name.encode()).digest()).decode()}" for name in names}
    command = [sys.executable, "-m", "bench.unhurried", "serve", "--config", str(config)]
    with process(command, own, {**secrets, **allocator}) as pid:
        yield Gateway(own, token, "", "", pid)


def _mailbox(name: str, port: int, certificate: Path) -> dict[str, Any]:
    imap = {"host": "127.0.0.1", "port": port, "tls": "starttls", "username": name, "password": PASSWORD}
    hook = {
        "name": "bench",
        "url": "http://127.0.0.1:9/",
        "secret_env": _variable(name),
        "events": ["message.received"],
        "unbound": True,
        "ports": [9],
        "allow_private": ["127.0.0.1/32"],
    }
    return {"name": name, "imap": imap | {"ca_file": str(certificate)}, "watch": ["INBOX"], "webhooks": [hook]}


def _variable(name: str) -> str:
    return f"BENCH_{name.upper()}"


@contextlib.contextmanager
def _waiters(running: Gateway, count: int) -> Iterator[None]:
    """So many calls wait for mail in the first mailbox."""
    with contextlib.closing(Http(running.port, running.token)) as http:
        cursor = json.loads(http.get("/inbox?mailbox=m0000&checkpoint=true&limit=1"))["cursor"]
    path = f"/inbox?mailbox=m0000&wait_seconds=20&since_cursor={quote(cursor)}"
    began = threading.Barrier(count + 1)

    def wait() -> None:
        with contextlib.closing(Http(running.port, running.token)) as http:
            began.wait()
            http.get(path)

    threads = [threading.Thread(target=wait) for _ in range(count)]
    for thread in threads:
        thread.start()
    began.wait()
    time.sleep(10)
    try:
        yield
    finally:
        for thread in threads:
            thread.join(timeout=_PATIENCE)


def _connections(pid: int, port: int) -> int:
    """How many of its sockets are connected to the port (proc_net_tcp(5))."""
    inodes = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            inodes.add(os.readlink(entry))
    lines = Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]
    rows = [line.split() for line in lines]
    return sum(row[2].endswith(f":{port:04X}") and row[3] == "01" and f"socket:[{row[9]}]" in inodes for row in rows)


def _kilobytes(pid: int) -> float:
    return int(Path(f"/proc/{pid}/status").read_text().partition("VmRSS:")[2].split()[0])


def _cpu(pid: int) -> float:
    """Seconds that the process has computed."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _await(true: Any, words: str) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not true():
        if time.monotonic() > deadline:
            raise RuntimeError(words)
        time.sleep(0.2)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="bench.watching", description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=MANY, help="mailboxes")
    parser.add_argument("--plain", action="store_true", help="with the C library's own thresholds of memory")
    parser.add_argument("--write", action="store_true", help="write it to docs/performance.md")
    parser.add_argument("--machine", default="", help="the machine in words, for --write")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        shown = table(watched(Path(place), asked.count, {} if asked.plain else ALLOCATOR))
    print(shown)
    if asked.write:
        setting = "" if asked.plain else " ".join(f"`{name}={value}`" for name, value in ALLOCATOR.items())
        more = f"With {setting}, as the systemd unit and the image set it." if setting else ""
        report.write({report.WATCHED: report.watched(shown, asked.machine or report.machine(), more)})


if __name__ == "__main__":
    main()
