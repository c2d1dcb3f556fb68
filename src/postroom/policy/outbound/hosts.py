"""Where the links of a text or a page lead, however they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator

from postroom.mail.url import find_urls, host_in_label, read_url
from postroom.policy.contentrules import UNBOUND
from postroom.policy.detectors.shadow import shadow
from postroom.policy.pagewords import addresses_of
from postroom.policy.shownlinks import addresses

_OF_MARKDOWN = re.compile(r"\]\([ \t]{0,8}<?([^\s()<>]{1,2000})|\]:[ \t]{0,8}<?([^\s()<>]{1,2000})")
"""Where a link of Markdown leads, behind its label or under it."""
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_PORT = re.compile(r"[^:/]{1,255}:\d")
"""Behind a bare host, which then is no scheme."""
_HARMLESS = re.compile(r"(?:cid|tel|sms):|data:image/(?:png|jpe?g|gif|webp)[;,]", re.IGNORECASE)
"""What is within the message, or no place of the web."""
_ANYWHERE = ("//", "\\\\", "/\\", "\\/")


def hosts_of_text(text: str) -> Iterator[str]:
    """Hosts of all links in a text; "" for one whose host cannot be told."""
    seen = shadow(text)
    for _, _, url in find_urls(seen):
        yield _host(url if _SCHEME.match(url) and not _PORT.match(url) else f"https://{url}")
    for one in addresses(text, UNBOUND):
        if not _HARMLESS.match(seen, one.start):
            yield one.target.host if one.target else ""
    for match in _OF_MARKDOWN.finditer(seen):
        yield from _followed(match[1] or match[2], bare=True)


def hosts_of_page(page: str) -> Iterator[str]:
    """The same of the attributes of a page; what leads nowhere from within a mail has no host."""
    for value in addresses_of(page):
        yield from _followed(value, bare=False)


def _followed(address: str, *, bare: bool) -> Iterator[str]:
    """The host that a browser would go to; with `bare`, also that of an address without a scheme."""
    address = "".join(letter for letter in address if letter.isprintable()).strip()
    if _HARMLESS.match(address):
        return
    if _SCHEME.match(address) or address.startswith(_ANYWHERE):
        yield _host(address)
    elif bare and (host := host_in_label(address)):
        yield host


def _host(url: str) -> str:
    target = read_url(url)
    return target.host if target else ""
