"""What a certificate says of itself: its fingerprint, the names it is for, and when it is good."""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass
from datetime import datetime

from cryptography import x509
from cryptography.utils import CryptographyDeprecationWarning

from postroom.base.refusal import one_line

_MOST_NAMES = 1_000
"""Names that are kept; shared hosts have some hundred."""
_LONGEST_NAME = 253
"""Characters of a host name (RFC 1035 2.3.4)."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """`sha256` is of the whole certificate, in lower-case hex; names are foreign text, cleaned."""

    sha256: str
    names: tuple[str, ...]
    begins: datetime
    ends: datetime


def read_certificate(der: bytes) -> Certificate | None:
    """A certificate from its DER octets (RFC 5280), or None if they are none."""
    try:
        with warnings.catch_warnings():  # strangers' mistakes are not the operator's to read about
            warnings.simplefilter("ignore", CryptographyDeprecationWarning)
            read = x509.load_der_x509_certificate(der)
        return Certificate(
            hashlib.sha256(der).hexdigest(), _names(read), read.not_valid_before_utc, read.not_valid_after_utc
        )
    except (ValueError, x509.InvalidVersion, x509.DuplicateExtension):
        return None


def _names(read: x509.Certificate) -> tuple[str, ...]:
    """Host names and addresses it is for; the common name is for nobody any more (RFC 9525)."""
    try:
        names = read.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return ()
    told = [
        *names.get_values_for_type(x509.DNSName),
        *map(str, names.get_values_for_type(x509.IPAddress)),
    ]
    return tuple(one_line(name, _LONGEST_NAME) for name in told[:_MOST_NAMES])
