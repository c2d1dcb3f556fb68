"""A conversation as one text: under headings nobody can forge, each message's own words once, the newest never cut."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from postroom.mail.model import Address
from postroom.mail.quotewords import FORWARD_SUBJECT, REPLY_SUBJECT

HEADING = "## "
"""Begins each heading's line, and no other line of a transcript."""
CUT = "[cut]"
"""Stands where words were cut for want of room."""
ONCE = "[…]"
"""Stands where a sender ends as it did before."""
_LEAST = 200
"""Characters of an older message that are worth telling if not all of it can be."""
_LONGEST_NAME = 120
_MOST_BLOCKS = 12
"""Paragraphs at the end of a message that may be a signature and the small print below it."""
_LONG_ENDING = 40
"""Characters."""
_MOST_PREFIXES = 10
_LIKE_HEADING = re.compile(r"^([^\S\n]*)(?=[#＃﹟]{2})", re.MULTILINE)
_LIKE_ADDRESS = re.compile(r"[<>@\"]")
_BLOCKS = re.compile(r"\n\s*\n|\n(?=-- ?(?:\n|\Z))")


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation."""

    uid: str
    folder: str
    date: datetime | None
    sender: Address | None
    subject: str | None
    words: str
    """What it says itself, without quoted history."""
    notes: tuple[str, ...] = ()
    """Lines about it that stand under its heading."""


@dataclass(frozen=True, slots=True)
class Transcript:
    text: str
    cut: int
    """Messages of whose words some or all were cut."""
    left_out: int
    """The oldest messages, of which there is not even a heading."""


def transcript(turns: Sequence[Turn], max_chars: int) -> Transcript:
    """The conversation, oldest first, within so many characters, of which headings may take half.

    What has no room is cut from the oldest messages on; of the newest only what is past all the room there is. Each
    message has a heading `## uid [folder] date name`. A sender's address stands where the name is new, or is used by
    several. Paragraphs with which a sender has ended before, such as a signature, are told once.
    """
    first = _first_told(turns, max_chars // 2)
    told = turns[first:]
    heads, words = _heads(told), [_escaped(one) for one in _endings_once(told)]
    left = max_chars - sum(map(_cost, heads))
    pieces, cut = list[str](), 0
    for place in reversed(range(len(told))):
        body, is_cut = _fitting(words[place], left, least=_LEAST if pieces else 1)
        cut += is_cut
        left = 0 if is_cut else left - len(body)
        pieces.append(f"{heads[place]}\n{body}" if body else heads[place])
    return Transcript("\n\n".join(reversed(pieces)), cut, first)


def _first_told(turns: Sequence[Turn], room: int) -> int:
    """The oldest message whose heading has room; the newest always has."""
    first = len(turns)
    for head in reversed(_heads(turns)):
        room -= _cost(head)
        if room < 0:
            break
        first -= 1
    return max(0, min(first, len(turns) - 1))


def _cost(head: str) -> int:
    """With the empty line behind it, and the mark that words were cut."""
    return len(head) + len(CUT) + 3


def _fitting(words: str, left: int, least: int) -> tuple[str, bool]:
    """The words, or as much of them as there is room for, and whether that is not all."""
    if len(words) <= left or not words:
        return words, False
    beginning = words[:left].rstrip() if left >= least else ""
    return (f"{beginning}\n{CUT}" if beginning else CUT), True


def _escaped(words: str) -> str:
    """Words none of whose lines can be taken for a heading, by a program or by a reader."""
    return _LIKE_HEADING.sub(r"\1\\", "\n".join(words.splitlines())).strip("\n")


# -- headings


def _heads(turns: Sequence[Turn]) -> list[str]:
    """Each message's heading with what stands under it: its subject where that is another, and its notes."""
    return ["\n".join(lines) for lines in map(list, _lines_of_heads(turns))]


def _lines_of_heads(turns: Sequence[Turn]) -> Iterator[Iterator[str]]:
    names = _Names(turns)
    subject = _subject_of(turns[0]) if turns else ""
    for turn in turns:
        date = f"{turn.date:%Y-%m-%d %H:%M} " if turn.date else ""
        heading = f"{HEADING}{turn.uid} [{_line(turn.folder)}] {date}{names.of(turn.sender)}"
        is_new = _subject_of(turn) != subject
        subject = _subject_of(turn)
        more = (f"Subject: {_line(turn.subject or '')}",) if is_new else ()
        yield iter((heading, *more, *(_escaped(_line(note)) for note in turn.notes)))


def _subject_of(turn: Turn) -> str:
    """The subject without what answers and forwards put before it."""
    subject = turn.subject or ""
    for _ in range(_MOST_PREFIXES):
        prefix = REPLY_SUBJECT.match(subject) or FORWARD_SUBJECT.match(subject)
        if not prefix:
            break
        subject = subject[prefix.end() :]
    return " ".join(subject.split()).casefold()


class _Names:
    """How senders are named: by the name alone once it has been told whose it is, if it is one person's."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        owners: dict[str, set[str]] = {}
        for turn in turns:
            if turn.sender and turn.sender.name:
                owners.setdefault(_key(turn.sender.name), set()).add(turn.sender.address.lower())
        self._shared = {name for name, addresses in owners.items() if len(addresses) > 1}
        self._told: set[str] = set()

    def of(self, sender: Address | None) -> str:
        if sender is None:
            return "(no sender)"
        address = _line(sender.address)[:254]
        if not sender.name or sender.name == sender.address:
            return address
        key, name = _key(sender.name), _line(sender.name)[:_LONGEST_NAME]
        if _LIKE_ADDRESS.search(name):
            return f'"{name}" <{address}>'
        if key in self._told and key not in self._shared:
            return name
        self._told.add(key)
        return f"{name} <{address}>"


def _key(name: str) -> str:
    return " ".join(name.split()).casefold()


def _line(text: str) -> str:
    return " ".join(text.split())


# -- endings that are told once


def _endings_once(turns: Sequence[Turn]) -> list[str]:
    """Each message's words; where the same sender has ended like that before, a mark stands for the ending."""
    seen: set[tuple[str, ...]] = set()
    told = []
    for turn in turns:
        sender = turn.sender.address.lower() if turn.sender else ""
        blocks = _BLOCKS.split(turn.words.strip("\n"))
        endings = [(sender, *blocks[start:]) for start in range(max(1, len(blocks) - _MOST_BLOCKS), len(blocks))]
        repeated = next((one for one in endings if one in seen and _is_farewell("\n".join(one[1:]), turn.sender)), None)
        told.append(_without(turn.words.strip("\n"), repeated[1:]) if repeated else turn.words)
        seen.update(endings)
    return told


def _is_farewell(ending: str, sender: Address | None) -> bool:
    """Long, below two dashes, or signed: a word or two may be the answer to what stands above, twice the same."""
    if len(ending) >= _LONG_ENDING or ending.startswith("--"):
        return True
    names = {sender.name, *(sender.name or "").split()} if sender else set()
    lines = ending.split("\n")
    return len(lines) > 1 and any(line.strip() in names for line in lines)


def _without(words: str, ending: Sequence[str]) -> str:
    """Words that end like that, without it: the paragraphs are counted from the end."""
    starts = [match.start() for match in _BLOCKS.finditer(words)]
    return f"{words[: starts[-len(ending)]].rstrip()}\n{ONCE}"
