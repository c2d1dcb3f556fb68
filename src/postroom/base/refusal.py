"""What a server means when it refuses a login, read from its response code and its words."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from types import MappingProxyType

from postroom.base.cause import Cause

_LONGEST_READ = 4_000
"""Characters of a server's words that are looked at."""
_LONGEST_QUOTE = 200

REFUSED: Mapping[Cause, str] = MappingProxyType(
    {
        Cause.LOGIN_WRONG: "the server refused the user name or the password",
        Cause.LOGIN_EXPIRED: "the password or token has expired",
        Cause.LOGIN_UNEXPLAINED: "the server refused the login and does not say why",
        Cause.TOKEN_REFUSED: "the server does not accept the access token",
        Cause.APP_PASSWORD: "the provider wants an app password here, not the account's own",
        Cause.OAUTH: "the provider lets nobody in with a password, only with an OAuth token",
        Cause.BROWSER: "the provider wants a login with a browser first",
        Cause.SWITCHED_OFF: "this kind of access is switched off for the account",
    }
)
"""Each cause as the middle of a sentence."""

_CODES = {
    "AUTHENTICATIONFAILED": Cause.LOGIN_WRONG,
    "EXPIRED": Cause.LOGIN_EXPIRED,
    "5.7.8": Cause.LOGIN_WRONG,
}
_WORDS = (
    ("invalid credentials or imap is disabled", Cause.LOGIN_WRONG),
    ("application-specific password", Cause.APP_PASSWORD),
    ("application specific password", Cause.APP_PASSWORD),
    ("app-specific password", Cause.APP_PASSWORD),
    ("application password", Cause.APP_PASSWORD),
    ("app password", Cause.APP_PASSWORD),
    ("app-password", Cause.APP_PASSWORD),
    ("smtpclientauthentication is disabled", Cause.SWITCHED_OFF),
    ("not enabled for imap", Cause.SWITCHED_OFF),
    ("yet to enable imap", Cause.SWITCHED_OFF),
    ("imap access is disabled", Cause.SWITCHED_OFF),
    ("imap is disabled", Cause.SWITCHED_OFF),
    ("imap access disabled", Cause.SWITCHED_OFF),
    ("smtp is disabled", Cause.SWITCHED_OFF),
    ("does not have access rights to this service", Cause.SWITCHED_OFF),
    ("service is not open", Cause.SWITCHED_OFF),
    ("basic authentication is disabled", Cause.OAUTH),
    ("basicauthblocked", Cause.OAUTH),
    ("basic auth", Cause.OAUTH),
    ("modern auth", Cause.OAUTH),
    ("oauth", Cause.OAUTH),
    ("web browser", Cause.BROWSER),
    ("web login required", Cause.BROWSER),
    ("expired", Cause.LOGIN_EXPIRED),
    ("credentials", Cause.LOGIN_WRONG),
    ("incorrect", Cause.LOGIN_WRONG),
    ("password", Cause.LOGIN_WRONG),
    ("authentication failed", Cause.LOGIN_WRONG),
    ("authentication unsuccessful", Cause.LOGIN_WRONG),
    ("invalid login", Cause.LOGIN_WRONG),
)
"""What servers are known to say, in lower case; the first that fits decides."""
_OF_PASSWORDS = {Cause.LOGIN_WRONG, Cause.LOGIN_UNEXPLAINED, Cause.LOGIN_EXPIRED, Cause.APP_PASSWORD, Cause.OAUTH}
"""What only a password can be; with a token they all mean that the token is not good."""


def why_refused(code: str | None, words: str, auth: str) -> Cause:
    """The cause of a refused login.

    `code` is an IMAP response code (RFC 5530), an enhanced SMTP status (RFC 4954 6) or None, `auth` the configured way
    to log in: who shows a token and is told about OAuth has a bad token, not a password too many.
    """
    said = " ".join(words[:_LONGEST_READ].lower().split())
    told = next((cause for phrase, cause in _WORDS if phrase in said), None)
    if told in (None, Cause.LOGIN_WRONG):
        told = _CODES.get(code or "", told)
    cause = told or Cause.LOGIN_UNEXPLAINED
    return Cause.TOKEN_REFUSED if auth != "password" and cause in _OF_PASSWORDS else cause


def quotable(words: str, secret: str) -> str:
    """A server's words as one short printable line; "" if the secret stands in them, also within base64."""
    said = one_line(words[:_LONGEST_READ], _LONGEST_READ)
    squeezed = said.replace(" ", "").casefold()
    if any(form in squeezed for form in _forms(secret)):
        return ""
    return one_line(said, _LONGEST_QUOTE)


def _forms(secret: str) -> list[str]:
    """How a secret may be spelled: as it is, or as base64 of something that holds it, at any of its three phases."""
    octets, forms = secret.encode(), [secret]
    for before in range(3):
        packed = base64.b64encode(bytes(before) + octets).decode("ascii")
        # Letters that are made from the secret's octets alone.
        forms.append(packed[-(-before * 8 // 6) : (before + len(octets)) * 8 // 6])
    return [form for text in forms if (form := "".join(text.split()).casefold())]


def one_line(text: str, longest: int) -> str:
    """Foreign text for a terminal: nothing but printable characters and single blanks, cut to a length."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"
