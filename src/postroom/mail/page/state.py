"""For whether text is seen under the computed style of the element it stands in."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from postroom.mail.page.colours import BLACK, CURRENT, WHITE, Colour, colour, contrast, over
from postroom.mail.page.css import names
from postroom.mail.page.geometry import FAINT, TINY, clipped, faded, fraction, is_away, moved, shrunk
from postroom.mail.page.lengths import HEIGHT, SIZE, WIDTH, pixels
from postroom.mail.page.properties import WIDE, longhands

SMALLEST = 4.0
"""Pixels of font size below which nobody reads."""
LEGIBLE = 1.3
"""Contrast ratio below which text does not stand out."""

Style = Mapping[str, str]
"""An element's own declarations after the cascade: longhand to value."""

_KEYWORDS = {
    "xx-small": 9.0,
    "x-small": 10.0,
    "small": 13.0,
    "medium": 16.0,
    "large": 18.0,
    "x-large": 24.0,
    "xx-large": 32.0,
    "xxx-large": 48.0,
}
_INHERITED = names("font-size visibility white-space line-height color -webkit-text-fill-color")
_PAINT = names("color -webkit-text-fill-color background-color background-image")
_WHOLE = {"left": WIDTH, "right": WIDTH, "top": HEIGHT, "bottom": HEIGHT}
VARIABLE = "-variable"
"""Stands in a style that sets or uses variables."""
_RELATIVE = {"smaller": 1 / 1.2, "larger": 1.2}
_VARIABLE = re.compile(r"var\( ?(--[^\s,()]+) ?(?:,((?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+))?\)")
_ROUNDS = 8
"""Variables in variables that are followed; each round the text stays below `_LONGEST`."""
_LONGEST = 2000
MOST_VARIABLES = 64


@dataclass(slots=True, eq=False)
class State:
    """The computed style at an element, as far as it decides on text."""

    hidden: bool = False
    """Neither this nor anything in it is seen."""
    shown: bool = True
    """`visibility`."""
    size: float = SIZE
    scale: float = 1.0
    ink: Colour = BLACK
    fill: Colour | None = None
    ground: Colour = WHITE
    image: bool = False
    """An image or a gradient lies between the text and the ground, which therefore says nothing."""
    ink_clip: bool = False
    """That image shows through the letters."""
    leading: str = "normal"
    opacity: float = 1.0
    spaces: str = "normal"
    variables: Style = field(default_factory=dict)
    own: Style = field(default_factory=dict)
    contrasts: bool = True
    """The ink stands out from its ground."""
    legible: bool = True
    """Text right here is seen."""

    def copy(self) -> State:
        """A state to be changed; in place of copy.copy, which takes five times as long."""
        return State(
            self.hidden,
            self.shown,
            self.size,
            self.scale,
            self.ink,
            self.fill,
            self.ground,
            self.image,
            self.ink_clip,
            self.leading,
            self.opacity,
            self.spaces,
            self.variables,
            self.own,
            self.contrasts,
            self.legible,
        )

    @property
    def keeps_lines(self) -> bool:
        return self.spaces.startswith(("pre", "break"))


def descend(parent: State, own: Style) -> State:
    """The state at an element with these declarations of its own; needs no more than its parent's."""
    state = parent.copy()
    if VARIABLE in own:
        state.variables = _variables(parent, own)
        own = _substituted(own, state.variables)
    if "inherit" in own.values():
        own = {name: _taken_over(name, value, parent.own) for name, value in own.items()}
    state.own = own
    _inherit(state, parent, own)
    if not own.keys().isdisjoint(_PAINT):
        _paint(state, parent, own)
        state.contrasts = _contrasts(state)
    state.hidden = parent.hidden or _hides(state, own)
    large = state.size * min(state.scale, 1.0) >= SMALLEST
    state.legible = large and state.shown and state.contrasts and not state.hidden
    return state


def _variables(parent: State, own: Style) -> Mapping[str, str]:
    new = {name: value for name, value in own.items() if name.startswith("--")}
    if not new or len(parent.variables) + len(new) > MOST_VARIABLES:
        return parent.variables
    return {**parent.variables, **new}


def _substituted(own: Style, variables: Mapping[str, str]) -> Style:
    known: dict[str, str] = {}
    for name, value in own.items():
        for longhand, single in longhands(name, _filled_in(value, variables)) if "var(" in value else ((name, value),):
            known.pop(longhand, None)
            known[longhand] = single
    return known


def _filled_in(value: str, variables: Mapping[str, str]) -> str:
    """CSS Variables 1, 3: references replaced by what they stand for, or by their fallback."""
    for _ in range(_ROUNDS):
        if "var(" not in value:
            break
        value = _VARIABLE.sub(lambda match: variables.get(match[1], match[2] or ""), value)[:_LONGEST]
    return value.strip().lower()


def _given(own: Style, name: str, initial: str) -> str | None:
    """The value of an inherited property; None where it is the parent's."""
    value = own[name]
    if value in WIDE:
        return initial if value == "initial" else None
    return value


def _inherit(state: State, parent: State, own: Style) -> None:
    if "font-size" in own and (size := _given(own, "font-size", "medium")) is not None:
        state.size = _font_size(size, parent.size)
    if "visibility" in own and (visibility := _given(own, "visibility", "visible")) is not None:
        state.shown = visibility == "visible"
    if "white-space" in own and (spaces := _given(own, "white-space", "normal")) is not None:
        state.spaces = spaces
    if "line-height" in own and (leading := _given(own, "line-height", "normal")) is not None:
        state.leading = _leading(leading, state.size)


