"""Why a mail server does not let us in, more exactly than an error's `reason`: one list for IMAP and SMTP."""

from __future__ import annotations

from enum import StrEnum


class Cause(StrEnum):
    """What a person can act on. `reason` of an error is coarser, and is all that a caller is told by name."""

    HOST_UNKNOWN = "host_unknown"
    PORT_CLOSED = "port_closed"
    UNREACHABLE = "unreachable"
    NO_ANSWER = "no_answer"
    SILENT = "silent"
    """Somebody accepts the connection and never greets."""
    TLS_SPOKEN = "tls_spoken"
    """TLS from the first octet, where plain text was expected."""
    PLAIN_SPOKEN = "plain_spoken"
    """Plain text, where TLS from the first octet was expected."""
    NO_STARTTLS = "no_starttls"
    PASSWORD_NEEDS_TLS = "password_needs_tls"  # noqa: S105 - a reason, not a password
    NO_LOGIN_OFFERED = "no_login_offered"
    HANDSHAKE = "handshake"
    CERTIFICATE_NAME = "certificate_name"
    CERTIFICATE_UNKNOWN = "certificate_unknown"
    CERTIFICATE_EXPIRED = "certificate_expired"
    CERTIFICATE_EARLY = "certificate_early"
    CERTIFICATE_CHANGED = "certificate_changed"
    """Not the pinned one."""
    LOGIN_WRONG = "login_wrong"
    LOGIN_EXPIRED = "login_expired"
    LOGIN_UNEXPLAINED = "login_unexplained"
    TOKEN_REFUSED = "token_refused"  # noqa: S105 - a reason, not a token
    APP_PASSWORD = "app_password"  # noqa: S105 - a reason, not a password
    OAUTH = "oauth"
    BROWSER = "browser"
    SWITCHED_OFF = "switched_off"
    """The account exists, but may not be used by this protocol."""
