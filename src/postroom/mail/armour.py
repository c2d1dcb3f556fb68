"""For OpenPGP armour that stands in the text itself: its words without their wrapping (RFC 9580 6.2, 7)."""

from __future__ import annotations

import re

_BEGIN = re.compile(r"^-----BEGIN PGP (MESSAGE|SIGNED MESSAGE)-----[ \t]*$", re.MULTILINE)
_SIGNED, _SIGNATURE, _ENDED = (
    f"-----{edge}-----" for edge in ("BEGIN PGP SIGNED MESSAGE", "BEGIN PGP SIGNATURE", "END PGP SIGNATURE")
)
_MESSAGE, _MESSAGE_ENDED = "-----BEGIN PGP MESSAGE-----", "-----END PGP MESSAGE-----"
_CIPHERTEXT = "[OpenPGP ciphertext]"
_CODE = re.compile(r"[A-Za-z0-9+/=]{0,100}\s*|(?:Version|Comment|Charset|MessageID|Hash): .*")
_HASH = re.compile(r"(?:Hash|Charset|NotDashEscaped): ?\S")


def armour_signals(text: str) -> frozenset[str]:
    """`encrypted` or `signed`, by the first armour in the text."""
    match = _BEGIN.search(text)
    return frozenset() if match is None else frozenset({"encrypted" if match[1] == "MESSAGE" else "signed"})


def without_armour(text: str) -> str:
    """Text whose signed words stand alone, without the signature, and in which one line stands for ciphertext.

    Armour that does not end, or holds more than armour does, stays as it is: words might go with it.
    """
    if "-----BEGIN PGP " not in text:
        return text
    lines = text.split("\n")
    ends = _ends(lines)
    kept: list[str] = []
    position, is_signed = 0, False
    while position < len(lines):
        line, end = lines[position].rstrip(), ends.get(position)
        if end is None:
            kept.append(lines[position].removeprefix("- ") if is_signed else lines[position])
            position += 1
        elif line == _SIGNED:
            is_signed, position = True, _behind_headers(lines, position + 1)
        else:
            kept += [_CIPHERTEXT] if line == _MESSAGE else []
            is_signed, position = False, end
    return "\n".join(kept)


def _ends(lines: list[str]) -> dict[int, int]:
    """For each line that begins armour, the line behind what is to be taken out; only for those that end."""
    ends: dict[int, int] = {}
    signed = signature = message = None
    for at, line in enumerate(map(str.rstrip, lines)):
        if line == _SIGNED:
            signed = at
        elif line == _SIGNATURE:
            signature = at
        elif line == _MESSAGE:
            message = at
        elif not _CODE.fullmatch(line) and not line.startswith("-----END PGP "):
            signature = message = None
        elif line == _ENDED and signature is not None:
            ends[signature] = at + 1
            if signed is not None:
                ends[signed] = at + 1
            signed = signature = None
        elif line == _MESSAGE_ENDED and message is not None:
            ends[message] = at + 1
            message = None
    return ends


def _behind_headers(lines: list[str], position: int) -> int:
    """Behind the armour headers of signed words, and the empty line after them."""
    while position < len(lines) and _HASH.match(lines[position]):
        position += 1
    return position + (position < len(lines) and not lines[position].strip())
