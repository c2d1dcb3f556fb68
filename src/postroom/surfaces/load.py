"""How much is going on at once: a request for which there is no room is told so before anything is done for it."""

from __future__ import annotations

from postroom.base.errors import Code, GatewayError
from postroom.base.meters import Meters


class Load:
    """Requests that are being answered, waiting ones among them, and at most so many."""

    def __init__(self, most: int, meters: Meters) -> None:
        self._most = most
        self._meters = meters
        self._running = 0
        meters.watch("requests_running", "Requests that are being answered.", lambda: self._running)

    def begin(self) -> bool:
        """Take a place, to be given back by `end`; False if there is none."""
        if self._running >= self._most:
            self._meters.turned_away()
            return False
        self._running += 1
        return True

    def end(self) -> None:
        """Give the place back."""
        self._running -= 1


def no_room() -> GatewayError:
    """What is answered where there is no place."""
    message = "The gateway has too much to do. Try again in a moment."
    return GatewayError(Code.UNAVAILABLE, message, reason="overload", retry_after=1)
