"""Whatever an agent writes, the loosest server there is takes one message, to the recipients that were checked."""

import asyncio
import email
import re
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import getaddresses
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.base.errors import GatewayError
from postroom.base.levels import Outcome
from postroom.mail.header import parse_fields, split
from postroom.mail.lines import one_line
from postroom.mail.outgoing.address import of_parts, read_addresses, unique
from postroom.mail.outgoing.compose import checked, compose, header_names, new_message_id
from postroom.mail.outgoing.file import outgoing_file
from postroom.mail.outgoing.identity import Identities
from postroom.mail.outgoing.model import Outgoing, StrictAddress
from postroom.mail.outgoing.replying import derive_reply
from postroom.mail.parse import assemble, parse_head, split_message
from postroom.policy.outbound import Judgement, clear, judge
from postroom.policy.outbound.plan import Plan
from postroom.smtp import Accepted
from tests.policy.outbound.sending import known, rules
from tests.servers.submission import LooseServer, nothing, submitting

IDENTITIES = Identities.read(["ana@example.org"], "ana@example.org")
ANA = IDENTITIES.sender(None)
PLAIN = Outgoing(
    ANA,
    to=read_addresses("bo@example.com", "to"),
    text="Hi.",
    message_id=new_message_id(ANA, UUID(int=5)),
    date=datetime(2026, 3, 3, 9, 0, tzinfo=UTC),
)
WILD = st.text(
    st.one_of(st.sampled_from(list(".\r\n\r\n. \tDATAQUIT:<>@=?-\x0b\x85\u2028\x1a")), st.characters(codec="utf-8")),
    max_size=200,
).map(lambda text: text.replace("\x00", ""))
LINE = WILD.map(one_line)


async def sent(
    *meant: Outgoing, identities: Identities = IDENTITIES, judgement: Judgement | None = None
) -> LooseServer:
    """What a server has got of these messages, one after the other on one session."""
    server = LooseServer()
    async with submitting(server) as submitter:
        for one in meant:
            stamped = clear(one, compose(one), identities, judgement)
            assert isinstance(await submitter.submit(stamped, partial=False, before_message=nothing), Accepted)
    return server


def rcpt(server: LooseServer) -> list[str]:
    return [line.decode()[9:-1] for line in server.heard if line.startswith(b"RCPT")]


@settings(max_examples=60, deadline=None)
@given(LINE, WILD, st.none() | WILD, LINE, st.lists(st.binary(max_size=100), max_size=2), LINE)
def test_random_text_in_every_field_is_one_message_to_the_checked_recipients(
    subject: str, text: str, html: str | None, name: str, files: list[bytes], filename: str
) -> None:
    people = (of_parts(name.replace("@", "")[:200], "bo@example.com"), of_parts(None, "cy@bücher.example"))
    kept = tuple(outgoing_file(re.sub(r"[^\w.-]", "_", filename)[:80].strip(". ") or "a", one) for one in files)
    meant = checked(replace(PLAIN, to=people, subject=subject, text=text, html=html, files=kept, bcc=people[:1]))
    server = asyncio.run(sent(meant, PLAIN))
    assert len(server.messages) == 2
    assert server.messages[0] == compose(meant)
    fields = parse_fields(split(server.messages[0])[0])
    assert tuple(field.name for field in fields) == header_names(meant)
    assert rcpt(server)[:2] == ["bo@example.com", "cy@xn--bcher-kva.example"]
    commands = [line[:4] for line in server.heard]
    assert commands == [b"EHLO", b"AUTH", b"MAIL", b"RCPT", b"RCPT", b"DATA", b"MAIL", b"RCPT", b"DATA"]


LOCALS = st.sampled_from(
    ["carol", "ana", "bob", "evil.example!eve", "a'b", "eve+carol", "CAROL", "x{y}", "bob=corp.example"]
)
DOMAINS = st.sampled_from(
    ["corp.example", "CORP.example", "partner.example", "evil.example", "corp.example.evil.example"]
)
PEOPLE = st.lists(
    st.builds(
        lambda name, local, domain: of_parts(name.replace("@", "")[:100], f"{local}@{domain}"), LINE, LOCALS, DOMAINS
    ),
    max_size=3,
).map(unique)
CAREFUL = rules(
    "mode: send, recipients: {allow: [internal, bob@partner.example], bcc: allow, max: 9}, reply_only: 'off'"
)
BOUND = Identities.read(["ana@corp.example"], "ana@corp.example")