def _font_size(value: str, parent: float) -> float:
    if value in _RELATIVE:
        return parent * _RELATIVE[value]
    size = _KEYWORDS.get(value)
    size = pixels(value, parent, parent) if size is None else size
    return parent if size is None else max(size, 0.0)


def _leading(value: str, size: float) -> str:
    """A number is inherited as one, a length as pixels."""
    if value == "normal" or value.replace(".", "", 1).isdigit():
        return value
    height = pixels(value, size, size)
    return "normal" if height is None else f"{height:.3f}px"


def _paint(state: State, parent: State, own: Style) -> None:
    if "color" in own and (ink := _given(own, "color", "canvastext")) not in (None, CURRENT):
        state.ink = colour(ink or "") or state.ink
    if "-webkit-text-fill-color" in own and (fill := _given(own, "-webkit-text-fill-color", CURRENT)) is not None:
        state.fill = None if fill == CURRENT else colour(fill)
    ground = _own(own, "background-color")
    if ground is not None:
        shade = state.ink if ground == CURRENT else colour(ground)
        if shade and shade[3] > 0:
            state.ground = over(shade, parent.ground)
            state.image = state.image and shade[3] < 1
    if _own(own, "background-image") == "image":
        state.image = True
        state.ink_clip = own.get("background-clip") == "text"
    elif not state.image:
        state.ink_clip = False


def _taken_over(name: str, value: str, above: Style) -> str:
    """A property that is not inherited by itself, but asks for it; for the others the word stays."""
    return value if value != "inherit" or name in _INHERITED else above.get(name, "initial")


def _own(own: Style, name: str) -> str | None:
    value = own.get(name)
    return None if value in WIDE else value


def _hides(state: State, own: Style) -> bool:
    """Hidden with everything in it. Also sums up what shrinks and fades, which comes in steps."""
    hidden = False
    for name in own:
        judge = _JUDGES.get(name)
        value = _own(own, name) if judge else None
        if judge and value is not None:
            hidden = judge(state, value) or hidden
    return hidden or state.opacity <= FAINT or state.scale <= FAINT


Judge = Callable[[State, str], bool]


def _fades(state: State, value: str) -> bool:
    state.opacity *= max(fraction(value), 0.0)
    return False


def _filters(state: State, value: str) -> bool:
    state.opacity *= faded(value)
    return False


def _scales(state: State, value: str) -> bool:
    if value != "none":
        state.scale *= shrunk(f"scale({value})")
    return False


def _zooms(state: State, value: str) -> bool:
    state.scale *= 1.0 if value in ("normal", "reset") else fraction(value)
    return False


def _transforms(state: State, value: str) -> bool:
    state.scale *= shrunk(value)
    return moved(value, state.size)


def _overflows(state: State, value: str) -> bool:
    """Something is cut off: does a pixel remain?"""
    get = state.own.get
    if value == "visible":
        return False
    return _leading_pixels(state) <= TINY or any(
        _is_tiny(get(name), get(f"max-{name}"), get(f"min-{name}"), state.size, whole)
        for name, whole in (("width", WIDTH), ("height", HEIGHT))
    )


def _is_tiny(value: str | None, most: str | None, least: str | None, em: float, whole: float) -> bool:
    sizes = [size for one in (value, most) if one and (size := pixels(one, em, whole)) is not None]
    return bool(sizes) and max(min(sizes), pixels(least or "", em, whole) or 0.0) <= TINY


def _leading_pixels(state: State) -> float:
    leading = state.leading
    if leading == "normal":
        return state.size
    return pixels(leading) or 0.0 if leading.endswith("px") else float(leading) * state.size


def _margin(whole: float) -> Judge:
    """A margin moves out of sight where it is negative."""

    def judge(state: State, value: str) -> bool:
        return ("-" in value or "(" in value) and is_away(value, state.size, whole) and (pixels(value) or 0.0) < 0

    return judge


def _offset(whole: float) -> Judge:
    """An offset moves what is positioned; a negative one is believed in any case."""

    def judge(state: State, value: str) -> bool:
        placed = state.own.get("position", "static") not in ("static", "sticky", "-webkit-sticky")
        return is_away(value, state.size, whole) and (placed or (pixels(value) or 0.0) < 0)

    return judge


_JUDGES: dict[str, Judge] = {
    "-hidden": lambda state, value: True,
    "display": lambda state, value: value == "none",
    "content-visibility": lambda state, value: value == "hidden",
    "opacity": _fades,
    "filter": _filters,
    "scale": _scales,
    "zoom": _zooms,
    "transform": _transforms,
    "translate": lambda state, value: moved(f"translate({value})", state.size),
    "overflow-x": _overflows,
    "overflow-y": _overflows,
    "clip": lambda state, value: clipped(value, state.size),
    "clip-path": lambda state, value: clipped(value, state.size),
    "text-indent": lambda state, value: is_away(value.partition(" ")[0], state.size, WIDTH),
}
_JUDGES |= {side: _offset(whole) for side, whole in _WHOLE.items()}
_JUDGES |= {f"margin-{side}": _margin(whole) for side, whole in _WHOLE.items()}


def _contrasts(state: State) -> bool:
    """Over an image nothing is known, but that transparent letters cannot be seen."""
    ink = state.ink if state.fill is None else state.fill
    if state.image:
        return state.ink_clip or ink[3] > FAINT
    return contrast(over(ink, state.ground), state.ground) >= LEGIBLE
