"""What detectors and patterns find in a text, what becomes of it, and what becomes of the message."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set

from postroom.base.levels import Finding, Verdict
from postroom.mail.page.pieces import Edit
from postroom.policy.contentrules import ContentPattern, ContentRules
from postroom.policy.detectors import DETECTORS, Found, found, resolved
from postroom.policy.detectors.shadow import shadow

SCAN_CHARS = 1_000_000
"""Characters of a text that are looked through; what is beyond them is not shown."""
_NAMES = frozenset(one.name for one in DETECTORS)
_OF_LINKS = "reset_link"
"""Found while links are made short, since afterwards there is nothing left to find."""
_BY_DISTANCE = ("otp", "password")
"""Found by words near them, the first of the two first: a one-time password is a code."""
_QUIET_LENGTH = 80
_QUIET = re.compile(
    r"(?:[A-Za-z']{1,15}+(?![A-Za-z0-9_])|[ ,;.()&!?/-]|(?<![0-9])[0-9]{1,3}+(?![A-Za-z0-9_ .-]{0,2}[0-9]))*+"
)
"""Short words, and short numbers with none behind them."""
_TELLING = re.compile(
    "c.?d[eiou]|kod|pin|tan|otp|2fa|mfa|fact|step|pass|pwd|key|secret|token|senha|clave|parol|kenn|wacht|has.?o|sifre"
    "|contra|login|verif|sign|zero|four|five|phra|seed|recov|[A-Z]{4}-",
    re.IGNORECASE,
)
"""A word for a code, a key or a password may be among these."""
_VERDICTS = {Finding.HIDE: Verdict.HIDE, Finding.WITHHOLD: Verdict.WITHHOLD}


def marker(name: str) -> str:
    """What stands where something was."""
    return f"[redacted:{name}]"


class Redaction:
    """The detectors and patterns of one set of rules."""

    def __init__(self, rules: ContentRules) -> None:
        self._actions = dict(rules.detectors)
        self._actions |= {one.name: min(one.action, self._actions.get(one.name, Finding.OFF)) for one in rules.patterns}
        self._patterns = rules.patterns
        self._removing = frozenset(name for name, action in self._actions.items() if action <= Finding.REDACT)
        self.met: set[str] = set()
        """Names of what was removed so far."""
        own = frozenset(one.name for one in rules.patterns)
        first = (self._removing | own) - {_OF_LINKS, *_BY_DISTANCE}
        self.stages = tuple(stage for stage in (first, *({one} for one in _BY_DISTANCE)) if stage & self._removing)
        """Names that are looked for together; codes after all others, for what those were is not to move them."""
        self._markers = re.compile("|".join(re.escape(marker(name)) for name in self._actions) or r"(?!)")

    def action(self, name: str) -> Finding:
        """What is to be done where this is found."""
        return self._actions.get(name, Finding.OFF)

    def removes(self, name: str) -> bool:
        """Whether what this finds is removed, or takes more with it."""
        return name in self._removing

    def names(self, text: str, context: str = "", *, subject: bool = False) -> frozenset[str]:
        """Everything that is found in a text that is not shown like that, whatever is done about it."""
        text = text[:SCAN_CHARS]
        finds = [*found(text, _NAMES, context), *self._by_patterns(text, self._patterns, subject=subject)]
        return frozenset(one.name for one in finds)

    def finds(self, text: str, stage: Set[str], context: str = "", *, subject: bool = False) -> list[Found]:
        """What of one stage is to be removed of a text as it would be shown, in order and apart from each other.

        Words in the `context` may tell what a number in this text is.
        """
        names = stage & self._removing
        patterns = [one for one in self._patterns if one.name in names]
        finds = [*found(text, names & _NAMES, context), *self._by_patterns(text, patterns, subject=subject)]
        finds = resolved(text, finds)
        if finds and "[redacted:" in text:
            told = [match.span() for match in self._markers.finditer(text)]
            finds = [one for one in finds if not any(one.start < end and start < one.end for start, end in told)]
        self.met |= {one.name for one in finds}
        return finds

    def redacted(self, text: str, context: str = "", *, subject: bool = False) -> str:
        """A text with markers for what was found."""
        if not text or (not context and not self._patterns and is_quiet(text)):
            return text
        for stage in self.stages:
            text = without(text, self.finds(text, stage, context, subject=subject))
        return text

    def edits(self, texts: Sequence[str], stage: Set[str], context: str = "") -> list[list[Edit]]:
        """What of one stage is to be removed of texts that are read one after another, for each of them."""
        lines = [text if text.endswith("\n") else f"{text}\n" for text in texts]
        finds = self.finds("".join(lines), stage, context)
        edits, start, before = list[list[Edit]](), 0, 0
        for text, line in zip(texts, lines, strict=True):
            end = start + len(text)
            edits.append([_within(one, before, start, end) for one in finds if one.start < end and one.end > start])
            start, before = start + len(line), end
        return edits

    def redacted_together(self, texts: Sequence[str], context: str = "") -> list[str]:
        """Texts that are read one after another, with markers for what is found in them or across their borders."""
        if len(texts) <= 1:
            return list(texts)
        for stage in self.stages:
            texts = [_edited(text, edits) for text, edits in zip(texts, self.edits(texts, stage, context), strict=True)]
        return list(texts)

    def signals(self, names: Iterable[str]) -> tuple[str, ...]:
        """`redacted:NAME` of what was found and is not to be passed over, in the order of the names."""
        return tuple(sorted(f"redacted:{name}" for name in set(names) if self.action(name) < Finding.OFF))

    def verdict(self, names: Iterable[str]) -> Verdict:
        """The lowest that a detector demands."""
        return min((_VERDICTS.get(self.action(name), Verdict.ALLOW) for name in names), default=Verdict.ALLOW)

    def _by_patterns(self, text: str, patterns: Sequence[ContentPattern], *, subject: bool) -> list[Found]:
        forms = dict.fromkeys((text, shadow(text))) if patterns else ()
        finds: list[Found] = []
        for one in patterns:
            if one.in_subject if subject else one.in_body:
                finds += [Found(start, end, one.name) for form in forms for start, end in _spans(one, form)]
        return [one for one in finds if one.start < one.end]


def _spans(one: ContentPattern, text: str) -> list[tuple[int, int]]:
    """Where a pattern finds something; a text that is too long to be looked through is not shown."""
    spans = one.pattern.spans(text)
    return [(0, len(text))] if spans is None else spans


def _within(one: Found, before: int, start: int, end: int) -> Edit:
    """The share of one text in what is found across texts; the marker is in the first, behind the end of one before."""
    return Edit(max(one.start - start, 0), min(one.end, end) - start, marker(one.name) if one.start >= before else "")


def is_quiet(text: str) -> bool:
    """Whether a short value is so plain that no detector would find anything in it: most names and subjects are."""
    return len(text) < _QUIET_LENGTH and bool(_QUIET.fullmatch(text)) and not _TELLING.search(text)


def without(text: str, finds: Sequence[Found]) -> str:
    """A text with a marker for each of these."""
    return _edited(text, [Edit(one.start, one.end, marker(one.name)) for one in finds])


def _edited(text: str, edits: Sequence[Edit]) -> str:
    pieces, position = list[str](), 0
    for one in edits:
        pieces += [text[position : one.start], one.words]
        position = one.end
    return "".join([*pieces, text[position:]])
