"""For putting HTML into plain words that read like the page: lines, lists, table cells."""

from __future__ import annotations

import re
from collections.abc import Iterator

from turbohtml import Element, Node, Text, parse

MAX_HTML = 2 << 20
"""Characters of HTML that are looked at."""


def _tags(names: str) -> frozenset[str]:
    return frozenset(names.split())


_DROPPED = _tags("head style script title template noscript iframe object svg math select textarea")
_PARAGRAPHS = _tags("p h1 h2 h3 h4 h5 h6 ul ol dl blockquote pre table figure")
_BLOCKS = _PARAGRAPHS | _tags(
    "address article aside body center caption dd details dialog dir div dt fieldset figcaption footer form header "
    "hgroup hr html legend li main menu nav optgroup option section summary tbody tfoot thead tr"
)
_BLANKS = re.compile(r"[ \t\r\n\f]+")
_LINE, _PARAGRAPH, _BREAK, _KEPT_SPACE, _BULLET, _CELL = "\x01\x02\x03\x04\x05\x06"
_MARK_RUN = re.compile("[ \x01-\x03]+")
_AFTER_BULLET = re.compile("\x05[ \x01-\x03]+")
_CELL_RUN = re.compile("[ \x06]*\x06[ \x06]*")
_MANY_LINES = re.compile(r"\n{3,}")
_RESERVED = re.compile("[\x00-\x08]")


def words_of_html(html: str) -> str:
    """The words of an HTML document as text with LF line ends; at most `MAX_HTML` characters of it are read.

    Scripts, styles, comments and the head say nothing. Takes linear time on any nesting.
    """
    document = parse(_RESERVED.sub("", html[:MAX_HTML]))
    return _laid_out("".join(_pieces(document)))


def _pieces(root: Node) -> Iterator[str]:
    """Words and line marks in document order, without recursion."""
    stack: list[Node | str] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            yield node
        elif isinstance(node, Text):
            yield _BLANKS.sub(" ", node.data)
        elif not (isinstance(node, Element) and node.tag in _DROPPED):
            before, after = _marks(node)
            yield before
            stack.append(after)
            stack.extend(reversed(_children(node)))


def _children(node: Node) -> list[Node | str]:
    if isinstance(node, Element) and node.tag == "pre":
        return [_preformatted(node.text)]
    return list(node.children)


def _preformatted(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", _BREAK).replace(" ", _KEPT_SPACE)


def _marks(node: Node) -> tuple[str, str]:
    """What stands before and after the words of an element."""
    tag = node.tag if isinstance(node, Element) else ""
    if tag == "br":
        return _BREAK, ""
    if tag == "li":
        return _LINE + _BULLET, _LINE
    if tag in ("td", "th"):
        return "", _CELL
    mark = _PARAGRAPH if tag in _PARAGRAPHS else _LINE if tag in _BLOCKS else ""
    return mark, mark


def _laid_out(marked: str) -> str:
    """Line marks made line ends: an empty line between paragraphs, and where the page breaks twice."""
    text = _MARK_RUN.sub(_line_ends, _AFTER_BULLET.sub(_BULLET, _BLANKS.sub(" ", marked)))
    text = _CELL_RUN.sub("  ", text.replace(_BULLET, "- "))
    lines = (line.strip(" ").replace(_KEPT_SPACE, " ") for line in text.split("\n"))
    return _MANY_LINES.sub("\n\n", "\n".join(lines)).strip("\n")


def _line_ends(match: re.Match[str]) -> str:
    """A break at the end of a block adds no line of its own."""
    run = match[0].strip(" ")
    if not run:
        return " "
    lines = run.count(_BREAK) + (not run.startswith(_BREAK))
    return "\n\n" if lines > 1 or _PARAGRAPH in run else "\n"
