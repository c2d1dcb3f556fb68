"""What must hold for a webhook: where it may lead, whose eyes it has, and a secret that is its own alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from postroom.base.secret import Secret
from postroom.base.webhooksecret import signing_key
from postroom.config.credential import CredentialError, FileCredential
from postroom.config.faults import Finding, Where, nearest
from postroom.config.plain import Table, items, table, text, texts
from postroom.config.surroundings import Surroundings
from postroom.config.targets import Network, Target, read_network, read_target
from postroom.config.values import resolved
from postroom.config.webhooks import PREVIOUS_SECRET_KEYS, SECRET_KEYS

_MAKE = "make one with: postroom webhook secret"
_SIDES = {"message": "imap", "mailbox": "imap", "send": "smtp"}
"""Which side of a mailbox events come from, by the first word of their type."""


def broken_webhooks(top: Table, surroundings: Surroundings | None) -> Iterator[Finding]:
    """Every rule that webhooks break, judged on plain values. Without `surroundings` no secret is looked for."""
    profiles, secrets = table(top.get("profiles")), _Secrets(surroundings)
    for index, value in enumerate(items(top.get("mailboxes"))):
        mailbox, seen = table(value), set[str]()
        for position, item in enumerate(items(mailbox.get("webhooks"))):
            hook, where = table(item), ("mailboxes", index, "webhooks", position)
            name = text(hook.get("name"))
            if name and name in seen:
                yield Finding((*where, "name"), "another one has the same", "every name must be unique in a mailbox")
            seen.add(name)
            yield from _target(hook, where)
            yield from _events(hook, where, mailbox)
            yield from _identity(hook, where)
            yield from _profile(hook, where, profiles, text(mailbox.get("name")))
            yield from secrets.broken(hook, where)


def _target(hook: Table, where: Where) -> Iterator[Finding]:
    try:
        target = read_target(text(hook.get("url")))
        private = [read_network(one) for _, one in texts(hook.get("allow_private"), where)]
    except ValueError:  # it is told as a fault of shape
        return
    ports = {one.strip() for _, one in texts(hook.get("ports"), where)}
    if not target.has_usual_port and str(target.port) not in ports:
        usual = "443" if target.is_https else "80"
        yield Finding((*where, "url"), "its port is not permitted", f"use {usual}, or add the port to ports")
    yield from _privacy(target, private, where)


def _privacy(target: Target, private: Sequence[Network], where: Where) -> Iterator[Finding]:
    if target.address is not None and not any(target.address in network for network in private):
        problem = "a host that is an address is only for networks in allow_private"
        yield Finding((*where, "url"), problem, "use a host name, or add the address to allow_private")
    elif not target.is_https and not private:
        problem = "http is only for networks in allow_private"
        yield Finding((*where, "url"), problem, "use https, or add the receiver's network to allow_private")


def _events(hook: Table, where: Where, mailbox: Table) -> Iterator[Finding]:
    if hook.get("events") == []:
        yield Finding((*where, "events"), "must not be empty")
    for place, event in texts(hook.get("events"), (*where, "events")):
        side = _SIDES.get(event.partition(".")[0])
        if side is not None and mailbox.get(side) is None:
            yield Finding(place, f"never comes from a mailbox without {side}", f"remove it, or add {side}")


def _identity(hook: Table, where: Where) -> Iterator[Finding]:
    """Exactly one of a user with a profile, and everything."""
    unbound = text(hook.get("unbound")).lower() in ("true", "yes", "on", "1")
    given = [key for key in ("user", "profile") if hook.get(key)]
    if unbound and given:
        yield Finding((*where, "unbound"), f"does not go with {given[0]}", "keep one of them")
    elif not unbound and not given:
        wish = "give user and profile, or write unbound: true if it may see everything"
        yield Finding(where, "does not say what its receiver may see", wish)
    elif len(given) == 1:
        lacking = "profile" if given == ["user"] else "user"
        yield Finding((*where, given[0]), f"needs {lacking} beside it", f"add {lacking}: NAME")


def _profile(hook: Table, where: Where, profiles: Table, mailbox: str) -> Iterator[Finding]:
    name = text(hook.get("profile"))
    if not name:
        return
    if name not in profiles:
        yield Finding((*where, "profile"), "there is no such profile", nearest(name, profiles))
        return
    profile = table(profiles[name])
    if profile and not profile.get("policy") and mailbox not in table(profile.get("policies")):
        yield Finding((*where, "profile"), "grants nothing in this mailbox", "give the profile a policy for it")


class _Secrets:
    """Of the whole file: two receivers with one secret could each pass for us before the other."""

    def __init__(self, surroundings: Surroundings | None) -> None:
        self._surroundings = surroundings
        self._seen: set[object] = set()

    def broken(self, hook: Table, where: Where) -> Iterator[Finding]:
        if not any(hook.get(key) for key in SECRET_KEYS):
            yield Finding(where, "there is no secret", f"give one of {', '.join(SECRET_KEYS)}; {_MAKE}")
        for first, second in (SECRET_KEYS, PREVIOUS_SECRET_KEYS):
            if hook.get(first) and hook.get(second):
                yield Finding((*where, second), f"{first} is given too", "keep one of them")
        for key in (*SECRET_KEYS, *PREVIOUS_SECRET_KEYS):
            if reference := text(hook.get(key)):
                yield from self._secret(key, reference, (*where, key))

    def _secret(self, key: str, reference: str, where: Where) -> Iterator[Finding]:
        known: object = (key.endswith("_env"), reference)
        if self._surroundings is not None:
            try:
                known = signing_key(_revealed(key, reference, self._surroundings))
            except ValueError as failure:
                yield Finding(where, f"the secret cannot be used: {failure}", _MAKE)
                return
            except CredentialError:
                yield _unreached(key, where)
                return
        if known in self._seen:
            yield Finding(where, "another one has the same secret", f"give each its own; {_MAKE}")
        self._seen.add(known)


def _revealed(key: str, reference: str, surroundings: Surroundings) -> Secret:
    if key.endswith("_file"):
        return FileCredential(resolved(reference, {"folder": surroundings.folder})).read()
    if value := surroundings.env.get(reference):
        return Secret(value)
    raise CredentialError("it is not set")


def _unreached(key: str, where: Where) -> Finding:
    if key.endswith("_env"):
        return Finding(where, "this environment variable is not set", f"set it, or use {key.removesuffix('env')}file")
    return Finding(where, "there is no such file, or it holds no short text", "check path, owner and mode")
