"""A message is cut into its entities, at the right octets and at a bounded price."""

import time
from collections.abc import Iterator
from email.message import EmailMessage
from email.mime.multipart import MIMEMultipart
from email.mime.nonmultipart import MIMENonMultipart
from email.policy import SMTP, compat32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.header import with_line_feeds
from postroom.mail.model import Entity
from postroom.mail.structure import MAX_DEPTH, MAX_PARTS, split_message

MIXED = b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"
LINES = st.lists(
    st.sampled_from([b"", b"text", b"-- ", b"--", b"--bb", b"--b --", b" --b", b"x--b", b"a: b"]), max_size=6
)


def leaves(entity: Entity) -> Iterator[Entity]:
    if not entity.children:
        yield entity
    for child in entity.children:
        yield from leaves(child)


def outline(entity: Entity) -> list[tuple[str, bytes | None]]:
    return [(leaf.section, leaf.octets) for leaf in leaves(entity)]


def test_a_simple_message_is_one_leaf_with_section_1() -> None:
    root = split_message(b"Subject: x\r\n\r\nWords.\r\n")
    assert outline(root) == [("1", b"Words.\r\n")]
    assert (root.length, root.faults, root.cut) == (8, frozenset(), False)


def test_parts_end_before_the_line_end_of_the_next_delimiter() -> None:
    root = split_message(
        MIXED + b"preamble\r\n--b\r\n\r\none\r\n--b \t\r\nA: 1\r\n\r\ntwo\r\n\r\n--b--\r\nepilogue\r\n--b\r\n"
    )
    assert root.section == ""
    assert outline(root) == [("1", b"one"), ("2", b"two\r\n")]
    assert [field.name for field in root.children[1].fields] == ["A"]


def test_line_ends_may_be_lf_or_mixed() -> None:
    assert outline(split_message(MIXED.replace(b"\r", b"") + b"--b\n\none\n--b\r\n\r\ntwo\n--b--\n")) == [
        ("1", b"one"),
        ("2", b"two"),
    ]


def test_sections_are_numbered_as_in_imap() -> None:
    inner = b"Content-Type: multipart/alternative; boundary=i\n\n--i\n\na\n--i\n\nb\n--i--\n"
    root = split_message(MIXED + b"--b\n" + inner + b"--b\n\nc\n--b--\n")
    assert [entity.section for entity in root.children] == ["1", "2"]
    assert outline(root) == [("1.1", b"a"), ("1.2", b"b"), ("2", b"c")]


def test_a_delimiter_counts_only_at_the_start_of_a_line_and_whole() -> None:
    body = b"see --b here\r\n --b\r\n--bb\r\n--b-\r\n--b--x"
    assert outline(split_message(MIXED + b"--b\r\n\r\n" + body + b"\r\n--b--")) == [("1", body)]


def test_an_outer_delimiter_ends_what_is_inside() -> None:
    inner = b"Content-Type: multipart/mixed; boundary=i\n\n--i\n\na\n"
    assert outline(split_message(MIXED + b"--b\n" + inner + b"--b\n\nc\n--b--")) == [
        ("1.1", b"a"),
        ("2", b"c"),
    ]


def test_the_end_of_the_message_ends_everything() -> None:
    assert outline(split_message(MIXED + b"--b\r\n\r\none\r\n--b\r\n\r\ntwo")) == [
        ("1", b"one"),
        ("2", b"two"),
    ]


@pytest.mark.parametrize(
    ("part", "octets"),
    [
        (b"Content-Type: a/b\r\n\r\n\r\n", b""),
        (b"Content-Type: a/b\r\n\r\n", b""),
        (b"Content-Type: a/b\r\n", b""),
        (b"\r\n", b""),
        (b"", b""),
    ],
)
def test_a_part_may_be_empty(part: bytes, octets: bytes) -> None:
    assert outline(split_message(MIXED + b"--b\r\n" + part + b"--b\r\n\r\nx\r\n--b--")) == [
        ("1", octets),
        ("2", b"x"),
    ]


def test_a_multipart_without_parts_is_empty() -> None:
    root = split_message(MIXED + b"--b--\r\n")
    assert (root.children, root.octets, root.faults) == ((), None, frozenset())


