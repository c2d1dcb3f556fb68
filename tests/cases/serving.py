"""Cases put onto servers: Dovecot where it keeps the octets, the scripted player where it would mend them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from tests.cases.case import Case
from tests.servers.dovecot import PASSWORD, Dovecot
from tests.servers.gateway import Gateway, running_gateway
from tests.servers.player import ImapPlayer

_MENDED = re.compile(rb"\x00|(?<!\r)\n|\r(?!\n)")
"""What an APPEND over IMAP changes: NUL and line ends that are not CRLF."""
_OVER_MCP = "-over-mcp"
_DEFAULT_DATE = "04-Mar-2026 10:00:00 +0000"


@dataclass(frozen=True)
class Served:
    """A gateway with one mailbox a case, named like it, and the players behind some of them by mailbox."""

    gateway: Gateway
    players: Mapping[str, ImapPlayer]
    state_dir: Path


@contextlib.contextmanager
def served(cases: Sequence[Case], dovecot: Dovecot, folder: Path) -> Iterator[Served]:
    with contextlib.ExitStack() as stack:
        players: dict[str, ImapPlayer] = {}
        for case in cases:
            script = _script(case, folder / case.id)
            if script is not None:
                for name in (case.id, over_mcp(case)):
                    players[name] = stack.enter_context(ImapPlayer(str(script)))
            else:
                dates = [_internal_date(case)] * len(case.raw_messages)
                dovecot.deliver(case.id, case.raw_messages, dates=dates)
        names = [case.id for case in cases] + [name for name in players if name.endswith(_OVER_MCP)]
        mailboxes = "".join(
            f"  - name: {name}\n    imap: {{host: 127.0.0.1, tls: none, username: {name}, "
            f"password: {PASSWORD}, port: {players[name].port if name in players else dovecot.port}}}\n"
            for name in names
        )
        tokens = {"all": ("read, organize, delete", ", ".join(names))}
        limits = "limits: {connect_seconds: 5, command_seconds: 20}"
        gateway = stack.enter_context(running_gateway(folder, mailboxes, tokens, limits))
        yield Served(gateway, players, folder / "state")


def over_mcp(case: Case) -> str:
    """The mailbox of a scripted case for its calls over MCP: its server has not heard those over HTTP."""
    return f"{case.id}{_OVER_MCP}"


def _script(case: Case, folder: Path) -> Path | None:
    """The folder of an imap.txt: the case's own, or one made for messages that Dovecot would change."""
    if case.kind == "imap":
        return case.folder
    if case.kind == "request":
        folder.mkdir()
        (folder / "imap.txt").write_text('MAILBOX "Work" uidvalidity=3 uidnext=1\n')
        return folder
    if not any(_MENDED.search(raw) for raw in case.raw_messages):
        return None
    folder.mkdir()
    lines = [f'MAILBOX "INBOX" uidvalidity=17 uidnext={len(case.raw_messages) + 1}']
    for number, raw in enumerate(case.raw_messages, 1):
        (folder / f"{number}.eml").write_bytes(raw)
        lines.append(f'MSG "INBOX" uid={number} subject="Case" file={number}.eml')
    (folder / "imap.txt").write_text("\n".join(lines) + "\n")
    return folder


def _internal_date(case: Case) -> str:
    given = case.expect.get("context", {}).get("internaldate")
    if given is None:
        return _DEFAULT_DATE
    return datetime.fromisoformat(given.replace("Z", "+00:00")).strftime("%d-%b-%Y %H:%M:%S +0000")
