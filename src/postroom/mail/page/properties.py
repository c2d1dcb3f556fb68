"""For the CSS properties that decide whether text is seen: shorthands taken apart, invalid values left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from postroom.mail.page.colours import CURRENT, colour
from postroom.mail.page.css import names
from postroom.mail.page.lengths import pixels

Longhand = tuple[str, str]
Expand = Callable[[str], Iterable[Longhand]]
Valid = Callable[[str], bool]

WIDE = names("inherit initial unset revert")
"""Keywords that every property knows."""
SIDES = ("top", "right", "bottom", "left")

_DISPLAYS = names(
    "none block inline inline-block flex inline-flex grid inline-grid table inline-table table-row table-cell "
    "table-row-group table-header-group table-footer-group table-column table-column-group table-caption list-item "
    "contents flow-root -webkit-box -webkit-inline-box"
)
_INNER_DISPLAYS = names("block inline flow flow-root table flex grid ruby list-item")
_FONT_SIZES = names("xx-small x-small small medium large x-large xx-large xxx-large smaller larger")
_FONT_WORDS = names(
    "normal italic oblique bold bolder lighter small-caps condensed expanded semi-condensed semi-expanded "
    "extra-condensed extra-expanded ultra-condensed ultra-expanded"
)
_BACKGROUND_WORDS = names(
    "none top right bottom left center repeat repeat-x repeat-y no-repeat space round scroll fixed local cover contain "
    "auto border-box padding-box content-box text"
)
_SHAPE_WORDS = names(
    "none at round from top right bottom left center auto closest-side farthest-side closest-corner farthest-corner "
    "evenodd nonzero margin-box border-box padding-box content-box fill-box stroke-box view-box"
)
_ANY_SIZE = names("auto none min-content max-content fit-content -webkit-fill-available")
_SHAPES = names("inset circle ellipse polygon rect xywh path url shape")
_FILTERS = names("opacity blur brightness contrast grayscale hue-rotate invert saturate sepia drop-shadow url")
_TRANSFORMS = names(
    "matrix matrix3d translate translatex translatey translatez translate3d scale scalex scaley scalez scale3d rotate "
    "rotatex rotatey rotatez rotate3d skew skewx skewy perspective"
)
_TAKE_ANYTHING = names("url path shape drop-shadow")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?%?")
_UNITLESS = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?")
_UNITS = re.compile(r"(?<=[\d.])[a-z]")
_ANGLE = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:deg|grad|rad|turn)")
_PART = re.compile(r"(?:[^ ,/()]|\((?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+\))++")
_CALL = re.compile(r"(-?[a-z][a-z0-9-]*)\(((?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+)\)")
_FONT = re.compile(r"((?:[^ /()]|\((?:[^()]|\([^()]*+\))*+\))++)(?: ?/ ?([^ ]++))? (?=.)")
_FONT_HEAD = 500
"""Characters of a `font` in which its size stands; names of families may follow without end."""
_GRADIENT_HEAD = 1000
"""Characters of a gradient that are looked at for colours."""
_MOST_PARTS = 100
"""Components at the end of a background that are looked at; its colour belongs to the last layer."""
_IMAGE = re.compile(r"(?:-webkit-|-moz-|-o-)?(?:url|image-set|cross-fade|element|image|paint)\(")
_GRADIENT = re.compile(r"(?:-webkit-|-moz-|-o-)?(?:repeating-)?(?:linear|radial|conic)-gradient\((.*)\)")
_STOP = re.compile(r"(?:[^ ,()]|\((?:[^()]|\([^()]*+\))*+\))++")


def parts(value: str) -> list[str]:
    """The components of a value, at blanks, commas and slashes outside brackets."""
    return _PART.findall(value)


def calls(value: str) -> Iterator[tuple[str, list[str]]]:
    """The functions of a value and their arguments."""
    for name, arguments in _CALL.findall(value) if "(" in value else ():
        yield name, parts(arguments)


def _is_length(value: str) -> bool:
    """A length, a percentage or a calc()."""
    return pixels(value) is not None and (_UNITLESS.fullmatch(value) is None or float(value) == 0)


def _length(hides: Callable[[float], bool], *words: str) -> Valid:
    """Lengths; one without a unit, which counts in quirks mode alone, is believed where it hides."""

    def valid(value: str) -> bool:
        size = pixels(value)
        return value in words or (size is not None and (_is_length(value) or hides(size)))

    return valid


def _is_number(value: str) -> bool:
    return bool(_NUMBER.fullmatch(value)) or (
        value.endswith(")") and pixels(value) is not None and not _UNITS.search(value)
    )


def _is_size(value: str) -> bool:
    return value in _ANY_SIZE or (not value.startswith("-") and _length(lambda size: size <= 1)(value))


def _is_colour(value: str) -> bool:
    return value == CURRENT or colour(value) is not None


def _stops(arguments: str) -> list[str]:
    return _STOP.findall(arguments[:_GRADIENT_HEAD])


def _is_shade_of_one(image: str) -> str | None:
    """The colour of a gradient that has but one."""
    gradient = _GRADIENT.fullmatch(image)
    shades = {one for one in _stops(gradient[1]) if _is_colour(one)} if gradient else set()
    return shades.pop() if len(shades) == 1 else None


def _is_image(value: str) -> bool:
    gradient = _GRADIENT.fullmatch(value)
    return any(map(_is_colour, _stops(gradient[1]))) if gradient else bool(_IMAGE.match(value))


def _calling(known: frozenset[str], words: frozenset[str]) -> Valid:
    """A list of known functions with arguments that they may have."""

    def valid(value: str) -> bool:
        rest = _CALL.sub("", value).split()
        return all(one in words for one in rest) and all(
            name in known and (name in _TAKE_ANYTHING or all(_is_argument(one, words) for one in arguments))
            for name, arguments in calls(value)
        )

    return valid


def _is_argument(value: str, words: frozenset[str]) -> bool:
    return pixels(value) is not None or value in words or _ANGLE.fullmatch(value) is not None


def _all_parts(valid: Valid, most: int = 4) -> Valid:
    return lambda value: 1 <= len(given := parts(value)) <= most and all(map(valid, given))


def _one(name: str, valid: Valid) -> Expand:
    return lambda value: [(name, value)] if valid(value) else []


def _sides(prefix: str, valid: Valid) -> Expand:
    def expand(value: str) -> Iterable[Longhand]:
        given = parts(value)
        if not 1 <= len(given) <= 4 or not all(map(valid, given)):
            return []
        order = ((0, 0, 0, 0), (0, 1, 0, 1), (0, 1, 2, 1), (0, 1, 2, 3))[len(given) - 1]
        return [(prefix + side, given[at]) for side, at in zip(SIDES, order, strict=True)]

    return expand


def _background(value: str) -> Iterator[Longhand]:
    """A colour stands alone in its component; what the shorthand does not name it resets."""
    given = parts(value)[-_MOST_PARTS:]
    shades = [one for one in given if _is_colour(one)]
    images = [one for one in given if _is_image(one)]
    rest = (one for one in given if one not in shades and one not in images)
    if len(shades) < 2 and all(one in _BACKGROUND_WORDS or _is_length(one) for one in rest):
        yield from _layers(shades[0] if shades else "transparent", images)
        yield "background-clip", "text" if "text" in given else "border-box"


def _background_image(value: str) -> Iterable[Longhand]:
    given = parts(value)[-_MOST_PARTS:]
    images = [one for one in given if _is_image(one)]
    if given and all(one == "none" or one in images for one in given):
        return [one for one in _layers("", images) if one[1]]
    return []


def _layers(shade: str, images: list[str]) -> Iterable[Longhand]:
    """An image of one colour is as good as the colour."""
    flat = _is_shade_of_one(images[-1]) if images else None
    return [("background-color", flat or shade), ("background-image", "image" if images and not flat else "none")]


def _font(value: str) -> Iterator[Longhand]:
    """The first that is a size is it; before it stand keywords and weights, behind it a family."""
    for size, leading in _FONT.findall(value[:_FONT_HEAD]):
        if size in _FONT_SIZES or _is_length(size):
            yield "font-size", size
            yield "line-height", leading or "normal"
            return
        if size not in _FONT_WORDS and not size.isdecimal():
            return


def _overflow(value: str) -> Iterable[Longhand]:
    given = parts(value)
    if 1 <= len(given) <= 2 and all(map(_is_flow, given)):
        return [("overflow-x", given[0]), ("overflow-y", given[-1])]
    return []


_is_flow = names("visible hidden scroll auto clip overlay").__contains__


def _display(value: str) -> Iterator[Longhand]:
    words = value.split(" ")
    if value in _DISPLAYS:
        yield "display", value
    elif len(words) in (2, 3) and all(word in _INNER_DISPLAYS for word in words):
        yield "display", "inline" if "inline" in words else "block"


def _is_far(size: float) -> bool:
    return abs(size) >= 100


_TABLE: dict[str, Expand] = {
    "display": _display,
    "visibility": _one("visibility", names("visible hidden collapse").__contains__),
    "content-visibility": _one("content-visibility", names("visible hidden auto").__contains__),
    "opacity": _one("opacity", _is_number),
    "zoom": _one("zoom", lambda value: value in ("normal", "reset") or _is_number(value)),
    "filter": _one("filter", _calling(_FILTERS, names("none"))),
    "overflow": _overflow,
    "overflow-x": _one("overflow-x", _is_flow),
    "overflow-y": _one("overflow-y", _is_flow),
    "position": _one("position", names("static relative absolute fixed sticky -webkit-sticky").__contains__),
    "clip": _one("clip", _calling(names("rect"), names("auto"))),
    "clip-path": _one("clip-path", _calling(_SHAPES, _SHAPE_WORDS)),
    "transform": _one("transform", _calling(_TRANSFORMS, names("none"))),
    "scale": _one("scale", lambda value: value == "none" or _all_parts(_is_number, 3)(value)),
    "translate": _one("translate", lambda value: value == "none" or _all_parts(_is_length, 3)(value)),
    "text-indent": _one("text-indent", _all_parts(_length(_is_far, "hanging", "each-line"), 3)),
    "line-height": _one("line-height", lambda value: value == "normal" or _is_number(value) or _is_length(value)),
    "font-size": _one("font-size", lambda value: value in _FONT_SIZES or _length(lambda size: 0 <= size < 4)(value)),
    "font": _font,
    "color": _one("color", _is_colour),
    "-webkit-text-fill-color": _one("-webkit-text-fill-color", _is_colour),
    "background-color": _one("background-color", _is_colour),
    "background-image": _background_image,
    "background-clip": _one("background-clip", _all_parts(_BACKGROUND_WORDS.__contains__)),
    "background": _background,
    "margin": _sides("margin-", _length(_is_far, "auto")),
    "inset": _sides("", _length(_is_far, "auto")),
    "white-space": _one("white-space", names("normal nowrap pre pre-wrap pre-line break-spaces").__contains__),
}
_SIZES = ("width", "height", "max-width", "max-height", "min-width", "min-height")
_TABLE |= {name: _one(name, _is_size) for name in _SIZES}
_TABLE |= {f"{at}{side}": _one(f"{at}{side}", _length(_is_far, "auto")) for side in SIDES for at in ("", "margin-")}

_ALIASES = {f"-webkit-{name}": name for name in ("filter", "clip-path", "transform", "background-clip")} | {
    "inline-size": "width",
    "block-size": "height",
    "max-inline-size": "max-width",
    "max-block-size": "max-height",
    "inset-inline-start": "left",
    "inset-inline-end": "right",
    "inset-block-start": "top",
    "inset-block-end": "bottom",
    "margin-inline-start": "margin-left",
    "margin-inline-end": "margin-right",
    "margin-block-start": "margin-top",
    "margin-block-end": "margin-bottom",
    "overflow-inline": "overflow-x",
    "overflow-block": "overflow-y",
}
"""Other names; the logical ones as in text that runs from left to right and from top to bottom."""
_TABLE |= {alias: _TABLE[name] for alias, name in _ALIASES.items()}
_SHORTHANDS = {
    "font": ("font-size", "line-height"),
    "background": ("background-color", "background-image", "background-clip"),
    "margin": tuple(f"margin-{side}" for side in SIDES),
    "inset": SIDES,
    "overflow": ("overflow-x", "overflow-y"),
}

RELEVANT = frozenset(_TABLE)


def longhands(name: str, value: str) -> tuple[Longhand, ...]:
    """What a declaration sets, or nothing if its value is invalid, as a browser then ignores it.

    A value with var() is not known before the element is; it is handed on as it stands, under the name given.
    """
    return _known(name, value) if len(value) <= _SHORT else _expanded(name, value)


def _expanded(name: str, value: str) -> tuple[Longhand, ...]:
    name = _ALIASES.get(name, name)
    if name.startswith("--") or ("var(" in value and name in _TABLE):
        return ((name, value),)
    if value in WIDE:
        return tuple((one, value) for one in _SHORTHANDS.get(name, (name,))) if name in _TABLE else ()
    expand = _TABLE.get(name)
    return tuple(expand(value)) if expand else ()


_SHORT = 64
"""Characters of a value worth remembering; the same few come again and again."""
_known = lru_cache(maxsize=4096)(_expanded)
