"""How a message ended is told in the caller's terms: what is certain, what to do, and no word of the server's."""

from typing import Any

import pytest

from postroom.base.errors import GatewayError
from postroom.mailbox.sending import Taken, hand_over
from tests.servers.submission import CLOSE, LooseServer, cleared, nothing, submitting

pytestmark = pytest.mark.anyio


async def refused(server: LooseServer, *recipients: str, partial: bool = True) -> GatewayError:
    message = cleared(b"Subject: x\r\n\r\nHi\r\n", *recipients)
    async with submitting(server) as submitter:
        with pytest.raises(GatewayError) as told:
            await hand_over(submitter, "work", message, partial=partial, before_message=nothing)
    return told.value


async def test_what_was_accepted_is_answered() -> None:
    async with submitting(LooseServer()) as submitter:
        told = await hand_over(submitter, "work", cleared(), partial=True, before_message=nothing)
    assert told == Taken(("bo@example.com",), ())


@pytest.mark.parametrize(
    ("answers", "code", "details"),
    [
        (
            {b".": CLOSE},
            "smtp_error",
            {"outcome": "unknown", "retryable": False, "reason": "lost", "message_id": "<1@example.org>"},
        ),
        (
            {b".": b"552 5.3.4 words of the server"},
            "smtp_error",
            {"outcome": "rejected", "retryable": False, "smtp_code": 552, "enhanced_code": "5.3.4"},
        ),
        (
            {b"MAIL": b"451 words of the server"},
            "smtp_error",
            {
                "outcome": "rejected",
                "retryable": True,
                "smtp_code": 451,
                "enhanced_code": None,
                "reason": "sender_refused",
            },
        ),
        ({b"DATA": CLOSE}, "smtp_error", {"outcome": "rejected", "retryable": True, "reason": "lost"}),
        (
            {b"AUTH": b"535 5.7.8 words of the server"},
            "smtp_error",
            {"outcome": "rejected", "retryable": False, "reason": "login_refused", "message_id": "<1@example.org>"},
        ),
    ],
)
async def test_each_end_tells_what_is_certain(
    answers: dict[bytes, bytes | list[bytes]], code: str, details: dict[str, Any]
) -> None:
    told = await refused(LooseServer(answers))
    assert told.code == code
    assert {key: told.details[key] for key in details} == details
    assert "words of the server" not in str(told.body())


async def test_refused_recipients_are_listed_with_their_codes() -> None:
    server = LooseServer({b"RCPT TO:<gone": b"550 5.1.1 unknown", b"RCPT TO:<later": b"450 busy"})
    told = await refused(server, "gone@example.org", "later@example.org", "bo@example.com", partial=False)
    assert told.details["refused"] == [
        {"address": "gone@example.org", "code": 550, "enhanced": "5.1.1", "temporary": False},
        {"address": "later@example.org", "code": 450, "temporary": True},
    ]
    assert told.details["retryable"] is False


async def test_a_message_that_is_too_large_for_the_server_is_too_large() -> None:
    told = await refused(LooseServer(extensions=(b"SIZE 5",)))
    assert told.code == "too_large"
    assert told.details["outcome"] == "rejected"
