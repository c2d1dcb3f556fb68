"""A mail server with sample mail and the gateway before it, in one process: for a first look and nothing else."""

from __future__ import annotations

import asyncio
import errno
import secrets
import socket
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from postroom.base.clock import SystemClock
from postroom.base.secret import Secret
from postroom.base.token import mint
from postroom.demo.configuration import TOKENS, addresses, configuration
from postroom.demo.samples import samples
from postroom.demo.servers import HOST, mail_servers
from postroom.demo.welcome import as_line, as_page


def run(port: int, as_json: bool) -> None:
    """Run the demonstration until Ctrl-C or SIGTERM; port 0 takes a free one.

    When the gateway answers, a page for people is printed, or with `as_json` exactly one line of JSON. Everything is
    kept in memory and in a temporary folder that goes with it. SystemExit if the port is taken.
    """
    from postroom.app import run as run_program  # noqa: PLC0415 - servers and samples are of use without it

    with _claimed(port) as listener, TemporaryDirectory(prefix="postroom-demo-") as folder:
        run_program(_demonstrate(listener, as_json, Path(folder)))


async def _demonstrate(listener: socket.socket, as_json: bool, state: Path) -> None:
    from postroom.app import running, stop_on_signals  # noqa: PLC0415 - servers and samples are of use without it

    stop, clock = asyncio.Event(), SystemClock()
    stop_on_signals(stop)
    password = Secret(secrets.token_urlsafe())
    tokens = {name: mint().text for name in TOKENS}
    known = addresses()
    async with mail_servers(known, password, samples(clock.now()), clock) as servers:
        config = configuration(listener.getsockname()[1], servers, password=password, tokens=tokens, state=state)
        async with running(config, clock=clock, listener=listener) as gateway:
            print((as_line if as_json else as_page)(gateway.url, tokens, list(known)), flush=True)
            await stop.wait()


def _claimed(port: int) -> socket.socket:
    """A socket at that port, or at a free one for 0, held until the gateway listens; SystemExit if it is taken."""
    from postroom.surfaces.serving import bind  # noqa: PLC0415 - servers and samples are of use without it

    try:
        return bind(HOST, port)
    except OSError as failure:
        reason = "is in use" if failure.errno == errno.EADDRINUSE else "cannot be used"
        sys.exit(f"Port {port} {reason}; --port 0 takes a free one (make demo ARGS='--port 0')")
