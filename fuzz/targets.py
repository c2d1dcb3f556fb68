"""What is fuzzed: octets in, and a complaint if they cost too much or come out wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from postroom.base.errors import GatewayError
from postroom.mail.page import read_page
from postroom.mail.parse import assemble, describe, parse_head, split, split_message
from postroom.mail.query.program import read_program
from postroom.mail.streams import decoder_for
from postroom.mail.transfer import decode_transfer
from postroom.policy.content import Setting, read

SECONDS = 2.0
"""CPU time that one input of at most `LONGEST` octets may cost; instrumented code is some ten times slower."""
LONGEST = 20_000
_ENCODINGS = ("base64", "quoted-printable", "x-uuencode")


class Costly(Exception):
    """An input that took too long."""


def message(octets: bytes) -> None:
    """A message parsed whole and made ready to be read; what comes out holds nothing that JSON or a line cannot."""
    root = split_message(octets)
    describe(root)
    reading = read(assemble(root), parse_head(split(octets)[0]), Setting())
    for text in (reading.text, reading.html, reading.reader, reading.safe_html, *reading.signals):
        (text or "").encode("utf-8")
        assert "\x00" not in (text or "")
    assert all("\n" not in (part.filename or "") for part in reading.parts)


def page(octets: bytes) -> None:
    """An HTML body as a human sees it."""
    read_page(octets.decode("utf-8", "replace"))


def program(octets: bytes) -> None:
    """A raw search, taken or refused."""
    try:
        read_program(octets.decode("utf-8", "replace"))
    except GatewayError:
        return


def streams(octets: bytes) -> None:
    """A transfer encoding undone in pieces and at once, with one result."""
    for encoding in _ENCODINGS:
        decoder = decoder_for(encoding)
        pieces = [decoder.feed(octets[at : at + 97]) for at in range(0, len(octets), 97)]
        assert b"".join(pieces) + decoder.finish() == decode_transfer(octets, encoding)


TARGETS: Mapping[str, Callable[[bytes], None]] = {
    "message": message,
    "page": page,
    "program": program,
    "streams": streams,
}


def run(target: str, octets: bytes) -> None:
    """One input through one target. Raises what the target raises, and `Costly`."""
    started = time.process_time()
    TARGETS[target](octets)
    took = time.process_time() - started
    if took > SECONDS * max(1, len(octets) // LONGEST):
        raise Costly(f"{target}: {len(octets)} octets took {took:.1f} s")
