"""The URL of a PostgreSQL store: understood as asyncpg understands it, and never shown with its password."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.config.storeurl import StoreUrl


@pytest.mark.parametrize(
    ("text", "shown", "host", "password", "encrypted"),
    [
        ("postgresql://u@h/d", "postgresql://u@h/d", "h", False, False),
        ("postgres://u:p@h:5433/d?sslmode=verify-full", "postgres://u@h:5433/d", "h:5433", True, True),
        ("postgresql://u:p%2F%40@h/d?sslmode=prefer", "postgresql://u@h/d", "h", True, False),
        ("postgresql://u@/d?host=/run/postgresql", "postgresql://u@/d", "", False, False),
        ("postgresql://h/d?user=u&password=p", "postgresql://h/d", "h", True, False),
        ("postgresql://a:1,[::1]:2,c/d", "postgresql://a:1,[::1]:2,c/d", "a:1,[::1]:2,c", False, False),
        ("postgresql://", "postgresql://", "", False, False),
    ],
)  # fmt: skip
def test_what_a_url_says(text: str, shown: str, host: str, password: bool, encrypted: bool) -> None:
    url = StoreUrl.of(text)
    assert (str(url), url.host, url.has_password, url.is_encrypted) == (shown, host, password, encrypted)
    assert url.text.reveal() == text


@given(password=st.text(st.characters(codec="utf-8"), min_size=4, max_size=12))
def test_whatever_a_password_holds_it_is_not_shown(password: str) -> None:
    told = ""
    try:
        url = StoreUrl.of(f"postgresql://user:{password}Qz9@host/name")
        told = f"{url} {url!r}"
    except ValueError as error:
        told = str(error)
    assert "Qz9" not in told
