"""What is decided about a BODYSTRUCTURE at a glance is what reading all of it decides."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from postroom.imap.bodystructure import is_words_alone, read_structure
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
MANY = st.tuples(
    st.lists(LEAVES, min_size=1, max_size=3), st.sampled_from([b"alternative", b"mixed", b"ALTERNATIVE"])
).map(lambda parts: [*parts[0], parts[1], None])
ANYTHING = st.recursive(st.none() | WORDS, lambda inner: st.lists(inner, max_size=6).map(list[Token]), max_leaves=12)


@given(LEAVES | LEAVES.map(lambda leaf: leaf[:8]) | MANY | ANYTHING)
def test_words_alone_have_no_attachment(token: Token) -> None:
    if is_words_alone(token):
        entity = read_structure(token)
        assert entity is None or all(part.is_body for part in describe(entity))


def test_most_messages_are_words_alone() -> None:
    plain: Token = [b"TEXT", b"PLAIN", [b"CHARSET", b"utf-8"], None, None, b"7bit", b"12", b"1", None, None, None, None]
    assert is_words_alone(plain)
    assert is_words_alone([plain, plain, b"alternative", [b"BOUNDARY", b"b"], None, None])
    assert not is_words_alone([plain, plain, b"mixed", None, None, None])
