"""For the text of a message: its body leaves decoded, unwrapped and put together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from postroom.mail.calendar import read_invitation
from postroom.mail.charset import decode, is_known, is_plain_superset, is_valid
from postroom.mail.entity import media_type
from postroom.mail.flowed import unflow
from postroom.mail.lines import joined, plain_lines
from postroom.mail.model import Body, Content, Entity, Invitation, Part
from postroom.mail.parts import Leaf, described, leaves
from postroom.mail.render import MAX_HTML, words_of_html
from postroom.mail.unseen import unseen_in

_META_CHARSET = re.compile(rb"<meta[^>]{1,300}?charset\s*=\s*[\"']?\s*([\w.:-]{1,50})", re.IGNORECASE)
_META_WITHIN = 2_048
_PKCS7 = ("application/pkcs7-mime", "application/x-pkcs7-mime")


def assemble(root: Entity, faults: frozenset[str] = frozenset()) -> Content:
    """The content of a message whose body sections (`wanted`) were fetched; `faults` are those known before.

    Text is every text/plain body in order; HTML put into words stands in where there is no plain text. A message
    without any leaf, or with an empty body, has the text "". Octets that were not fetched add nothing.
    """
    found = tuple(leaves(root))
    parts = described(found)
    own = [(leaf, part) for leaf, part in zip(found, parts, strict=True) if part.is_body]
    bodies = _marked([_body(leaf, part) for leaf, part in own])
    html = [body.text for body in bodies if body.is_html]
    cut = any(len(text) > MAX_HTML for text in html) or any(leaf.entity.cut for leaf, _ in own)
    return Content(
        parts=parts,
        text="" if not parts else _text(bodies),
        html="\n".join(html) if html else None,
        faults=faults | _faults(root) | _signs_in_names(found) | ({"truncated"} if cut else set()),
        bodies=bodies,
        invitation=_invitation(found),
    )


def _body(leaf: Leaf, part: Part) -> Body:
    octets = leaf.decoded or b""
    is_html = part.content_type == "text/html"
    text = plain_lines(decode(octets, _charset_of_html(octets, part.charset) if is_html else part.charset))
    if leaf.entity.cut:
        # A letter cut in two at the end is not a fault of the sender's.
        text = text.rstrip("\ufffd")
    return Body(unflow(text, delsp=part.delsp) if part.flowed else text, is_html, leaf.alternative)


def _invitation(found: tuple[Leaf, ...]) -> Invitation | None:
    """That of the first calendar object whose octets are there."""
    for leaf in found:
        if leaf.is_calendar and leaf.decoded is not None:
            parameters = leaf.media_type.parameters
            return read_invitation(leaf.decoded, parameters.get("charset"), parameters.get("method"))
    return None


def _marked(bodies: Sequence[Body]) -> tuple[Body, ...]:
    """Bodies that say whether they stand in the plain text."""
    told = [body for body in bodies if body.is_html or body.text.strip()] or bodies
    chosen = {id(body) for body in told if not body.is_html or _stands_alone(body, told)}
    return tuple(replace(body, in_text=id(body) in chosen) for body in bodies)


def _text(bodies: Sequence[Body]) -> str | None:
    chosen = [body for body in bodies if body.in_text]
    return joined([words_of_html(body.text) if body.is_html else body.text for body in chosen]) if chosen else None


def _stands_alone(html: Body, bodies: Sequence[Body]) -> bool:
    """HTML that no plain text says: none in its alternative, or none before it in the message."""
    if html.alternative is not None:
        return all(body.is_html for body in bodies if body.alternative == html.alternative)
    return all(body.is_html for body in bodies[: bodies.index(html)])


def _charset_of_html(octets: bytes, declared: str | None) -> str | None:
    """What its type says; where that says nothing, or nothing of octets with eight bits, what the page says of itself.

    A page whose `meta` can be read is not in UTF-16, whatever it says (HTML, 13.2.3.2).
    """
    if declared is not None and (is_known(declared) or is_valid(octets, "utf-8")):
        return declared
    match = _META_CHARSET.search(octets[:_META_WITHIN])
    if match is None:
        return declared
    named = match[1].decode("ascii", "replace")
    return named if is_plain_superset(named) else declared or "utf-8"


def _faults(root: Entity) -> frozenset[str]:
    """What is wrong or special with any entity of the tree."""
    faults: set[str] = set()
    stack = [root]
    while stack:
        entity = stack.pop()
        faults |= entity.faults
        faults |= _protection(entity)
        stack.extend(entity.children)
    return frozenset(faults)


def _signs_in_names(found: tuple[Leaf, ...]) -> frozenset[str]:
    """Of characters nobody sees in the names that files were given, and that those we show are rid of."""
    given = ((leaf.disposition.parameters.get("filename"), leaf.media_type.parameters.get("name")) for leaf in found)
    return frozenset[str]().union(*(unseen_in(name) for names in given for name in names if name))


def _protection(entity: Entity) -> set[str]:
    """Signed or encrypted, as the type says (RFC 1847, RFC 8551 3.2.2)."""
    type_ = media_type(entity.fields)
    if type_.value in ("multipart/encrypted", "application/pgp-encrypted"):
        return {"encrypted"}
    if type_.value == "multipart/signed":
        return {"signed"}
    if type_.value not in _PKCS7:
        return set()
    kind = type_.parameters.get("smime-type", "enveloped-data").lower()
    return {"signed"} if kind in ("signed-data", "certs-only") else {"encrypted"} if "enveloped" in kind else set()
