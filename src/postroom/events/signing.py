"""The signature of a delivery (Standard Webhooks): whose it is, which attempt, and that no octet was altered."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256

from postroom.base.webhooksecret import signing_key
from postroom.config import CredentialError
from postroom.config.webhooks import WebhookConfig

Headers = tuple[tuple[str, str], ...]


def signed(identifier: str, body: bytes, attempted: datetime, keys: Sequence[bytes]) -> Headers:
    """The three headers of an attempt: one signature by each key, so that a receiver may know either."""
    seconds = str(int(attempted.timestamp()))
    text = f"{identifier}.{seconds}.".encode() + body
    signatures = " ".join(f"v1,{_signature(key, text)}" for key in keys)
    return (("webhook-id", identifier), ("webhook-timestamp", seconds), ("webhook-signature", signatures))


async def signing_keys(settings: WebhookConfig) -> list[bytes]:
    """The keys of now: secrets are had anew for each attempt, so that a changed file counts at once.

    Raises CredentialError for one that cannot be had or has not the form.
    """
    keys = []
    for credential in settings.secrets:
        secret = await credential.reveal()
        try:
            keys.append(signing_key(secret))
        except ValueError as failure:
            raise CredentialError(f"the secret of webhook {settings.name} cannot be used: {failure}") from None
    return keys


def _signature(key: bytes, text: bytes) -> str:
    return base64.b64encode(hmac.digest(key, text, sha256)).decode("ascii")
