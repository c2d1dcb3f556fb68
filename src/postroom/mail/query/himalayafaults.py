"""What is wrong with a query in Himalaya's language: where it is, what could stand there, and how it is mended."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence

from postroom.base.errors import GatewayError, invalid
from postroom.mail.query.filters import imap_date

ARGUMENT = "query"
FILTER, SORT = "filter", "sort"
"""The parts of a query: what stands before `order by`, and after it."""
_LONGEST_QUOTED = 60
"""Characters of the caller's own words that a hint repeats."""
_WORDS = ("date", "before", "after", "from", "to", "subject", "body", "flag")
_CONDITIONS = f"{', '.join(_WORDS[:-1])} and {_WORDS[-1]}"
_QUOTES = "\"'“”„‘’«»"
_WORD = re.compile(r'[^\s()"]*')
_SPELLED = re.compile(r"([A-Za-z_-]+)\s*[:=]")
_GLUED = re.compile(rf"(and|or|not)(?=\(|(?:{'|'.join(_WORDS)}) )", re.IGNORECASE)
_SINCE = re.compile(r"(since|until|on) +\d", re.IGNORECASE)
_JOIN = 'put "and" or "or" between conditions'
_NO_SUCH = f"there is no such condition; the conditions are {_CONDITIONS}"
_SAME_DAY = "write date 2026-01-31 for a day, not before 2026-01-31 for that day and later"
_IMAP: Mapping[str, str] = {
    **{name: f"write flag {name}" for name in ("seen", "answered", "flagged", "deleted", "draft")},
    **{f"un{name}": f"write not flag {name}" for name in ("seen", "answered", "flagged", "deleted", "draft")},
    "unread": "write not flag seen",
    "read": "write flag seen",
    "starred": "write flag flagged",
    "new": "write not flag seen",
    "recent": "write not flag seen",
    "keyword": "write flag and the keyword",
    "unkeyword": "write not flag and the keyword",
    "since": _SAME_DAY,
    "sentsince": _SAME_DAY,
    "on": _SAME_DAY,
    "senton": _SAME_DAY,
    "sentbefore": "write before 2026-01-31",
    "until": "write before 2026-01-31",
    "all": "leave the query out to list every message",
    "is": "write flag seen, or not flag seen",
    "has": f"there is no condition for attachments; the conditions are {_CONDITIONS}",
    "attachment": f"there is no condition for attachments; the conditions are {_CONDITIONS}",
    "text": "there is no condition for all of a message; write subject x or body x",
    "or": "or stands between two conditions: from ana or from bo",
    "and": "and stands between two conditions: from ana and flag seen",
    "order": "write order by date: one space within order by, and one after it",
    "sort": "write order by date, with the filter before it",
    **dict.fromkeys(("cc", "bcc", "header", "size", "larger", "smaller", "uid", "label", "tag", "in"), _NO_SUCH),
}
"""Words of other search languages, and what they are here."""
_SYMBOLS: Mapping[str, str] = {
    "!": "write not before a condition",
    "-": "write not before a condition",
    "|": "write or between conditions",
    "&": "write and between conditions",
    "+": "write and between conditions",
}


def fault(part: str, offset: int, expected: Sequence[str], hint: str) -> GatewayError:
    """A `validation_error` about the character `offset` of `part`, both parts without the blanks around them."""
    reason = f"at character {offset + 1} of the {part} (expected: {', '.join(expected)}): {hint}"
    return invalid(ARGUMENT, reason, part=part, offset=offset, expected=list(expected), hint=hint)


def refusal(part: str, offset: int, reason: str) -> GatewayError:
    """A `validation_error` about what Himalaya would take and nobody can have meant, or no server can be asked."""
    told = f"at character {offset + 1} of the {part}: {reason}"
    return invalid(ARGUMENT, told, part=part, offset=offset, expected=[], hint=reason)


def no_condition(text: str, at: int) -> str:
    """How what stands at `at` becomes a condition."""
    word = _word(text, at)
    if at == len(text) or (word == "not" and at + len(word) == len(text)):
        return "a condition is missing at the end"
    if glued := _GLUED.match(text, at):
        return f"put a space after {glued[1].lower()}"
    if spelled := _SPELLED.match(text, at):
        return _of_field(spelled[1].lower())
    if word in _IMAP:
        return _IMAP[word]
    if text[at] in _SYMBOLS:
        return _SYMBOLS[text[at]]
    if text[at] == ")":
        return "a condition is missing before this )"
    nearest = difflib.get_close_matches(word[:20], _WORDS, n=1, cutoff=0.75)
    if nearest:
        return f"did you mean {nearest[0]}?"
    return f"for words in the subject write {_valued('subject', text[at:])}"


