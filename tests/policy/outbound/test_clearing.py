"""Nothing is cleared for sending but as oneself, to somebody, and in the octets that were meant."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from postroom.base.errors import GatewayError
from postroom.mail.outgoing.address import read_addresses, strict_address
from postroom.mail.outgoing.check import CompositionFault
from postroom.mail.outgoing.compose import compose, new_message_id
from postroom.mail.outgoing.identity import Identities
from postroom.mail.outgoing.model import Outgoing
from postroom.policy.outbound import clear

IDENTITIES = Identities.read(["Ana Ünal <ana@example.org>", "*@ana.example", "*@bücher.example"], "ana@example.org")
ANA = IDENTITIES.sender(None)
MEANT = Outgoing(
    ANA,
    to=read_addresses("bo@example.com, Ana@example.org", "to"),
    cc=read_addresses("BO@example.com", "cc"),
    bcc=read_addresses("boss@example.net", "bcc"),
    subject="Hello",
    text="Hi.",
    message_id=new_message_id(ANA, UUID(int=3)),
    date=datetime(2026, 3, 3, 9, 0, tzinfo=UTC),
)


def test_a_cleared_message_goes_to_each_recipient_once_and_as_its_sender() -> None:
    cleared = clear(MEANT, compose(MEANT), IDENTITIES)
    assert cleared.sender == "ana@example.org"
    assert cleared.recipients == ("bo@example.com", "Ana@example.org", "boss@example.net")


@pytest.mark.parametrize(
    "sender", ["ANA@example.org", "ana@EXAMPLE.org", "any@ana.example", "x@bücher.example", "x@xn--bcher-kva.example"]
)
def test_an_identity_is_an_address_in_any_case_or_one_of_a_domain(sender: str) -> None:
    meant = replace(MEANT, from_=IDENTITIES.sender(sender))
    clear(meant, compose(meant), IDENTITIES)


@pytest.mark.parametrize(
    "sender",
    [
        *(
            "bo@example.org",
            "ana@sub.example.org",
            "x@sub.ana.example",
            "x@notana.example",
            "ana@example.org.evil.example",
        ),
        *("Ana <evil@attacker.example>", '"ana@example.org" <evil@attacker.example>', "ana+tag@example.org"),
    ],
)
def test_anybody_else_is_no_identity_and_the_allowed_ones_are_told(sender: str) -> None:
    meant = replace(MEANT, from_=strict_address(sender))
    with pytest.raises(GatewayError) as told:
        clear(meant, compose(meant), IDENTITIES)
    assert told.value.code == "invalid_identity"
    assert told.value.details["identities"] == ["Ana Ünal <ana@example.org>", "*@ana.example", "*@bücher.example"]


def test_two_senders_are_never_one() -> None:
    with pytest.raises(GatewayError) as told:
        IDENTITIES.sender("ana@example.org, ceo@example.org")
    assert told.value.code == "validation_error"


def test_the_name_of_an_identity_is_taken_unless_another_is_given() -> None:
    assert IDENTITIES.sender("ana@example.org").name == "Ana Ünal"
    assert IDENTITIES.sender("A <ana@example.org>").name == "A"
    assert IDENTITIES.sender(None) == strict_address("Ana Ünal <ana@example.org>")


def test_a_mailbox_whose_address_is_none_asks_for_a_sender() -> None:
    with pytest.raises(GatewayError) as told:
        Identities.read(["*@ana.example"], "ana").sender(None)
    assert told.value.code == "invalid_identity"


def test_a_message_to_nobody_is_refused() -> None:
    meant = replace(MEANT, to=(), cc=(), bcc=())
    with pytest.raises(GatewayError) as told:
        clear(meant, compose(meant), IDENTITIES)
    assert told.value.details["argument"] == "to"


def test_octets_that_say_something_else_are_never_cleared() -> None:
    for octets in (
        compose(replace(MEANT, cc=read_addresses("evil@attacker.example", "cc"))),
        compose(MEANT, draft=True),
        compose(replace(MEANT, from_=strict_address("x@ana.example"))),
        compose(MEANT).replace(b"\r\n", b"\n"),
        compose(MEANT) + b".\r\n.\nMAIL FROM:<x@y.example>\r\n",
    ):
        with pytest.raises(CompositionFault):
            clear(MEANT, octets, IDENTITIES)