def is_allowed(address: str) -> bool:
    """By the rules above, in other words."""
    local, _, domain = address.lower().rpartition("@")
    return "!" not in local and (domain == "corp.example" or (local, domain) == ("bob", "partner.example"))


@settings(max_examples=100, deadline=None)
@given(PEOPLE, PEOPLE, PEOPLE, LINE)
def test_of_a_bound_token_s_message_the_envelope_is_what_was_judged_and_what_stands_in_it(
    to: tuple[StrictAddress, ...], cc: tuple[StrictAddress, ...], bcc: tuple[StrictAddress, ...], subject: str
) -> None:
    meant = checked(replace(PLAIN, from_=BOUND.sender(None), to=to, cc=cc, bcc=bcc, subject=subject))
    judgement = judge(Plan(meant, len(compose(meant))), known(), CAREFUL)
    named = {one.address for one in (*to, *cc, *bcc)}
    only_own = {one.lower() for one in named} <= {"ana@corp.example"}
    assert (judgement.outcome is Outcome.SEND) is (all(map(is_allowed, named)) and not (named and only_own))
    if judgement.outcome is not Outcome.SEND or not named:
        with pytest.raises((ValueError, GatewayError)):
            clear(meant, compose(meant), BOUND, judgement)
        return
    server = asyncio.run(sent(meant, identities=BOUND, judgement=judgement))
    (received,) = server.messages
    parsed = email.message_from_bytes(received)
    headers = {
        address for name in ("To", "Cc", "Bcc") for _, address in getaddresses(parsed.get_all(name, [])) if address
    }
    blind = {one.address for one in bcc}
    assert "Bcc" not in parsed
    assert {one.lower() for one in rcpt(server)} == {one.lower() for one in headers | blind}
    assert len(rcpt(server)) == len(set(rcpt(server)))
    assert all(map(is_allowed, rcpt(server)))


SMUGGLED = (
    "\r\nMAIL FROM:<evil@attacker.example>\r\nRCPT TO:<v@example.org>\r\nDATA\r\nSubject: forged\r\n\r\nx\r\n.\r\n"
)


@pytest.mark.parametrize(
    "end", ["\r\n.\r\n", "\n.\n", "\r.\r", "\n.\r\n", "\r\n.\n", "\r\n.\r", "\n\n.\n\n", "\x85.\x85"]
)
def test_no_end_of_a_message_comes_from_a_body(end: str) -> None:
    server = asyncio.run(sent(replace(PLAIN, text=f"a{end}{SMUGGLED}b", html=f"a{end}{SMUGGLED}b")))
    assert len(server.messages) == 1
    assert rcpt(server) == ["bo@example.com"]
    body = assemble(split_message(server.messages[0]))
    assert "MAIL FROM:<evil@attacker.example>" in (body.text or "")


HOSTILE = [
    b"Re: =?utf-8?q?x=0D=0ABcc:_evil@attacker.example?=",
    b"=?utf-8?b?eA0KQmNjOiBldmlsQGF0dGFja2VyLmV4YW1wbGU=?=",
    b"x\rBcc: evil@attacker.example",
    b"=?utf-8?q?x?==?utf-8?q?=0ABcc:_evil@attacker.example?=",
    b"=?utf-8?q?x=00=0D?= =?utf-8?b?CkJjYzogZQ==?=",
    b"=?utf-16le?b?DQAKAEIAYwBjADoAZQA=?=",
    b"\xe2\x80\xa8Bcc: evil@attacker.example",
    b"x =?iso-8859-1?q?=85Bcc:_evil@attacker.example?=",
]


@pytest.mark.parametrize("subject", HOSTILE)
def test_an_answer_to_a_hostile_message_carries_none_of_its_headers(subject: bytes) -> None:
    block = b"From: " + subject + b" <x@example.org>\nReply-To: <x@example.org>\nSubject: " + subject + b"\n"
    block += b"Message-ID: <a@x\n\tBcc:evil@attacker.example>\nReferences: <b@x>\x0bBcc: <c@x>\n"
    told = derive_reply(parse_head(block), IDENTITIES)
    meant = checked(
        replace(PLAIN, to=told.to, subject=told.subject, in_reply_to=told.in_reply_to, references=told.references)
    )
    server = asyncio.run(sent(meant))
    fields = parse_fields(split(server.messages[0])[0])
    assert tuple(field.name for field in fields) == header_names(meant)
    assert rcpt(server) == ["x@example.org"]
