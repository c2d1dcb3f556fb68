"""Where a token may be sent, and what a header may hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.bridge import AddressFault, read_address
from postroom.bridge.message import header_value
from postroom.surfaces.mcp import _header_value as header_read


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://localhost:8000", ("none", "localhost", 8000, "localhost:8000", "/mcp")),
        ("HTTP://LOCALHOST/", ("none", "localhost", 80, "LOCALHOST", "/mcp")),
        ("http://[::1]:8000/mcp/", ("none", "::1", 8000, "[::1]:8000", "/mcp/")),
        ("https://mail.example/inside/mcp", ("ssl", "mail.example", 443, "mail.example", "/inside/mcp")),
        ("https://mail.example:8443", ("ssl", "mail.example", 8443, "mail.example:8443", "/mcp")),
    ],
)
def test_an_address_is_read(url: str, told: tuple[str, str, int, str, str]) -> None:
    address = read_address(url)
    endpoint = address.endpoint
    assert (endpoint.tls, endpoint.host, endpoint.port, address.host, address.target) == told


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://192.0.2.1:8000/mcp", "plain http to another machine shows the token"),
        ("http://localhost.example/mcp", "plain http to another machine shows the token"),
        ("http://127.0.0.1@mail.example/", "it may hold no user and no password"),
        ("https://ana:swordfish@mail.example/", "it may hold no user and no password"),
        ("https://mail.example/mcp?token=swordfish", "it may hold no ? and no #"),
        ("https://mail.example/mcp#x", "it may hold no ? and no #"),
        ("https://mail.example/\r\nX: 1", "visible ASCII"),
        ("https://größe.example", "write a foreign host name as xn--"),
        ("localhost:8000", "must begin with http:// or https://"),
        ("ftp://localhost", "must begin with http:// or https://"),
        ("https:///mcp", "must begin with http:// or https://"),
        ("https://mail.example:0", "must begin with http:// or https://"),
        ("https://mail.example:99999", "is no URL"),
        ("https://[::1/mcp", "is no URL"),
        ("", "visible ASCII"),
    ],
)
def test_an_address_to_which_no_token_goes_is_told_without_what_it_holds(url: str, told: str) -> None:
    with pytest.raises(AddressFault) as caught:
        read_address(url)
    assert told in str(caught.value)
    assert "swordfish" not in str(caught.value)


def test_plain_http_elsewhere_must_be_meant() -> None:
    assert read_address("http://192.0.2.1/mcp", allow_insecure=True).endpoint.host == "192.0.2.1"


def test_an_authority_must_be_one(tmp_path: Path) -> None:
    with pytest.raises(AddressFault, match="cannot be read or holds no certificate"):
        read_address("https://mail.example", ca_file=str(tmp_path / "none.pem"))


@given(st.text())
def test_any_text_goes_through_a_header_and_back(text: str) -> None:
    value = header_value(text)
    assert value.isascii()
    assert value == value.strip()
    assert "\r" not in value
    assert "\n" not in value
    assert header_read(value) == text
