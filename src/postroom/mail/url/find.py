"""For finding URLs in plain text, in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator

_URL = re.compile(
    r"""(?<![\w+.@-])(?:[a-z][a-z0-9+.-]{1,20}+://[^\s<>"`\x00-\x1f]++|mailto:[^\s<>"`\x00-\x1f]++"""
    r"""|www\d?\.[^\s<>"`\x00-\x1f]++|(?:[\w-]{1,63}+\.){1,20}+[^\W\d_]{2,24}+(?::\d{1,5})?/[^\s<>"`\x00-\x1f]*+)""",
    re.IGNORECASE,
)
_TRAILING = ".,;:!?'*_~|"
_CLOSING = {")": "(", "]": "[", "}": "{", "›": "‹", "»": "«"}


def find_urls(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and text of each URL: with a scheme, beginning with `www.`, or a bare host with a path.

    Punctuation after a URL is not part of it, nor is a bracket that was opened before it.
    """
    for match in _URL.finditer(text):
        url = match[0][: _end(match[0])]
        yield match.start(), match.start() + len(url), url


def _end(url: str) -> int:
    counts = {mark: url.count(mark) for pair in _CLOSING.items() for mark in pair}
    end = len(url)
    while end:
        last = url[end - 1]
        if last in _CLOSING and counts[last] > counts[_CLOSING[last]]:
            counts[last] -= 1
        elif last not in _TRAILING:
            break
        end -= 1
    return end
