"""A value that must never be shown: passwords and tokens as a type that cannot be printed by accident."""

from __future__ import annotations

import hmac
from typing import NoReturn

_SHOWN = "[secret]"


class Secret:
    """Text whose only way out is `reveal()`; repr, str, format, JSON and pickle do not show it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself, for the one call that needs it."""
        return self._text

    def __repr__(self) -> str:
        return _SHOWN

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return _SHOWN

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self._text.encode(), other._text.encode())

    __hash__ = None  # type: ignore[assignment]  # a hash would leak equality into dictionaries and logs

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret is not pickled")
