"""What leads to a person: telephone numbers, mail addresses, the numbers that states give; off unless asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from postroom.policy.detectors.pattern import Match, Span, pattern, stands_alone

_PHONE = pattern(
    r"(?:\+|00 ?)\d{1,3}(?:[ ./-]?\(?\d{1,5}\)?){2,6}",
    r"\(?0\d{1,5}\)?(?:[ ./-]\d{2,8}){1,5}",
    r"\(\d{3}\) ?\d{3}[ .-]\d{4}|\d{3}[.-]\d{3}[.-]\d{4}",
    r"(?:phone|tel|telefon|mobile?|mobil|cell|call|fax|handy|t[ée]l|telefono|tel[ée]fono|тел|電話|电话"
    r"|전화)\pL{0,6}[.: ]{1,3}\d(?:[ .-]?\d){5,13}",
)
_MAIL = pattern(r"[\pL\pN._%+-]+@[\pL\pN.-]+\.\pL\pL+")


def phones(text: str, context: str = "") -> list[Span]:
    """Telephone numbers of 7 to 15 digits (ITU E.164) that begin as such, or are called so."""
    return [
        Span(*match.span())
        for match in _PHONE.finditer(text)
        if stands_alone(text, *match.span()) and 7 <= sum(one.isdigit() for one in match.group() or "") <= 15
    ]


def mail_addresses(text: str, context: str = "") -> list[Span]:
    """Mail addresses as they stand in text."""
    return [Span(*match.span()) for match in _MAIL.finditer(text)]


# -- numbers that states give

_NATIONAL: tuple[tuple[str, str], ...] = (
    ("US", r"\b\d{3}-\d{2}-\d{4}\b"),
    ("GB", r"\b[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b"),
    ("ES", r"\b[XYZ]?-?\d{7,8}-?[A-Z]\b"),
    ("IT", r"\b[A-Z]{6}\d{2}[A-EHLMPR-T]\d{2}[A-Z]\d{3}[A-Z]\b"),
    ("FR", r"\b[12] ?\d{2} ?(?:0[1-9]|1[0-2]|[2-9]\d) ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}\b"),
    ("PL", r"\b\d{11}\b"),
    ("BR", r"\b\d{3}\.\d{3}\.\d{3}-\d{2}\b"),
    ("CN", r"\d{17}[\dX]"),
    ("SE", r"\b(?:19|20)?\d{6}[-+]\d{4}\b"),
    ("FI", r"\b\d{6}[-+A-F]\d{3}[0-9A-Y]\b"),
)
_PATTERNS = tuple((country, pattern(written)) for country, written in _NATIONAL)


def national_ids(text: str, context: str = "") -> list[Span]:
    """Numbers of persons of ten states, with right check digits where they have some."""
    return sorted(set(_national(text)))


def _national(text: str) -> Iterator[Span]:
    for country, found in _PATTERNS:
        for match in found.finditer(text):
            if stands_alone(text, *match.span()) and _is_right(country, match):
                yield Span(*match.span())


def _is_right(country: str, match: Match) -> bool:
    written = "".join(one for one in (match.group() or "").upper() if one.isalnum())
    return country not in _CHECKS or _CHECKS[country](written)


def _us(number: str) -> bool:
    return number[:3] not in ("000", "666") and number[0] != "9" and number[3:5] != "00" and number[5:] != "0000"


def _es(number: str) -> bool:
    digits = number[:-1].translate({ord("X"): "0", ord("Y"): "1", ord("Z"): "2"})
    return len(digits) == 8 and number[-1] == "TRWAGMYFPDXBNJZSQVHLCKE"[int(digits) % 23]


def _fr(number: str) -> bool:
    digits = number.replace("2A", "19").replace("2B", "18")
    return len(digits) == 15 and 97 - int(digits[:13]) % 97 == int(digits[13:])


def _pl(number: str) -> bool:
    told = sum(int(one) * weight for one, weight in zip(number, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1), strict=True))
    return told % 10 == 0 and 1 <= int(number[2:4]) % 20 <= 12 and 1 <= int(number[4:6]) <= 31


def _br(number: str) -> bool:
    def check(digits: str) -> int:
        return (
            sum(int(one) * weight for one, weight in zip(digits, range(len(digits) + 1, 1, -1), strict=True))
            * 10
            % 11
            % 10
        )

    return len(set(number)) > 1 and check(number[:9]) == int(number[9]) and check(number[:10]) == int(number[10])


def _cn(number: str) -> bool:
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    told = sum(int(one) * weight for one, weight in zip(number[:17], weights, strict=True))
    return number[17] == "10X98765432"[told % 11] and number[6:8] in ("19", "20")


def _se(number: str) -> bool:
    digits = number[-10:]
    doubled = (int(one) * 2 for one in digits[0::2])
    return (sum(map(int, digits[1::2])) + sum(two - 9 if two > 9 else two for two in doubled)) % 10 == 0


def _fi(number: str) -> bool:
    return number[-1] == "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(number[:6] + number[-4:-1]) % 31]


_CHECKS: dict[str, Callable[[str], bool]] = {
    "US": _us, "ES": _es, "FR": _fr, "PL": _pl, "BR": _br, "CN": _cn, "SE": _se, "FI": _fi
}  # fmt: skip
