"""The URL pass: every address of the web that stands in a text, in whatever form, as the rules let it be shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import unquote

import re2

from postroom.mail.model import Link
from postroom.mail.page import Page
from postroom.mail.url import Target, read_url
from postroom.policy.contentrules import ContentRules, LinkRule
from postroom.policy.detectors.links import opens_account
from postroom.policy.detectors.shadow import shadow

_IN = r"[^\s\x0e\x0f<>\"`。，、！？；：「」『』【】《》（）“”‘’«»‹›]"
_OPTIONS = re2.Options()
_OPTIONS.max_mem = 32 << 20
_URL = re2.compile(
    rf"(?i)[a-z][a-z0-9+.-]*:[/\\][/\\]+{_IN}+|https?:[/\\]?{_IN}+"
    rf"|(?:javascript|vbscript|livescript|view-source|blob|jar|intent|x-apple[a-z-]*|ms-[a-z]+):{_IN}+"
    rf"|data:[a-z0-9.+-]*(?:/[a-z0-9.+-]*)?(?:[;,]|%2c){_IN}*|file:[/\\]{_IN}*|mailto:{_IN}+"
    rf"|www\d?\.{_IN}+"
    rf"|(?:[\pL\pN_-]+[.。．｡])+(?:\pL\pL+|xn--[a-z0-9-]+)\.?(?::\d{{1,5}})?[/?#\\]{_IN}*"
    rf"|(?:\d{{1,3}}\.){{3}}\d{{1,3}}(?::\d{{1,5}})?[/?#]{_IN}*",
    _OPTIONS,
)
_TRAILING = frozenset(".,;:!?'*_~|")
_CLOSING = {")": "(", "]": "[", "}": "{"}
_HAS_PATH = re.compile(r"[/?#\\]")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_TWO_NAMES = re.compile(r"[A-Z][a-z]+\.[A-Z][a-z]+/[A-Za-z]+")
"""Two things with a stroke between: `Mr.Smith/Jones`."""
_FILE = re.compile(r"[\w-]+\.(?:pdf|docx?|xlsx?|pptx?|txt|csv|md|json|ya?ml|toml|ini|log|py|js|ts|tsx|css|java"
                   r"|cpp|rs|go|html?|xml|png|jpe?g|gif|svg)[/#][\w./#-]{0,80}", re.IGNORECASE)  # fmt: skip
_FOREIGN_START = re.compile("^[\u2e80-\U0003ffff]+(?=[A-Za-z0-9])")
_WIDE_STOP = re.compile("[，！；（）｢｣]")
"""Signs of sentences in Chinese and Japanese whose simple forms may stand in an address."""
_REFERENCE = re.compile("‹(link(?:[ :]|›)|bad link›)", re.IGNORECASE)
_MANY = 2_000
"""Links that have numbers."""
_MOST_DECODED = 4
"""Forms of an address: as it stands, and decoded again and again."""


class Address(NamedTuple):
    """An address of the web in a text, and where it leads; None if nowhere."""

    start: int
    end: int
    target: Target | None


def addresses(text: str, rules: ContentRules) -> Iterator[Address]:
    """Every address in a text: with a scheme, beginning with `www.`, or a bare host with something behind it."""
    if text.isascii() and "." not in text and ":" not in text:
        return
    seen = shadow(text)
    for match in _URL.finditer(seen):
        wide = _WIDE_STOP.search(text, match.start(), match.end())
        start, end = match.start(), _end(seen, match.start(), wide.start() if wide else match.end())
        foreign = _FOREIGN_START.match(seen[start:end])
        start += foreign.end() if foreign else 0
        written = seen[start:end]
        has_scheme = _SCHEME.match(written) is not None and not written.partition(":")[2][:1].isdigit()
        if has_scheme or written[:3].lower() == "www" or _leads_on(written):
            yield Address(start, end, read_url(written if has_scheme else f"https://{written}", unwrap=rules.unwrap))


def _leads_on(written: str) -> bool:
    """Whether a bare host has anything behind it, and is no name of a file or of two people."""
    return bool(_HAS_PATH.search(written)) and not (_TWO_NAMES.fullmatch(written) or _FILE.fullmatch(written))


def _end(text: str, start: int, end: int) -> int:
    """Without punctuation, and brackets that were opened before."""
    counts = {mark: text.count(mark, start, end) for pair in _CLOSING.items() for mark in pair}
    while end > start:
        last = text[end - 1]
        if last in _CLOSING and counts[last] > counts[_CLOSING[last]]:
            counts[last] -= 1
        elif last not in _TRAILING:
            break
        end -= 1
    return end


class LinkPass:
    """The links of one message, numbered as they are met; `told` if it speaks of resetting or confirming.

    A target of which `redacted` would change anything, be it decoded, is told by its host alone.
    """

    def __init__(self, rules: ContentRules, redacted: Callable[[str], str], *, told: bool, removes: bool) -> None:
        self._rules = rules
        self._redacted = redacted
        self._clean: dict[str, bool] = {}
        self._told = told
        self._removes = removes
        self._of_pages: dict[tuple[int, int, str], str] = {}
        self.links: list[Link] = []
        self.signals: set[str] = set()

    def without_references(self, text: str) -> str:
        """Text that cannot pretend to hold references of ours."""
        return _REFERENCE.sub(r"‹ \1", text) if "‹" in text else text

    def is_shown(self, target: Target) -> bool:
        """Whether a target may be shown in full."""
        opens = opens_account(target.href, told=self._told)
        self.signals |= {"reset_link"} if opens else set()
        if self._rules.links is LinkRule.REMOVE or (opens and self._removes):
            return False
        hosts, host = self._rules.full_link_domains, target.host
        may = self._rules.links is LinkRule.FULL or any(host == one or host.endswith(f".{one}") for one in hosts)
        return may and self._is_clean(target.href)

    def _is_clean(self, href: str) -> bool:
        """Whether nothing in an address would be redacted, however often it is decoded."""
        if href not in self._clean:
            forms = [href]
            while len(forms) < _MOST_DECODED and (decoded := unquote(forms[-1])) != forms[-1]:
                forms.append(decoded)
            self._clean[href] = all(self._redacted(form) == form for form in forms)
        return self._clean[href]

    def reference(self, target: Target | None, label: str = "", *, mismatch: bool = False) -> str:
        """What stands for a link in a text; it is noted down."""
        if target is None:
            self.signals.add("suspicious_link")
            return "‹bad link›"
        self.signals |= {"suspicious_link"} if target.suspicious else set()
        self.signals |= {"homograph_link"} if target.homograph else set()
        is_shown = self.is_shown(target)
        if self._rules.links is LinkRule.REMOVE:
            return "‹link›"
        self.links.append(Link(label or target.host, target.href if is_shown else "", target.host, mismatch))
        return f"‹link #{len(self.links)}: {target.href if is_shown else target.host}›"

    def shown(self, text: str) -> str:
        """Text in which a reference stands for each address; one that may be shown in full stands for itself."""
        pieces, position = list[str](), 0
        for address in addresses(text, self._rules):
            pieces += [text[position : address.start], self.reference(address.target)]
            position = address.end
        return "".join([*pieces, text[position:]])

    def shown_page(self, text: str, page: Page) -> str:
        """The same of a page's text, in which marks stand behind the labels of its links."""
        pieces, position = list[str](), 0
        for number, (start, end, target) in enumerate(addresses(text, self._rules)):
            link = _marked(_MARK.match(text, end), page.links)
            pieces.append(text[position:start])
            if link is None:
                pieces.append(self.of_page(page, -1 - number, target))
            elif target and target.host != link.host:
                pieces.append(target.host)  # a label that is an address says its host, beside the true one
            position = end
        return _MARK.sub(lambda mark: self._placed(mark, page), "".join([*pieces, text[position:]]))

    def _placed(self, mark: re.Match[str], page: Page) -> str:
        link = _marked(mark, page.links)
        if link is None:
            return ""
        if link.href.startswith("mailto:") and link.href[7:] in mark.string[max(mark.start() - 254, 0) : mark.start()]:
            return ""
        told = self.of_page(page, int(mark[1]), read_url(link.href, unwrap=False))
        return told if mark.string[mark.start() - 1 : mark.start()] in ("", " ", "\n") else f" {told}"

    def of_page(self, page: Page, number: int, target: Target | None) -> str:
        """The reference to one of a page's links, or to an address in its text, which has a number below zero.

        It is the same in all forms of the page.
        """
        key = id(page), number, target.href if target else ""
        if key not in self._of_pages:
            link = page.links[number] if number >= 0 else None
            told = self.reference(target, link.text, mismatch=link.mismatch) if link else self.reference(target)
            self._of_pages[key] = told
        return self._of_pages[key]

    def label(self, text: str) -> str:
        """The label of a link, of which an address is shown as its host alone."""
        pieces, position = list[str](), 0
        for start, end, target in addresses(text, self._rules):
            pieces += [text[position:start], target.host if target else ""]
            position = end
        return "".join([*pieces, text[position:]])


