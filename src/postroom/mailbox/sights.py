"""Sights of bound callers, made for each call over what is kept for their policies."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, defaultdict
from dataclasses import dataclass

from postroom.base.caller import Caller, Toolset
from postroom.base.clock import Clock
from postroom.base.seal import Seal
from postroom.config import MailboxConfig
from postroom.mailbox.account import Account
from postroom.mailbox.bound import Bound, Eyes, Memory
from postroom.mailbox.cache import MessageCache
from postroom.mailbox.heads import KnownHeads
from postroom.mailbox.judge import Judge, Means
from postroom.mailbox.sealeduids import SealedFiles, SealedNaming
from postroom.mailbox.setting import setting_of
from postroom.policy.effective import Policy
from postroom.policy.outbound.compiling import compile_outbound
from postroom.policy.outbound.ownsecrets import OwnSecrets
from postroom.policy.snapshot import Policies
from postroom.store.database import Database
from postroom.store.own import Own

_MOST = 64
"""Policies and mailboxes of which something is kept."""
_MOST_IDENTITIES = 1_000


@dataclass(frozen=True, slots=True)
class Governance:
    """What it takes to serve bound callers."""

    policies: Policies
    database: Database
    secrets: OwnSecrets
    """What must leave in no message."""


class Sights:
    """One for the process."""

    def __init__(self, seal: Seal, clock: Clock, governance: Governance) -> None:
        self._database = governance.database
        self._secrets = governance.secrets
        self._owns: OrderedDict[tuple[str, str], Own] = OrderedDict()
        self._turns: defaultdict[tuple[str, str], asyncio.Lock] = defaultdict(asyncio.Lock)
        self._seal = seal
        self._clock = clock
        self._memories: OrderedDict[tuple[str, bytes], Memory] = OrderedDict()

    def bound(self, caller: Caller, settings: MailboxConfig, account: Account, policy: Policy) -> Bound:
        """What a bound caller may see of a mailbox under its policy."""
        setting = setting_of(settings)
        eyes = Eyes(
            policy=policy,
            setting=setting,
            naming=SealedNaming(self._seal, caller.identity, settings.name),
            files=SealedFiles(self._seal, caller.identity, settings.name),
            own=self._own(caller, settings),
            now=self._clock.now,
            is_relay=caller.toolset is Toolset.RELAY,
        )
        return Bound(account, eyes, self._memory(settings, policy))

    def judge(self, caller: Caller, settings: MailboxConfig, account: Account, policy: Policy) -> Judge:
        """What its policy makes of what it wants to send from there."""
        means = Means(
            rules=compile_outbound(policy.outbound, policy.people, policy.limits.scan_chars),
            own=self._own(caller, settings),
            secrets=self._secrets,
            turn=self._turns[caller.identity, settings.name],
        )
        return Judge(self.bound(caller, settings, account, policy), means)

    def _own(self, caller: Caller, settings: MailboxConfig) -> Own:
        key = (caller.identity, settings.name)
        if key not in self._owns:
            self._owns[key] = Own(self._database, *key)
        self._owns.move_to_end(key)
        if len(self._owns) > _MOST_IDENTITIES:
            self._owns.popitem(last=False)
        return self._owns[key]

    def _memory(self, settings: MailboxConfig, policy: Policy) -> Memory:
        key = (settings.name, policy.hash)
        if key not in self._memories:
            self._memories[key] = Memory(MessageCache(), KnownHeads(setting_of(settings), policy.content))
        self._memories.move_to_end(key)
        if len(self._memories) > _MOST:
            self._memories.popitem(last=False)
        return self._memories[key]
