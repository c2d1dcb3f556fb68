"""A server's words: never with the secret in them, always fit for a terminal."""

import base64

from hypothesis import given
from hypothesis import strategies as st

from postroom.base.cause import Cause
from postroom.base.refusal import REFUSED, quotable, why_refused


@given(st.text(), st.text(min_size=1), st.text())
def test_words_with_the_secret_in_them_are_not_quoted(before: str, secret: str, after: str) -> None:
    if secret.isprintable() and not secret.isspace():
        assert quotable(before + secret + after, secret) == ""


@given(st.binary(max_size=40), st.text(min_size=4, alphabet=st.characters(codec="utf-8")), st.binary(max_size=40))
def test_words_with_the_secret_within_base64_are_not_quoted(before: bytes, secret: str, after: bytes) -> None:
    packed = base64.b64encode(before + secret.encode() + after).decode()
    assert quotable(f"no: {packed}", secret) == ""


@given(st.text(max_size=5_000))
def test_quoted_words_are_one_short_printable_line(words: str) -> None:
    said = quotable(words, "sw0rdfish-7319")
    assert said.isprintable()
    assert len(said) <= 200


@given(st.none() | st.text(), st.text(), st.sampled_from(["password", "xoauth2", "oauthbearer"]))
def test_every_refusal_has_a_cause_that_can_be_told(code: str | None, words: str, auth: str) -> None:
    assert why_refused(code, words, auth) in REFUSED


def test_a_code_decides_where_the_words_say_nothing_more() -> None:
    assert why_refused("AUTHENTICATIONFAILED", "no", "password") is Cause.LOGIN_WRONG
    assert why_refused("5.7.8", "5.7.8 no", "password") is Cause.LOGIN_WRONG
    assert why_refused("AUTHENTICATIONFAILED", "Use an app password", "password") is Cause.APP_PASSWORD
    assert why_refused("ALERT", "no", "password") is Cause.LOGIN_UNEXPLAINED
    assert why_refused("AUTHENTICATIONFAILED", "Use an app password", "xoauth2") is Cause.TOKEN_REFUSED