_MARK = re.compile("\x0e(\\d{1,7})\x0f")


def _marked(mark: re.Match[str] | None, links: Sequence[Link]) -> Link | None:
    return links[int(mark[1])] if mark and int(mark[1]) < len(links) else None


_NUMBERED = re.compile(r"‹link #(\d{1,7}): (?=([^‹›\n]*)(›?))")
_OPENED = re.compile(r"‹link #\d{1,7}: \Z")
_REDACTED = re.compile(r"\[redacted:[^\]\n]{1,80}\]")
_LABEL_BEFORE = 600
"""Characters before a reference in which its label stands."""


def is_in_reference(text: str, place: int) -> bool:
    """Whether an address stands in a reference of ours."""
    return _OPENED.search(text, max(place - 20, 0), place) is not None


def told_targets(text: str) -> frozenset[str]:
    """What stands whole in the references of a text."""
    return frozenset(match[2] for match in _NUMBERED.finditer(text) if match[3])


class Numbering:
    """The numbers that readers see, in the order in which the links stand; of each what was redacted around it."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._hurt: dict[int, re.Match[str]] = {}
        self._before: dict[int, str] = {}

    def numbered(self, text: str) -> str:
        """Text with the numbers that its links have from now on."""
        self.note(text)
        return _NUMBERED.sub(self._of, text) if "‹link #" in text else text

    def note(self, text: str) -> None:
        """Remember what a text that is redacted no longer says of its links."""
        if "[redacted:" not in text:
            return
        for match in _NUMBERED.finditer(text):
            at, before = int(match[1]), text[max(match.start() - _LABEL_BEFORE, 0) : match.start()]
            if _REDACTED.search(match[2]):
                self._hurt.setdefault(at, match)
            if "[redacted:" in before:
                self._before.setdefault(at, " ".join(before.split()))

    def _of(self, match: re.Match[str]) -> str:
        number = self._numbers.setdefault(int(match[1]), len(self._numbers) + 1)
        return f"‹link {number}: " if number <= _MANY else "‹link: "

    def links(self, noted: list[Link], label: Callable[[str], str]) -> tuple[Link, ...]:
        """The links that stand somewhere, each with what the texts still say of it, and its label as it is shown."""
        return tuple(self._told(at, noted[at - 1], label) for at in list(self._numbers)[:_MANY])

    def _told(self, at: int, link: Link, label: Callable[[str], str]) -> Link:
        host, href, hurt = link.host, link.href, self._hurt.get(at)
        if hurt and not (href and host in hurt[2]):
            mark = _REDACTED.search(hurt[2])
            host = hurt[2] if hurt[3] and not href else mark[0] if mark else ""
        text = label(link.text)
        before = self._before.get(at, text)
        is_whole = link.text != link.host and text in before
        return replace(link, text=text if is_whole else host, href="" if hurt else href, host=host)


def shown_line(
    text: str, rules: ContentRules, redacted: Callable[[str], str], *, removes: bool
) -> tuple[str, frozenset[str]]:
    """The URL pass over a value of one line, whose links have no numbers; and what was noticed."""
    links = LinkPass(rules, redacted, told=False, removes=removes)
    line = links.shown(links.without_references(text))
    return _NUMBERED.sub("‹link: ", line) if links.links else line, frozenset(links.signals)
