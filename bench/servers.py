"""A Dovecot and gateways of the bench's own: on loopback, each in its own process, stopped when the block ends."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from bench.corpus import VERSION, Corpus
from bench.floor import PASSWORD, Imap
from postroom.base.token import mint, token_hash

SMALL_USERS = tuple(f"u{number:02}" for number in range(1, 11))
_MAIL_ID = 5000
"""Whose mail it is if root runs the bench: Dovecot serves no mail of root's."""
_PATIENCE = 30.0
_BATCH = 250
"""Messages that are put into a folder at a time."""
_CONNECTIONS = 4
_SECRET = "POSTROOM_BENCH_HOOK"
_HOOK_SECRET = {_SECRET: f"whsec_{base64.b64encode(bytes(32)).decode()}"}


@dataclass(frozen=True, slots=True)
class MailServer:
    """Dovecot with `large` messages for the user big and `small` for each other, and a server that mail is sent to."""

    port: int
    smtp_port: int
    large: int
    small: int

    @property
    def users(self) -> tuple[str, ...]:
        return ("big", *SMALL_USERS)


@dataclass(frozen=True, slots=True)
class Gateway:
    """A running gateway before all mailboxes, and a token that may read them."""

    port: int
    token: str
    relay: str
    """A relay token for the large mailbox."""
    single: str
    """A token that sees one small mailbox alone."""
    pid: int


@dataclass(frozen=True, slots=True)
class Hook:
    """A mailbox that is watched, and the port of this machine where a receiver is told of its new mail."""

    mailbox: str
    port: int


@contextlib.contextmanager
def mail_server(folder: Path, large: int, small: int) -> Iterator[MailServer]:
    """Mail is made on the first run and kept in `folder`, for as long as the same mail is wanted; no sent mail is."""
    marker, wanted = folder / "filled", f"{VERSION} {large} {small}\n"
    filled = marker.exists() and marker.read_text() == wanted
    if not filled:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    server = MailServer(free_port(), free_port(), large, small)
    with (
        process([program(), "-F", "-c", str(configured(folder, server.port))], server.port),
        process([sys.executable, "-m", "bench.sink", str(server.smtp_port)], server.smtp_port),
    ):
        if not filled:
            _fill(server)
            marker.write_text(wanted)
        _empty_sent(server)
        yield server


def _fill(server: MailServer) -> None:
    for user in server.users:
        print(f"making mail for {user} ...", file=sys.stderr)
        messages = Corpus(user, server.large if user == "big" else server.small).messages()
        with Imap(server.port, user) as imap:
            while batch := list(islice(messages, _BATCH)):
                imap.append(batch)


def _empty_sent(server: MailServer) -> None:
    """Without what the run before has sent."""
    for user in server.users:
        with Imap(server.port, user, "Sent") as imap:
            if b"* 0 EXISTS" not in imap.opened:
                imap.run(b"STORE 1:* +FLAGS.SILENT (\\Deleted)")
                imap.run(b"EXPUNGE")


@contextlib.contextmanager
def gateway(folder: Path, server: MailServer, *, caches: bool = True, hook: Hook | None = None) -> Iterator[Gateway]:
    """`postroom serve` with a configuration of its own in `folder`."""
    port, (token, relay, single) = free_port(), (mint().text.reveal() for _ in range(3))
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "postroom.yaml"
    settings = _configuration(port, server, (token, relay, single), folder / "state")
    if hook is not None:
        _add_hook(settings["mailboxes"], hook)
    config.write_text(json.dumps(settings))
    config.chmod(0o600)
    command = [sys.executable, "-m", "bench.unhurried" if caches else "bench.uncached"]
    with process([*command, "serve", "--config", str(config)], port) as pid:
        yield Gateway(port, token, relay, single, pid)


