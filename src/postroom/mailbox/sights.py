"""Sights of bound callers, made for each call over what is kept for their policies."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

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
from postroom.policy.outbound.compiling import WayOut, way_out
from postroom.policy.outbound.ownsecrets import OwnSecrets
from postroom.policy.snapshot import Policies
from postroom.store.database import Database
from postroom.store.own import Own

_MOST = 64
"""Policies and mailboxes of which something is kept."""
_MOST_IDENTITIES = 1_000
T = TypeVar("T")


class _Kept(Generic[T]):
    """Values by what they are of, made when they are first asked for; those that were not for longest are let go."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, T] = OrderedDict()

    def of(self, key: Hashable, make: Callable[[], T]) -> T:
        if key not in self._values:
            self._values[key] = make()
        self._values.move_to_end(key)
        if len(self._values) > self._most:
            self._values.popitem(last=False)
        return self._values[key]


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
        self._owns = _Kept[Own](_MOST_IDENTITIES)
        self._turns: defaultdict[tuple[str, str], asyncio.Lock] = defaultdict(asyncio.Lock)
        self._seal = seal
        self._clock = clock
        self._memories = _Kept[Memory](_MOST)
        self._ways_out = _Kept[WayOut](_MOST)

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
            way=self._ways_out.of((settings.name, policy.hash), lambda: way_out(policy)),
            own=self._own(caller, settings),
            secrets=self._secrets,
            turn=self._turns[caller.identity, settings.name],
        )
        return Judge(self.bound(caller, settings, account, policy), means)

    def _own(self, caller: Caller, settings: MailboxConfig) -> Own:
        key = (caller.identity, settings.name)
        return self._owns.of(key, lambda: Own(self._database, *key))

    def _memory(self, settings: MailboxConfig, policy: Policy) -> Memory:
        return self._memories.of(
            (settings.name, policy.hash),
            lambda: Memory(MessageCache(), KnownHeads(setting_of(settings), policy.content)),
        )
