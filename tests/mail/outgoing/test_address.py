"""One strict grammar for whom mail goes to: what is outside of it is refused with a reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.base.errors import GatewayError
from postroom.mail.address import parse_addresses
from postroom.mail.outgoing.address import MAX_RECIPIENTS, of_parts, read_addresses, strict_address
from postroom.mail.outgoing.model import StrictAddress

MALFORMED = [
    *("", " ", "alice", "@", "@example.org", "alice@", "alice@@example.org", "alice@bob@example.org"),
    *("alice@example.org)bob@example.com", "alice@example.org(comment)", "(comment)alice@example.org"),
    *("alice@(comment)example.org", "friends: alice@example.org;", "friends:;", "undisclosed-recipients:;"),
    *('"alice"@example.org', '"a b"@example.org', '"alice@evil.example"@example.org', 'al"ic"e@example.org'),
    *("alice%evil.example@example.org", "evil.example!alice@[10.0.0.1]", "alice`id`@example.org"),
    *("<@relay.example:alice@example.org>", "@relay.example:alice@example.org", "alice@[127.0.0.1]"),
    *("alice@[IPv6:::1]", "alice@127.0.0.1", "alice@localhost", "alice@example", "alice@example.org."),
    *("alice@.example.org", "alice@example..org", "alice@-example.org", "alice@example-.org", "alice@exa_mple.org"),
    *("alice@exam ple.org", "alice @example.org", "alice@ example.org", ".alice@example.org", "alice.@example.org"),
    *("al..ice@example.org", "al ice@example.org", "alice,bob@example.org", "alice@example.org,bob@example.org"),
    *("alice@example.org;bob@example.org", "alice@example.org bob@example.org", "alice\\@example.org"),
    *("alice@example.org\r\nRCPT TO:<evil@attacker.example>", "alice@example.org\n", "alice\x00@example.org"),
    *("ana@example.org>\r\nRCPT TO:<evil@attacker.example", "ana@example.org> RCPT TO:<evil@attacker.example"),
    *("<alice@example.org", "alice@example.org>", "<<alice@example.org>>", "<alice@example.org> <bob@example.org>"),
    *("Alice <alice@example.org> Bob", "Alice <alice@example.org>, Bob", "Alice bob@example.org <alice@example.org>"),
    *("Doe, Alice <alice@example.org>", "Alice (Ops) <alice@example.org>", 'Alice "Ops <alice@example.org>'),
    *('"Alice" Ops <alice@example.org>', '"Alice <alice@example.org>', 'Alice" <alice@example.org>', "Alice <>"),
    *("<>", "Alice <alice>", "Alice <alice@example.org", 'a;b <alice@example.org>', "a:b <alice@example.org>"),
    *("Alice\x07 <alice@example.org>", "Alice\u2028 <alice@example.org>", "\u0440\u0430@example.org"),
    *("alice\u200b@example.org", "alice@ex\u2044ample.org", "alice@\u2100.example", "alice@xn--.example"),
    *("alice@xn--a.example", "alice@" + "a" * 64 + ".example", "a" * 65 + "@example.org"),
    *("alice@" + ".".join(["a" * 60] * 5) + ".example", "alice@" + "\u00fc" * 3000 + ".example", "x" * 5000),
    *("mailto:alice@example.org", "alice@example.org?cc=bob@example.org", "alice@exa\ud800mple.org"),
]  # fmt: skip


@pytest.mark.parametrize("text", MALFORMED, ids=ascii)
def test_what_is_outside_the_grammar_is_refused(text: str) -> None:
    with pytest.raises(GatewayError) as told:
        read_addresses([text], "to")
    assert told.value.details["argument"] == "to"
    assert told.value.details["entry"] == 1


def test_the_table_of_malformed_addresses_is_a_long_one() -> None:
    assert len(set(MALFORMED)) >= 80


@pytest.mark.parametrize(
    ("text", "name", "address"),
    [
        ("alice@example.org", None, "alice@example.org"),
        ("  alice@example.org ", None, "alice@example.org"),
        ("<alice@example.org>", None, "alice@example.org"),
        ("Alice <alice@example.org>", "Alice", "alice@example.org"),
        ("Alice<alice@example.org>", "Alice", "alice@example.org"),
        ("John Q. O'Public <john+tag@example.org>", "John Q. O'Public", "john+tag@example.org"),
        ('"Doe, Alice" <alice@example.org>', "Doe, Alice", "alice@example.org"),
        (r'"Alice \"the <x@y.example>\" \\" <alice@example.org>', 'Alice "the <x@y.example>" \\', "alice@example.org"),
        ('"" <alice@example.org>', None, "alice@example.org"),
        ("Zoë Ünal <zoe@example.org>", "Zoë Ünal", "zoe@example.org"),
        ("Alice.Bob@EXAMPLE.Org", None, "Alice.Bob@example.org"),
        ("info@bücher.example", None, "info@xn--bcher-kva.example"),
        ("info@BÜCHER.example", None, "info@xn--bcher-kva.example"),
        ("info@xn--bcher-kva.example", None, "info@xn--bcher-kva.example"),
        ("x@faß.example", None, "x@xn--fa-hia.example"),
        ("a!#$&'*+/=?^_{|}~-@example.org", None, "a!#$&'*+/=?^_{|}~-@example.org"),
        ("می\u200cخواهم <x@example.org>", "می\u200cخواهم", "x@example.org"),
    ],
)
def test_what_is_in_the_grammar_is_one_value(text: str, name: str | None, address: str) -> None:
    one = strict_address(text)
    assert (one.name, one.address) == (name, address)


def test_one_string_may_hold_several_with_commas_outside_of_quotes() -> None:
    found = read_addresses('"Doe, Alice" <alice@example.org>, bob@example.org,', "to")
    assert [one.address for one in found] == ["alice@example.org", "bob@example.org"]
    assert read_addresses("", "cc") == read_addresses([], "cc") == read_addresses("  ", "cc") == ()


@pytest.mark.parametrize("text", ["a@x.example,,b@x.example", ",", "a@x.example; b@x.example", '"a, b@x.example'])
def test_one_string_that_does_not_part_cleanly_is_refused(text: str) -> None:
    with pytest.raises(GatewayError):
        read_addresses(text, "to")


def test_an_address_that_stands_twice_counts_once_and_case_of_its_letters_makes_no_other() -> None:
    found = read_addresses(["Ana@Example.org", "ana@example.ORG", "ANA@example.org"], "to")
    assert [one.address for one in found] == ["Ana@example.org"]


def test_local_parts_beyond_ascii_need_leave() -> None:
    with pytest.raises(ValueError, match="SMTPUTF8"):
        strict_address("用户@example.org")
    one = strict_address("用户@example.org", utf8=True)
    assert one.needs_utf8
    assert one.address == "用户@example.org"
    with pytest.raises(ValueError, match="not taken"):
        strict_address("a%b@example.org", utf8=True)


def test_too_many_recipients_are_refused_and_an_error_repeats_no_address() -> None:
    with pytest.raises(GatewayError):
        read_addresses([f"a{at}@example.org" for at in range(MAX_RECIPIENTS + 1)], "to")
    with pytest.raises(GatewayError) as told:
        read_addresses(["ok@example.org", "secret%person@example.org"], "bcc")
    assert "secret" not in told.value.message
    assert told.value.details["entry"] == 2


@given(st.text(max_size=80))
def test_whatever_is_taken_our_own_reader_reads_alike(text: str) -> None:
    try:
        one = strict_address(text)
    except ValueError:
        return
    assert [found.address for found in parse_addresses(str(one).encode())] == [one.address]


@given(
    st.text(max_size=60),
    st.from_regex(r"[a-z0-9+_-]{1,20}(\.[a-z0-9]{1,8})?", fullmatch=True),
    st.from_regex(r"[a-z0-9]{1,20}\.[a-z]{2,8}", fullmatch=True),
)
def test_any_name_that_can_be_shown_comes_back_with_its_one_address(name: str, local: str, domain: str) -> None:
    try:
        one = of_parts(name, f"{local}@{domain}")
    except ValueError:
        return
    assert strict_address(str(one)) == one


def test_an_address_cannot_be_made_outside_of_the_grammar() -> None:
    for local, domain in (("a b", "example.org"), ("a", "example"), ("a>\r\nb", "example.org"), ("a", "exa mple.org")):
        with pytest.raises(ValueError, match="grammar"):
            StrictAddress(None, local, domain)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("Bo Böhm", "Bo Böhm <bo@example.com>"),
        ("O'Neil Jr", "O'Neil Jr <bo@example.com>"),
        ("Quill, Dana", '"Quill, Dana" <bo@example.com>'),
        ("a@b.example", '"a@b.example" <bo@example.com>'),
        ('the "boss"', '"the \\"boss\\"" <bo@example.com>'),
        (None, "bo@example.com"),
    ],
)
def test_an_address_is_told_as_it_may_be_given_again(name: str | None, written: str) -> None:
    one = of_parts(name, "bo@example.com")
    assert str(one) == written
    assert strict_address(written) == one
