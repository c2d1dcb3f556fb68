"""Card and account numbers: digits that their own check sums vouch for."""

from __future__ import annotations

from collections.abc import Iterator

from postroom.policy.detectors.pattern import Span, is_letter_or_digit, pattern

# -- cards (ISO/IEC 7812)

_DIGITS = pattern(r"\d(?:(?: ?[-.·_/] ?| {1,2}|\n)?\d){12,}")
"""A run of digits in whatever groups; cards are looked for in it."""
_GROUP = pattern(r"\d+")
_CARD_CONTEXT = pattern(
    r"\b(?:credit|debit|bank)? ?cards?\b|\bvisa\b|master ?card|maestro|amex|american express|\bpan\b|\bcvv|\bcvc",
    r"kredit-?karte|karte|carte|tarjeta|carta di|cart[ãa]o|kaart|kart[ayęąi]?\b|карт[аыуе]|カード|카드|卡号|信用卡",
)
_OTHER_NUMBER = pattern(
    r"\b(?:(?:order|tracking|parcel|shipment|serial|invoice|ticket|reference|sendung|bestell|auftrag|rechnung|commande"
    r"|facture|pedido|factura|ordine|fattura)[\w-]{0,12}|track|imei|iccid|isbn|ean|gtin|upc|case|ref|colis|suivi"
    r"|timestamp|id)(?: ?(?:no|nr|number|code|id|is|was))?[.:#° ]{0,4}$"
)
_CANONICAL = frozenset({(4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 3), (4, 4, 5), (4, 4, 4, 1)})
"""How cards are printed."""
_ISSUED = pattern(
    r"^(?:1[369]:4|16:(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720|220[0-4])|15:3[47]|1[4-9]:3(?:0[0-5]|095|[689])"
    r"|1[6-9]:35(?:2[89]|[3-8])|1[3-9]:(?:50|5[6-8]|6))"
)
"""Length and first figures of the numbers that networks issue."""
_NEAR = 100


def cards(text: str, context: str = "") -> list[Span]:
    """Numbers of 13 to 19 digits that begin with 2 to 6 and pass Luhn's check.

    Where no word tells of cards they are of a length and a beginning that some network issues.
    """
    return [card for run in _DIGITS.finditer(text) for card in _cards_in(text, Span(*run.span()), context)]


def _cards_in(text: str, run: Span, context: str) -> Iterator[Span]:
    groups = [Span(run.start + at.start(), run.start + at.end()) for at in _GROUP.finditer(text[run.start : run.end])]
    position = 0
    while position < len(groups):
        end = _card_end(text, groups, position, context)
        if end:
            yield Span(groups[position].start, groups[end - 1].end)
        position = end or position + 1


def _card_end(text: str, groups: list[Span], first: int, context: str) -> int | None:
    """The group behind the card that begins with this one; the longest card counts."""
    lengths: list[int] = []
    found = None
    if text[groups[first].start] not in "23456":
        return None
    for at in range(first, len(groups)):
        lengths.append(groups[at].end - groups[at].start)
        if sum(lengths) > 19:
            break
        whole = Span(groups[first].start, groups[at].end)
        is_all = first == 0 and at == len(groups) - 1
        is_printed = tuple(lengths) in _CANONICAL or len(lengths) == 1
        if (is_all or is_printed) and _is_card(text, whole, context):
            found = at + 1
    return found


def _is_card(text: str, span: Span, context: str) -> bool:
    digits = "".join(one for one in text[span.start : span.end] if one.isdigit())
    if not 13 <= len(digits) <= 19 or digits[0] not in "23456" or not _passes_luhn(digits):
        return False
    before, after = text[max(span.start - 1, 0) : span.start], text[span.end : span.end + 1]
    if is_letter_or_digit(before) or is_letter_or_digit(after) or len(set(digits)) == 1:
        return False
    near = text[max(span.start - _NEAR, 0) : span.end + _NEAR]
    if _CARD_CONTEXT.search(near) or _CARD_CONTEXT.search(context):
        return True
    if before == "+" or not _ISSUED.search(f"{len(digits)}:{digits}"):
        return False
    is_in_groups = not text[span.start : span.end].isdigit()
    labelled = _OTHER_NUMBER.search(text[max(span.start - 40, 0) : span.start]) is not None
    return is_in_groups or not (labelled or _is_moment(digits))


def _is_moment(digits: str) -> bool:
    """A date and time without anything between, such as 20260314093000."""
    month, day = int(digits[4:6]), int(digits[6:8])
    return digits[:2] == "20" and 1 <= month <= 12 and 1 <= day <= 31 and len(digits) in (14, 17)


def _passes_luhn(digits: str) -> bool:
    doubled = (int(one) * 2 for one in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(two - 9 if two > 9 else two for two in doubled)) % 10 == 0


# -- accounts (ISO 13616)

_LENGTHS = {
    country: int(length)
    for length, countries in (
        *(("15", "NO"), ("16", "BE BI"), ("18", "DK FI FO GL NL SD FK"), ("19", "MK SI MN"), ("33", "RU")),
        *(("20", "AT BA EE KZ LT LU XK MN"), ("21", "CH HR LI LV"), ("22", "BG BH CR DE GB GE IE ME RS VA")),
        *(("23", "AE GI IL IQ OM TL SO"), ("24", "AD CZ ES MD PK RO SA SE SK TN VG"), ("25", "LY PT ST")),
        *(("26", "IS TR"), ("27", "BI DJ FR GR IT MC MR SM"), ("28", "AL AZ BY CY DO GT HN HU LB NI PL SV")),
        *(("29", "BR EG PS QA UA"), ("30", "JO KW MU YE"), ("31", "MT SC"), ("32", "LC")),
    )
    for country in countries.split()
}
"""Characters of an account number by country (the registry of SWIFT)."""
_START = pattern(r"[A-Z]{2}[ -]{0,2}\d[ -]?\d")
_BLANKS = frozenset(" -.\n·_/")
_LONGEST_GAP = 2


def ibans(text: str, context: str = "") -> list[Span]:
    """Account numbers of the length that is right for their country, whose check digits are right."""
    found: list[Span] = []
    for start in _START.finditer(text):
        end = _iban_end(text, start.start())
        if end is not None and not (found and start.start() < found[-1].end):
            found.append(Span(start.start(), end))
    return found


def _iban_end(text: str, start: int) -> int | None:
    length = _LENGTHS.get(text[start : start + 2].upper())
    if length is None or _goes_on(text, start):
        return None
    characters, position, gap = list[str](), start, 0
    while len(characters) < length and position < len(text) and gap <= _LONGEST_GAP:
        one = text[position]
        if one.isascii() and one.isalnum():
            characters.append(one.upper())
            gap = 0
        elif one in _BLANKS:
            gap += 1
        else:
            return None
        position += 1
    is_whole = len(characters) == length and not text[position : position + 1].isdigit()
    return position if is_whole and _passes_97(characters) else None


def _goes_on(text: str, start: int) -> bool:
    """Whether this is the middle of something else, as of a UUID; the word itself may stand right before a number."""
    before = text[max(start - 2, 0) : start]
    is_inside = is_letter_or_digit(before[-1:]) or (before[-1:] == "-" and is_letter_or_digit(before[:1]))
    return is_inside and not text[max(start - 5, 0) : start].rstrip("-").upper().endswith("IBAN")


def _passes_97(characters: list[str]) -> bool:
    """ISO 7064 MOD 97-10."""
    if not "".join(characters[2:4]).isdigit():
        return False
    return int("".join(str(int(one, 36)) for one in characters[4:] + characters[:4])) % 97 == 1
