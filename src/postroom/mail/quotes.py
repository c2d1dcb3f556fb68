"""For telling a message's new words from the history that is quoted below, above or between them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from postroom.mail.quotewords import (
    FORWARD_SUBJECT,
    FORWARDED,
    HEADER_LINE,
    POINTS_BELOW,
    REPLY_SUBJECT,
    SEPARATOR,
    WROTE,
)

_CONTEXT = 4
"""Quoted lines that stay before an answer which is written under them: without them it could not be understood."""
_ATTRIBUTION_LINES = 4
"""Lines over which mailers wrap the line that says who wrote what follows."""
_LONGEST_ATTRIBUTION = 400
_BLOCK, _BLOCK_WITH_ADDRESSES = 8, 60
"""Lines within which a header block of Outlook's kind has all its parts, and with the lines its addresses take."""

_QUOTED = re.compile(r" ?>")
_OTHER_QUOTED = re.compile(r"\s*\w{0,4}[>|]")
_ADDRESS = re.compile(r"[^\s@]{1,100}@[^\s@]{1,200}")
_NUMBER = re.compile(r"\d+")
_DATED = re.compile(r"\b(?:19|20)\d\d(?!\d)|\d{1,2}[:.h]\d\d(?!\d)|\d{1,2}[/.-]\d{1,2}")
_ON_A_DAY = re.compile(r"\W*(?:on|am|le|el|il|em|op|w dniu|den|dne|på|na|на|в|\d)\b[^\n\d]{0,40}\d", re.IGNORECASE)
_NAMES = re.compile(r"\W*(?:[^\W\d_a-z][^\s\d]{0,40}\s){1,5}\S{1,20}\s?[:：]\Z")
_SENTENCE_ENDS = (".", "!", "?", "…", "。", "！", "？")
_RULE = re.compile(r"^\s*(?:_{8,}|-{3,}|—{4,}|\*{8,})\s*…?\s*$")
_SIGNATURE = re.compile(r"^(?:-- ?|_{8,}|-{8,})$")
_MANY_LINES = re.compile(r"\n{3,}")


def without_history(text: str, subject: str | None = None, *, in_reply: bool = False) -> str:
    """The text without what it quotes of older messages; the same text if it quotes nothing, or nothing else.

    History is what follows an attribution, or a header block of Outlook's kind, and in a reply (by its subject, or
    `in_reply`) every quoted line; of those that an answer stands under, the last few stay, marked as cut. What is
    forwarded is no history: it is what the message is about. Where it is unclear, text stays.
    """
    subject = subject or ""
    if not _may_quote(text) or FORWARD_SUBJECT.match(subject):
        return text
    is_reply = in_reply or REPLY_SUBJECT.match(subject) is not None
    lines = text.split("\n")
    own, rest = _parted(lines, is_reply)
    new = _MANY_LINES.sub("\n\n", "\n".join([*_without_quoted(own, is_reply), *rest])).strip("\n")
    return new if new.strip() and new.strip() != text.strip() else text


def _may_quote(text: str) -> bool:
    return ">" in text or ":" in text or "：" in text or "--" in text


# -- history that no mark tells from what is new: everything below a line


def _parted(lines: Sequence[str], is_reply: bool) -> tuple[Sequence[str], Sequence[str]]:
    """The lines above all unmarked history, and those below that are forwarded, which is no history."""
    for position, line in enumerate(lines):
        if FORWARDED.match(line):
            return lines[:position], lines[position:]
        start = _history_start(lines, position, is_reply)
        if start is not None:
            return (lines[:start] if _is_left_behind(lines[:start]) else lines), ()
    return lines, ()


def _history_start(lines: Sequence[str], position: int, is_reply: bool) -> int | None:
    """Where history starts, if it is this line that says so."""
    line = lines[position]
    if SEPARATOR.match(line):
        return position if is_reply or _has_sender(lines[position + 1 : position + 5]) else None
    if HEADER_LINE["from"].match(line):
        is_block = _is_header_block(lines[position : position + _BLOCK_WITH_ADDRESSES])
        return _block_start(lines, position, is_reply) if is_block else None
    return _attributed_start(lines, position)


def _has_sender(lines: Sequence[str]) -> bool:
    return any(HEADER_LINE["from"].match(line) and _ADDRESS.search(line) for line in lines)


def _is_header_block(lines: Sequence[str]) -> bool:
    """`From:`, `Sent:`, `To:` and `Subject:` close together, as Outlook writes them above what it quotes."""
    near = [line for line in lines[1:] if ":" in line[:30] or "：" in line[:30] or not _goes_on(line)][:_BLOCK]
    rest = [pattern for name, pattern in HEADER_LINE.items() if name != "from"]
    return all(any(pattern.match(line) for line in near) for pattern in rest)


def _goes_on(line: str) -> bool:
    """More addresses of a long list."""
    return "@" in line or line.rstrip().endswith((";", ","))


def _block_start(lines: Sequence[str], position: int, is_reply: bool) -> int | None:
    """The rule above a header block, or its first line; None if it is a form, a timetable, or a header talked about.

    Only in a reply may the rule be missing, and a sender's address; words that lead up to a block speak of it.
    """
    above = next((at for at in range(position - 1, max(position - 4, -1), -1) if lines[at].strip()), -1)
    if above >= 0 and _RULE.match(lines[above]):
        return above if is_reply or _ADDRESS.search(lines[position]) else None
    return position if is_reply and not (above >= 0 and _leads_up(lines[above])) else None


