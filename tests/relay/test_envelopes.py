"""Of each message that a bound token gets sent, envelope, headers, audit and policy name the same people (T31)."""

from __future__ import annotations

import email
import itertools
from collections.abc import Iterator, Sequence
from email.utils import getaddresses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.relay.standing import Post, Wanted, post
from tests.servers.dovecot import Dovecot

POLICY = """
  desk:
    limits: {requests_per_minute: 6000, burst: 500, concurrent: 32}
    outbound:
      mode: send
      recipients: {allow: ["*@corp.example", bob@partner.example], bcc: allow}
      reply_only: "off"
      rate:
        messages: {per_minute: 999, per_hour: 999, per_day: 999}
        recipients: {per_day: 9999}
        same_recipient: {per_hour: 999, per_day: 999}
"""
TOKENS = {
    "helper": "user: ana, profile: desk, mailboxes: [work], scopes: [send]",
    "admin": "mailboxes: [work], scopes: [admin]",
}
MAY = {"cy@corp.example", "ana@corp.example", "bob@partner.example"}
SPELLED = {
    "cy@corp.example": "cy@corp.example",
    "Cy <cy@corp.example>": "cy@corp.example",
    "CY@CORP.EXAMPLE": "cy@corp.example",
    '"Cy, the first" <cy@corp.example>': "cy@corp.example",
    "Ana <ana@corp.example>": "ana@corp.example",
    "bob@partner.example": "bob@partner.example",
    '"cy@corp.example" <bob@partner.example>': "bob@partner.example",
    "Zoë <bob@partner.example>": "bob@partner.example",
}
"""Whom a spelling means."""
OTHERS = (
    *("eve@evil.example", '"bob@partner.example" <eve@evil.example>', "bob@partner.example, eve@evil.example"),
    *("cy@corp.example)eve@evil.example", "evil.example!eve@corp.example", "eve%evil.example@corp.example"),
    *("cy@corp.example.", "all: eve@evil.example;", "bob+x@partner.example", "cy@cоrp.example"),
    *("cy@corp.example\r\nBcc: eve@evil.example", "<@corp.example:eve@evil.example>"),
)
"""Those to whom nothing may go; one of them refuses a message."""
GOOD, ANY = st.sampled_from(list(SPELLED)), st.sampled_from([*SPELLED, *OTHERS])
PEOPLE = st.lists(GOOD, max_size=3) | st.lists(GOOD, max_size=3) | st.lists(ANY, max_size=3)
_SUBJECTS = itertools.count()


@pytest.fixture(scope="module")
def desk(dovecot: Dovecot, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Post]:
    with post(tmp_path_factory.mktemp("envelopes"), dovecot, Wanted(POLICY, TOKENS)) as standing:
        yield standing


@settings(max_examples=60, deadline=None)
@given(to=PEOPLE, cc=PEOPLE, bcc=PEOPLE)
def test_envelope_headers_audit_and_policy_agree(
    desk: Post, to: Sequence[str], cc: Sequence[str], bcc: Sequence[str]
) -> None:
    before = len(desk.letterbox.envelopes)
    told = desk.ask("send", "helper", to=to, cc=cc, bcc=bcc, subject=f"{next(_SUBJECTS)}", body_text="Hello.")
    left = desk.letterbox.envelopes[before:]
    meant = {SPELLED.get(one, "") for one in (*to, *cc, *bcc)}
    if told.get("outcome") != "accepted":
        assert meant <= {"ana@corp.example"} or "" in meant
        assert told["error"]["code"] in ("policy_denied", "validation_error")
        assert left == []
        return
    (envelope,) = left
    assert isinstance(envelope.content, bytes)
    parsed = email.message_from_bytes(envelope.content)
    named = {
        address for name in ("To", "Cc", "Bcc") for _, address in getaddresses(parsed.get_all(name, [])) if address
    }
    blind = {SPELLED[one] for one in bcc}
    written = desk.ask("audit_log", "admin", limit=1, action="mcp.send", fields="full")["records"][0]["facts"]
    envelope_to = {one.lower() for one in envelope.rcpt_tos}
    assert envelope_to == {one.lower() for one in named | blind} == {one.lower() for one in written["recipients"]}
    assert envelope_to == meant
    assert envelope_to <= MAY


def test_what_is_spelled_well_is_sent_so_that_the_property_has_something_to_say(desk: Post) -> None:
    before = len(desk.letterbox.envelopes)
    told = desk.ask(
        "send", "helper", to=["Cy <cy@corp.example>"], bcc=["bob@partner.example"], subject="x", body_text="y"
    )
    assert told["outcome"] == "accepted"
    (envelope,) = desk.letterbox.envelopes[before:]
    assert envelope.rcpt_tos == ["cy@corp.example", "bob@partner.example"]
    assert b"bob@" not in (envelope.content or b"")  # type: ignore[operator]
