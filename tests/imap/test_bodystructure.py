"""What is decided about a BODYSTRUCTURE at a glance is what reading all of it decides."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from postroom.imap.bodystructure import is_lone_text, read_structure
from postroom.imap.wire import Token
from postroom.mail.parse import describe

WORDS = st.sampled_from(
    [b"text", b"TEXT", b"plain", b"html", b"calendar", b"name", b"NAME*", b"charset", b"inline", b"x"]
)
PAIRS = st.none() | st.lists(WORDS, max_size=4).map(list[Token])
DISPOSITION = st.none() | st.tuples(st.sampled_from([b"inline", b"attachment"]), PAIRS).map(list[Token])
LEAVES = st.tuples(
    *(WORDS, WORDS, PAIRS, st.none() | WORDS, st.none(), st.sampled_from([b"7bit", b"base64"]), st.just(b"9")),
    *(st.just(b"1"), st.none(), DISPOSITION),
).map(list[Token])
ANYTHING = st.recursive(st.none() | WORDS, lambda inner: st.lists(inner, max_size=6).map(list[Token]), max_leaves=12)


@given(LEAVES | LEAVES.map(lambda leaf: leaf[:8]) | ANYTHING)
def test_a_lone_text_has_no_attachment(token: Token) -> None:
    if is_lone_text(token):
        entity = read_structure(token)
        assert entity is None or [part.is_body for part in describe(entity)] == [True]


def test_most_messages_are_lone_texts() -> None:
    plain: Token = [b"TEXT", b"PLAIN", [b"CHARSET", b"utf-8"], None, None, b"7bit", b"12", b"1", None, None, None, None]
    assert is_lone_text(plain)
