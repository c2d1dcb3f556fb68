"""`python -m bench.sink PORT`: a mail server that takes whatever is sent and keeps nothing."""

from __future__ import annotations

import sys
import threading

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import Envelope


class Nowhere:
    """Where the mail goes."""

    async def handle_DATA(self, _server: object, _session: object, _envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd's
        return "250 2.0.0 taken"


if __name__ == "__main__":
    Controller(Nowhere(), hostname="127.0.0.1", port=int(sys.argv[1])).start()
    threading.Event().wait()
