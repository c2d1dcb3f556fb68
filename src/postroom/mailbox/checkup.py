"""A configuration's mailboxes tried for real, each side of each: what is wrong, what to do, what is offered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from postroom.base.cause import Cause
from postroom.base.certificate import read_certificate
from postroom.base.files import exposure
from postroom.base.refusal import one_line
from postroom.config import CredentialError, ImapConfig, LimitsConfig, MailboxConfig, SmtpConfig
from postroom.config.faults import nearest
from postroom.config.servers import CREDENTIAL_KEYS
from postroom.imap.admission import Server
from postroom.imap.commands import list_folders
from postroom.imap.connection import Connection
from postroom.imap.faults import ImapFault, LoginFault
from postroom.imap.login import Identity
from postroom.imap.opening import inspect_certificate, open_connection
from postroom.mailbox.folders import INBOX, Folder, read_folders
from postroom.mailbox.remedies import CERTIFICATE_CAUSES, Scene, remedy
from postroom.mailbox.wiring import imap_server, smtp_server
from postroom.smtp import SmtpFault

_SPECIAL = ("sent", "drafts", "trash")
_IMAP_EXTENSIONS = ("CONDSTORE", "IDLE", "MOVE", "SPECIAL-USE", "UIDPLUS")
_SMTP_EXTENSIONS = ("8BITMIME", "DSN", "PIPELINING", "SIZE", "SMTPUTF8")
"""Those that the gateway makes use of, or that explain what it can do."""
_MOST_FOLDERS, _LONGEST_FOLDER = 12, 60


@dataclass(frozen=True, slots=True)
class Trouble:
    """One thing that is wrong, what the server said to it (cleaned, or ""), and what to do."""

    what: str
    remedy: str
    said: str = ""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a mailbox, `imap` or `smtp`; it is well if it has no troubles. Warnings cost nothing now."""

    side: str
    address: str
    troubles: tuple[Trouble, ...] = ()
    warnings: tuple[Trouble, ...] = ()
    offers: Mapping[str, bool] = field(default_factory=dict)
    """Extensions of interest, and whether the server has them; empty where that could not be found out."""


@dataclass(frozen=True, slots=True)
class Checkup:
    mailbox: str
    sides: tuple[Side, ...]

    @property
    def well(self) -> bool:
        return not any(side.troubles for side in self.sides)


async def check(mailboxes: Sequence[MailboxConfig], limits: LimitsConfig) -> list[Checkup]:
    """All of them at once, in the configuration's order; nothing is changed and nothing is sent."""
    async with asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(_check(mailbox, limits)) for mailbox in mailboxes]
    return [task.result() for task in running]


async def _check(mailbox: MailboxConfig, limits: LimitsConfig) -> Checkup:
    async with asyncio.TaskGroup() as tasks:
        running = []
        if mailbox.imap is not None:
            running.append(tasks.create_task(_imap(mailbox, mailbox.imap, limits)))
        if mailbox.smtp is not None:
            running.append(tasks.create_task(_smtp(mailbox.smtp, limits)))
    sides = (task.result() for task in running)
    return Checkup(mailbox.name, tuple(_with_exposures(side, getattr(mailbox, side.side)) for side in sides))


def _with_exposures(side: Side, server: ImapConfig | SmtpConfig) -> Side:
    """Warned as well of files with a secret that other users of the machine can read."""
    keys = {f"{side.side}.{key}": getattr(server, key) for key in ("password_file", "token_file")}
    exposed = tuple(
        Trouble(f"other users of this machine can read {key}", f"Run: chmod 600 {file}")
        for key, file in keys.items()
        if file is not None and file.exists() and exposure(file, file.stat())
    )
    return replace(side, warnings=side.warnings + exposed)


async def _imap(mailbox: MailboxConfig, imap: ImapConfig, limits: LimitsConfig) -> Side:
    server, side = imap_server(imap, limits), Side("imap", _address(imap))
    try:
        connection = await _opened(server)
        try:
            listed = await list_folders(connection)
        finally:
            connection.close()
    except ImapFault as fault:
        return replace(side, troubles=(await _imap_trouble(fault, server, imap),))
    overrides = {use: name for use, name in mailbox.folders.model_dump().items() if name}
    folders = await asyncio.to_thread(read_folders, listed, overrides)
    troubles, warnings = _folder_troubles(folders, imap.default_folder, overrides)
    return replace(
        side, troubles=troubles, warnings=warnings, offers=_offers(connection.capabilities, _IMAP_EXTENSIONS)
    )


