"""The secret of a webhook's signature: its form in Standard Webhooks, and the key in it."""

from __future__ import annotations

import base64
import binascii
import secrets

from postroom.base.secret import Secret

_PREFIX = "whsec_"
_SHORTEST, _FRESH, _LONGEST = 24, 32, 64
"""Octets of a key; Standard Webhooks permits 24 to 64."""


def fresh_secret() -> Secret:
    """A new one of 256 random bits."""
    return Secret(_PREFIX + base64.b64encode(secrets.token_bytes(_FRESH)).decode("ascii"))


def signing_key(secret: Secret) -> bytes:
    """The octets that sign. ValueError says what is wrong with the form, and quotes nothing of it."""
    text = secret.reveal()
    if not text.startswith(_PREFIX):
        raise ValueError(f"it does not begin with {_PREFIX}")
    try:
        key = base64.b64decode(text.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError(f"what follows {_PREFIX} is no base64") from None
    if not _SHORTEST <= len(key) <= _LONGEST:
        raise ValueError(f"it holds {len(key)} octets, not {_SHORTEST} to {_LONGEST}")
    return key
