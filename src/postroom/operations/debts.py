"""What is to be written of messages though nobody waits for it; what could not be written is kept until it can be."""

from __future__ import annotations

from collections.abc import Callable

from postroom.store.sends import Soon

Writing = Callable[[], Soon]


class Debts:
    """One for the process. Of each message the newest: it says all that those before it would have said."""

    def __init__(self) -> None:
        self._newest: dict[str, Writing] = {}
        self._owed: set[str] = set()

    def write(self, request: str, writing: Writing) -> Soon:
        """Begin it now; its failure is also in the future, for whoever waits after all."""
        self._newest[request] = writing
        self._owed.discard(request)
        future = writing()
        future.add_done_callback(lambda future: self._ended(request, writing, future))
        return future

    def pay(self) -> None:
        """Begin again what failed."""
        for request in list(self._owed):
            self.write(request, self._newest[request])

    def _ended(self, request: str, writing: Writing, future: Soon) -> None:
        failed = future.cancelled() or future.exception() is not None
        if self._newest.get(request) is not writing:
            return
        if failed:
            self._owed.add(request)
        else:
            del self._newest[request]
