"""For the clips and transforms that leave nothing of an element to see."""

from __future__ import annotations

import math
import re

from postroom.mail.page.lengths import HEIGHT, WIDTH, pixels
from postroom.mail.page.properties import calls

AWAY = 500.0
"""Pixels a thing must be moved to count as out of sight."""
TINY = 1.0
"""Pixels in which nothing can be read."""
FAINT = 0.1
"""Opacity, or part of the natural size, at which nothing can be read."""

_ANGLE = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(deg|grad|rad|turn)")
_DEGREES = {"deg": 1.0, "grad": 0.9, "rad": 180 / math.pi, "turn": 360.0}
_AXES = {"x": (WIDTH,), "y": (HEIGHT,), "": (WIDTH, HEIGHT), "3d": (WIDTH, HEIGHT)}


def fraction(value: str) -> float:
    """A number or a percentage; 1 for what is neither."""
    number = pixels(value, whole=1.0)
    return 1.0 if number is None else number


def is_away(value: str, em: float, whole: float) -> bool:
    """A distance of 500 px and more to either side.

    A percentage counts from 100 on: at 50% things are centred.
    """
    if value.endswith(("%", "vw", "vh", "vmin", "vmax")):
        number = pixels(value.rstrip("vwhminax%") + "%", whole=100.0)
        return number is not None and abs(number) >= 100
    distance = pixels(value, em, whole)
    return distance is not None and abs(distance) >= AWAY


def faded(value: str) -> float:
    """The opacity a filter leaves: also where everything becomes one grey, or a blur."""
    left = 1.0
    for name, arguments in calls(value):
        first = arguments[0] if arguments else ""
        if name == "opacity" or (name == "contrast" and fraction(first) <= FAINT):
            left *= fraction(first)
        elif name == "blur" and (pixels(first) or 0) >= 16:
            left = 0.0
    return left


def clipped(value: str, em: float) -> bool:
    """A `clip` or `clip-path` through which at most a pixel is seen (CSS Masking 1, CSS Shapes 1)."""
    return any(_CLIPS[name](arguments, em) for name, arguments in calls(value) if name in _CLIPS)


def _rect(arguments: list[str], em: float) -> bool:
    if len(arguments) < 4:
        return False
    top, right, bottom, left = (pixels(one, em) for one in arguments[:4])
    return _narrow(left or 0.0, right) or _narrow(top or 0.0, bottom)


def _narrow(start: float, end: float | None) -> bool:
    return end is not None and end - start <= TINY


def _inset(arguments: list[str], em: float) -> bool:
    given = arguments[: arguments.index("round")] if "round" in arguments else arguments
    if not 1 <= len(given) <= 4:
        return False
    order = ((0, 0, 0, 0), (0, 1, 0, 1), (0, 1, 2, 1), (0, 1, 2, 3))[len(given) - 1]
    top, right, bottom, left = (
        pixels(given[at], em, whole) or 0.0 for at, whole in zip(order, (HEIGHT, WIDTH) * 2, strict=True)
    )
    return top + bottom >= HEIGHT - TINY or left + right >= WIDTH - TINY


def _round(arguments: list[str], em: float) -> bool:
    """circle() and ellipse(): a radius of nothing."""
    radii = arguments[: arguments.index("at")] if "at" in arguments else arguments
    return any((size := pixels(one, em)) is not None and size <= TINY for one in radii)


def _polygon(arguments: list[str], em: float) -> bool:
    """An area of nothing, by the shoelace formula."""
    numbers = [size for one in arguments if (size := pixels(one, em)) is not None]
    points = list(zip(numbers[::2], numbers[1::2], strict=False))
    after = points[1:] + points[:1]
    return abs(sum(x * v - u * y for (x, y), (u, v) in zip(points, after, strict=True))) / 2 <= TINY


def _xywh(arguments: list[str], em: float) -> bool:
    return len(arguments) >= 4 and any((pixels(one, em) or 0.0) <= TINY for one in arguments[2:4])


_CLIPS = {"rect": _rect, "inset": _inset, "circle": _round, "ellipse": _round, "polygon": _polygon, "xywh": _xywh}


def shrunk(value: str) -> float:
    """The part of its natural size that a transform leaves, in the direction that loses most."""
    return math.prod(_shrunk(name, arguments) for name, arguments in calls(value) if arguments)


def _shrunk(name: str, arguments: list[str]) -> float:
    if name.startswith("scale"):
        return min(abs(fraction(one)) for one in arguments[:2])
    if name == "matrix" and len(arguments) == 6:
        a, b, c, d = (fraction(one) for one in arguments[:4])
        return min(math.hypot(a, b), math.hypot(c, d), abs(a * d - b * c))
    if name in ("rotatex", "rotatey"):
        return abs(math.cos(math.radians(_degrees(arguments[0]))))
    return 1.0


def _degrees(value: str) -> float:
    angle = _ANGLE.fullmatch(value)
    return float(angle[1]) * _DEGREES[angle[2]] % 360 if angle else 0.0


def moved(value: str, em: float) -> bool:
    """A transform that takes its element out of sight."""
    return any(_moved(name, arguments, em) for name, arguments in calls(value))


def _moved(name: str, arguments: list[str], em: float) -> bool:
    if name == "matrix":
        return any(is_away(one, em, WIDTH) for one in arguments[4:6])
    axes = _AXES.get(name.removeprefix("translate")) if name.startswith("translate") else None
    return any(is_away(one, em, whole) for one, whole in zip(arguments, axes or (), strict=False))
