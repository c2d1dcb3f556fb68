"""`python -m soak.receiver PORT FILE`: a receiver that writes down what it was told before it says so.

It may be killed at any time. A line of FILE is an id, the SHA-256 of the body, whether the signature is right, and the
body itself.
"""

from __future__ import annotations

import base64
import hashlib
import http.server
import os
import sys
from typing import Any

from standardwebhooks.webhooks import Webhook, WebhookVerificationError


def secret_of(mailbox: str) -> str:
    """The secret of the endpoint of this mailbox; nobody but these programs needs it."""
    return f"whsec_{base64.b64encode(hashlib.sha256(mailbox.encode()).digest()).decode()}"


def receiver(path: str) -> type[http.server.BaseHTTPRequestHandler]:
    """A handler that appends to the file at `path`; the path of a request is the mailbox."""
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    class Receiver(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            verdict = _judged(secret_of(self.path.strip("/")), body, self.headers)
            line = " ".join((self.headers["webhook-id"], hashlib.sha256(body).hexdigest(), verdict, body.decode()))
            os.write(log, f"{line}\n".encode())  # in one piece, or lines that are written at once would mix
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing."""

    return Receiver


def _judged(secret: str, body: bytes, headers: Any) -> str:
    try:
        Webhook(secret).verify(body, dict(headers.items()))
    except WebhookVerificationError:
        return "forged"
    return "signed"


if __name__ == "__main__":
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), receiver(sys.argv[2])).serve_forever()
