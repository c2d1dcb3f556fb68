"""Proving who we are: LOGIN and the SASL mechanisms PLAIN, XOAUTH2 and OAUTHBEARER (RFC 4616, RFC 7628)."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from postroom.base.cause import Cause
from postroom.base.refusal import REFUSED, quotable, why_refused
from postroom.base.secret import Secret
from postroom.imap.faults import BusyFault, LoginFault, RefusedFault, TlsFault

_BUSY_CODES = {"UNAVAILABLE", "LIMIT", "INUSE", "SERVERBUG", "CONTACTADMIN"}
_BUSY_WORDS = ("too many", "maximum number of connections", "connection limit", "try again later", "rate limit",
               "server unavailable", "temporar")  # fmt: skip
_NEEDS_TLS = "the server takes no password on this connection; set tls to starttls or ssl"


@dataclass(frozen=True, slots=True)
class Identity:
    """A user name and how it is proved."""

    username: str
    secret: Secret
    auth: str = "password"


@dataclass(frozen=True, slots=True)
class Sasl:
    """One SASL exchange of a single client message, as octets before base64."""

    mechanism: str
    response: bytes


def choose(identity: Identity, capabilities: frozenset[str], host: str, port: int) -> Sasl | None:
    """The mechanism to use, or None for the LOGIN command. Raises `TlsFault` if the server forbids a login now."""
    secret = identity.secret.reveal()
    if identity.auth == "xoauth2":
        return Sasl("XOAUTH2", f"user={identity.username}\x01auth=Bearer {secret}\x01\x01".encode())
    if identity.auth == "oauthbearer":
        gs2 = f"n,a={_saslname(identity.username)},\x01host={host}\x01port={port}\x01auth=Bearer {secret}\x01\x01"
        return Sasl("OAUTHBEARER", gs2.encode())
    if "AUTH=PLAIN" in capabilities:
        return Sasl("PLAIN", f"\0{identity.username}\0{secret}".encode())
    if "LOGINDISABLED" in capabilities:
        raise TlsFault(_NEEDS_TLS, Cause.PASSWORD_NEEDS_TLS)
    return None


def _saslname(name: str) -> str:
    return name.replace("=", "=3D").replace(",", "=2C")


def encoded(sasl: Sasl) -> str:
    """The client message as it goes on the wire; an empty one is "=" (RFC 4959)."""
    return base64.b64encode(sasl.response).decode("ascii") or "="


def refusal(error: RefusedFault, identity: Identity) -> LoginFault | BusyFault | TlsFault:
    """What a NO to a login means: no room now, or wrong credentials. Doubt counts as wrong: it is not retried."""
    if error.code == "PRIVACYREQUIRED":
        return TlsFault(_NEEDS_TLS, Cause.PASSWORD_NEEDS_TLS)
    words = error.what.lower()
    if error.code in _BUSY_CODES or any(word in words for word in _BUSY_WORDS):
        return BusyFault("the server has no room for another connection now")
    cause = why_refused(error.code, error.what, identity.auth)
    return LoginFault(REFUSED[cause], cause, quotable(error.what, identity.secret.reveal()))
