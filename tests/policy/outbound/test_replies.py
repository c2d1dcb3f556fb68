"""Whom an answer goes to: Reply-To is followed as far as the policies let it, and doubtful ones are not."""

from __future__ import annotations

import pytest

from postroom.mail.outgoing.identity import Identities
from postroom.policy.outbound.replies import PolicyReply, reply_under
from tests.policy.outbound.sending import answer, opened, rules

IDENTITIES = Identities.read(["Ana <ana@corp.example>"], "ana@corp.example")
BOB = "From: Bob <bob@mail.partner.example>\nTo: ana@corp.example, dan@corp.example\nCc: cy@else.example\n"


def replied(head: str, rule: str, *, everyone: bool = False) -> PolicyReply:
    return reply_under(answer(head).head, IDENTITIES, opened(f"reply_to: {rule}"), everyone=everyone)


def to(found: PolicyReply) -> list[str]:
    return [one.address for one in found.reply.to]


@pytest.mark.parametrize(
    ("reply_to", "never", "same_domain", "follow", "differs"),
    [
        ("", "bob@mail.partner.example", "bob@mail.partner.example", "bob@mail.partner.example", False),
        ("Reply-To: x@partner.example", "bob@mail.partner.example", "x@partner.example", "x@partner.example", False),
        ("Reply-To: x@else.example", "bob@mail.partner.example", "bob@mail.partner.example", "x@else.example", True),
        (
            "Reply-To: x@partner.example\nReply-To: y@partner.example",
            "bob@mail.partner.example",
            "bob@mail.partner.example",
            "x@partner.example",
            True,
        ),
    ],
)
def test_reply_to_is_followed_as_the_rule_says(
    reply_to: str, never: str, same_domain: str, follow: str, differs: bool
) -> None:
    found = {rule: replied(BOB + reply_to, rule) for rule in ("never", "same_domain", "follow")}
    assert {rule: to(one) for rule, one in found.items()} == {
        "never": [never],
        "same_domain": [same_domain],
        "follow": [follow],
    }
    assert {one.reply_to_differs for one in found.values()} == {differs}


@pytest.mark.parametrize(
    "head",
    [
        f"{BOB}Reply-To: x@partner.example, y@else.example",
        f'{BOB}Reply-To: x@partner.example, "y z"@partner.example',
        f"{BOB}Reply-To: nobody",
        f"{BOB}Reply-To:",
        "From: bob@partner.example, eve@else.example\nReply-To: x@else.example",
        "From: bob@partner.co.uk\nReply-To: x@else.co.uk",
        "From: bob@partner.github.io\nReply-To: x@else.github.io",
        "From: bob@co.uk\nReply-To: x@co.uk",
    ],
)
def test_one_owner_must_stand_behind_all_of_them(head: str) -> None:
    found = replied(head, "same_domain")
    assert found.reply_to_differs
    assert not {"x@partner.example", "x@else.example", "x@else.co.uk", "x@else.github.io"} & set(to(found))


def test_below_one_registered_domain_is_one_owner() -> None:
    assert to(replied("From: bob@a.partner.co.uk\nReply-To: x@b.partner.co.uk", "same_domain")) == ["x@b.partner.co.uk"]


def test_an_answer_to_all_leaves_the_mailbox_out_and_names_whom_the_gateway_took() -> None:
    found = replied(f"{BOB}Reply-To: x@else.example", "same_domain", everyone=True)
    assert to(found) == ["bob@mail.partner.example"]
    assert [one.address for one in found.reply.cc] == ["dan@corp.example", "cy@else.example"]
    assert found.derived == {"bob@mail.partner.example", "dan@corp.example", "cy@else.example"}


def test_of_several_policies_the_most_careful_counts() -> None:
    head = answer(f"{BOB}Reply-To: x@partner.example").head
    careful = rules("reply_to: follow", "reply_to: never")
    assert [one.address for one in reply_under(head, IDENTITIES, careful, everyone=False).reply.to] == [
        "bob@mail.partner.example"
    ]
    assert to(reply_under(head, IDENTITIES, rules("reply_to: follow", "mode: hold"), everyone=False)) == [
        "x@partner.example"
    ]
    assert to(reply_under(head, IDENTITIES, (), everyone=False)) == ["bob@mail.partner.example"]
