"""For what the mailbox's own servers found out about a sender: trusted Authentication-Results (RFC 8601)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import islice

from postroom.mail.model import Authentication, Field

_RESULTS = frozenset(("none", "pass", "fail", "softfail", "neutral", "policy", "temperror", "permerror"))
_METHODS = ("spf", "dkim", "dmarc")
_LONGEST = 8_192
"""Octets of one header field that are looked at."""
_MOST_FIELDS = 20
_MOST_RESULTS = 100
_ID = re.compile(r'\s*(?:"([^"]{0,255})"|([^\s;"]{1,255}))\s*(?:\d{1,3}\s*)?\Z')
_RESULT = re.compile(r"\s*([a-z][\w-]{0,40})\s*(?:/\s*\d{1,3}\s*)?=\s*\"?([a-z]{1,20})\b", re.IGNORECASE)

_SIGNER = re.compile(r"\bheader\.([di])\s{0,9}=\s{0,9}\"?([^\s;\"]{1,320})", re.IGNORECASE)


def authentication(fields: tuple[Field, ...], trusted: Collection[str], hops: int) -> Authentication:
    """SPF, DKIM and DMARC as the topmost trusted results tell them, else `unknown`.

    Trusted is a field whose authserv-id is one of `trusted` and which stands above the (`hops` + 1)-th `Received`:
    what lies below came with the message, and anyone may have written it.
    """
    names = {name.lower().rstrip(".") for name in trusted}
    found: dict[str, str] = {}
    for value in islice(_near(fields, hops), _MOST_FIELDS if names else 0):
        server, results = _read(value)
        if server not in names:
            continue
        told: dict[str, str] = {}
        for method, result in results:
            # Of several signatures one that holds is enough (RFC 6376 6.1).
            if method not in told or (method == "dkim" and result == "pass"):
                told[method] = result
        found = told | found
    return Authentication(**{method: found.get(method, "unknown") for method in _METHODS})


def signing_domains(fields: tuple[Field, ...], trusted: Collection[str], hops: int) -> frozenset[str] | None:
    """Domains of the signatures that passed (header.d, else header.i; RFC 8601 2.7.1), as the trusted results tell.

    Lower case. None where they tell of no signature at all, be it good or bad.
    """
    names = {name.lower().rstrip(".") for name in trusted}
    told, domains = False, set[str]()
    for value in islice(_near(fields, hops), _MOST_FIELDS if names else 0):
        server, *results = _statements(value)
        named = _ID.match(server)
        if named is None or (named[1] or named[2] or "").lower().rstrip(".") not in names:
            continue
        for statement in results[:_MOST_RESULTS]:
            match = _RESULT.match(statement)
            if match and match[1].lower() == "dkim":
                told = True
                domains |= {_signer(statement)} if match[2].lower() == "pass" else set()
    return frozenset(domains - {""}) if told else None


def _signer(statement: str) -> str:
    found = {match[1].lower(): match[2] for match in _SIGNER.finditer(statement)}
    return (found.get("d") or found.get("i", "")).rpartition("@")[2].lower().rstrip(".")


def _near(fields: tuple[Field, ...], hops: int) -> Iterator[str]:
    received = 0
    for field in fields:
        name = field.name.lower()
        if name == "received":
            received += 1
            if received > hops:
                return
        elif name == "authentication-results":
            yield field.value[:_LONGEST].decode("utf-8", "replace")


def _read(value: str) -> tuple[str, list[tuple[str, str]]]:
    """The authserv-id in lower case, and the results of the methods we know; ("", []) for what is not of that form."""
    first, *rest = _statements(value)
    server = _ID.match(first)
    if server is None:
        return "", []
    results = []
    for statement in rest[:_MOST_RESULTS]:
        match = _RESULT.match(statement)
        if match and match[1].lower() in _METHODS:
            word = match[2].lower()
            results.append((match[1].lower(), word if word in _RESULTS else "unknown"))
    return (server[1] or server[2] or "").lower().rstrip("."), results


def _statements(value: str) -> list[str]:
    """The parts between semicolons, comments taken out (RFC 5322 3.2.2), quoted strings left whole."""
    statements, current = [], list[str]()
    depth, quoted, escaped = 0, False, False
    for letter in value:
        if escaped:
            escaped = False
            current.append("" if depth else letter)
        elif letter == "\\" and (quoted or depth):
            escaped = True
        elif letter == '"' and not depth:
            quoted = not quoted
            current.append(letter)
        elif quoted:
            current.append(letter)
        elif letter == "(":
            depth += 1
        elif letter == ")":
            depth = max(0, depth - 1)
        elif letter == ";" and not depth:
            statements.append("".join(current))
            current = []
        elif not depth:
            current.append(letter)
    return [*statements, "".join(current)]
