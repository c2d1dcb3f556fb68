"""A Dovecot of the tests' own: its own configuration and folder, loopback, ports that were free, any user."""

from __future__ import annotations

import contextlib
import imaplib
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path

from tests.servers.certificates import make_certificate
from tests.servers.ports import free_port

PASSWORD = "correct-horse"
STRICT_HOST = "127.0.0.2"
"""Where Dovecot insists on TLS before a login: on 127.0.0.1 it trusts the wire."""
_BASIC = "IMAP4rev1 LITERAL+ IDLE ENABLE NAMESPACE CHILDREN LIST-EXTENDED SPECIAL-USE UNSELECT"
POORER = {"127.0.0.3": f"{_BASIC} UIDPLUS", "127.0.0.4": _BASIC}
"""Where it says that it can do less, but trusts the wire: COPY and UID EXPUNGE, but no MOVE; and then COPY alone."""
_MAIL_ID = 5000
_PATIENCE = 15


@dataclass(frozen=True)
class Dovecot:
    port: int
    tls_port: int
    certificate: Path
    pin: str
    folder: Path

    @contextlib.contextmanager
    def login(self, user: str) -> Iterator[imaplib.IMAP4]:
        """A plain client of the standard library, to put mail there and to look after the product."""
        client = imaplib.IMAP4("127.0.0.1", self.port, timeout=20)
        client.login(user, PASSWORD)
        try:
            yield client
        finally:
            client.logout()

    def deliver(self, user: str, messages: Iterable[bytes], folder: str = "INBOX", dates: Iterable[str] = ()) -> None:
        """Append messages in order; `dates` are INTERNALDATEs such as "03-Mar-2026 09:00:00 +0000"."""
        given = iter(dates)
        with self.login(user) as client:
            for message in messages:
                date = next(given, None)
                status, detail = client.append(folder, "", f'"{date}"' if date else "", message)
                assert status == "OK", detail

    def create(self, user: str, *raw_names: str) -> None:
        with self.login(user) as client:
            for name in raw_names:
                status, detail = client.create(name)
                assert status == "OK", detail


@contextlib.contextmanager
def running_dovecot() -> Iterator[Dovecot]:
    """Up when the block begins, gone with all its files when it ends."""
    program = shutil.which("dovecot") or "/usr/sbin/dovecot"
    assert Path(program).exists(), "Dovecot is not installed: apt-get install dovecot-imapd"
    folder = Path(tempfile.mkdtemp(prefix="postroom-dovecot-"))
    folder.chmod(0o755)
    try:
        server = _configured(folder)
        process = subprocess.Popen([program, "-F", "-c", folder / "dovecot.conf"], stdin=subprocess.DEVNULL)
        try:
            _await_greeting(server, folder)
            yield server
        finally:
            process.terminate()
            process.wait(timeout=_PATIENCE)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _configured(folder: Path) -> Dovecot:
    certificate, key, pin = make_certificate(folder)
    mail = folder / "mail"
    mail.mkdir()
    mail_id = _MAIL_ID if os.getuid() == 0 else os.getuid()
    if os.getuid() == 0:
        os.chown(mail, _MAIL_ID, _MAIL_ID)
    server = Dovecot(free_port(), free_port(), certificate, pin, folder)
    own_user = "" if os.getuid() == 0 else _as_ourselves()
    (folder / "dovecot.conf").write_text(
        f"""
        base_dir = {folder}/run
        state_dir = {folder}/state
        instance_name = postroom-tests
        log_path = {folder}/dovecot.log
        protocols = imap
        listen = 127.0.0.1, {STRICT_HOST}, {", ".join(POORER)}
        mail_location = mdbox:{mail}/%u
        mail_home = {mail}/%u
        mail_uid = {mail_id}
        mail_gid = {mail_id if os.getuid() == 0 else os.getgid()}
        first_valid_uid = 1
        mail_fsync = never
        # The system gives a user 128 inotify instances: without one Dovecot looks itself, and every 30 s is too seldom.
        mailbox_idle_check_interval = 1 secs
        mail_max_userip_connections = 500
        disable_plaintext_auth = yes
        auth_mechanisms = plain login xoauth2 oauthbearer
        ssl = required
        ssl_cert = <{certificate}
        ssl_key = <{key}
        passdb {{
          driver = static
          args = password={PASSWORD}
        }}
        userdb {{
          driver = static
          args = uid={mail_id} gid={mail_id if os.getuid() == 0 else os.getgid()} home={mail}/%u
        }}
        namespace inbox {{
          inbox = yes
          separator = /
          mailbox Drafts {{
            special_use = \\Drafts
            auto = create
          }}
          mailbox Sent {{
            special_use = \\Sent
            auto = create
          }}
          mailbox Trash {{
            special_use = \\Trash
            auto = create
          }}
        }}
        service imap-login {{
          process_limit = 500
          chroot =
          inet_listener imap {{
            port = {server.port}
          }}
          inet_listener imaps {{
            port = {server.tls_port}
            ssl = yes
          }}
        }}
        service imap {{
          process_limit = 500
        }}
        service stats {{
          chroot =
        }}
        default_client_limit = 8000
        {own_user}
        {"".join(starmap(_as_poor_as, POORER.items()))}
        """
    )
    return server


def _as_poor_as(host: str, capabilities: str) -> str:
    return f"""
        local {host} {{
          ssl = yes
          disable_plaintext_auth = no
          protocol imap {{
            imap_capability = {capabilities}
          }}
        }}
    """


def _as_ourselves() -> str:
    """Without root, every Dovecot process runs as the user who runs the tests."""
    user = pwd.getpwuid(os.getuid()).pw_name
    return f"""
        default_internal_user = {user}
        default_login_user = {user}
        default_internal_group = {user}
        service anvil {{
          chroot =
        }}
    """


def _await_greeting(server: Dovecot, folder: Path) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            imaplib.IMAP4("127.0.0.1", server.port, timeout=5).shutdown()
            return
        except OSError:
            if time.monotonic() > deadline:
                log = folder / "dovecot.log"
                raise AssertionError(log.read_text() if log.exists() else "Dovecot did not start") from None
            time.sleep(0.05)
