"""An address field names its mailboxes, and nothing in it can name another."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.address import MAX_ADDRESSES, format_address, parse_addresses
from postroom.mail.model import Address

ATEXT = "abcXYZ019!#$%&'*+-/=?^_`{|}~üж用"
LOCALS = st.from_regex(r"[a-z0-9+_]{1,8}(\.[a-z0-9]{1,5})?", fullmatch=True)
DOMAINS = st.from_regex(r"[a-z]{1,8}\.(example|test|пример)", fullmatch=True)
NAMES = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=30)


def pairs(value: bytes) -> list[tuple[str | None, str]]:
    return [(address.name, address.address) for address in parse_addresses(value)]


def addresses(value: bytes) -> list[str]:
    return [address.address for address in parse_addresses(value)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"ana@example.org", [(None, "ana@example.org")]),
        (
            b"Ana <ana@example.org>, Bo <bo@example.net>",
            [("Ana", "ana@example.org"), ("Bo", "bo@example.net")],
        ),
        (b'"Moure, Kit" <kit@example.org>', [("Moure, Kit", "kit@example.org")]),
        (b'"a \\"b\\" \\\\" <x@example.org>', [('a "b" \\', "x@example.org")]),
        (b'"" <x@example.org>', [(None, "x@example.org")]),
        (b"=?ISO-8859-1?Q?Moure=2C_K=EFt?= <kit@example.org>", [("Moure, Kït", "kit@example.org")]),
        (b"=?utf-8?Q?Doe,_Jane?= <jane@example.org>", [("Doe, Jane", "jane@example.org")]),
        (b'"=?utf-8?B?w6k=?=" <e@example.org>', [("é", "e@example.org")]),
        (b"=?utf-8?B?w6k=?= =?utf-8?B?w6k=?= <e@example.org>", [("éé", "e@example.org")]),
        (b"Caf\xe9 <cafe@example.org>", [("Café", "cafe@example.org")]),
        (b"joe@example.org (Joe)", [(None, "joe@example.org")]),
        (b"O. Neil Jr. <o@example.org>", [("O. Neil Jr.", "o@example.org")]),
        (b"[Team] Ana <ana@example.org>", [("[Team] Ana", "ana@example.org")]),
        (b"Ana <<ana@example.org>>", [("Ana", "ana@example.org")]),
        (b"Ana <mailto:ana@example.org>", [("Ana", "ana@example.org")]),
        (b"'ana@example.org', Bo <'bo@example.net'>", [(None, "ana@example.org"), ("Bo", "bo@example.net")]),
        (b"=?utf-8?Q?Lin, Ana K=C3=B6ln?= <ana@example.org>", [("Lin, Ana Köln", "ana@example.org")]),
        (b"Ana\r\n\t<ana@example.org>", [("Ana", "ana@example.org")]),
        ("用户 <用户@例子.example>".encode(), [("用户", "用户@例子.example")]),
    ],
)
def test_names_and_addresses_are_read(value: bytes, expected: list[tuple[str | None, str]]) -> None:
    assert pairs(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"(ops (night)) Kay (on) <kay(x)@(y)example.org> (z)", ["kay@example.org"]),
        (b"kay . lin @ example . org", ["kay.lin@example.org"]),
        (b"<@relay.example,@b.example:joe@example.org>", ["joe@example.org"]),
        (b"<@relay.example:joe@example.org>, ann@example.org", ["joe@example.org", "ann@example.org"]),
        (b"<joe@[192.0.2.1]>", ["joe@[192.0.2.1]"]),
        (b'"john doe"@example.org', ['"john doe"@example.org']),
        (b'"."@example.org', ['"."@example.org']),
        (b'"a@b"@example.org', ['"a@b"@example.org']),
        (b'"john".doe@example.org', ["john.doe@example.org"]),
        (b"alice.@example.org, a..b@example.org", ["alice.@example.org", "a..b@example.org"]),
    ],
)
def test_the_old_and_the_odd_forms_are_understood(value: bytes, expected: list[str]) -> None:
    assert addresses(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"undisclosed-recipients:;", []),
        (
            b"Team: Ana <ana@example.org>, bo@example.org;, cy@example.net",
            ["ana@example.org", "bo@example.org", "cy@example.net"],
        ),
        (b":Zed <zed@example.com>", ["zed@example.com"]),
        (b"(note): a@example.org;", ["a@example.org"]),
        (b"ceo@example.com: x@attacker.example;", ["x@attacker.example"]),
    ],
)
def test_a_group_gives_its_members_and_never_its_name(value: bytes, expected: list[str]) -> None:
    assert addresses(value) == expected


@pytest.mark.parametrize(
    "value", [b"Ana <ana@example.org>, ,", b",,ana@example.org", b"ana@example.org;", b"<>, ana@example.org"]
)
def test_stray_separators_add_no_recipient(value: bytes) -> None:
    assert addresses(value) == ["ana@example.org"]


@pytest.mark.parametrize(
    "value", [b"", b"<>", b'"', b"(", b",", b"root", b"<root>", b"@example.org", b"a@", b"a b@example.org"]
)
def test_what_names_no_mailbox_gives_none(value: bytes) -> None:
    assert addresses(value) == []


def test_an_unquoted_comma_invents_nothing() -> None:
    assert addresses(b"Doe, Jane <jane.doe@example.org>") == ["jane.doe@example.org"]


@pytest.mark.parametrize(
    "value",
    [
        b'"ceo@example.com" <x@attacker.example>',
        b"ceo@example.com <x@attacker.example>",
        b"=?utf-8?Q?ceo@example.com?= <x@attacker.example>",
        b"=?utf-8?B?Y2VvQGV4YW1wbGUuY29t?= <x@attacker.example>",
        b"(ceo@example.com) <x@attacker.example>",
    ],
)
def test_an_address_in_a_name_is_never_believed(value: bytes) -> None:
    assert addresses(value) == ["x@attacker.example"]


@pytest.mark.parametrize("mark", list(b'()<>@\\".[]'))
def test_two_addresses_that_run_into_each_other_name_nobody(mark: int) -> None:
    assert addresses(b"alice@example.org" + bytes([mark]) + b"bob@example.com") == []


@pytest.mark.parametrize("mark", list(b'()<>\\"[]'))
def test_beside_a_broken_mark_an_angle_address_is_not_trusted(mark: int) -> None:
    assert addresses(b"alice@example.org" + bytes([mark]) + b"<bob@example.com>") == []


def test_double_brackets_that_do_not_pair_beside_an_address_name_nobody() -> None:
    assert addresses(b"alice@example.org <<bob@example.com>") == []
    assert addresses(b"alice@example.org <bob@example.com>>") == []


def test_a_word_with_blanks_hides_no_recipient() -> None:
    assert addresses(b"=?utf-8?q?a, victim@example.org, b?= <x@example.org>") == ["victim@example.org", "x@example.org"]


def test_two_angle_addresses_name_nobody_unless_they_are_one() -> None:
    assert addresses(b"A <a@example.org> <b@example.org>") == []
    assert addresses(b"A <a@example.org> <a@example.org>") == ["a@example.org"]


@pytest.mark.parametrize(
    "value",
    [
        b"x@evil.example\x00.example.org",
        b"x\xe2\x80\xae@example.org",
        b"x@\xe2\x80\xaeexample.org",
        b"x@\xff.example",
    ],
)
def test_an_address_with_controls_or_broken_octets_is_none(value: bytes) -> None:
    assert addresses(value) == []


def test_a_missing_bracket_or_quote_loses_only_itself() -> None:
    assert addresses(b"Joe <joe@example.org, ann@example.org") == ["joe@example.org", "ann@example.org"]
    assert addresses(b'"Ann <ann@example.org>, joe@example.org') == ["ann@example.org", "joe@example.org"]


def test_the_number_of_addresses_is_bounded() -> None:
    assert len(parse_addresses(b"a@b.example," * (MAX_ADDRESSES + 10))) == MAX_ADDRESSES


@given(st.lists(st.tuples(st.one_of(st.none(), NAMES), LOCALS, DOMAINS), max_size=8))
def test_addresses_that_we_write_are_read_back(people: list[tuple[str | None, str, str]]) -> None:
    written = [
        Address(" ".join(name.split()) or None if name else None, f"{local}@{domain}") for name, local, domain in people
    ]
    assert list(parse_addresses(", ".join(map(format_address, written)).encode())) == written


ORDINARY_NAME = r"""("[A-Za-z ,.'-]{0,6}" |[A-Za-z-]{1,4}( [A-Za-z-]{1,3})? )?"""
ORDINARY_ADDRESS = r"<?[a-z_+]{1,3}(\.[a-z]{1,2})?@[a-z-]{1,3}(\.[a-z]{1,2})?>?"
ORDINARY = st.lists(st.from_regex(ORDINARY_NAME + ORDINARY_ADDRESS, fullmatch=True), max_size=4)


@given(ORDINARY)
def test_what_is_written_as_most_people_do_is_read_as_everything_else_is(mailboxes: list[str]) -> None:
    value = ", ".join(mailboxes)
    # A comment says nothing, but takes a value off the short way.
    assert pairs(value.encode()) == pairs(f"{value} ()".encode())


@given(st.text(ATEXT + ' ."@\\', min_size=1, max_size=12))
def test_any_quoted_local_part_survives(local: str) -> None:
    quoted = '"' + local.replace("\\", "\\\\").replace('"', '\\"') + '"'
    once = addresses(f"{quoted}@example.org".encode())
    assert len(once) == 1
    assert addresses(once[0].encode()) == once


@given(st.binary(max_size=200))
def test_any_octets_give_only_clean_addresses(value: bytes) -> None:
    for address in parse_addresses(value):
        assert address.address.isprintable()
        assert re.search(r"[^@]@[^@]+$", address.address)
        assert address.name is None or (
            address.name and not re.search("[\x00-\x1f\x7f-\x9f\ud800-\udfff]", address.name)
        )


@given(st.lists(st.sampled_from([*'<>()[]":;,@.\\ ', "a@b.example", "x", '"q"', "=?utf-8?q?", "?="]), max_size=30))
def test_any_order_of_marks_gives_only_addresses_that_were_written(pieces: list[str]) -> None:
    value = "".join(pieces)
    for address in parse_addresses(value.encode()):
        domain = address.address.rpartition("@")[2]
        assert domain.replace(".", "") in re.sub(r"[\s.()]", "", value)