@pytest.mark.parametrize(
    "type_", [b"multipart/mixed", b'multipart/mixed; boundary=""', b"multipart/mixed; boundary=other"]
)
def test_a_multipart_whose_boundary_never_comes_is_an_ambiguous_leaf(type_: bytes) -> None:
    root = split_message(b"Content-Type: " + type_ + b"\r\n\r\n--q\r\n\r\nInside.\r\n--q--")
    assert outline(root) == [("1", b"--q\r\n\r\nInside.\r\n--q--")]
    assert root.faults == {"mime_ambiguous"}


@pytest.mark.parametrize(
    "fields",
    [
        b"Content-Type: text/plain\r\nContent-Type: text/html\r\n\r\n",
        b"Content-Transfer-Encoding: base64\r\nContent-Transfer-Encoding: 7bit\r\n\r\n",
        b"Content-Type: multipart/mixed; boundary=b; boundary=c\r\n\r\n--b\r\n\r\nx\r\n--b--",
    ],
)
def test_fields_that_contradict_each_other_are_ambiguous(fields: bytes) -> None:
    assert split_message(fields).faults == {"mime_ambiguous"}


def test_of_two_content_types_the_first_counts() -> None:
    root = split_message(b"Content-Type: multipart/mixed; boundary=b\nContent-Type: text/plain\n\n--b\n\nx\n--b--")
    assert outline(root) == [("1", b"x")]


def test_an_attached_message_is_a_leaf() -> None:
    inner = b"Content-Type: multipart/mixed; boundary=i\n\n--i\n\na\n--i--\n"
    root = split_message(MIXED + b"--b\nContent-Type: message/rfc822\n\n" + inner + b"\n--b--")
    assert outline(root) == [("1", inner)]


def test_a_transfer_encoding_on_a_multipart_changes_nothing() -> None:
    root = split_message(b"Content-Transfer-Encoding: base64\r\n" + MIXED + b"--b\r\n\r\nx\r\n--b--")
    assert outline(root) == [("1", b"x")]


@pytest.mark.parametrize(
    ("beginning", "cuts"),
    [
        (b"--b\r\n\r\none\r\n--b\r\n\r\ntw", [False, True]),
        (b"--b\r\n\r\none\r\n--b\r\nContent-Ty", [False, True]),
        (b"--b\r\n\r\none\r\n--b--\r\nepilo", [False]),
    ],
)
def test_only_the_leaf_at_the_end_of_a_beginning_is_cut(beginning: bytes, cuts: list[bool]) -> None:
    root = split_message(MIXED + beginning, cut=True)
    assert [leaf.cut for leaf in leaves(root)] == cuts
    assert root.faults == frozenset()


def test_a_beginning_without_any_part_says_that_it_is_cut() -> None:
    assert split_message(MIXED + b"This is a mess", cut=True).faults == {"truncated"}


def nested(depth: int) -> bytes:
    opened = b"".join(b"Content-Type: multipart/mixed; boundary=x%dx\r\n\r\n--x%dx\r\n" % (n, n) for n in range(depth))
    closed = b"".join(b"--x%dx--\r\n" % number for number in reversed(range(depth)))
    return opened + b"\r\nBottom.\r\n" + closed


def test_the_depth_is_bounded() -> None:
    assert outline(split_message(nested(MAX_DEPTH))) == [(".".join("1" * MAX_DEPTH), b"Bottom.")]
    deep = split_message(nested(MAX_DEPTH + 1))
    assert [leaf.faults for leaf in leaves(deep)] == [{"too_complex"}]


def test_the_number_of_parts_is_bounded() -> None:
    root = split_message(MIXED + b"--b\r\n\r\nx\r\n" * (MAX_PARTS + 50))
    assert len(root.children) == MAX_PARTS - 1
    assert root.faults == {"too_complex"}


@pytest.mark.parametrize(
    "message",
    [
        b"A: 1\r\n\r\n" + b"0123456789" * 1_000_000,
        MIXED + b"--b\r\nContent-Type: text/plain\r\n\r\nx\r\n" * 50_000,
        nested(2_000),
        MIXED + b"--b\r\nX: y\r\n" * 1_000 + b"A: b\r\n" * 500_000,
        MIXED + b"-" * 5_000_000,
        b"\r\n" * 2_000_000,
    ],
    ids=["one line", "many parts", "deep", "headers without end", "dashes", "empty lines"],
)
def test_hostile_messages_cost_little(message: bytes) -> None:
    start = time.process_time()
    split_message(message)
    assert time.process_time() - start < 1.5


