"""Address patterns, and who the fields of mail name."""

from __future__ import annotations

import pytest

from postroom.config.schema import ConfigFile
from postroom.policy.people import AddressSet, People, compile_addresses, named_in, strictly

PEOPLE = People(
    internal=frozenset({"corp.example"}),
    own=frozenset({"ana@corp.example"}),
    lists={"partners": ("*@partner.example", "*@*.partner.example"), "empty": ()},
)


def holds(meant: AddressSet, address: str) -> bool:
    strict = strictly(address)
    assert strict is not None
    return meant.holds(strict)


@pytest.mark.parametrize(
    ("pattern", "meant", "others"),
    [
        ("bob@x.example", ["bob@x.example", "BOB@X.Example"], ["bob+a@x.example", "bo@x.example", "bob@y.x.example"]),
        ("*@x.example", ["a@x.example", "a+b@x.example"], ["a@y.x.example", "a@xx.example"]),
        ("*@*.x.example", ["a@y.x.example", "a@z.y.x.example"], ["a@x.example", "a@notx.example"]),
        ("us*r@x.example", ["user@x.example", "USR@x.example", "us.e.r@x.example"], ["users@x.example"]),
        ("internal", ["bo@corp.example"], ["bo@sub.corp.example", "bo@corp.example.evil.test"]),
        ("self", ["ana@corp.example", "Ana@corp.example"], ["bo@corp.example"]),
        ("list:partners", ["a@partner.example", "a@b.partner.example"], ["a@x.example"]),
        ("list:empty", [], ["a@x.example"]),
        ("anyone", ["a@x.example"], []),
        ("*", ["a@x.example"], []),
        ("*@xn--bcher-kva.example", ["a@bücher.example", "a@BÜCHER.example"], ["a@buecher.example"]),
    ],
)
def test_whom_a_pattern_means(pattern: str, meant: list[str], others: list[str]) -> None:
    compiled = compile_addresses([pattern], PEOPLE, tags=False)
    assert [address for address in meant + others if holds(compiled, address)] == meant


@pytest.mark.parametrize(
    ("pattern", "address"),
    [("bob@x.example", "bob+news@x.example"), ("b*b@x.example", "bob+z@x.example"), ("self", "ana+a@corp.example")],
)
def test_a_tag_changes_nobody_where_a_rule_restricts(pattern: str, address: str) -> None:
    assert holds(compile_addresses([pattern], PEOPLE, tags=True), address)
    assert not holds(compile_addresses([pattern], PEOPLE, tags=False), address)


@pytest.mark.parametrize(
    ("field", "addresses", "unreadable"),
    [
        (b"Ana <ana@corp.example>, bo@x.example", ["ana@corp.example", "bo@x.example"], False),
        (b'"ceo@corp.example" <x@evil.test>', ["x@evil.test"], False),
        (b"undisclosed-recipients:;", [], False),
        (b"a@ok.example)b@evil.test", [], True),
        (b'"a b"@x.example', [], True),
        (b"a%b@x.example", [], True),
        (b"a@[127.0.0.1]", [], True),
        (b"a@localhost", [], True),
        ("jörg@x.example".encode(), ["jörg@x.example"], False),
        (b"", [], False),
    ],
)
def test_whom_a_field_names_in_the_strict_grammar(field: bytes, addresses: list[str], unreadable: bool) -> None:
    named = named_in(field)
    assert [one.address for one in named.addresses] == addresses
    assert named.unreadable is unreadable


def test_the_own_addresses_of_a_mailbox_are_its_exact_ones() -> None:
    file = ConfigFile.model_validate(
        {
            "mailboxes": [
                {
                    "name": "work",
                    "identities": ["Ana <Ana@Corp.example>", "*@ana.example"],
                    "imap": {"host": "h", "username": "login@corp.example", "password": "p"},
                    "internal_domains": ["Bücher.example"],
                }
            ]
        },
        context={},
    )
    people = People.of(file.mailboxes[0], {})
    assert people.own == {"ana@corp.example"}
    assert people.internal == {"xn--bcher-kva.example"}
