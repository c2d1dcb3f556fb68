"""The program as an operator starts it: `postroom serve` with a configuration file, before a real Dovecot."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from postroom.base.token import mint, token_hash
from tests.servers.dovecot import PASSWORD, Dovecot
from tests.servers.mail import plain
from tests.servers.ports import free_port


def configured(folder: Path, dovecot: Dovecot, user: str) -> tuple[Path, str, str]:
    """A configuration with every way to reach Dovecot, a token, and the gateway's address."""
    token, port = mint().text.reveal(), free_port()
    (folder / "mail.pw").write_text(f"{PASSWORD}\n")
    (folder / "mail.pw").chmod(0o600)
    pin = f"certificate_sha256: {dovecot.pin}"
    login = f"host: 127.0.0.1, username: {user}, password_file: mail.pw"
    path = folder / "postroom.yaml"
    path.write_text(
        f"server: {{listen: '127.0.0.1:{port}'}}\n"
        "mailboxes:\n"
        f"  - {{name: clear, imap: {{{login}, port: {dovecot.port}, tls: none}}}}\n"
        f"  - {{name: authority, imap: {{{login}, port: {dovecot.tls_port}, ca_file: {dovecot.certificate}}}}}\n"
        f"  - {{name: pinned, imap: {{{login}, port: {dovecot.port}, tls: starttls, {pin}}}}}\n"
        f"  - {{name: wrong, imap: {{{login}, port: {dovecot.tls_port}, certificate_sha256: {'0' * 64}}}}}\n"
        "tokens:\n"
        f"  - {{name: all, token_hash: '{token_hash(token)}', scopes: [read, admin],"
        " mailboxes: [clear, authority, pinned, wrong]}\n"
    )
    path.chmod(0o600)
    return path, token, f"http://127.0.0.1:{port}"


@contextmanager
def served(config: Path, url: str) -> Iterator[subprocess.Popen[str]]:
    command = [str(Path(sys.executable).with_name("postroom")), "serve", "--config", str(config)]
    environment = {name: value for name, value in os.environ.items() if name != "POSTROOM_CONFIG"}
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        started = json.loads(process.stderr.readline())
        assert (started["event"], started["listen"]) == ("gateway.started", url)
        yield process
    finally:
        process.kill()
        process.communicate()


def test_the_program_serves_mail_over_every_kind_of_connection_and_ends_when_told(
    tmp_path: Path, dovecot: Dovecot
) -> None:
    dovecot.deliver("served", [plain("Served")])
    config, token, url = configured(tmp_path, dovecot, "served")
    headers = {"Authorization": f"Bearer {token}"}
    with served(config, url) as process, httpx2.Client(base_url=url, headers=headers) as ask:
        for mailbox in ("clear", "authority", "pinned"):
            (row,) = ask.get(f"/mailboxes/{mailbox}/messages").json()["messages"]
            assert ask.get(f"/mailboxes/{mailbox}/messages/{row['uid']}").json()["text"] == "Hello.\n"
        refused: dict[str, Any] = ask.get("/mailboxes/wrong/messages").json()
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=20)
        assert process.stderr is not None
        log = process.stderr.read()
    assert refused["error"]["details"]["reason"] == "tls"
    assert dovecot.pin in refused["error"]["message"]
    assert process.returncode == 0
    assert '"reason":"tls"' in log.replace(" ", "")
    assert PASSWORD not in log
    assert token not in log