def _word(text: str, at: int) -> str:
    """In lower case; empty before a parenthesis, a quote and the end."""
    match = _WORD.match(text, at)
    return match[0].lower() if match else ""


def _of_field(name: str) -> str:
    if name in _WORDS:
        return f"write {name} and its value with a space between them"
    return _IMAP.get(name, _NO_SUCH)


def no_value(text: str, word: str, at: int) -> str:
    """What the condition `word` lacks, which ends before `at`."""
    if at == len(text):
        return f"{word} needs a value"
    if text[at] in ":=":
        return f"write {word} and its value with a space between them"
    if text[at].isspace():
        return "only an ordinary space separates words"
    return f"write {word}, a space and its value; one with parentheses in quotes"


def no_end(text: str, start: int, at: int) -> str:
    """How what stands at `at`, after the condition that begins at `start`, may go on."""
    rest = text[at:].lower()
    if not rest or rest in ("and", "or"):
        return "a condition is missing at the end" if rest else "a ( lacks its )"
    if glued := _GLUED.match(rest):
        return f"put a space after {glued[1]}"
    word = _word(rest, 0)
    if rest.startswith(("(", '"', *(f"{one} " for one in _WORDS))) or word == "not":
        return _JOIN
    if rest[0] == ")":
        return "this ) closes nothing"
    if _is_order(text[start:at], rest):
        return "write order by with a space before and after it, and one space within"
    if word in _IMAP and (text[at : at + len(word)].isupper() or _SINCE.match(rest)):
        return f"{_JOIN}; {_IMAP[word]}"
    return _SYMBOLS.get(rest[0]) or _unquoted(text, start, at)


def _is_order(before: str, rest: str) -> bool:
    """Whether this is `order by` with a blank too many or too few."""
    return rest.startswith("order") or (before.lower().endswith("order ") and _word(rest[3:].lstrip(), 0) in _WORDS)


def _unquoted(text: str, start: int, at: int) -> str:
    """Several words as a value are what most people write."""
    condition, _, value = text[start:].partition(" ")
    if any(letter.isspace() for letter in text[start:at].strip(" ").partition(" ")[2]):
        return f"only an ordinary space separates words; {_JOIN}"
    if text[:at].rstrip(" ").endswith((",", ";")) or condition.lower() not in ("from", "to", "subject", "body"):
        return _JOIN
    return f"put a value of several words in quotes, {_valued(condition.lower(), value)}; {_JOIN}"


def _valued(condition: str, words: str) -> str:
    """The condition with the words up to an operator or a parenthesis as its value, if they are few and plain."""
    words = re.split(r"[()]| (?:and|or|not|order by)(?: |\Z)", words, maxsplit=1, flags=re.IGNORECASE)[0]
    line = " ".join(words.lstrip(" :=").split()).strip(_QUOTES)
    plain = 0 < len(line) <= _LONGEST_QUOTED and line.isprintable() and not set(line) & set('"\\')
    return f'{condition} "{line if plain else "two words"}"'


def no_day(value: str) -> str:
    """What is wrong with a value that is no day."""
    try:
        day = imap_date(value)
    except ValueError:
        return "there is no such day"
    if day:
        return f"write {day.isoformat()}"
    parts = re.fullmatch(r"(\d{1,4})([-/])(\d{1,2})\2(\d{1,4})", value, re.ASCII)
    if parts and len(parts[4]) > 2:
        return "there is no such day; the day comes first, then the month, or write it as 2026-01-31"
    if parts:
        return "there is no such day; write it as 2026-01-31"
    return "write a day as 2026-01-31, without a time; there are no relative days"


def no_key(text: str, at: int, offset: int) -> str:
    """How the word at `at`, wrong from `offset` on, becomes a key to sort by."""
    if text[offset : offset + 1] in (",", ";"):
        return "separate the keys with a space"
    if text[offset : offset + 1].isspace():
        return "only an ordinary space separates words"
    word = _word(text, at)
    if word in ("ascending", "descending"):
        return "write asc or desc"
    if word in ("asc", "desc"):
        return "one direction belongs to one key, and stands after it"
    return "write order by date desc; the keys are date, from, to and subject, and nothing comes after them"
