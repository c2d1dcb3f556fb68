"""For logging in to a submission server (RFC 4954): one mechanism, once, and what a refusal means."""

from __future__ import annotations

import base64

import aiosmtplib
from aiosmtplib import SMTP

from postroom.base.cause import Cause
from postroom.base.refusal import REFUSED, quotable, why_refused
from postroom.base.secret import Secret
from postroom.smtp.faults import SmtpFault


async def log_in(client: SMTP, username: str, auth: str, secret: Secret) -> None:
    """Log in by the configured way: `password`, `xoauth2` or `oauthbearer`. Raises `SmtpFault` and the library's."""
    try:
        if auth == "xoauth2":
            await client.auth_xoauth2(username, secret.reveal())
        elif auth == "oauthbearer":
            await _oauthbearer(client, username, secret)
        else:
            await _password(client, username, secret)
    except aiosmtplib.SMTPAuthenticationError as error:
        raise _refusal(error, auth, secret) from error


async def _password(client: SMTP, username: str, secret: Secret) -> None:
    """One mechanism, once: the library's own login would offer a refused password again by every other one."""
    offered = client.supported_auth_methods
    if "plain" in offered:
        await client.auth_plain(username, secret.reveal())
    elif "login" in offered:
        await client.auth_login(username, secret.reveal())
    else:
        told = "the server offers no login with a password on this connection"
        raise SmtpFault("protocol", told, Cause.NO_LOGIN_OFFERED)


async def _oauthbearer(client: SMTP, username: str, secret: Secret) -> None:
    """RFC 7628 4: the error challenge is answered with ^A, then comes the refusal."""
    message = f"n,a={username},\x01auth=Bearer {secret.reveal()}\x01\x01".encode()
    reply = await client.execute_command(b"AUTH", b"OAUTHBEARER", base64.b64encode(message))
    if reply.code == 334:
        reply = await client.execute_command(base64.b64encode(b"\x01"))
    if reply.code != 235:
        raise aiosmtplib.SMTPAuthenticationError(reply.code, reply.message)


def _refusal(error: aiosmtplib.SMTPAuthenticationError, auth: str, secret: Secret) -> SmtpFault:
    """What a refused login means: no room now, or wrong credentials, as far as the server says."""
    if 400 <= error.code < 500:
        return SmtpFault("busy", "the server has no room for a login now")
    cause = why_refused(error.message.partition(" ")[0], error.message, auth)
    said = quotable(f"{error.code} {error.message}", secret.reveal())
    return SmtpFault("login_refused", REFUSED[cause], cause, said=said)
