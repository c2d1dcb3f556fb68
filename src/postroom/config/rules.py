"""What must hold between the values of a file: references, unique names, credentials, what is not built yet."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence

from postroom.base.tls import holds_authorities
from postroom.config.faults import Finding, Where, nearest
from postroom.config.plain import Table, items, table, text
from postroom.config.policies.rules import broken_policies
from postroom.config.servers import CREDENTIAL_KEYS
from postroom.config.storeurl import StoreUrl
from postroom.config.surroundings import Surroundings
from postroom.config.values import is_loopback, resolved
from postroom.config.webhookrules import broken_webhooks


def broken_rules(file: object, surroundings: Surroundings | None) -> Iterator[Finding]:
    """Every rule a file breaks, judged on plain values, so that faults of shape elsewhere hide none of them.

    Without `surroundings`, files, programs and environment variables are not looked for.
    """
    top = table(file)
    yield from broken_policies(top)
    yield from _repeated(top, "mailboxes", "name")
    yield from _repeated(top, "tokens", "name")
    yield from _repeated(top, "tokens", "token_hash")
    yield from _tokens(top)
    for index, mailbox in enumerate(items(top.get("mailboxes"))):
        yield from _mailbox(table(mailbox), ("mailboxes", index), surroundings)
    yield from broken_webhooks(top, surroundings)


def unguarded(file: object) -> Iterator[Finding]:
    """A file whose permissions nobody looks at may only serve this machine."""
    listen = text(table(table(file).get("server")).get("listen"))
    host = listen.rpartition(":")[0].strip("[]")
    if listen and not is_loopback(host):
        problem = "--insecure-permissions is for loopback only"
        yield Finding(("server", "listen"), problem, "listen on 127.0.0.1, or start without it")


def holds_password(file: object) -> bool:
    """Whether a password is written in the file itself."""
    if _is_with_password(text(table(file).get("store"))):
        return True
    mailboxes = [table(mailbox) for mailbox in items(table(file).get("mailboxes"))]
    servers = [table(mailbox.get(key)) for mailbox in mailboxes for key in ("imap", "smtp")]
    return any(server.get("password") is not None for server in servers)


def _is_with_password(store: str) -> bool:
    try:
        return StoreUrl.of(store).has_password
    except ValueError:
        return False


def _not_built(where: Where, subject: str) -> Finding:
    return Finding(where, f"{subject} not built yet", "remove it")


def _repeated(top: Table, listing: str, key: str) -> Iterator[Finding]:
    seen: set[str] = set()
    for index, item in enumerate(items(top.get(listing))):
        value = text(table(item).get(key))
        if value and value in seen:
            yield Finding((listing, index, key), "another one has the same", f"every {key} must be unique")
        seen.add(value)


def _tokens(top: Table) -> Iterator[Finding]:
    known = [text(table(mailbox).get("name")) for mailbox in items(top.get("mailboxes"))]
    for index, item in enumerate(items(top.get("tokens"))):
        token, where = table(item), ("tokens", index)
        if token.get("mailbox") and token.get("toolset") != "relay":
            yield Finding((*where, "mailbox"), "belongs to the relay toolset", "write mailboxes: [NAME]")
        for position, name in enumerate(items(token.get("mailboxes"))):
            if isinstance(name, str) and name not in known:
                guess = nearest(name, known)
                yield Finding((*where, "mailboxes", position), "there is no such mailbox", guess)


def _mailbox(mailbox: Table, where: Where, surroundings: Surroundings | None) -> Iterator[Finding]:
    if mailbox.get("watch") and mailbox.get("imap") is None:
        yield Finding((*where, "watch"), "there is no folder to watch without imap", "give imap, or remove it")
    if mailbox.get("imap") is None and mailbox.get("smtp") is None:
        yield Finding(where, "a mailbox needs imap, smtp, or both")
    for key in ("imap", "smtp"):
        server = mailbox.get(key)
        if isinstance(server, Mapping):
            yield from _server(server, (*where, key))
            yield from _references(server, (*where, key), surroundings)


def _server(server: Table, where: Where) -> Iterator[Finding]:
    plaintext = server.get("tls") == "none" and not is_loopback(text(server.get("host")))
    if plaintext and text(server.get("allow_insecure")).lower() not in ("true", "yes", "on", "1"):
        wish = "use ssl or starttls, or write allow_insecure: true to send the password in the clear"
        yield Finding((*where, "tls"), "none is for this machine only", wish)
    given = [key for key in CREDENTIAL_KEYS if server.get(key) is not None]
    if where[-1] == "smtp" and server.get("username") is None:
        if given:
            yield Finding((*where, given[0]), "is of no use without a username", "add username, or remove it")
        return
    yield from _login(server, given, where)


def _login(server: Table, given: Sequence[str], where: Where) -> Iterator[Finding]:
    """Exactly one source of the credential, of the kind that `auth` needs."""
    kind = "token" if server.get("auth") in ("xoauth2", "oauthbearer") else "password"
    fitting = [key for key in CREDENTIAL_KEYS if key.startswith(kind)]
    if not given:
        yield Finding(where, f"there is no {kind}", f"give one of {', '.join(fitting)}")
    for key in given:
        if key not in fitting:
            auth = "auth: password" if kind == "password" else "this kind of auth"
            yield Finding((*where, key), f"does not go with {auth}", f"use one of {', '.join(fitting)}")
    for key in given[1:]:
        yield Finding((*where, key), f"{given[0]} is given too", "keep one of them")


def _references(server: Table, where: Where, surroundings: Surroundings | None) -> Iterator[Finding]:
    if surroundings is None:
        return
    for key in ("password_file", "token_file", "ca_file"):
        name = text(server.get(key))
        if name and not os.access(resolved(name, {"folder": surroundings.folder}), os.R_OK):
            yield Finding((*where, key), "there is no such file, or it cannot be read", "check path, owner and mode")
    authorities = str(resolved(text(server.get("ca_file")), {"folder": surroundings.folder}))
    if server.get("ca_file") and os.access(authorities, os.R_OK) and not holds_authorities(authorities):
        yield Finding((*where, "ca_file"), "it holds no certificate in PEM form", "give the authority's PEM file")
    variable = text(server.get("password_env"))
    if variable and not surroundings.env.get(variable):
        yield Finding((*where, "password_env"), "this environment variable is not set", "set it, or use password_file")
    for key in ("password_command", "token_command"):
        argv = items(server.get(key))
        if argv and not _runnable(text(argv[0]), surroundings):
            yield Finding((*where, key, 0), "there is no such program", "give its full path")


def _runnable(program: str, surroundings: Surroundings) -> bool:
    if "/" in program:
        program = str(resolved(program, {"folder": surroundings.folder}))
    return shutil.which(program, path=surroundings.env.get("PATH")) is not None