def _leads_up(line: str) -> bool:
    return line.rstrip().endswith((":", "："))


def _attributed_start(lines: Sequence[str], position: int) -> int | None:
    """The first line of an attribution that gives date and address, and plain words below it."""
    if not _is_dated(lines[position]):
        return None
    for end in range(position + 1, min(position + _ATTRIBUTION_LINES, len(lines)) + 1):
        if not lines[end - 1].strip() or _QUOTED.match(lines[end - 1]):
            return None
        if lines[end - 1].rstrip().endswith((":", "：")):
            joined = " ".join(lines[position:end])
            below = next((line for line in lines[end : end + 3] if line.strip()), ">")
            is_plain = not _OTHER_QUOTED.match(below) and WROTE.search(joined[-_LONGEST_ATTRIBUTION:])
            return position if is_plain and len(joined) <= _LONGEST_ATTRIBUTION and _ADDRESS.search(joined) else None
    return None


def _is_left_behind(own: Sequence[str]) -> bool:
    """Whether what is below can go: the new words do not send their reader there."""
    return POINTS_BELOW.search("\n".join(line for line in own if not _QUOTED.match(line))) is None


# -- history that is marked, line by line


def _without_quoted(lines: Sequence[str], is_reply: bool) -> list[str]:
    kept: list[str] = []
    position, last_own = 0, _last_own(lines)
    while position < len(lines):
        if not _QUOTED.match(lines[position]):
            kept.append(lines[position])
            position += 1
            continue
        end = _quoted_end(lines, position)
        quoted = lines[position:end]
        if not _is_history(kept, quoted, is_reply):
            kept += quoted
        elif last_own >= end:
            kept += _context(quoted)
        position = end
    return kept


def _last_own(lines: Sequence[str]) -> int:
    """The last line that may be an answer: neither quoted nor in a signature, nor a list's footer."""
    own = [at for at, line in enumerate(lines) if line.strip() and not _QUOTED.match(line)]
    last_quoted = max((at for at, line in enumerate(lines) if _QUOTED.match(line)), default=-1)
    signed = next((at for at in own if at > last_quoted and _SIGNATURE.match(lines[at])), len(lines))
    return max((at for at in own if at < signed), default=-1)


def _quoted_end(lines: Sequence[str], position: int) -> int:
    """Behind the last quoted line of a block; an empty line between two quoted ones belongs to it."""
    end = position
    while end < len(lines):
        if _QUOTED.match(lines[end]):
            position = end + 1
        elif lines[end].strip():
            break
        end += 1
    return position


def _is_history(kept: list[str], quoted: Sequence[str], is_reply: bool) -> bool:
    """Whether a quotation is of an older message; takes the lines that say whose it is off what stands before it.

    Words that lead up to a quotation by a colon of their own make it a part of what they say.
    """
    if _drop_attribution(kept, is_reply):
        return True
    inside = [line.lstrip("> ") for line in quoted[:_ATTRIBUTION_LINES]]
    if any(_is_attribution(" ".join(inside[:count]), is_reply) for count in range(1, len(inside) + 1)):
        return True
    above = next((line for line in reversed(kept[-3:]) if line.strip()), "")
    return is_reply and not _leads_up(above)


def _context(quoted: Sequence[str]) -> list[str]:
    """What stays of quoted lines above an answer."""
    told = [line for line in quoted if line.strip("> \t")]
    if len(told) <= _CONTEXT:
        return told
    return ["> […]", *told[-_CONTEXT:]]


# -- the line that says who wrote what follows


def _drop_attribution(kept: list[str], is_reply: bool) -> bool:
    """Take off the line or lines before a quotation that say whose words they are; whether there were any."""
    end = len(kept)
    while end and not kept[end - 1].strip():
        end -= 1
    found = None
    for start in range(end - 1, max(end - 1 - _ATTRIBUTION_LINES, -1), -1):
        joined = " ".join(kept[start:end])
        if not kept[start].strip() or len(joined) > _LONGEST_ATTRIBUTION:
            break
        if found is not None and kept[start].rstrip().endswith(_SENTENCE_ENDS):
            break
        if _is_attribution(joined, is_reply):
            found = start if found is None or _is_dated(kept[start]) else found
            if _is_dated(kept[start]):
                break
    if found is None:
        return False
    del kept[found:]
    return True


def _is_attribution(line: str, is_reply: bool) -> bool:
    """A line that ends in a colon and tells of a writer: an address and a date, or a word for writing and one of them.

    In a reply a name will do, or the day alone, beside that word.
    """
    line = line.rstrip()
    if not line.endswith((":", "：")) or len(line) > _LONGEST_ATTRIBUTION:
        return False
    has_address = _ADDRESS.search(line) is not None
    if has_address and _is_dated(line):
        return True
    if not WROTE.search(line):
        return False
    return has_address or _is_dated(line) or (is_reply and (_NAMES.match(line) or _ON_A_DAY.match(line)) is not None)


def _is_dated(line: str) -> bool:
    """Two numbers, of which one is like a year, a time or a day."""
    line = _ADDRESS.sub(" ", line[:_LONGEST_ATTRIBUTION])
    return len(_NUMBER.findall(line)) > 1 and _DATED.search(line) is not None
