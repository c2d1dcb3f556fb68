"""For characters that nobody sees: invisible, bidirectional and control characters found, removed, text made tidy."""

from __future__ import annotations

import re
import unicodedata

from postroom.mail.lines import one_line

MARKS = "\x0e\x0f"
"""Two controls that a page's text uses as brackets around the number of a link; no mail's text holds them."""

_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f"
_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_INVISIBLE = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0"
    "\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_JOINERS = "\u200c\u200d"
_STYLES = "\ufe0e\ufe0f"
_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_JOINED_SCRIPTS = (
    "\u0600-\u06ff\u0700-\u074f\u0750-\u077f\u0860-\u08ff\u0900-\u0dff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"
    "\u1800-\u18af\ua840-\ua87f\ufb50-\ufdff\ufe70-\ufefe"
)
"""Arabic, Syriac, Indic, Tibetan, Myanmar, Khmer, Mongolian: where a joiner changes how a word is written."""

_ESCAPES = (
    r"\x1b\[[0-?]{0,50}[ -/]{0,10}[@-~]|\x9b[0-?]{0,50}[ -/]{0,10}[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\n\x9c]{0,2000}(?:\x07|\x1b\\|\x9c)"
)
"""Terminal sequences (ECMA-48): those that begin with CSI, and the strings, if they end."""


def _run(controls: str) -> re.Pattern[str]:
    """Whole runs, so that taking something out never brings two of the rest together."""
    return re.compile(f"(?:{_ESCAPES}|[{controls}{_BIDI}{_INVISIBLE}{_JOINERS}{_STYLES}\ud800-\udfff])+")


_UNSEEN = _run(_CONTROLS)
_UNSEEN_BESIDE_MARKS = _run("\x00-\x08\x0b-\x0d\x10-\x1f\x7f-\x84\x86-\x9f")
_ONE_EMOJI = re.compile(f"[{_EMOJI}]")
_BEFORE_JOINER = re.compile(f"[{_EMOJI}\U0001f3fb-\U0001f3ff]")
_SCRIPT = re.compile(f"[{_JOINED_SCRIPTS}]")
_KEYCAP = frozenset("0123456789#*")

_SIGNS = {
    "invisible_characters": re.compile(f"[{_INVISIBLE}]"),
    "bidi_controls": re.compile(f"[{_BIDI}]"),
    "control_characters": re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]"),
}
_JOINER = re.compile(f"[{_JOINERS}]")
_PADDING = re.compile(r"^[> \t\xa0]*+(?:\ufeff|\u200b[ \t\xa0]*+$)", re.MULTILINE)
"""What editors of some mailers leave at the beginning of a block, or in one that is empty."""
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_OVERRIDES = re.compile("[\u202d\u202e]")


def unseen_in(text: str) -> frozenset[str]:
    """The signals that a text gives: `invisible_characters`, `bidi_controls`, `control_characters`.

    No sign are the marks that words written from right to left need among others, as long as none is turned round.
    """
    if text.isascii() and text.isprintable():
        return frozenset()
    text = _PADDING.sub("", text)
    signs = {sign for sign, pattern in _SIGNS.items() if pattern.search(text)}
    if "bidi_controls" in signs and _RIGHT_TO_LEFT.search(text) and not _OVERRIDES.search(text):
        signs.remove("bidi_controls")
    if "invisible_characters" not in signs and _JOINER.search(text):
        lost = _UNSEEN.sub(_kept, text)
        signs |= {"invisible_characters"} if len(_JOINER.findall(lost)) < len(_JOINER.findall(text)) else set()
    return frozenset(signs)


def without_unseen(text: str) -> str:
    """Text of several lines with everything removed that has no look of its own; what joins letters or emoji stays.

    Line ends are LF, U+2028, U+2029 and NEL among them; TAB stays.
    """
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _UNSEEN.sub(_kept, _BREAKS.sub("\n", text))


def visible_line(text: str) -> str:
    """A one-line value without what nobody sees."""
    if text.isascii() and text.isprintable():
        return text.strip()
    return one_line(_UNSEEN.sub(_kept, _BREAK_OR_TAB.sub(" ", text)))


def _kept(match: re.Match[str]) -> str:
    """What of a run of such characters has a use where it stands."""
    run, text = match[0], match.string
    before = text[match.start() - 1 : match.start()]
    after = text[match.end() : match.end() + 1]
    kept = ""
    if run[0] in _STYLES and (_ONE_EMOJI.match(before) or (before in _KEYCAP and after == "\u20e3")):
        kept, run = run[0], run[1:]
    if run == "\u200d" and _BEFORE_JOINER.match(before) and _ONE_EMOJI.match(after):
        return kept + run
    if run in ("\u200c", "\u200d") and not kept and _SCRIPT.match(before) and _SCRIPT.match(after):
        return run
    return kept


def _kept_joiner(match: re.Match[str]) -> str:
    """As `_kept`, with the first joiner of the run, if there is any."""
    kept = _kept(match)
    joiner = _JOINER.search(match[0])
    return kept if joiner is None or _JOINER.search(kept) else kept + joiner[0]


_BREAKS = re.compile("[\x85\u2028\u2029]")
_BREAK_OR_TAB = re.compile("[\t-\r\x85\u2028\u2029]+")
_SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]")
_UNASSIGNED = re.compile(
    "[\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000f0000-\U0010ffff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 15))
    + "]"
)
_MARK = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_MANY_MARKS = re.compile(f"([{_MARK}]{{4}})[{_MARK}]+")
_LONG_RUN = re.compile(r"(.)\1{64,}")
_MANY_LINES = re.compile(r"\n{3,}")


def tidy(text: str, *, marks: bool = False, joiners: bool = False) -> str:
    """Text as it is read: `without_unseen`, exotic spaces plain, composed (NFC), nothing that only floods.

    Runs of one character over 64 are cut to eight and an ellipsis, marks on one letter to four, empty lines to one;
    what is for private use or no character at all becomes U+FFFD. With `marks` the brackets `MARKS` stay.
    With `joiners` a joiner stays wherever it stands, one of a run. Doing it twice changes nothing.
    """
    text = "\n".join([line.rstrip() for line in tidy_piece(text, marks=marks, joiners=joiners).split("\n")])
    return _MANY_LINES.sub("\n\n", text)


def tidy_piece(text: str, *, marks: bool = False, joiners: bool = False) -> str:
    """As `tidy`, of text that goes on elsewhere: the blanks at the ends of its lines part words, and stay."""
    text = _BREAKS.sub("\n", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = (_UNSEEN_BESIDE_MARKS if marks else _UNSEEN).sub(_kept_joiner if joiners else _kept, text)
    if not text.isascii():
        text = _SPACES.sub(" ", _UNASSIGNED.sub("\ufffd", text))
        # Composing may bring a letter and a mark together that were apart; marks are counted afterwards.
        text = _MANY_MARKS.sub(r"\1", unicodedata.normalize("NFC", text))
    return _MANY_LINES.sub("\n\n", _LONG_RUN.sub(_cut, text))


def _cut(match: re.Match[str]) -> str:
    return match[1] * 8 + "…"
