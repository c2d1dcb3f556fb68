"""The watcher of one mailbox: looks where the board says that something happened, and comes back after every fault."""

from __future__ import annotations

from collections.abc import Iterable

from postroom.base.backoff import rest_after
from postroom.base.errors import Code, GatewayError
from postroom.events.arrivals import Arrivals
from postroom.events.changes import Changes
from postroom.events.reach import Reach, is_out_of_reach, reason_of
from postroom.events.watched import Means, Watched
from postroom.mailbox.board import Spot
from postroom.mailbox.waiting import PAUSE
from postroom.store.leases import Lease, LeaseLostError
from postroom.store.worker import StoreError

SWEEP = 300.0
"""Seconds after which every folder is looked at again, whatever was heard."""
_STORE_REST = 3.0
"""Seconds to rest while the store cannot be used; that says nothing of the mail server, and is over at once."""


class Watcher:
    """Runs for as long as this gateway has the mailbox's lease."""

    def __init__(self, watched: Watched, means: Means) -> None:
        self.mailbox = watched.mailbox
        self._watched = watched
        self._means = means
        self._arrivals = Arrivals(watched, means)
        self._changes = Changes(watched, means)
        self._reach = Reach(watched, means)
        self._failures = 0
        self._stuck = False
        """The store could not be used when it was tried last."""
        self._missing: set[str] = set()

    async def run(self, lease: Lease) -> None:
        """Until cancelled, until the process stops, or until another gateway has the lease."""
        watching, spots = self._means.directory().watching, self._watched.spots
        board, looked, listened = watching.board, dict[Spot, int](), False
        with watching.hold(spots):
            while not board.closed:
                now, heard = board.versions(spots), bool(looked) and listened
                listened = all(map(board.trusts, spots))
                try:
                    rest = await self._tried([spot for spot in spots if now[spot] != looked.get(spot)], lease)
                except LeaseLostError:
                    self._means.log.warning("watch.lease_lost", mailbox=self.mailbox)
                    return
                if not heard:
                    # News seldom comes alone: after it the connection is kept, and not after a look just in case.
                    self._means.directory().numbers(self.mailbox).end()
                looked = now if rest is None else {}
                if rest is None:
                    rest = SWEEP if all(map(board.trusts, spots)) else PAUSE
                await board.changed(now, rest)
                if board.versions(spots) == now:
                    looked = {}

    async def _tried(self, spots: Iterable[Spot], lease: Lease) -> float | None:
        """Look there; the seconds to rest if that failed. Raises LeaseLostError."""
        try:
            all_well = await self._looked(spots, lease)
            self._stuck = False
            if all_well:
                self._failures = 0
                return None
        except LeaseLostError:
            raise
        except StoreError as failure:
            if not self._stuck:  # once for as long as it lasts
                self._means.log.error("watch.stuck", failure, mailbox=self.mailbox)
            self._stuck = True
            return _STORE_REST
        except Exception as error:  # noqa: BLE001 - a supervisor: whatever it is, nobody else would watch on
            self._means.log.error("watch.failed", error, mailbox=self.mailbox)
        self._failures += 1
        return rest_after(self._failures, self._means.chance())

    async def _looked(self, spots: Iterable[Spot], lease: Lease) -> bool:
        """A folder that the server does not open keeps no other from being looked at."""
        all_well = True
        for _, folder in spots:
            try:
                await self._look(folder, lease)
            except GatewayError as error:
                all_well, reason = False, reason_of(error)
                self._means.log.warning("watch.failed", mailbox=self.mailbox, reason=reason, attempt=self._failures + 1)
                if is_out_of_reach(error):
                    await self._reach.failed(error, lease)
                    return False
        await self._reach.succeeded(lease)
        return all_well

    async def _look(self, folder: str, lease: Lease) -> None:
        """A folder that is not there keeps no other from being looked at."""
        try:
            await self._arrivals.look(folder, lease)
            await self._changes.look(folder, lease)
        except GatewayError as error:
            if error.code is not Code.NOT_FOUND:
                raise
            if folder not in self._missing:
                self._missing.add(folder)
                self._means.log.warning("watch.no_folder", mailbox=self.mailbox)
        else:
            self._missing.discard(folder)
