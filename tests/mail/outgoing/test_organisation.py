"""Which part of a domain its owner has registered."""

from __future__ import annotations

import pytest

from postroom.mail.outgoing.organisation import organisational_domain


@pytest.mark.parametrize(
    ("domain", "owner"),
    [
        ("example.org", "example.org"),
        ("mail.example.org", "example.org"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("co.uk", None),
        ("com", None),
        ("mine.github.io", "mine.github.io"),
        ("x.mine.github.io", "mine.github.io"),
        ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("corp.unheard-of", "corp.unheard-of"),
        ("a.www.ck", "www.ck"),
        ("a.b.ck", "a.b.ck"),
    ],
)
def test_the_registered_domain(domain: str, owner: str | None) -> None:
    assert organisational_domain(domain) == owner
