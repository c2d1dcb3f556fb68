"""For what a page would load from elsewhere as soon as it is shown."""

from __future__ import annotations

import re
from collections.abc import Iterable

from turbohtml import Document, Element

from postroom.mail.page.lengths import pixels
from postroom.mail.page.state import Style

PIXEL = 2.0
"""Largest side, in pixels, of an image that nobody is meant to see."""

_REMOTE = re.compile(r"[\x00-\x20]*(?:https?:|[/\\]{2})", re.IGNORECASE)
_IN_SET = re.compile(r"(?:https?:|[/\\]{2})", re.IGNORECASE)
_IN_STYLE = re.compile(
    r"""(?:\b(?:url|src|image-set)\(|@import)\s*+(?:url\(\s*+)?["']?\s*+(?:https?:|[/\\]{2})""", re.IGNORECASE
)
_LOADING = (
    "[src], [srcset], [imagesrcset], [poster], [background], [dynsrc], [lowsrc], object[data], link[href], "
    "image[href], image[xlink\\:href], use[href]"
)
_ATTRIBUTES = ("src", "poster", "background", "data", "href", "xlink:href", "dynsrc", "lowsrc")
_DIGITS = re.compile(r"\s*(\d{1,6})(?:\.\d*)?\s*(?:px)?\s*")


def loads_remotely(page: Document, sheets: Iterable[str]) -> bool:
    """Whether showing the page would fetch anything from a server: images, fonts, style sheets, media, frames."""
    return (
        any(_is_loading(element) for element in page.select(_LOADING))
        or any(map(_styles_load, sheets))
        or any(_styles_load(element.attr("style") or "") for element in page.select("[style]"))
    )


def _styles_load(style: str) -> bool:
    """Where escapes may spell `url`, any address of a server counts."""
    return (_IN_SET if "\\" in style else _IN_STYLE).search(style) is not None


def _is_loading(element: Element) -> bool:
    attr = element.attr
    if any(_REMOTE.match(attr(name) or "") for name in _ATTRIBUTES):
        return True
    return any(_IN_SET.search(attr(name) or "") for name in ("srcset", "imagesrcset"))


def is_remote_image(image: Element) -> bool:
    """An image that a server is asked for."""
    return _is_loading(image)


def is_pixel(image: Element, own: Style | None) -> bool:
    """An image of at most 2 pixels in one direction, by its attributes or by its style."""
    for name in ("width", "height"):
        size = own.get(name) if own else None
        match = _DIGITS.fullmatch(image.attr(name) or "")
        given = pixels(size) if size else float(match[1]) if match else None
        if given is not None and given <= PIXEL:
            return True
    return False
