"""Reaching a submission server: each way to fail has its own word."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from postroom.base.secret import Secret
from postroom.base.tls import Endpoint
from postroom.smtp import SmtpFault, Submission
from tests.servers.ports import refusing_port

pytestmark = pytest.mark.anyio


@dataclass
class Server:
    """Answers each command by the first fitting prefix of `answers`."""

    answers: dict[bytes, bytes]
    heard: list[bytes] = field(default_factory=list)
    greeting: bytes = b"220 mx.example.org ESMTP\r\n"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(self.greeting)
            while line := await reader.readline():
                self.heard.append(line.rstrip())
                answers = (text for start, text in self.answers.items() if line.upper().startswith(start))
                writer.write(next(answers, b"250 ok") + b"\r\n")
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()


@asynccontextmanager
async def submission(server: Server, auth: str = "password", seconds: float = 2) -> AsyncIterator[Submission]:
    async def secret() -> Secret:
        return Secret("s3cret")

    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    yield Submission(Endpoint("127.0.0.1", port, "none"), "ana", auth, secret, seconds, seconds)
    listener.close()


async def test_a_login_that_is_let_in_is_well() -> None:
    server = Server({b"EHLO": b"250-mx\r\n250 AUTH PLAIN LOGIN", b"AUTH PLAIN": b"235 in", b"QUIT": b"221 bye"})
    async with submission(server) as reached:
        await reached.probe()
    assert server.heard[-1] == b"QUIT"


async def test_a_refused_password_is_offered_once_and_by_one_mechanism() -> None:
    server = Server({b"EHLO": b"250-mx\r\n250 AUTH CRAM-MD5 PLAIN LOGIN", b"AUTH": b"535 5.7.8 no"})
    async with submission(server) as reached:
        with pytest.raises(SmtpFault) as told:
            await reached.probe()
    assert told.value.reason == "login_refused"
    assert sum(line.startswith(b"AUTH") for line in server.heard) == 1


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ({b"EHLO": b"250-mx\r\n250 AUTH PLAIN", b"AUTH": b"454 4.7.0 later"}, "busy"),
        ({b"EHLO": b"250 mx"}, "protocol"),
        ({b"EHLO": b"250-mx\r\n250 AUTH PLAIN", b"AUTH": b"garbage"}, "protocol"),
    ],
)
async def test_what_a_server_answers_is_told_by_one_word(answers: dict[bytes, bytes], reason: str) -> None:
    async with submission(Server(answers)) as reached:
        with pytest.raises(SmtpFault) as told:
            await reached.probe()
    assert told.value.reason == reason


async def test_nobody_there_is_refused_and_silence_is_a_timeout() -> None:
    nobody = Submission(Endpoint("127.0.0.1", refusing_port(), "none"), None, "password", None, 1, 1)
    with pytest.raises(SmtpFault) as told:
        await nobody.probe()
    assert told.value.reason == "refused"
    async with submission(Server({}, greeting=b""), seconds=0.2) as reached:
        with pytest.raises(SmtpFault) as told:
            await reached.probe()
    assert told.value.reason == "timeout"


async def test_a_server_without_starttls_is_told_so_before_any_password() -> None:
    server = Server({b"EHLO": b"250-mx\r\n250 AUTH PLAIN"})
    async with submission(server) as plain:
        strict = Submission(
            Endpoint("127.0.0.1", plain.endpoint.port, "starttls"), "ana", "password", plain.secret, 2, 2
        )
        with pytest.raises(SmtpFault):
            await strict.probe()
    assert not any(line.startswith(b"AUTH") for line in server.heard)


async def test_an_oauth_refusal_is_acknowledged_and_told() -> None:
    server = Server(
        {b"EHLO": b"250-mx\r\n250 AUTH OAUTHBEARER", b"AUTH OAUTHBEARER": b"334 e30=", b"AQ==": b"535 5.7.8 no"}
    )
    async with submission(server, auth="oauthbearer") as reached:
        with pytest.raises(SmtpFault) as told:
            await reached.probe()
    assert told.value.reason == "login_refused"
