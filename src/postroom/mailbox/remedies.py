"""What to do about a mail server that cannot be used, told to the one who writes the configuration."""

from __future__ import annotations

from dataclasses import dataclass

from postroom.base.cause import Cause
from postroom.base.certificate import Certificate
from postroom.base.tls import Endpoint
from postroom.config.values import is_loopback

_MOST_NAMES = 6
_PORTS = {"imap": {"ssl": 993, "starttls": 143}, "smtp": {"ssl": 465, "starttls": 587}}


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider that takes app passwords or tokens only; `where` says where an app password is made."""

    name: str
    hosts: tuple[str, ...]
    where: str = ""


_PROVIDERS = (
    Provider("Gmail", ("gmail.com", "googlemail.com"), "at https://myaccount.google.com/apppasswords"),
    Provider("iCloud", ("mail.me.com",), "at https://account.apple.com, under Sign-In and Security"),
    Provider("Yahoo", ("mail.yahoo.com",), "in Yahoo's account settings, under Security"),
    Provider("AOL", ("aol.com",), "in AOL's account settings, under Security"),
    Provider("Fastmail", ("fastmail.com",), "in Fastmail's settings, under Privacy & Security"),
    Provider("Microsoft", ("outlook.com", "office365.com", "hotmail.com")),
)


@dataclass(frozen=True, slots=True)
class Scene:
    """Which side of a mailbox is in trouble, as it is configured; `source` is the key that gives the credential."""

    side: str
    endpoint: Endpoint
    auth: str
    source: str
    certificate: Certificate | None = None

    @property
    def provider(self) -> Provider | None:
        host = self.endpoint.host.lower().rstrip(".")
        fits = (one for one in _PROVIDERS if any(host == own or host.endswith(f".{own}") for own in one.hosts))
        return next(fits, None)

    @property
    def facts(self) -> dict[str, object]:
        """What stands in the braces of a remedy."""
        ports = _PORTS[self.side]
        return {
            "side": self.side,
            "protocol": self.side.upper(),
            "host": self.endpoint.host,
            "port": self.endpoint.port,
            "tls": self.endpoint.tls,
            "ssl_port": ports["ssl"],
            "starttls_port": ports["starttls"],
            "source": f"{self.side}.{self.source}",
            "where": self.provider.where if self.provider and self.provider.where else _SOMEWHERE,
        }


_SOMEWHERE = "in the security settings of your account on the provider's site"
_USUAL = "{protocol} is usually at port {ssl_port} with tls: ssl, or at {starttls_port} with tls: starttls"
_TYPED = "Check {side}.username (often the whole address) and {source}."

_BY_CAUSE = {
    Cause.HOST_UNKNOWN: "Correct {side}.host; your provider's help pages name its {protocol} server. "
    "If the name is right, this machine's DNS does not work.",
    Cause.PORT_CLOSED: f"Check {{side}}.port: {_USUAL}. If it is right, the server is down or a firewall refuses.",
    Cause.UNREACHABLE: "Check this machine's network, and {side}.host.",
    Cause.NO_ANSWER: f"Check {{side}}.host and {{side}}.port: {_USUAL}. If they are right, a firewall drops what "
    "this machine sends.",
    Cause.SILENT: f"Check {{side}}.port: {_USUAL}.",
    Cause.TLS_SPOKEN: "Set {side}.tls to ssl.",
    Cause.PLAIN_SPOKEN: "Set {side}.tls to starttls; or, for tls: ssl, {side}.port to {ssl_port}.",
    Cause.PASSWORD_NEEDS_TLS: "Set {side}.tls to starttls; or to ssl, with {side}.port {ssl_port}.",
    Cause.NO_LOGIN_OFFERED: "With tls: none, set {side}.tls to starttls. A server that wants no login at all needs no "
    "{side}.username.",
    Cause.HANDSHAKE: f"Check {{side}}.tls and {{side}}.port: {_USUAL}. If they are right, the server's TLS is too old "
    "for this machine.",
    Cause.LOGIN_WRONG: f"{_TYPED} If the account has two-step verification, make an app password {{where}}.",
    Cause.LOGIN_UNEXPLAINED: f"{_TYPED} See that {{protocol}} is switched on for the account. If it has two-step "
    "verification, make an app password {where}.",
    Cause.LOGIN_EXPIRED: "Renew it at the provider, and give the new one by {source}.",
    Cause.TOKEN_REFUSED: "Get a new access token by {source}: it must be for {side}.username, not be expired, and "
    "have the provider's scope for {protocol}.",
    Cause.APP_PASSWORD: "Make an app password {where}, and give it by {source}.",
    Cause.OAUTH: "Set {side}.auth to xoauth2, and give an access token by {side}.token_command in place of {source}.",
    Cause.BROWSER: "Log in to the account with a browser, confirm that it was you, and check again. "
    "If that does not help, make an app password {where}.",
    Cause.SWITCHED_OFF: "Switch {protocol} on in the account's settings on the provider's site; for a company's "
    "account, its administrator does that.",
}
_BY_REASON = {
    "timeout": "Check again; if it stays, the server is overloaded, or limits.connect_seconds is too short for it.",
    "lost": "Check again; if it stays, ask whoever runs {host}.",
    "protocol": f"Check {{side}}.host and {{side}}.port: {_USUAL}.",
    "busy": "Wait some minutes and check again. If other programs use the account, lower imap.connections.",
    "credential": "Correct {source}.",
}
_GENERAL = "Check {side}.host, {side}.port and {side}.tls."


def remedy(cause: Cause | None, reason: str, scene: Scene) -> str:
    """The next step, in one or a few sentences, naming the keys to change; a line to copy stands alone."""
    if cause in CERTIFICATE_CAUSES:
        return _certificate(cause, scene)
    if cause is Cause.NO_STARTTLS:
        return _no_starttls(scene)
    if cause in (Cause.LOGIN_WRONG, Cause.LOGIN_UNEXPLAINED) and scene.provider is not None:
        return _by_provider(scene.provider, scene)
    told = _BY_CAUSE.get(cause) if cause else None
    return (told or _BY_REASON.get(reason, _GENERAL)).format_map(scene.facts)


def _by_provider(provider: Provider, scene: Scene) -> str:
    if not provider.where:
        return f"{provider.name} takes no passwords here. {_BY_CAUSE[Cause.OAUTH]}".format_map(scene.facts)
    told = f"{_TYPED} {provider.name} takes app passwords only, not the account's own: make one {{where}}."
    return told.format_map(scene.facts)


def _no_starttls(scene: Scene) -> str:
    if is_loopback(scene.endpoint.host):
        return "Set {side}.tls to none: the connection does not leave this machine.".format_map(scene.facts)
    return (
        "Set {side}.tls to ssl and {side}.port to {ssl_port}, if the provider has that. Otherwise do not use this "
        "server: the password would go in the clear."
    ).format_map(scene.facts)


_BY_CERTIFICATE = {
    Cause.CERTIFICATE_NAME: "It is for: {names}. Set {side}.host to the name of these that your server has. "
    "If it has none of them, and the server is your own, write under {side}:\n  certificate_sha256: {pin}",
    Cause.CERTIFICATE_UNKNOWN: "If the server is a provider's, change nothing: somebody may be in between. If it "
    "is your own, or a bridge on this machine, give its authority's PEM file as {side}.ca_file, or write under "
    "{side}:\n  certificate_sha256: {pin}",
    Cause.CERTIFICATE_EXPIRED: "It ended on {ends}. Whoever runs {host} must renew it; if that day is still to come, "
    "set this machine's clock.",
    Cause.CERTIFICATE_EARLY: "It begins on {begins}. Set this machine's clock; if it is right, whoever runs {host} "
    "must install another certificate.",
    Cause.CERTIFICATE_CHANGED: "If nobody has renewed the certificate, change nothing: somebody may be in between. "
    "If whoever runs {host} has, write under {side}:\n  certificate_sha256: {pin}",
}

CERTIFICATE_CAUSES = frozenset(_BY_CERTIFICATE)
"""Those whose remedy tells what the server's certificate says."""


def _certificate(cause: Cause | None, scene: Scene) -> str:
    shown = scene.certificate
    if cause is None or shown is None:
        return "Check {side}.ca_file and {side}.certificate_sha256.".format_map(scene.facts)
    facts = {"pin": shown.sha256, "names": _names(shown), "begins": shown.begins.date(), "ends": shown.ends.date()}
    return _BY_CERTIFICATE[cause].format_map(scene.facts | facts)


def _names(certificate: Certificate) -> str:
    more = len(certificate.names) - _MOST_NAMES
    told = ", ".join(certificate.names[:_MOST_NAMES]) or "no host at all"
    return f"{told} and {more} more" if more > 0 else told
