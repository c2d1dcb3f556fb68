"""A real server behind STARTTLS and a login takes what we hand over, on both event loops."""

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest
from anyio.lowlevel import checkpoint

from postroom.base.clock import SystemClock
from postroom.base.secret import Secret
from postroom.base.tls import Endpoint
from postroom.mail.outgoing.address import read_addresses
from postroom.mail.outgoing.compose import compose, new_message_id
from postroom.mail.outgoing.file import outgoing_file
from postroom.mail.outgoing.identity import Identities
from postroom.mail.outgoing.model import Outgoing
from postroom.policy.outbound import clear
from postroom.smtp import Accepted, SmtpFault, Submission, Submitter
from tests.servers.dovecot import Dovecot
from tests.servers.smtp import Letterbox, running_smtp
from tests.servers.submission import nothing

pytestmark = pytest.mark.anyio
IDENTITIES = Identities.read(["Ana <ana@example.org>"], "ana@example.org")
ANA = IDENTITIES.sender(None)
MEANT = Outgoing(
    ANA,
    to=read_addresses("Bo <bo@example.com>, info@bücher.example", "to"),
    bcc=read_addresses("boss@example.net", "bcc"),
    subject="Größe 📦",
    text=".\nZeile\n..\n" + "é" * 2000,
    html="<p>Zeile",
    files=(outgoing_file("größe.bin", bytes(range(256)) * 3000),),
    message_id=new_message_id(ANA, UUID(int=9)),
    date=datetime(2026, 3, 3, 9, 0, tzinfo=UTC),
)


@pytest.fixture(params=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, bool]]:
    return "asyncio", {"use_uvloop": request.param == "uvloop"}


@pytest.fixture
def letterbox() -> Letterbox:
    return Letterbox()


@pytest.fixture
def port(dovecot: Dovecot, letterbox: Letterbox) -> Iterator[int]:
    with running_smtp(dovecot.certificate, dovecot.folder / "key.pem", letterbox) as port:
        yield port


def submission(dovecot: Dovecot, port: int, password: str = "correct-horse") -> Submission:
    async def secret() -> Secret:
        return Secret(password)

    endpoint = Endpoint("127.0.0.1", port, "starttls", str(dovecot.certificate))
    return Submission(endpoint, "ana", "password", secret, 10, 10)


async def test_messages_arrive_octet_for_octet_on_one_session(
    dovecot: Dovecot, port: int, letterbox: Letterbox
) -> None:
    submitter = Submitter(submission(dovecot, port), SystemClock())
    for subject in ("one", "two"):
        meant = replace(MEANT, subject=subject)
        outcome = await submitter.submit(
            clear(meant, compose(meant), IDENTITIES), partial=False, before_message=nothing
        )
        assert isinstance(outcome, Accepted)
    submitter.close()
    assert [envelope.content for envelope in letterbox.envelopes] == [
        compose(replace(MEANT, subject=subject)) for subject in ("one", "two")
    ]
    assert letterbox.envelopes[0].mail_from == "ana@example.org"
    assert letterbox.envelopes[0].rcpt_tos == ["bo@example.com", "info@xn--bcher-kva.example", "boss@example.net"]


async def test_a_wrong_password_sends_nothing(dovecot: Dovecot, port: int, letterbox: Letterbox) -> None:
    submitter = Submitter(submission(dovecot, port, "wrong"), SystemClock())
    with pytest.raises(SmtpFault) as told:
        await submitter.submit(clear(MEANT, compose(MEANT), IDENTITIES), partial=False, before_message=nothing)
    assert told.value.reason == "login_refused"
    assert letterbox.envelopes == []


async def test_a_closed_conversation_is_gone_at_once_and_waits_for_no_polite_end(dovecot: Dovecot, port: int) -> None:
    client = await submission(dovecot, port).connect(Secret("correct-horse"))
    assert client.transport is not None
    socket = client.transport.get_extra_info("socket").fileno()
    client.close()
    for _ in range(3):
        await checkpoint()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(socket)