BODIES = st.binary(max_size=40).map(lambda octets: octets.replace(b"\r", b"").replace(b"\n", b""))


@given(
    st.lists(st.lists(BODIES, min_size=1, max_size=3).map(b"\r\n".join), min_size=1, max_size=5),
    st.booleans(),
)
def test_parts_that_were_put_together_come_apart_unchanged(bodies: list[bytes], deep: bool) -> None:
    boundary = b"=_unlikely_7319"
    parts = b"".join(b"--" + boundary + b"\r\nContent-Type: text/plain\r\n\r\n" + body + b"\r\n" for body in bodies)
    message = (
        b'Content-Type: multipart/mixed; boundary="' + boundary + b'"\r\n\r\n' + parts + b"--" + boundary + b"--\r\n"
    )
    if deep:
        message = MIXED + b"--b\r\n" + message + b"--b--\r\n"
    assert [leaf.octets for leaf in leaves(split_message(message))] == bodies


def built(texts: list[str], kind: str) -> EmailMessage:
    message = EmailMessage(policy=SMTP)
    message["Subject"] = "Built"
    message.make_mixed()
    for text in texts:
        part = EmailMessage(policy=SMTP)
        part.set_content(text, subtype=kind, cte="base64")
        message.attach(part)
    return message


@given(
    st.lists(st.text(st.characters(codec="utf-8"), max_size=60), min_size=1, max_size=4),
    st.sampled_from(["plain", "html"]),
)
def test_a_message_that_python_builds_has_the_leaves_python_put_in(texts: list[str], kind: str) -> None:
    message = built(texts, kind)
    expected = [str(part.get_payload()).encode().replace(b"\r\n", b"\n") for part in message.iter_parts()]
    found = [(leaf.octets or b"").replace(b"\r\n", b"\n") for leaf in leaves(split_message(message.as_bytes()))]
    assert [octets.rstrip(b"\n") for octets in found] == [octets.rstrip(b"\n") for octets in expected]


def test_nested_messages_of_the_old_python_classes_come_apart() -> None:
    outer, inner = MIMEMultipart("mixed", policy=compat32), MIMEMultipart("related", policy=compat32)
    for container, payload in ((inner, "a"), (inner, "b"), (outer, None), (outer, "c")):
        if payload is None:
            container.attach(inner)
            continue
        leaf = MIMENonMultipart("application", "octet-stream")
        leaf.set_payload(payload)
        container.attach(leaf)
    assert outline(split_message(outer.as_bytes())) == [("1.1", b"a"), ("1.2", b"b"), ("2", b"c")]


@given(LINES, st.booleans())
def test_any_lines_are_split_without_losing_the_octets_of_a_leaf(lines: list[bytes], cut: bool) -> None:
    message = MIXED + b"\r\n".join(lines)
    for leaf in leaves(split_message(message, cut=cut)):
        assert leaf.octets is None or (leaf.octets in message and leaf.length == len(leaf.octets))


@given(st.binary(max_size=200))
def test_any_octets_are_split(message: bytes) -> None:
    root = split_message(message)
    message = with_line_feeds(message)
    assert all(leaf.octets is None or leaf.octets in message for leaf in leaves(root))


@pytest.mark.parametrize(
    ("part", "octets"),
    [
        (b"Content-Type: text/plain\r\nWords at once.", b"Words at once."),
        (b"Content-Type: text/plain\r\nWords.\r\n\r\nMore.", b"Words.\r\n\r\nMore."),
        (b"Words at once.", b"Words at once."),
        (b"Content-Type: multipart/mixed; boundary=i\r\n--i\r\n\r\nWords.\r\n--i--", b"Words."),
    ],
)
def test_a_part_without_an_empty_line_loses_no_words(part: bytes, octets: bytes) -> None:
    root = split_message(MIXED + b"--b\r\n" + part + b"\r\n--b--\r\n")
    assert [leaf.octets for leaf in leaves(root)] == [octets]


@pytest.mark.parametrize("line_end", [b"\r\r\n", b"\r", b"\n"])
def test_parts_are_found_between_any_line_ends(line_end: bytes) -> None:
    message = MIXED + b"--b\r\n\r\nOne\r\n--b\r\n\r\nTwo\r\n--b--\r\n"
    found = leaves(split_message(message.replace(b"\r\n", line_end)))
    assert [(leaf.octets or b"").strip() for leaf in found] == [b"One", b"Two"]
