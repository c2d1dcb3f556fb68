"""A file decoded piece by piece is the file decoded at once."""

from __future__ import annotations

import base64
import quopri
import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from postroom.mail.streams import LONGEST_LINE, decoder_for
from postroom.mail.transfer import decode_transfer

ENCODINGS = ["base64", "quoted-printable", "x-uuencode", "7bit", "unheard-of"]
DAMAGED = st.lists(
    st.sampled_from(
        [
            *(
                b"aGVs",
                b"bG8=",
                b"aGVsbG8hQ",
                b"\r\n",
                b"\n",
                b"\n\n",
                b" ",
                b"=",
                b"==",
                b"=3D",
                b"=3",
                b"=\r\n",
                b"\t",
            ),
            *(b"!", b"footer of a list", b"--\n", b"\r", b"begin 644 a\n", b"begin-base64 644 a\n", b"#0V%T\n"),
            *(b"`\nend\n", b"==== \n"),
        ]
    )
    | st.binary(max_size=6),
    max_size=30,
).map(b"".join)


def in_pieces(octets: bytes, encoding: str, cuts: random.Random) -> bytes:
    decoder, decoded = decoder_for(encoding), b""
    while octets:
        count = cuts.randint(1, 7)
        decoded += decoder.feed(octets[:count])
        octets = octets[count:]
    return decoded + decoder.finish()


@pytest.mark.parametrize("encoding", ENCODINGS)
@example(octets=b".\n\nc\ry", cuts=random.Random(1))
@given(octets=DAMAGED, cuts=st.randoms(use_true_random=False))
def test_the_pieces_together_are_the_whole(encoding: str, octets: bytes, cuts: random.Random) -> None:
    assert in_pieces(octets, encoding, cuts) == decode_transfer(octets, encoding)


@pytest.mark.parametrize("line", [76, 0])
def test_base64_of_any_length_and_line_is_decoded_without_being_held(line: int) -> None:
    octets = random.Random(5).randbytes(700_000)
    encoded = base64.b64encode(octets)
    if line:
        encoded = b"\r\n".join(encoded[at : at + line] for at in range(0, len(encoded), line))
    decoder, decoded, held = decoder_for("base64"), [], 0
    for at in range(0, len(encoded), 10_000):
        decoded.append(decoder.feed(encoded[at : at + 10_000]))
        held = max(held, at * 3 // 4 - sum(map(len, decoded)))
    assert b"".join(decoded) + decoder.finish() == octets
    assert held <= LONGEST_LINE


def test_one_long_line_of_quoted_printable_is_cut_between_its_escapes() -> None:
    octets = "ü= ".encode() * 60_000
    encoded = quopri.encodestring(octets, quotetabs=True).replace(b"=\n", b"")
    decoder = decoder_for("quoted-printable")
    pieces = [decoder.feed(encoded[at : at + 9_999]) for at in range(0, len(encoded), 9_999)]
    assert b"".join(pieces) + decoder.finish() == octets