def _configuration(port: int, server: MailServer, tokens: tuple[str, str, str], state: Path) -> dict[str, Any]:
    """YAML can be written as JSON; `tokens` are one for all mailboxes, the relay's, and one for a single mailbox."""
    token, relay, single = tokens
    imap = {"host": "127.0.0.1", "port": server.port, "tls": "none", "password": PASSWORD, "connections": _CONNECTIONS}
    smtp = {"host": "127.0.0.1", "port": server.smtp_port, "tls": "none"}
    return {
        "server": {"listen": f"127.0.0.1:{port}"},
        "state_dir": str(state),
        "limits": {"sends_per_hour": 0},
        "mailboxes": [
            {"name": user, "address": f"{user}@bench.example", "imap": imap | {"username": user}, "smtp": smtp}
            for user in server.users
        ],
        "tokens": [
            {
                "name": "bench",
                "token_hash": token_hash(token),
                "scopes": ["read", "draft", "organize", "delete", "send"],
                "mailboxes": list(server.users),
            },
            {
                "name": "single",
                "token_hash": token_hash(single),
                "scopes": ["read"],
                "mailboxes": list(SMALL_USERS[:1]),
            },
            {
                "name": "relay",
                "token_hash": token_hash(relay),
                "toolset": "relay",
                "user": "ana",
                "mailbox": "big",
                "profile": "desk",
            },
        ],
        "policies": {
            "desk": {
                "folders": {"rules": [{"match": "INBOX", "access": "writable"}]},
                "messages": {
                    "rules": [
                        {"id": "clinic", "match": {"from": ["*@clinic.example"]}, "action": "hide"},
                        {"id": "board", "match": {"subject": "[board]"}, "action": "withhold"},
                        {"id": "old", "match": {"older_than": "9000d"}, "action": "hide"},
                    ]
                },
                "limits": {"requests_per_minute": "6000", "burst": "500", "concurrent": "32"},
            }
        },
        "profiles": {"desk": {"policy": "desk"}},
    }


def _add_hook(mailboxes: list[dict[str, Any]], hook: Hook) -> None:
    """Have the mailbox watched, and its arrivals told at the port."""
    watched = next(one for one in mailboxes if one["name"] == hook.mailbox)
    watched["watch"] = ["INBOX"]
    watched["webhooks"] = [
        {
            "name": "bench",
            "url": f"http://127.0.0.1:{hook.port}/",
            "secret_env": _SECRET,
            "events": ["message.received"],
            "unbound": True,
            "ports": [hook.port],
            "allow_private": ["127.0.0.1/32"],
        }
    ]


@contextlib.contextmanager
def process(command: Sequence[str], port: int, secrets: Mapping[str, str] = _HOOK_SECRET) -> Iterator[int]:
    """Its process id, once it listens; `secrets` are in its environment."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **secrets}
    )
    try:
        _await(port, process)
        yield process.pid
    finally:
        process.terminate()
        process.wait(timeout=_PATIENCE)


def _await(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"{process.args!r} does not run")
        time.sleep(0.05)


def free_port() -> int:
    """Of this machine, where nobody listens now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def program() -> str:
    """Where Dovecot is."""
    found = shutil.which("dovecot") or "/usr/sbin/dovecot"
    if not Path(found).exists():
        raise SystemExit("Dovecot is not installed: apt-get install dovecot-imapd")
    return found


def configured(folder: Path, port: int, more: str = "") -> Path:
    """Dovecot's configuration with `more` at its end; everything it writes lies in `folder`."""
    mail, user = folder / "mail", pwd.getpwuid(os.getuid()).pw_name
    mail.mkdir(exist_ok=True)
    as_root = os.getuid() == 0
    if as_root:
        os.chown(mail, _MAIL_ID, _MAIL_ID)
    mail_id, group_id = (_MAIL_ID, _MAIL_ID) if as_root else (os.getuid(), os.getgid())
    own_user = "" if as_root else f"default_internal_user={user}\ndefault_login_user={user}\n"
    path = folder / "dovecot.conf"
    path.write_text(
        f"""{own_user}
        base_dir = {folder}/run
        state_dir = {folder}/state
        log_path = {folder}/dovecot.log
        instance_name = postroom-bench
        protocols = imap
        listen = 127.0.0.1
        ssl = no
        disable_plaintext_auth = no
        mail_location = mdbox:{mail}/%u
        mail_home = {mail}/%u
        mail_uid = {mail_id}
        mail_gid = {group_id}
        first_valid_uid = 1
        mail_fsync = never
        mdbox_rotate_size = 64M
        mail_max_userip_connections = 500
        passdb {{
          driver = static
          args = password={PASSWORD}
        }}
        userdb {{
          driver = static
          args = uid={mail_id} gid={group_id} home={mail}/%u
        }}
        namespace inbox {{
          inbox = yes
          separator = /
          mailbox Sent {{
            special_use = \\Sent
            auto = create
          }}
        }}
        service imap-login {{
          process_limit = 500
          chroot =
          inet_listener imap {{
            port = {port}
          }}
        }}
        service imap {{
          process_limit = 500
        }}
        service stats {{
          chroot =
        }}
        service anvil {{
          chroot =
        }}
        default_client_limit = 8000
        {more}
        """
    )
    return path
