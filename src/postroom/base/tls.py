"""Where a mail server is, how it proves itself, and why a handshake failed, told so that it can be mended."""

from __future__ import annotations

import hashlib
import ssl
from dataclasses import dataclass
from functools import lru_cache


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


def shown_pin(connection: ssl.SSLObject | ssl.SSLSocket | None) -> str:
    """The SHA-256 of the certificate that the other side showed, in lower-case hex."""
    certificate = connection.getpeercert(binary_form=True) if connection is not None else None
    return hashlib.sha256(certificate or b"").hexdigest()


def why_not(error: Exception) -> str:
    """Why TLS failed."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate is not accepted: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return "no TLS handshake"
    return "the connection broke during the TLS handshake"
