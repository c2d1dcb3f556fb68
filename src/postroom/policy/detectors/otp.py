"""One-time codes: short numbers and tokens that stand near a word for them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from postroom.policy.detectors.otpwords import (
    CONFIRMATION,
    OTHER_CODE,
    OTHER_USE,
    PIN,
    STRONG,
    TOPIC,
    TRAVEL,
    UNNAMED,
    WEAK,
)
from postroom.policy.detectors.passwords import passwords
from postroom.policy.detectors.pattern import Span, is_letter_or_digit, pattern

_LEADS = frozenset(":=\n([")
_NEAR, _CLOSE = 160, 40
"""Characters between a code and a word for it; and where the word or the code alone is doubtful."""

_TOKEN = pattern(r"[A-Z0-9]*\d[A-Z0-9]*")
_MIXED = pattern(r"\b(?:[A-Z0-9]{2,8}-[A-Z0-9]{2,8}|[A-Z0-9]{4,10})\b", any_case=False)
_GAP = pattern(
    r"^(?:[ \t]{0,2}[-.·•|*/_]{1,4}[ \t]{0,2}|, |\x{fe0f}?\x{20e3}[ ]{0,2}"
    r"|[ \t]{1,3}|[ \t]{0,2}\n[ \t\n>*-]{0,6}| (?:and|then|und|et|y|e|en|i) )$"
)
_GROUPED = pattern(r"^(?:[ \t]{1,2}|[ \t]?[-.·•][ \t]?)$")
_SPELLED = pattern(r"\b(?:(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)[ ,-]{1,3}){3,9}"
                   r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)\b",
                   "[零〇一二三四五六七八九]{4,8}")  # fmt: skip

_PATH, _NAME = frozenset("/@\\&?"), frozenset("@/\\-")
_MONEY = (
    r"[$€£¥₹₽₩₺]|\b(?:eur|usd|gbp|chf|jpy|inr|pln|sek|nok|dkk|czk|huf|try|rub|cny|aud|cad|euros?|dollars?|pounds?)\b"
)
_BEFORE_OTHER = pattern(
    rf"(?:{_MONEY}) ?$",
    r"(?:^|\W)(?:order|invoice|ticket|case|reference|ref|tracking|parcel|shipment|booking|phone|tel|fax|call"
    r"|dial|mobile|zip"
    r"|room|suite|flight|build|version|ver|v|release|meeting id|webinar id|customer|member|account|policy"
    r"|contract|article"
    r"|item|sku|isbn|issue|bug|chapter|port|extension|ext|ending in|ends in|serial|model|po box|p\.?o|box"
    r"|bestell\w*|rechnung\w*|kunden\w*|auftrag\w*|vorgang\w*|telefon|commande|facture|pedido|factura|ordine|fattura"
    r"|zam[óo]wieni\w*|заказ\w*|link|year|©|\(c\)|copyright|windows|id|pr|cve|iso|rfc|http|error|status)"
    r"[ -]?(?:no|nr|number|num|id|nummer|n[°º])?[ .:#°]{0,3}$",
)
_AFTER_OTHER = pattern(
    rf"^ ?(?:{_MONEY}|%|‰|°)",
    r"^ ?-?(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|times|users?|people"
    r"|customers?|members?"
    r"|points?|items?|pages?|words?|characters?|bytes?|[kmgt]i?b|[kcm]?m|km|kg|px|bits?|digits?|percent|sekunden"
    r"|minuten"
    r"|stunden|tagen?|minutes|heures|jours|minutos|horas|d[íi]as|dias|minuti|ore|giorni|minuten|uur|dagen"
    r"|минут\w*|час\w*"
    r"|дн\w*|分钟|分鐘|小时|分|時間|분|시간|st(?:reet)?|road|avenue|ave|rd|blvd|strasse)\b",
    r"^[.,]\d{1,2}\b",
)
_DATE = pattern(
    r"^(?:(?:19|20)\d\d[-./](?:0?[1-9]|1[0-2])[-./](?:0?[1-9]|[12]\d|3[01])"
    r"|(?:0?[1-9]|[12]\d|3[01])[-./](?:0?[1-9]|[12]\d|3[01])[-./](?:19|20)\d\d)$"
)
_SHORT_DATE = pattern(r"^(?:19|20)\d\d-\d{1,7}$|^(?:0?[1-9]|[12]\d|3[01])[-./](?:0?[1-9]|[12]\d|3[01])[-./]\d\d$")
_STANDARD = pattern(r"^(?:SHA|MD|RFC|ISO|IEC|CVE|AES|TLS|UTF|IPV|WIN|COVID|BASE|X|HTTP|FIDO|PKCS|RSA|USB|GDPR|EN"
    r"|DIN|ORD|INV"
                    r"|REF|TKT|CASE|PO|SKU|PR|JIRA|BUG|TICKET|RMA|AWB|Q[1-4]|FY|H[12]|KW)-?\d+[A-Z]?$")  # fmt: skip
_INTRODUCED = pattern(
    r"(?:code|c[óo]digo|codice|kod|pin|otp|tan|passcode|password|код|码|碼|コード|번호|코드)\W{0,3}"
    r"(?:is|ist|lautet|est|es|è|é|to|jest|wynosi|は|는|是)?\W{0,4}$"
)
"""What leads up to a code and to nothing else, whatever stands behind it."""
_REFERENCE = pattern(r"\b(?:19|20)\d\d-$")
_PREFIX = pattern(r"\b[A-Z]{1,3}-$", any_case=False)
_COMPOUND = pattern(r"[\p{Latin}\p{Cyrillic}\p{Greek}]{4}-$")


def codes(text: str, context: str = "") -> list[Span]:
    """Codes near a word for them; wherever they stand, if such a word stands in the `context`, as of a subject."""
    everywhere = bool(context) and (_has_strong(context) or _weak(context) != [])
    strong, weak, topics = _strong(text), _weak(text), [Span(*match.span()) for match in TOPIC.finditer(text)]
    if not (everywhere or strong or weak or topics):
        return []
    candidates = list(_candidates(text))
    measure = _Measure([*(span for span, _ in candidates), *passwords(text)])
    words = tuple(_Places(spans, measure) for spans in (strong, weak, topics))
    found = [span for span, doubtful in candidates if _is_near(text, span, doubtful, words, everywhere)]
    return [span for span in found if not _is_other(text, span)]


def tells_of_codes(text: str) -> bool:
    """Whether a word for a one-time code stands in a text."""
    return bool(_has_strong(text) or _weak(text))


class _Measure:
    """Distances in a text that do not depend on how long the codes and passwords in it are."""

    def __init__(self, spans: list[Span]) -> None:
        self._ends: list[int] = []
        self._before: list[int] = [0]
        position = 0
        for start, end in sorted(spans):
            self._ends.append(max(end, position))
            self._before.append(self._before[-1] + max(end - max(start, position), 0))
            position = max(end, position)

    def at(self, place: int) -> int:
        return place - self._before[bisect_right(self._ends, place)]


class _Places:
    """Ranges in order, to be asked for the distance to the next one."""

    def __init__(self, spans: Sequence[Span], measure: _Measure) -> None:
        self._starts = [span.start for span in spans]
        self._ends = sorted(span.end for span in spans)
        self._measure = measure

    def distance(self, span: Span) -> float:
        at = self._measure.at
        after, before = bisect_left(self._starts, span.end), bisect_left(self._ends, span.start + 1) - 1
        ahead = at(self._starts[after]) - at(span.end) if after < len(self._starts) else float("inf")
        behind = at(span.start) - at(self._ends[before]) if before >= 0 else float("inf")
        return min(ahead, behind)


def _is_near(text: str, span: Span, doubtful: bool, words: tuple[_Places, ...], everywhere: bool) -> bool:
    strong, weak, topic = (places.distance(span) for places in words)
    is_led_to = text[max(span.start - 2, 0) : span.start].strip(" ") in _LEADS
    if topic <= _NEAR and (is_led_to or span.end - span.start >= 6):
        strong = min(strong, topic)
    if doubtful:
        return min(strong, weak) <= _CLOSE
    return everywhere or strong <= _NEAR or weak <= _CLOSE


def _has_strong(text: str) -> bool:
    return bool(_strong(text))


def _strong(text: str) -> list[Span]:
    found = sorted(Span(*match.span()) for one in (STRONG, PIN) for match in one.finditer(text))
    return [one for one in _without_bookings(text, found) if not OTHER_USE.search(text[one.end : one.end + 12])]


def _weak(text: str) -> list[Span]:
    found = [Span(*match.span()) for match in WEAK.finditer(text)]
    if found and OTHER_CODE.search(text):
        return []
    return [one for one in _without_bookings(text, found) if _is_unnamed(text, one)]


def _is_unnamed(text: str, word: Span) -> bool:
    """Whether no word before it says what kind of code it is, as in English nouns do."""
    is_english = text[word.start : word.start + 4].lower() == "code"
    return not is_english or UNNAMED.search(text[max(word.start - 60, 0) : word.start]) is not None


def _without_bookings(text: str, words: list[Span]) -> list[Span]:
    """Without what is the name of a booking beside words of travel."""
    if not words or not TRAVEL.search(text):
        return words
    bookings = [Span(*match.span()) for match in CONFIRMATION.finditer(text)]
    starts = [booking.start for booking in bookings]
    return [word for word in words if not _is_within(word, bookings, starts)]


def _is_within(word: Span, spans: Sequence[Span], starts: Sequence[int]) -> bool:
    at = bisect_right(starts, word.start) - 1
    return at >= 0 and word.start < spans[at].end


# -- what has the form of a code


def _candidates(text: str) -> Iterator[tuple[Span, bool]]:
    """Ranges of the form of a code, and whether they are so only close to a word for it."""
    for match in _MIXED.finditer(text):
        token = match.group() or ""
        letters = sum(one.isalpha() for one in token)
        if 4 <= len(token.replace("-", "")) <= 10 and letters and _is_free(text, *match.span()):
            has_both = letters < len(token.replace("-", ""))
            if not _STANDARD.search(token) and (has_both or _is_given(text, *match.span())):
                yield Span(*match.span()), not has_both
    for match in _SPELLED.finditer(text):
        yield Span(*match.span()), True
    for chain in _chains(text):
        if text[max(chain[0].start - 1, 0) : chain[0].start] != "+":
            yield from _of_chain(text, chain)


def _is_given(text: str, start: int, end: int) -> bool:
    """Whether letters alone, which may as well be a word that is shouted, stand where a code is given."""
    line = text[text.rfind("\n", max(start - 20, 0), start) + 1 : start], text[end : end + 20].split("\n")[0]
    alone = not "".join(line).strip(" .*_>")
    before = text[max(start - _CLOSE, 0) : start]
    return alone or (_INTRODUCED.search(before) is not None and not before.rstrip()[-1:].isupper())


def _chains(text: str) -> Iterator[list[Span]]:
    """Runs of numbers between which hardly anything stands."""
    chain: list[Span] = []
    for match in _TOKEN.finditer(text):
        span = Span(*match.span())
        if not text[span.start : span.end].isdigit() or not _is_free(text, *span):
            continue
        if chain and not (span.start - chain[-1].end <= 9 and _GAP.search(text[chain[-1].end : span.start])):
            yield chain
            chain = []
        chain.append(span)
    if chain:
        yield chain


def _of_chain(text: str, chain: list[Span]) -> Iterator[tuple[Span, bool]]:
    lengths = [span.end - span.start for span in chain]
    whole = Span(chain[0].start, chain[-1].end)
    if len(chain) > 1 and 4 <= sum(lengths) <= 10 and not _is_number_with_dots(text, chain):
        is_plain = (_is_grouped(text, chain) or set(lengths) == {1}) and not _SHORT_DATE.search(text[slice(*whole)])
        yield whole, not is_plain or sum(lengths) == 4 != len(lengths)
        if is_plain:
            return
    for ones, run in groupby(chain, lambda span: span.end - span.start == 1):
        spans = list(run)
        if ones and 4 <= len(spans) <= 10:
            yield Span(spans[0].start, spans[-1].end), False
        elif not ones:
            yield from _of_numbers(text, spans)


def _of_numbers(text: str, spans: list[Span]) -> Iterator[tuple[Span, bool]]:
    """Whole numbers, and groups of two to four on one line; short parts of longer groups are parts of other numbers."""
    for line in _lines(text, spans):
        lengths = [span.end - span.start for span in line]
        is_even = all(2 <= length <= 4 for length in lengths) and not _is_number_with_dots(text, line)
        if is_even and 2 <= len(line) <= 4 and sum(lengths) <= 10:
            yield Span(line[0].start, line[-1].end), sum(lengths) <= 5
        least = 6 if sum(lengths) > 10 and len(line) > 1 else 4
        for span, length in zip(line, lengths, strict=True):
            if least <= length <= 10:
                yield _with_prefix(text, span), False


def _lines(text: str, spans: list[Span]) -> Iterator[list[Span]]:
    line = spans[:1]
    for span in spans[1:]:
        if _GROUPED.search(text[line[-1].end : span.start]):
            line.append(span)
        else:
            yield line
            line = [span]
    if line:
        yield line


def _is_grouped(text: str, chain: list[Span]) -> bool:
    gaps = (text[one.end : other.start] for one, other in pairwise(chain))
    is_even = all(2 <= span.end - span.start <= 4 for span in chain) and len(chain) <= 4
    return is_even and all(_GROUPED.search(gap) for gap in gaps)


def _is_number_with_dots(text: str, chain: list[Span]) -> bool:
    """A date, a decimal, an address of a machine, a version, a range of years."""
    written = text[chain[0].start : chain[-1].end]
    if _DATE.search(written) or _is_years(written, chain):
        return True
    if "." not in written or " " in written or "\n" in written or len({len(one) for one in written.split(".")}) == 1:
        return written.count(".") == 3 and all(int(one) < 256 for one in written.split(".") if one.isdigit())
    return "-" not in written


def _is_years(written: str, chain: list[Span]) -> bool:
    return all(span.end - span.start == 4 for span in chain) and all(
        one.isdigit() and 1900 <= int(one) <= 2099
        for one in written.replace("–", "-").replace(" ", "-").split("-")
        if one
    )


def _with_prefix(text: str, span: Span) -> Span:
    """With a prefix such as `G-`."""
    prefix = _PREFIX.search(text[max(span.start - 5, 0) : span.start])
    return Span(span.start - (prefix.end() - prefix.start()), span.end) if prefix else span


def _is_free(text: str, start: int, end: int) -> bool:
    """No part of a longer word, of a path, or of a name of the web."""
    before, after = text[max(start - 2, 0) : start], text[end : end + 2]
    # One that is set off by lines below it, as in Markdown, is whole.
    before, after = before.rstrip("_"), after.lstrip("_")
    if is_letter_or_digit(before[-1:]) or is_letter_or_digit(after[:1]):
        return False
    if before[-1:] in _PATH and len(before) == 2 and is_letter_or_digit(before[0]):
        return False
    if after[:1] in _NAME and len(after) == 2 and after[1].isalpha():
        return False
    return before[-1:] != "-" or not _COMPOUND.search(text[max(start - 5, 0) : start])


def _is_other(text: str, span: Span) -> bool:
    """A number of another kind: an amount, a year, a duration, or what the word before it says it is."""
    written = text[span.start : span.end]
    if written.isdigit() and len(written) == 4 and 1900 <= int(written) <= 2099:
        return True
    before, after = text[max(span.start - 32, 0) : span.start], text[span.end : span.end + 16]
    if _REFERENCE.search(before) or before[-1:] == "+" or (before[-1:] in (",", ".") and before[-2:-1].isdigit()):
        return True
    if _BEFORE_OTHER.search(before):
        return True
    return _AFTER_OTHER.search(after) is not None and not _INTRODUCED.search(before)
