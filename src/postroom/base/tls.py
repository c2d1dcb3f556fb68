"""Where a mail server is, how it proves itself, and why a handshake failed, told so that it can be mended."""

from __future__ import annotations

import errno
import hashlib
import socket
import ssl
from dataclasses import dataclass, replace
from functools import lru_cache

from postroom.base.cause import Cause

_NO_PIN = "0" * 64


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server's address. `pin` is the SHA-256 of its certificate in lower-case hex, trusted instead of authorities."""

    host: str
    port: int
    tls: str
    """`ssl`, `starttls` or `none`."""
    ca_file: str | None = None
    pin: str | None = None


def context_for(endpoint: Endpoint) -> ssl.SSLContext:
    """Verification by authorities and host name; with a pin, whoever connects compares `shown_pin` instead."""
    return _context(endpoint.ca_file, pinned=endpoint.pin is not None)


@lru_cache(maxsize=64)
def _context(ca_file: str | None, *, pinned: bool) -> ssl.SSLContext:
    """Kept for the life of the process: loading the authorities takes some 30 ms."""
    context = ssl.create_default_context(cafile=ca_file)
    if pinned:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def holds_authorities(ca_file: str) -> bool:
    """Whether a file can be used as `Endpoint.ca_file`."""
    try:
        return bool(ssl.create_default_context(cafile=ca_file).get_ca_certs())
    except (ssl.SSLError, OSError):
        return False


def inspecting(endpoint: Endpoint, tls: str) -> Endpoint:
    """The same server with a pin that no certificate has.

    Whoever connects to it gets as far as the handshake, tells in its fault which certificate was shown, and goes no
    further: no credential is sent to a server that nobody has verified.
    """
    return replace(endpoint, tls=tls, pin=_NO_PIN)


def shown_certificate(connection: ssl.SSLObject | ssl.SSLSocket | None) -> bytes:
    """The certificate that the other side showed, as DER; empty if it showed none."""
    return (connection.getpeercert(binary_form=True) if connection is not None else None) or b""


def pin_of(certificate: bytes) -> str:
    """The SHA-256 of a certificate, in lower-case hex."""
    return hashlib.sha256(certificate).hexdigest()


_VERIFY = {
    9: (Cause.CERTIFICATE_EARLY, "its time has not begun yet"),
    10: (Cause.CERTIFICATE_EXPIRED, "it has expired"),
    18: (Cause.CERTIFICATE_UNKNOWN, "it is self-signed"),
    19: (Cause.CERTIFICATE_UNKNOWN, "its authority is not known here"),
    20: (Cause.CERTIFICATE_UNKNOWN, "its authority is not known here"),
    21: (Cause.CERTIFICATE_UNKNOWN, "its authority is not known here"),
    62: (Cause.CERTIFICATE_NAME, "it is for another host name"),
    64: (Cause.CERTIFICATE_NAME, "it is for another address"),
}
"""OpenSSL's X509_V_ERR codes."""
_NO_RECORD = {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "HTTP_REQUEST"}
"""What OpenSSL calls octets that are no TLS record at all."""


def why_not(error: Exception) -> tuple[Cause, str]:
    """Why TLS failed."""
    if isinstance(error, ssl.SSLCertVerificationError):
        cause, told = _VERIFY.get(error.verify_code, (Cause.HANDSHAKE, error.verify_message))
        return cause, f"the certificate is not accepted: {told}"
    if isinstance(error, ssl.SSLError) and getattr(error, "reason", None) in _NO_RECORD:
        return Cause.PLAIN_SPOKEN, "no TLS handshake: the server speaks plain text on this port"
    if isinstance(error, ssl.SSLError):
        return Cause.HANDSHAKE, "no TLS handshake"
    return Cause.HANDSHAKE, "the connection broke during the TLS handshake"


def unreached(error: OSError) -> tuple[Cause, str]:
    """Why there is no connection. A host with several addresses fails with one error about all of them."""
    if isinstance(error, socket.gaierror):
        return Cause.HOST_UNKNOWN, "no connection: the host name has no address"
    if error.errno == errno.ECONNREFUSED or f"[Errno {errno.ECONNREFUSED}]" in str(error):
        return Cause.PORT_CLOSED, "no connection: nobody accepts it on this port"
    return Cause.UNREACHABLE, f"no connection: {error.strerror or type(error).__name__}"
