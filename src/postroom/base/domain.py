"""For domain names of mail: A-labels (RFC 5890) by IDNA 2008 with the mapping of UTS 46."""

from __future__ import annotations

import re

import idna

MAX_DOMAIN = 253
"""RFC 1035 2.3.4."""
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_LONGEST_READ = 4 * MAX_DOMAIN


def a_labels(domain: str, fewest: int = 2) -> str:
    """The domain in lower case and A-labels, at least so many; ValueError says in words what is wrong with it."""
    if domain.startswith("["):
        raise ValueError("an address literal in brackets is not taken; write a domain name")
    if len(domain) > _LONGEST_READ:
        raise ValueError("the domain is too long")
    if domain.endswith("."):
        raise ValueError("the domain must not end with a dot")
    domain = domain.lower()
    if not domain.isascii() or "xn--" in domain:
        domain = _encoded(domain)
    labels = domain.split(".")
    if len(labels) < fewest:
        raise ValueError("the domain must have two labels at least, such as example.org")
    if not all(map(_LABEL.fullmatch, labels)):
        raise ValueError("a label of the domain may hold letters, digits and hyphens within only, at most 63")
    if labels[-1].isdigit():
        raise ValueError("an IP address is not taken; write a domain name")
    if len(domain) > MAX_DOMAIN:
        raise ValueError("the domain is too long")
    return domain


def _encoded(domain: str) -> str:
    try:
        encoded = idna.encode(domain, uts46=True, std3_rules=True).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        raise ValueError("the domain is no internationalised domain name (IDNA 2008)") from None
    if encoded.endswith("."):
        raise ValueError("the domain must not end with a dot")
    return encoded