async def _opened(server: Server) -> Connection:
    secret = await server.secret()
    return await open_connection(server.endpoint, Identity(server.username, secret, server.auth), server.deadlines)


async def _imap_trouble(fault: ImapFault, server: Server, imap: ImapConfig) -> Trouble:
    async def inspect(tls: str) -> bytes:
        return await inspect_certificate(server.endpoint, tls, server.deadlines)

    if fault.reason == "command_refused":
        return Trouble("the server does not list its folders", "Check again; if it stays, ask whoever runs it.")
    said = fault.said if isinstance(fault, LoginFault) else ""
    return await _trouble(fault, said, Scene("imap", server.endpoint, server.auth, _source(imap)), inspect)


async def _smtp(smtp: SmtpConfig, limits: LimitsConfig) -> Side:
    submission, side = smtp_server(smtp, limits), Side("smtp", _address(smtp))
    try:
        offered = await submission.probe()
    except SmtpFault as fault:
        scene = Scene("smtp", submission.endpoint, submission.auth, _source(smtp))
        return replace(side, troubles=(await _trouble(fault, fault.said, scene, submission.inspect_certificate),))
    return replace(side, offers=_offers(offered, _SMTP_EXTENSIONS))


async def _trouble(
    fault: ImapFault | SmtpFault, said: str, scene: Scene, inspect: Callable[[str], Awaitable[bytes]]
) -> Trouble:
    """A fault with its remedy; where only the certificate tells more, it is looked at once more, without a login."""
    cause = fault.cause
    what = str(fault.__cause__) if isinstance(fault.__cause__, CredentialError) else fault.what.partition("; ")[0]
    if scene.endpoint.tls != "ssl" and _mute(fault) and await inspect("ssl"):
        cause, what = Cause.TLS_SPOKEN, "the server speaks TLS from the first byte on this port, and is asked in plain"
    if cause in CERTIFICATE_CAUSES:
        shown = getattr(fault, "certificate", b"") or await inspect(scene.endpoint.tls)
        scene = replace(scene, certificate=read_certificate(shown))
    return Trouble(what, remedy(cause, fault.reason, scene), said)


def _mute(fault: ImapFault | SmtpFault) -> bool:
    """Whether a server that waits for TLS would fail like this."""
    unexplained = fault.cause is None and fault.reason in ("lost", "protocol", "refused")
    return fault.cause is Cause.SILENT or unexplained


def _address(server: ImapConfig | SmtpConfig) -> str:
    host = f"[{server.host}]" if ":" in server.host else server.host
    return f"{host}:{server.port}"


def _source(server: ImapConfig | SmtpConfig) -> str:
    return next((key for key in CREDENTIAL_KEYS if getattr(server, key) is not None), "password")


def _offers(capabilities: Collection[str], of_interest: Sequence[str]) -> Mapping[str, bool]:
    return {name: name in capabilities for name in of_interest}


def _folder_troubles(
    folders: Sequence[Folder], default: str, overrides: Mapping[str, str]
) -> tuple[tuple[Trouble, ...], tuple[Trouble, ...]]:
    """Configured folders that do not exist, and special folders that nobody has named."""
    names = [folder.name for folder in folders if folder.selectable]
    wanted = {"imap.default_folder": INBOX if default.upper() == INBOX else default}
    wanted |= {f"folders.{use}": name for use, name in overrides.items()}
    troubles = tuple(_no_folder(key, name, names) for key, name in wanted.items() if name not in names)
    uses = {folder.special_use for folder in folders} | set(overrides)
    warnings = tuple(
        Trouble(f"no folder is marked or named as {use}", f"Name one as folders.{use}; there are: {_some(names)}.")
        for use in _SPECIAL
        if use not in uses
    )
    return troubles, warnings


def _no_folder(key: str, name: str, names: Sequence[str]) -> Trouble:
    guess = nearest(name, names)
    told = f"{guess} There are: {_some(names)}." if guess else f"There are: {_some(names)}."
    return Trouble(f'there is no folder "{name}"', f"Correct {key}; {told[0].lower()}{told[1:]}")


def _some(names: Sequence[str]) -> str:
    told = [one_line(name, _LONGEST_FOLDER) for name in names[:_MOST_FOLDERS]]
    more = len(names) - len(told)
    return ", ".join(told) + (f" and {more} more" if more else "")
