"""For whether two domains belong to one owner: the part of a domain that is registered, by the public suffix list."""

from __future__ import annotations

from functools import cache

from publicsuffixlist import PublicSuffixList


def organisational_domain(domain: str) -> str | None:
    """The domain that an owner has registered, such as `example.co.uk` of `mail.example.co.uk` (RFC 7489 3.2).

    Taken and given as A-labels in lower case. None for a public suffix itself: nobody owns `co.uk`. The list comes
    with its package and nothing is fetched; hosters' suffixes, such as `github.io`, are in it.
    """
    return _suffixes().privatesuffix(domain)


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()
