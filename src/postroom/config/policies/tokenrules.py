"""What must hold for a token that is bound to a profile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from postroom.config.faults import Finding, Where, nearest
from postroom.config.plain import Table, items, table, text


def broken_tokens(top: Table, profiles: Table, policies: Table, mailboxes: Sequence[str]) -> Iterator[Finding]:
    """Every rule that bound tokens break."""
    for index, value in enumerate(items(top.get("tokens"))):
        token, where = table(value), ("tokens", index)
        if token.get("toolset") == "relay":
            yield from _relay(token, where, mailboxes)
        elif token.get("profile") or token.get("user") or token.get("restrict"):
            yield from _bound(token, where)
        yield from _names(token, where, profiles, policies)
        yield from _granted(token, where, profiles)


def _relay(token: Table, where: Where, mailboxes: Sequence[str]) -> Iterator[Finding]:
    for key in ("user", "mailbox", "profile"):
        if not token.get(key):
            yield Finding(where, f"a token of the relay toolset needs {key}")
    for key, instead in (("scopes", "its policy decides; remove it"), ("mailboxes", "write mailbox: NAME")):
        if key in token and token[key] is not None:
            yield Finding((*where, key), "does not go with the relay toolset", instead)
    mailbox = text(token.get("mailbox"))
    if mailbox and mailbox not in mailboxes:
        yield Finding((*where, "mailbox"), "there is no such mailbox", nearest(mailbox, mailboxes))


def _bound(token: Table, where: Where) -> Iterator[Finding]:
    if not token.get("profile"):
        given = "user" if token.get("user") else "restrict"
        yield Finding((*where, given), "goes with a profile only", "add profile: NAME, or remove it")
    elif not token.get("user"):
        yield Finding((*where, "profile"), "a bound token needs a user too", "add user: NAME")
    for position, scope in enumerate(items(token.get("scopes"))):
        if scope == "admin" and token.get("profile"):
            yield Finding((*where, "scopes", position), "a bound token cannot hold admin", "use a token of its own")


def _names(token: Table, where: Where, profiles: Table, policies: Table) -> Iterator[Finding]:
    profile = text(token.get("profile"))
    if profile and profile not in profiles:
        yield Finding((*where, "profile"), "there is no such profile", nearest(profile, profiles))
    for position, name in enumerate(items(token.get("restrict"))):
        if isinstance(name, str) and name not in policies:
            yield Finding((*where, "restrict", position), "there is no such policy", nearest(name, policies))


def _granted(token: Table, where: Where, profiles: Table) -> Iterator[Finding]:
    """A profile with policies by mailbox must have one for each of the token's mailboxes."""
    profile = table(profiles.get(text(token.get("profile"))))
    if not profile or profile.get("policy"):
        return
    granted = table(profile.get("policies"))
    for name in (token.get("mailbox"), *items(token.get("mailboxes"))):
        if isinstance(name, str) and name not in granted:
            suggestion = "give the profile a policy for it"
            yield Finding((*where, "profile"), "grants nothing in one of the token's mailboxes", suggestion)
