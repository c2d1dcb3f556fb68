"""From one mailbox's settings to its pool, account and submission: where the parts of the door are put together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress

from postroom.base.clock import Clock
from postroom.base.secret import Secret
from postroom.base.tls import Endpoint
from postroom.config import Credential, CredentialError, ImapConfig, LimitsConfig, MailboxConfig, SmtpConfig
from postroom.imap.admission import Server
from postroom.imap.conversation import Deadlines
from postroom.imap.entrance import Entrances
from postroom.imap.faults import CredentialFault
from postroom.imap.pool import Pool
from postroom.mailbox.account import Account
from postroom.mailbox.entry import Entry
from postroom.mailbox.sentcopy import SentCopies
from postroom.smtp import SmtpFault, Submission, Submitter


def open_mailboxes(mailboxes: Iterable[MailboxConfig], limits: LimitsConfig, clock: Clock) -> list[Entry]:
    """Mailboxes ready for use; nothing is connected before the first call needs it."""
    entrances = Entrances()
    return [_open_mailbox(mailbox, limits, clock, entrances) for mailbox in mailboxes]


def _open_mailbox(settings: MailboxConfig, limits: LimitsConfig, clock: Clock, entrances: Entrances) -> Entry:
    account = submitter = None
    if settings.imap is not None:
        server = imap_server(settings.imap, limits, entrances)
        account = Account(settings.name, Pool(server, clock), settings.folders)
    if settings.smtp is not None:
        submitter = Submitter(smtp_server(settings.smtp, limits), clock)
    copies = None
    if account is not None and settings.smtp is not None:
        copies = SentCopies(account, settings.files_sent_copy, settings.smtp.host)
    return Entry(settings, account, submitter, copies)


def imap_server(imap: ImapConfig, limits: LimitsConfig, entrances: Entrances | None = None) -> Server:
    """Where a mailbox is read, and as whom; mailboxes that share `entrances` log in a few at a time."""
    endpoint = _endpoint(imap)
    return Server(
        endpoint=endpoint,
        username=imap.username,
        auth=imap.auth,
        secret=_secret(imap.credential, CredentialFault),
        deadlines=Deadlines(limits.connect_seconds, limits.command_seconds),
        connections=imap.connections,
        entrance=(entrances or Entrances()).to(endpoint),
    )


def smtp_server(smtp: SmtpConfig, limits: LimitsConfig) -> Submission:
    """Where a mailbox hands over what it sends, and as whom."""
    return Submission(
        endpoint=_endpoint(smtp),
        username=smtp.username,
        auth=smtp.auth,
        secret=_secret(smtp.credential, lambda what: SmtpFault("credential", what)) if smtp.username else None,
        connect_seconds=limits.connect_seconds,
        command_seconds=limits.command_seconds,
    )


async def passwords(mailboxes: Iterable[MailboxConfig]) -> list[str]:
    """The passwords, access tokens and webhooks' secrets that can be had now, so that none of them is ever sent."""
    found: list[str] = []
    for credential in (one for mailbox in mailboxes for one in _credentials(mailbox)):
        with suppress(CredentialError):
            found.append((await credential.reveal()).reveal())
    return found


def _credentials(mailbox: MailboxConfig) -> Iterator[Credential]:
    for server in (mailbox.imap, mailbox.smtp):
        if server is not None and server.credential is not None:
            yield server.credential
    for webhook in mailbox.webhooks:
        yield from webhook.secrets


def _endpoint(server: ImapConfig | SmtpConfig) -> Endpoint:
    ca_file = str(server.ca_file) if server.ca_file else None
    return Endpoint(server.host, server.port, server.tls, ca_file, server.certificate_sha256)


def _secret(credential: Credential | None, fault: Callable[[str], Exception]) -> Callable[[], Awaitable[Secret]]:
    """The reference to a secret as a function that asks for it anew, failing in its caller's terms."""

    async def reveal() -> Secret:
        try:
            if credential is None:
                raise CredentialError("no password or token is configured")
            return await credential.reveal()
        except CredentialError as error:
            raise fault("the password or token cannot be had from where the configuration says") from error

    return reveal
