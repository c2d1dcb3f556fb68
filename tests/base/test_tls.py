"""Why a server cannot be reached, and why TLS with it fails, by the errors that the system raises."""

import errno
import socket
import ssl

import pytest

from postroom.base.cause import Cause
from postroom.base.tls import unreached, why_not

BOTH_REFUSED = "Multiple exceptions: [Errno 111] Connect call failed ('::1', 1), [Errno 111] Connect call failed"


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (socket.gaierror(socket.EAI_NONAME, "unknown"), Cause.HOST_UNKNOWN),
        (ConnectionRefusedError(errno.ECONNREFUSED, "refused"), Cause.PORT_CLOSED),
        (OSError(BOTH_REFUSED), Cause.PORT_CLOSED),
        (OSError(errno.ENETUNREACH, "no way"), Cause.UNREACHABLE),
    ],
)
def test_a_failed_connection_has_a_cause(error: OSError, cause: Cause) -> None:
    told, what = unreached(error)
    assert told is cause
    assert what.startswith("no connection: ")


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        (9, Cause.CERTIFICATE_EARLY),
        (10, Cause.CERTIFICATE_EXPIRED),
        (18, Cause.CERTIFICATE_UNKNOWN),
        (19, Cause.CERTIFICATE_UNKNOWN),
        (20, Cause.CERTIFICATE_UNKNOWN),
        (62, Cause.CERTIFICATE_NAME),
        (64, Cause.CERTIFICATE_NAME),
        (7, Cause.HANDSHAKE),
    ],
)
def test_a_certificate_that_is_not_accepted_has_a_cause(code: int, cause: Cause) -> None:
    error = ssl.SSLCertVerificationError()
    error.verify_code, error.verify_message = code, "OpenSSL's words"
    assert why_not(error)[0] is cause


def test_a_broken_handshake_has_a_cause() -> None:
    plain = ssl.SSLError()
    plain.reason = "WRONG_VERSION_NUMBER"
    assert why_not(plain)[0] is Cause.PLAIN_SPOKEN
    assert why_not(ssl.SSLError())[0] is Cause.HANDSHAKE
    assert why_not(ConnectionResetError())[0] is Cause.HANDSHAKE
