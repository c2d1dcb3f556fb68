"""For where a link leads: its address cleaned as a browser does, wrappers undone, and what is odd about it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

from postroom.mail.url.host import is_address, is_lookalike, read_host
from postroom.mail.url.wrapper import unwrapped

MAX_WRAPPERS = 5
"""Link wrappers in each other that are undone."""
MAX_URL = 8192
"""Characters of an address; longer ones have no target."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]")
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_PATH = re.compile(r"[/\\?#]")
_PORT = re.compile(r":(\d{0,5})$")
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_HARMLESS = _names(
    "http https mailto tel sms cid mid callto sip sips geo webcal xmpp maps facetime whatsapp skype msteams zoommtg "
    "ftp news"
)
_MAIL = re.compile(r"[^\s@,;<>\"()]{1,64}@([^\s@,;<>\"()/\\?#]+)")
_ODD = re.compile(r"""[\s"<>\\^`{|}]""")

_MAX_LABEL = 1000
_LONGEST_TITLE = 4
"""Letters of an ending in title case, past which it is a word: `Example.Com` is a host, `Mr.Smith` is not."""
_DOTS = frozenset(".。．｡/:")
_LABEL_EDGE = re.compile(r"^[^\w\[]+|[^\w/\]]+$")
_LABEL_URL = re.compile(r"(?:https?|ftp):[/\\]{2}[^\s<>\"]+|(?<![\w.@-])www\d?\.[^\s<>\"]+", re.IGNORECASE)
_LABEL_HOST = re.compile(r"(?:[\w-]+[.。．｡])+(?:[^\W\d_]{2,24}|xn--[\w-]+)(?::\d+)?(?:[/?#]\S*)?")
_LABEL_MAIL = re.compile(r"[\w.!#$%&'*+=?^`{|}~-]+@((?:[\w-]+\.)+[^\W\d_]{2,24})")
_FILES = _names(
    "pdf doc docx docm xls xlsx xlsm csv ppt pptx txt rtf odt ods odp jpg jpeg png gif webp svg bmp tif tiff heic "
    "html htm xml json yaml yml toml ini log md zip rar gz tgz tar bz2 exe msi dmg apk js ts css py java cpp "
    "ics eml msg vcf mp3 mp4 mov avi wav dll bat sh ps1"
)
"""Endings of file names; some are top-level domains too, but `report.zip` is a file until a path follows."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a link leads."""

    href: str
    """Absolute: http, https, or mailto with the address alone."""
    host: str
    """Lower case, as an A-label (RFC 5890 2.3.2.1)."""
    suspicious: bool
    """An IP address for a host, user information, a look-alike, or something a browser would have to repair."""
    homograph: bool
    """The host looks like another, or mixes alphabets as no name does."""


def read_url(text: str, *, unwrap: bool = True) -> Target | None:
    """The target of an address, entities decoded, with known wrappers undone; None if it is not one of the web or mail.

    Cleaned as in the URL standard of the WHATWG: tabs and line ends dropped, backslashes as slashes, user information
    dropped, the host as its A-label. A relative address has no target: a mail has no place it could start from.
    """
    target = _read(text)
    for _ in range(MAX_WRAPPERS if unwrap else 0):
        inner = unwrapped(target.href, target.host) if target else None
        found = _read(inner) if inner else None
        if found is None:
            break
        target = found
    return target


def is_suspicious_scheme(text: str) -> bool:
    """An address of a scheme that runs, embeds or reads something, such as javascript: or data:."""
    match = _SCHEME.match(_cleaned(text))
    return match is not None and match[1].lower() not in _HARMLESS


def _cleaned(text: str) -> str:
    return text.strip() if text.isprintable() else _CONTROLS.sub("", text).strip()


def _read(text: str) -> Target | None:
    text = _cleaned(text[: 2 * MAX_URL])
    match = _SCHEME.match(text)
    scheme = match[1].lower() if match else ""
    if len(text) > MAX_URL:
        return None
    if scheme == "mailto":
        return _mail(text[7:])
    if not match and text[:1] in ("/", "\\") and text[1:2] in ("/", "\\"):
        return _web("https", text)  # of the same scheme as where it is read
    return _web(scheme, text[len(scheme) + 1 :]) if scheme in ("http", "https") else None


def _web(scheme: str, rest: str) -> Target | None:
    rest = rest.lstrip("/\\")
    end = _PATH.search(rest)
    authority, path = (rest[: end.start()], rest[end.start() :]) if end else (rest, "")
    _, at, server = authority.rpartition("@")
    port = _PORT.search(server)
    host = read_host(server[: port.start()] if port else server)
    if not host:
        return None
    shown = "" if not port or port[1] in ("", _DEFAULT_PORTS[scheme]) else f":{port[1]}"
    homograph = is_lookalike(host)
    suspicious = bool(at) or homograph or is_address(host)
    return Target(f"{scheme}://{host}{shown}{_path(path)}", host, suspicious, homograph)


def _path(text: str) -> str:
    """Path, query and fragment; a backslash in the path is a slash, what could end a link in text is encoded."""
    path, mark, rest = text.partition("?")
    text = path.replace("\\", "/") + mark + rest
    text = _ODD.sub(lambda odd: quote(odd[0], safe=""), text)
    return text if text.startswith("/") else f"/{text}"


def _mail(rest: str) -> Target | None:
    """The address alone: headers of a mailto (RFC 6068) could add recipients and words nobody sees."""
    address = unquote(rest.partition("?")[0].partition(",")[0].partition(";")[0]).strip()
    match = _MAIL.fullmatch(_CONTROLS.sub("", address))
    host = read_host(match[1]) if match else None
    if not match or not host:
        return None
    local = match[0][: match.start(1) - match.start(0) - 1]
    homograph = is_lookalike(host)
    return Target(f"mailto:{local}@{host}", host, homograph or is_address(host), homograph)


def host_in_label(label: str) -> str | None:
    """The host that a label shows, as an A-label: it holds a URL, or is a host or a mail address; else None."""
    label = label[:_MAX_LABEL].strip()
    if not set(label) & _DOTS:
        return None
    url = _LABEL_URL.search(label)
    if url:
        target = _read(url[0] if ":" in url[0][:6] else f"https://{url[0]}")
        return target.host if target else None
    label = _LABEL_EDGE.sub("", label)
    if " " in label:
        return None
    mail = _LABEL_MAIL.fullmatch(label)
    if mail:
        return read_host(mail[1])
    if not _LABEL_HOST.fullmatch(label):
        return None
    host = re.split(r"[:/?#]", label, maxsplit=1)[0]
    ending = host.rpartition(".")[2]
    is_other = ending.lower() in _FILES or (ending.istitle() and len(ending) > _LONGEST_TITLE)
    return None if is_other and "/" not in label else read_host(host)


def is_mismatch(label: str, target: Target) -> bool:
    """A label that shows a host, and not the target's, nor one above or below it."""
    shown = host_in_label(label)
    if shown is None:
        return False
    shown, real = shown.removeprefix("www."), target.host.removeprefix("www.")
    return not (shown == real or shown.endswith("." + real) or real.endswith("." + shown))
