"""The string filter: no text leaves with characters in it that nobody sees, or that only flood."""

from __future__ import annotations

from postroom.mail.lines import one_line
from postroom.mail.markup import neutralised
from postroom.mail.unseen import tidy
from postroom.policy.contentrules import ContentRules

_ANNOTATIONS = dict.fromkeys(range(0xFFF9, 0xFFFD))
"""Anchors of notes that are not there, and what stands for an object."""


def filtered(text: str, rules: ContentRules, *, marks: bool = False) -> str:
    """Text of several lines without them; with `marks`, what brackets a page's links stays."""
    if text.isascii() and text.isprintable() and len(text) < 64:
        return text.rstrip()
    return tidy(text.translate(_ANNOTATIONS), marks=marks, joiners=rules.keep_joiners)


def filtered_line(text: str, rules: ContentRules) -> str:
    """The same of a value of one line."""
    return one_line(filtered(text, rules))


def harmless(text: str, rules: ContentRules) -> str:
    """Text whose markup is neutralised, if the rules say so."""
    return neutralised(text) if rules.neutralise else text
