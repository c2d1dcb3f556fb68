"""For CSS colours, what they look like over each other, and how well they can be told apart."""

from __future__ import annotations

import re
from functools import lru_cache

from tinycss2.color4 import parse_color

Colour = tuple[float, float, float, float]
"""Red, green, blue (sRGB) and alpha, each from 0 to 1."""

BLACK: Colour = (0, 0, 0, 1)
WHITE: Colour = (1, 1, 1, 1)
CURRENT = "currentcolor"

_HEX = re.compile(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
_SYSTEM = dict.fromkeys(["canvas", "field", "buttonface", "window", "background"], WHITE) | dict.fromkeys(
    ["canvastext", "fieldtext", "buttontext", "windowtext", "text", "menutext", "captiontext", "infotext"], BLACK
)
_CHOICE = re.compile(r"light-dark\(([^,]+(?:\([^)]*\))?),")
_MIX = re.compile(r"color-mix\(in [^,]+,(.+)\)")
_PERCENT = re.compile(r" ?[\d.]+% ?")
_ARGUMENT = re.compile(r"(?:[^,()]|\([^()]*\))++")
_NOT_HEX = re.compile(r"[^0-9a-f]")
_LIGHTNESS_UNIT = {"oklab": 1.0, "oklch": 1.0, "lab": 100.0, "lch": 100.0}


@lru_cache(maxsize=1024)
def colour(value: str) -> Colour | None:
    """A CSS colour in lower case; None where it is none. `currentcolor` is for the caller."""
    if _HEX.fullmatch(value):
        return _from_hex(value[1:])
    if value in _SYSTEM:
        return _SYSTEM[value]
    choice = _CHOICE.match(value)
    if choice:
        return colour(choice[1].strip())  # the page is light
    mix = _MIX.fullmatch(value)
    return _mixed(mix[1]) if mix else _parsed(value)


def _from_hex(digits: str) -> Colour:
    if len(digits) < 6:
        digits = "".join(digit * 2 for digit in digits)
    red, green, blue, alpha = (int(digits[at : at + 2] or "ff", 16) / 255 for at in (0, 2, 4, 6))
    return red, green, blue, alpha


def _parsed(value: str) -> Colour | None:
    found = parse_color(value)
    if found is None or isinstance(found, str):
        return None
    unit = _LIGHTNESS_UNIT.get(found.space)
    if unit:  # as grey as it is light: enough to tell it from what it stands on
        grey = min(max((found.coordinates[0] or 0) / unit, 0.0), 1.0)
        return grey, grey, grey, found.alpha
    try:
        red, green, blue = (min(max(part or 0.0, 0.0), 1.0) for part in found.to("srgb").coordinates)
    except NotImplementedError:
        return None
    return red, green, blue, found.alpha


def _mixed(arguments: str) -> Colour | None:
    """color-mix() in equal parts."""
    parts = [colour(_PERCENT.sub("", part).strip()) for part in _ARGUMENT.findall(arguments)]
    if len(parts) != 2 or parts[0] is None or parts[1] is None:
        return None
    red, green, blue, alpha = ((one + other) / 2 for one, other in zip(*parts, strict=True))
    return red, green, blue, alpha


def legacy_colour(value: str) -> str | None:
    """The CSS spelling of a colour attribute, such as bgcolor (HTML 2.3.6, legacy colours)."""
    value = value.strip().lower()
    if not value or value == "transparent":
        return None
    if colour(value) and not value.endswith(")"):
        return value
    digits = _NOT_HEX.sub("0", value.removeprefix("#")[:128])
    if len(digits) == 3 and value.startswith("#"):
        return value
    digits += "0" * (-len(digits) % 3)
    third = len(digits) // 3
    parts = [digits[at : at + third][-8:] for at in (0, third, 2 * third)]
    while len(parts[0]) > 2 and all(part[0] == "0" for part in parts):
        parts = [part[1:] for part in parts]
    return "#" + "".join(part[:2].zfill(2) for part in parts)


def over(top: Colour, ground: Colour) -> Colour:
    """What is seen of a colour over an opaque ground."""
    alpha = top[3]
    if alpha == 1:
        return top
    red, green, blue = (alpha * one + (1 - alpha) * other for one, other in zip(top[:3], ground[:3], strict=True))
    return red, green, blue, 1.0


def contrast(one: Colour, other: Colour) -> float:
    """Contrast ratio of two opaque colours, 1 to 21 (WCAG 2.1)."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@lru_cache(maxsize=1024)
def _luminance(of: Colour) -> float:
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in of[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
