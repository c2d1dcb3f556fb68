"""Where a PostgreSQL database is, by a URL that may hold a password and is shown without it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from postroom.base.secret import Secret

SCHEMES = ("postgresql://", "postgres://")
_HOST = r"(?:[\w.%-]+|\[[0-9A-Fa-f:.]+\])?(?::[0-9]{1,5})?"
_URL = re.compile(
    rf"(postgres(?:ql)?://)(?:([^:/?#@\s]*)(:[^:/?#@\s]*)?@)?({_HOST}(?:,{_HOST})*)(/[^/?#@\s]*)?(\?[^#@\s]*)?",
    re.ASCII,
)
_WANTED = "must be such as postgresql://user@host/database; of a password, write / as %2F, @ as %40, and the like"


@dataclass(frozen=True, slots=True)
class StoreUrl:
    """As text it has neither password nor parameters."""

    text: Secret
    shown: str
    host: str
    """One or several, with their ports; "" stands for this machine, or for what a parameter says."""
    has_password: bool
    is_encrypted: bool
    """The connection is refused unless it is encrypted."""

    @classmethod
    def of(cls, text: str) -> StoreUrl:
        """The parts of a URL. Raises ValueError for one that is none, without a word of it."""
        parts = _URL.fullmatch(text)
        if parts is None:
            raise ValueError(_WANTED)
        scheme, user, password, host, database, query = (part or "" for part in parts.groups())
        parameters = query.removeprefix("?").split("&")
        return cls(
            Secret(text),
            f"{scheme}{user}{'@' if user else ''}{host}{database}",
            host,
            has_password=bool(password) or any(one.startswith("password=") for one in parameters),
            is_encrypted=any(f"sslmode={mode}" in parameters for mode in ("require", "verify-ca", "verify-full")),
        )

    @property
    def is_on_this_machine(self) -> bool:
        names = (re.sub(r":[0-9]+\Z", "", host).strip("[]") for host in self.host.split(","))
        return all(name in ("", "localhost", "::1") or name.startswith("127.") for name in names)

    def __str__(self) -> str:
        return self.shown
