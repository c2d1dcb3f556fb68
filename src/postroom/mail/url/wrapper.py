"""For undoing link wrappers of mail filters and redirectors, by their known formats and without asking anybody."""

from __future__ import annotations

import binascii
import re
from base64 import urlsafe_b64decode
from collections.abc import Callable
from itertools import islice
from urllib.parse import parse_qs, unquote, urlsplit

_QUERIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "safelinks.protection.outlook.com": ("", ("url",)),
    "safelinks.protection.office365.us": ("", ("url",)),
    "safelinks.protection.partner.outlook.cn": ("", ("url",)),
    "statics.teams.cdn.office.net": ("/evergreen-assets/safelinks", ("url",)),
    "google.com": ("/url", ("q", "url")),
    "linkprotect.cudasvc.com": ("/url", ("a",)),
    "clicktime.symantec.com": ("", ("u",)),
    "protect2.fireeye.com": ("", ("u",)),
    "url.trendmicro.com": ("", ("url",)),
    "imsva91-ctp.trendmicro.com": ("/wis/clicktime", ("url",)),
    "avanan.url-protection.com": ("/v1/url", ("o",)),
    "facebook.com": ("/l.php", ("u",)),
    "l.instagram.com": ("", ("u",)),
    "linkedin.com": ("/redir/", ("url",)),
    "youtube.com": ("/redirect", ("q",)),
    "duckduckgo.com": ("/l/", ("uddg",)),
    "slack-redir.net": ("/link", ("url",)),
    "t.umblr.com": ("/redirect", ("z",)),
    "vk.com": ("/away.php", ("to",)),
    "steamcommunity.com": ("/linkfilter", ("u", "url")),
    "deref-mail.com": ("/mail/client/", ("redirectUrl",)),
    "deref-gmx.net": ("/mail/client/", ("redirectUrl",)),
    "deref-web.de": ("/mail/client/", ("redirectUrl",)),
    "deref-web-02.de": ("/mail/client/", ("redirectUrl",)),
}
"""Host, start of the path, and the parameters that hold the target."""

_PROOFPOINT = re.compile(r"/v3/__(.+?)__;([^!]*)!", re.DOTALL)
_AVANAN = re.compile(r"/v2/(?:r\d+/)?___(.+?)___\.", re.DOTALL)
_FILLED = re.compile(r"\*(\*.)?", re.DOTALL)
_RUN = {
    letter: length
    for length, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 2)
}
_CISCO = re.compile(r"/[^/]+/((?:https?)(?::|%3a).+)", re.IGNORECASE | re.DOTALL)


def unwrapped(url: str, host: str) -> str | None:
    """The target that a wrapped URL holds, still to be read; None if it is not wrapped in a way we know."""
    labels = host.split(".")
    for at in range(max(len(labels) - 6, 0), len(labels) - 1):
        suffix = ".".join(labels[at:])
        if suffix in _READERS:
            return _READERS[suffix](url)
        if suffix in _QUERIES:
            return _of_query(url, *_QUERIES[suffix])
    return None


def _of_query(url: str, path: str, names: tuple[str, ...]) -> str | None:
    split = urlsplit(url)
    fields = parse_qs(split.query, max_num_fields=100) if split.path.startswith(path) else {}
    return next((fields[name][0] for name in names if name in fields), None)


def _proofpoint(url: str) -> str | None:
    """Versions 1 to 3 of the vendor's encoding."""
    match = _PROOFPOINT.search(url)
    if match:
        return _proofpoint_3(match[1], match[2])
    wrapped = _of_query(url, "/v", ("u",))
    if wrapped and urlsplit(url).path.startswith("/v2/"):
        return unquote(wrapped.replace("-", "%").replace("_", "/"))
    return wrapped


def _proofpoint_3(url: str, encoded: str) -> str | None:
    """A `*` stands for the next character of a base64 string, `**` and a letter for as many as the letter says."""
    try:
        letters = iter(urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode("utf-8"))
    except (binascii.Error, ValueError):
        letters = iter("")

    def filled(match: re.Match[str]) -> str:
        length = _RUN.get(match[1][1], 1) if match[1] else 1
        return "".join(islice(letters, length)) or match[0]

    return _FILLED.sub(filled, url)


def _avanan(url: str) -> str | None:
    match = _AVANAN.search(url)
    return match[1] if match else None


def _cisco(url: str) -> str | None:
    match = _CISCO.fullmatch(urlsplit(url).path)
    return unquote(match[1]) if match else None


def _sophos(url: str) -> str | None:
    wrapped = _of_query(url, "/", ("u",))
    try:
        return urlsafe_b64decode(wrapped + "=" * (-len(wrapped) % 4)).decode("utf-8") if wrapped else None
    except (binascii.Error, ValueError):
        return None


_READERS: dict[str, Callable[[str], str | None]] = {
    "urldefense.com": _proofpoint,
    "urldefense.proofpoint.com": _proofpoint,
    "urldefense.us": _proofpoint,
    "url.avanan.click": _avanan,
    "secure-web.cisco.com": _cisco,
    "protection.sophos.com": _sophos,
}
