"""The signature as another implementation of Standard Webhooks judges it."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook, WebhookVerificationError

from postroom.base.secret import Secret
from postroom.base.webhooksecret import fresh_secret, signing_key
from postroom.config import CredentialError
from postroom.config.webhooks import WebhookConfig
from postroom.events.signing import signed, signing_keys
from postroom.store.deliveries import new_id

BODY = '{"type":"gap","data":{"mailbox":"w\u00f6rk"}}'.encode()
OLD, NEW, OTHER = (fresh_secret() for _ in range(3))


def headers(*secrets: Secret, at: datetime | None = None) -> dict[str, str]:
    return dict(signed(new_id(), BODY, at or datetime.now(UTC), [signing_key(secret) for secret in secrets]))


def test_the_reference_verifier_accepts_it_before_during_and_after_a_rotation() -> None:
    for signing, judges in (((OLD,), (OLD,)), ((NEW, OLD), (OLD, NEW)), ((NEW,), (NEW,))):
        for judge in judges:
            assert Webhook(judge.reveal()).verify(BODY, headers(*signing)) == {
                "type": "gap",
                "data": {"mailbox": "wörk"},
            }


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ("body", BODY.replace(b"gap", b"cap")),
        ("webhook-id", new_id()),
        ("webhook-timestamp", str(int(datetime.now(UTC).timestamp()) - 100)),
        ("webhook-signature", ""),
    ],
)
def test_the_reference_verifier_refuses_what_was_altered(change: str, value: str | bytes) -> None:
    told = headers(OLD) | ({change: value} if change != "body" else {})  # type: ignore[dict-item]
    with pytest.raises(WebhookVerificationError):
        Webhook(OLD.reveal()).verify(value if change == "body" else BODY, told)


@pytest.mark.parametrize("minutes", [-6, 6])
def test_the_reference_verifier_refuses_another_time(minutes: int) -> None:
    with pytest.raises(WebhookVerificationError):
        Webhook(OLD.reveal()).verify(BODY, headers(OLD, at=datetime.now(UTC) + timedelta(minutes=minutes)))


def test_the_reference_verifier_refuses_another_secret() -> None:
    with pytest.raises(WebhookVerificationError):
        Webhook(OTHER.reveal()).verify(BODY, headers(OLD, NEW))


def test_an_id_has_no_dot_and_is_never_made_twice() -> None:
    ids = {new_id() for _ in range(1_000)}
    assert len(ids) == 1_000
    assert not any("." in one for one in ids)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it does not begin with whsec_"),
        ("hunter2-hunter2-hunter2-hunter2", "it does not begin with whsec_"),
        ("whsec_hunter2?", "what follows whsec_ is no base64"),
        ("whsec_hünter", "what follows whsec_ is no base64"),
        ("whsec_" + base64.b64encode(bytes(23)).decode(), "it holds 23 octets, not 24 to 64"),
        ("whsec_" + base64.b64encode(bytes(65)).decode(), "it holds 65 octets, not 24 to 64"),
    ],
)
def test_a_secret_of_another_form_is_told_without_a_word_of_it(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=r".") as raised:
        signing_key(Secret(text))
    assert str(raised.value) == problem


@given(st.binary(min_size=24, max_size=64))
def test_a_key_of_any_permitted_length_is_read_back(key: bytes) -> None:
    assert signing_key(Secret("whsec_" + base64.b64encode(key).decode())) == key


@pytest.mark.anyio
async def test_a_secret_is_had_anew_for_each_attempt_and_one_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    file, before = tmp_path / "secret", tmp_path / "before"
    told = {"name": "desk", "url": "https://a.example", "events": ["gap"], "unbound": "true"}
    settings = WebhookConfig.model_validate(told | {"secret_file": str(file), "previous_secret_file": str(before)})
    before.write_text(OLD.reveal() + "\n")
    for secret in (NEW, OTHER):
        file.write_text(secret.reveal())
        assert await signing_keys(settings) == [signing_key(secret), signing_key(OLD)]
    file.write_text("whsec_hunter2?")
    with pytest.raises(CredentialError) as raised:
        await signing_keys(settings)
    assert str(raised.value) == "the secret of webhook desk cannot be used: what follows whsec_ is no base64"
