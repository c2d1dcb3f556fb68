"""Only the mailbox's own servers are believed about who sent a message."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.authentication import authentication, signing_domains
from postroom.mail.header import parse_fields
from postroom.mail.model import Authentication, Field

OURS = frozenset({"mx.example.com"})
GOOD = b"Authentication-Results: mx.example.com; spf=pass smtp.mailfrom=a@b.test; dkim=pass; dmarc=pass\r\n"
FORGED = b"Authentication-Results: mx.example.com; spf=fail; dkim=fail; dmarc=fail\r\n"
HOP = b"Received: from a by b; Mon, 2 Mar 2026 09:00:00 +0000\r\n"


def told(block: bytes, trusted: frozenset[str] = OURS, hops: int = 1) -> Authentication:
    return authentication(parse_fields(block), trusted, hops)


ALL_PASS = Authentication("pass", "pass", "pass")


def test_the_results_above_the_hops_that_are_ours_are_believed() -> None:
    assert told(GOOD + HOP) == ALL_PASS
    assert told(HOP + GOOD + HOP) == ALL_PASS
    assert told(HOP + HOP + GOOD) == Authentication()
    assert told(HOP + HOP + GOOD, hops=2) == ALL_PASS


def test_what_came_with_the_message_is_never_believed() -> None:
    assert told(GOOD + HOP + HOP + FORGED) == ALL_PASS
    assert told(HOP + HOP + GOOD) == Authentication()
    assert told(GOOD.replace(b"mx.example.com", b"mx.evil.test") + HOP) == Authentication()
    assert told(GOOD + HOP, frozenset()) == Authentication()


def test_the_topmost_of_several_counts_and_lower_ones_fill_in() -> None:
    assert told(GOOD + FORGED) == ALL_PASS
    dmarc_alone = b"Authentication-Results: mx.example.com; dmarc=fail\r\n"
    assert told(dmarc_alone + GOOD) == Authentication("pass", "pass", "fail")


@pytest.mark.parametrize(
    ("value", "result"),
    [
        (b"mx.example.com 1; dmarc=pass", "pass"),
        (b"MX.Example.com.; dmarc=PASS", "pass"),
        (b'"mx.example.com"; dmarc=pass', "pass"),
        (b"mx.example.com; dmarc/1=fail", "fail"),
        (b"mx.example.com (a comment; dmarc=pass); dmarc=fail", "fail"),
        (b"(mx.example.com; dmarc=pass) mx.evil.test; dmarc=fail", "unknown"),
        (b'mx.example.com; x="; dmarc=pass"; dmarc=fail', "fail"),
        (b"mx.example.com; reason=x dmarc=pass", "unknown"),
        (b"mx.example.com; dmarc=permerror (p=none)", "permerror"),
        (b"mx.example.com; dmarc=marvellous", "unknown"),
        (b"mx.example.com; none", "unknown"),
        (b"mx.example.com.evil.test; dmarc=pass", "unknown"),
        (b"evil.test mx.example.com; dmarc=pass", "unknown"),
        (b"", "unknown"),
        (b"((((((((((", "unknown"),
    ],
)
def test_the_field_is_read_as_its_grammar_says(value: bytes, result: str) -> None:
    assert told(b"Authentication-Results: " + value + b"\r\n").dmarc == result


def test_one_signature_that_holds_is_enough() -> None:
    assert told(b"Authentication-Results: mx.example.com; dkim=fail; dkim=pass; dkim=neutral\r\n").dkim == "pass"


@given(st.binary(max_size=200))
def test_whatever_stands_there_a_result_is_of_the_closed_list(value: bytes) -> None:
    found = told(b"Authentication-Results: mx.example.com;" + value.replace(b"\n", b"") + b"\r\n")
    assert {found.spf, found.dkim, found.dmarc} <= {
        *("none", "pass", "fail", "softfail", "neutral", "policy", "temperror", "permerror", "unknown")
    }


@pytest.mark.parametrize(
    ("results", "domains"),
    [
        ("dkim=pass header.d=X.example header.s=a", {"x.example"}),
        ("dkim=pass header.i=@b.example", {"b.example"}),
        ("dkim=pass header.i=@b.example header.d=x.example; dkim=pass header.d=y.example", {"x.example", "y.example"}),
        ("dkim=fail header.d=x.example", set()),
        ("dkim=pass", set()),
        ("spf=pass smtp.mailfrom=x.example", None),
    ],
)
def test_who_signed_is_told_of_signatures_that_passed(results: str, domains: set[str] | None) -> None:
    fields = (Field("Authentication-Results", f"mx.corp.example; {results}".encode()),)
    assert signing_domains(fields, {"mx.corp.example"}, 1) == domains
    assert signing_domains(fields, {"other.example"}, 1) is None
    assert signing_domains((Field("Received", b"a"), Field("Received", b"b"), *fields), {"mx.corp.example"}, 1) is None
