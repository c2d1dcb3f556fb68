"""From a caller and a name to a view; what a caller may not use does not exist for it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

from postroom.base.caller import Binding, Caller
from postroom.base.clock import Clock
from postroom.base.errors import Code, GatewayError, not_found
from postroom.base.logs import Log
from postroom.base.seal import Seal
from postroom.config import MailboxConfig
from postroom.mail.query.tree import Query
from postroom.mailbox.account import Account
from postroom.mailbox.cursors import Cursors
from postroom.mailbox.discretion import discreet
from postroom.mailbox.entry import Entry
from postroom.mailbox.feed import Feed, Means
from postroom.mailbox.folders import folder_name
from postroom.mailbox.health import Health, examine
from postroom.mailbox.judge import Judge
from postroom.mailbox.numbers import Glimpse, Numbers
from postroom.mailbox.outbox import Outbox
from postroom.mailbox.setting import setting_of
from postroom.mailbox.sight import Sight, Whole
from postroom.mailbox.sights import Governance, Sights
from postroom.mailbox.sincecursor import feed_cursors
from postroom.mailbox.streaming import Stream
from postroom.mailbox.view import MailboxView
from postroom.mailbox.waiting import Stands
from postroom.mailbox.watching import Watching
from postroom.policy.effective import Policy
from postroom.policy.snapshot import Policies

_TIDY_SECONDS = 30.0
_MOST_NAMED = 20
"""Mailboxes that an error names in its sentence."""


class Directory:
    """All configured mailboxes."""

    def __init__(
        self,
        entries: Sequence[Entry],
        seal: Seal,
        clock: Clock,
        inbox_seconds: float = 10.0,
        governance: Governance | None = None,
        log: Log | None = None,
    ) -> None:
        """Without `governance` nothing exists for bound callers."""
        self._entries = tuple(entries)
        self._seal = seal
        self._clock = clock
        accounts = {entry.settings.name: entry.account for entry in entries if entry.account is not None}
        self.watching = Watching(accounts, clock, log)
        self._means = Means(self.watching, clock, inbox_seconds)
        self._policies = governance.policies if governance else None
        self._sights = Sights(seal, clock, governance) if governance else None

    def under(self, policies: Policies) -> Directory:
        """The same mailboxes, for callers whom these policies bind."""
        another = copy(self)
        another._policies = policies
        return another

    def policy(self, caller: Caller, mailbox: str | None = None) -> Policy | None:
        """What binds a caller in a mailbox, or in the first that it may use; None if nothing does."""
        if caller.binding is None:
            return None
        found = self._of(caller) if mailbox is None else [self._named(caller, mailbox)]
        return self._policy(caller.binding, found[0]) if found else None

    def visible(self, caller: Caller) -> tuple[MailboxConfig, ...]:
        """The settings of the caller's mailboxes, in the configuration's order."""
        return tuple(entry.settings for entry in self._of(caller))

    async def examine(self, caller: Caller) -> list[Health]:
        """Try the servers of the caller's mailboxes now."""
        return await examine(self._of(caller))

    def named(self, caller: Caller, name: str | None) -> MailboxConfig:
        """The settings of that mailbox. Raises `not_found`, or `conflict` if it is unclear."""
        return self._named(caller, name).settings

    def view(self, caller: Caller, name: str | None) -> MailboxView:
        """The mailbox of that name or user name. Raises `not_found`, or `conflict` without IMAP or if it is unclear."""
        return self._view(caller, self._named(caller, name))

    def outbox(self, caller: Caller, name: str | None) -> Outbox:
        """The way out of the mailbox of that name or user name. Raises `not_found`, or `conflict` if it is unclear."""
        entry = self._named(caller, name)
        return Outbox(entry.settings, entry.submitter, entry.copies, self._judge(caller, entry))

    def _judge(self, caller: Caller, entry: Entry) -> Judge | None:
        if caller.binding is None:
            return None
        policy = self._policy(caller.binding, entry)
        if policy is None or self._sights is None or entry.account is None:
            raise _no_mailbox()
        return self._sights.judge(caller, entry.settings, entry.account, policy)

    async def is_in_sent(self, mailbox: str, message_id: str) -> bool:
        """Whether Sent of this mailbox, whoever may use it, has a message with this id."""
        found = [entry.copies for entry in self._entries if entry.settings.name == mailbox]
        return bool(found) and found[0] is not None and await found[0].holds(message_id)

    def views(self, caller: Caller, names: Sequence[str] | None) -> tuple[MailboxView, ...]:
        """Those mailboxes, each once, or all that can be read. Raises as `view` does."""
        if names is None:
            entries = [entry for entry in self._of(caller) if entry.account is not None]
            if not self._of(caller):
                raise _no_mailbox()
        else:
            named = (self._named(caller, name) for name in dict.fromkeys(names))
            entries = list({entry.settings.name: entry for entry in named}.values())
        return tuple(self._view(caller, entry) for entry in entries)

    def feed(self, caller: Caller, names: Sequence[str] | None, folder: str | None, query: Query) -> Feed:
        """Those mailboxes, or all that can be read, as one. Its cursors are good for the same arguments only."""
        views = self.views(caller, names)
        folder = None if folder is None else folder_name(folder)
        asked = None if names is None else [view.name for view in views]
        policies = [seal for view in views for seal in view.seal]
        cursors = feed_cursors(self._seal, caller.identity, asked, folder, query, policies)
        return Feed(views, folder, query, cursors, self._means)

    def stream(
        self, caller: Caller, names: Sequence[str] | None, folder: str | None, query: Query, stands: Stands
    ) -> Stream:
        """The same mailboxes as a stream of what comes; its cursors are those of the feed."""
        said = discreet if caller.binding is not None else _as_it_is
        return Stream(self.feed(caller, names, folder, query), self._clock, stands, said)

    def numbers(self, mailbox: str) -> Numbers:
        """The messages of a mailbox by number, whoever may see what of it. Raises `not_found`."""
        for entry in self._entries:
            if entry.settings.name == mailbox and entry.account is not None:
                return Numbers(entry.account)
        raise _no_mailbox()

    def glimpse(self, caller: Caller, mailbox: str) -> Glimpse:
        """What a caller may see of such messages. Raises `not_found`."""
        entry = self._named(caller, mailbox)
        if entry.account is None:
            raise _no_mailbox()
        return Glimpse(self._sight(caller, entry, entry.account))

    def cursors(self, caller: Caller, bound: Sequence[bytes]) -> Cursors:
        """Cursors of a list that is of no mailbox; `bound` is what must be the same when it goes on."""
        return Cursors(self._seal, caller.identity, bound)

    async def keep_tidy(self) -> None:
        """For as long as the process runs: close connections that nobody uses."""
        while True:
            await self._clock.sleep(_TIDY_SECONDS)
            for entry in self._entries:
                if entry.account is not None:
                    entry.account.tidy()

    def close(self) -> None:
        for entry in self._entries:
            if entry.account is not None:
                entry.account.close()
            if entry.submitter is not None:
                entry.submitter.close()

    def _of(self, caller: Caller) -> tuple[Entry, ...]:
        """Its mailboxes; of a bound caller those where its profile grants something."""
        named = [entry for entry in self._entries if entry.settings.name in caller.mailboxes]
        if caller.binding is None:
            return tuple(named)
        return tuple(entry for entry in named if self._policy(caller.binding, entry) is not None)

    def _policy(self, binding: Binding, entry: Entry) -> Policy | None:
        return self._policies.of(binding, entry.settings.name) if self._policies else None

    def _view(self, caller: Caller, entry: Entry) -> MailboxView:
        if entry.account is None:
            raise GatewayError(
                Code.CONFLICT,
                f"Mailbox {entry.settings.name} has no IMAP server; it can only send.",
                argument="mailbox",
            )
        return MailboxView(caller, entry.settings, self._sight(caller, entry, entry.account), self._seal, self._clock)

    def _sight(self, caller: Caller, entry: Entry, account: Account) -> Sight:
        if caller.binding is None:
            return Whole(account, setting_of(entry.settings))
        policy = self._policy(caller.binding, entry)
        if policy is None or self._sights is None:
            raise _no_mailbox()
        return self._sights.bound(caller, entry.settings, account, policy)

    def _named(self, caller: Caller, name: str | None) -> Entry:
        entries = self._of(caller)
        found = [entry for entry in entries if name is None or entry.settings.name == name]
        found = found or [entry for entry in entries if name in _user_names(entry.settings)]
        if len(found) == 1:
            return found[0]
        names = [entry.settings.name for entry in entries]
        if found:
            which = f"{', '.join(names[:_MOST_NAMED])}{' ...' if len(names) > _MOST_NAMED else ''}"
            why = "" if name is None else "Several mailboxes have this user name. "
            message = f"{why}Name one mailbox of: {which}."
            raise GatewayError(Code.CONFLICT, message, argument="mailbox", mailboxes=names)
        if not entries:
            raise _no_mailbox()
        raise not_found(
            f"This token has no such mailbox. It may use: {', '.join(names)}.", argument="mailbox", mailboxes=names
        )


def _as_it_is(error: GatewayError) -> GatewayError:
    return error


def _no_mailbox() -> GatewayError:
    return not_found("This token may use no mailbox.", argument="mailbox", mailboxes=[])


def _user_names(settings: MailboxConfig) -> set[str]:
    servers = (settings.imap, settings.smtp)
    return {server.username for server in servers if server is not None and server.username}
