"""The gateway's own secrets never leave, plainly or under one layer of an encoding."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.base.levels import Outcome
from postroom.base.token import mint
from postroom.mail.outgoing.model import OutgoingFile
from postroom.policy.outbound.ownsecrets import OwnSecrets
from tests.policy.outbound.sending import CAROL, judged, opened, person, plan

TOKEN = mint().text.reveal()
PASSWORD = "correct-horse-battery-стейпл"
CANARY = "zanzibar-canary-7319"
SECRETS = OwnSecrets([PASSWORD, CANARY, "short"], b"key")
ENCODINGS: dict[str, Callable[[str], str]] = {
    "plain": lambda text: text,
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "hex": lambda text: text.encode().hex(),
    "url": lambda text: "".join(f"%{octet:02X}" for octet in text.encode()),
    "spaced": " ".join,
    "reversed": lambda text: text[::-1],
}
FOUND = ("plain", "base64", "hex", "url")
"""The other two are gaps that are known: whoever can write at all can write in a cipher."""


def outcome(text: str, **more: object) -> Outcome:
    return judged(plan(CAROL, text=text, **more), opened("mode: send"), secrets=SECRETS).outcome


@pytest.mark.parametrize("secret", [TOKEN, PASSWORD, CANARY], ids=["token", "password", "canary"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_secret_in_six_encodings(encoding: str, secret: str) -> None:
    text = f"Dear Carol,\nkeep this: {ENCODINGS[encoding](secret)}\nBye."
    assert outcome(text) is (Outcome.DENY if encoding in FOUND else Outcome.SEND)


@pytest.mark.parametrize(
    "text",
    [
        f"x{TOKEN}y",
        f"psr_a_AAAAAAAAAA_{'A' * 46}{TOKEN}",
        TOKEN.replace("_", "\u200b_"),
        base64.urlsafe_b64encode(TOKEN.encode()).decode(),
        "x" + base64.b64encode(TOKEN.encode()).decode(),
        base64.b64encode(f"and {TOKEN} within".encode() * 3).decode(),
        base64.encodebytes(TOKEN.encode() * 2).decode(),
        base64.b64encode(b"\xff\x00" + TOKEN.encode() + b"\xfe").decode(),
        TOKEN.encode().hex().upper(),
        "0" + TOKEN.encode().hex(),
        quote(TOKEN).replace("_", "%5F"),
        f"https://corp.example/?t={quote(PASSWORD)}",
        PASSWORD.replace("й", "и\u0306"),
        f"<b>{CANARY}</b>",
    ],
)
def test_neither_neighbours_nor_wrapping_hide_it(text: str) -> None:
    assert outcome(text) is Outcome.DENY


@pytest.mark.parametrize(
    "text", [TOKEN[:-1], TOKEN[:-1] + ("a" if TOKEN[-1] != "a" else "b"), PASSWORD[1:], CANARY.upper(), "short", ""]
)
def test_what_is_not_quite_a_secret_is_none(text: str) -> None:
    assert outcome(text) is Outcome.SEND


@pytest.mark.parametrize(
    "more",
    [
        {"subject": CANARY},
        {"html": "<p>zanzibar-&#99;anary-7319</p>"},
        {"cc": [f"{CANARY} <dan@corp.example>"]},
        {"cc": [f"{CANARY}@corp.example"]},
        {"reply_to": (person(f"{CANARY}@corp.example"),)},
        {"file_texts": (f"one {CANARY} two",)},
        {"octets_of_files": (OutgoingFile("a.bin", "application/octet-stream", b"\xff" + TOKEN.encode()),)},
    ],
)
def test_it_is_found_wherever_it_stands(more: dict[str, object]) -> None:
    assert outcome("Hello.", **more) is Outcome.DENY


def test_it_is_found_whatever_a_policy_says_and_also_in_a_draft() -> None:
    (found,) = judged(plan(CAROL, text=CANARY), opened("mode: send")[-1:], secrets=SECRETS).reasons
    assert (found.rule, found.outcome) == ("own_secrets", Outcome.DENY)
    assert CANARY not in found.sentence


@given(st.lists(st.text(st.sampled_from("abc"), min_size=8, max_size=12), max_size=4), st.text(st.sampled_from("abc")))
def test_hashes_find_what_a_plain_search_finds(secrets: list[str], text: str) -> None:
    assert OwnSecrets(secrets, b"key").found_in(text) is any(secret in text for secret in secrets)


def test_a_long_text_takes_time_with_its_length_alone() -> None:
    secrets = OwnSecrets(["a" * 400 + "b", "ab" * 200], b"key")
    begun = time.process_time()
    assert not secrets.found_in("a" * 300_000)
    assert not secrets.found_in("psr_a_" * 50_000)
    assert time.process_time() - begun < 2
