"""A message is handed over once, and it is always known whether the server may have it."""

import asyncio
import re
from pathlib import Path

import pytest

from postroom.base.clock import HandClock
from postroom.base.secret import Secret
from postroom.base.tls import Endpoint
from postroom.smtp import Accepted, Outcome, Refusal, Rejected, SmtpFault, Submission, Submitter, Unknown
from postroom.smtp.submitter import KEPT_SECONDS, REFUSED_REST
from tests.servers.player import SmtpPlayer
from tests.servers.submission import CLOSE, MIDDLE, SILENT, LooseServer, cleared, nothing, submitting

pytestmark = pytest.mark.anyio
CORPUS = Path(__file__).parent.parent / "cases" / "corpus"


async def send(submitter: Submitter, *recipients: str, partial: bool = True) -> Outcome:
    return await submitter.submit(
        cleared(b"Subject: x\r\n\r\nHi\r\n", *recipients), partial=partial, before_message=nothing
    )


async def test_an_accepted_message_is_there_once_and_word_for_word() -> None:
    server = LooseServer()
    async with submitting(server) as submitter:
        assert await send(submitter, "bo@example.com", "cy@example.com") == Accepted(
            ("bo@example.com", "cy@example.com"), ()
        )
    assert server.messages == [b"Subject: x\r\n\r\nHi\r\n"]
    assert [line for line in server.heard if line.startswith((b"MAIL", b"RCPT"))] == [
        b"MAIL FROM:<ana@example.org> SIZE=18",
        b"RCPT TO:<bo@example.com>",
        b"RCPT TO:<cy@example.com>",
    ]


async def test_the_servers_name_for_us_tells_nothing_of_the_machine() -> None:
    server = LooseServer()
    async with submitting(server) as submitter:
        await send(submitter)
    assert server.heard[0] == b"EHLO [127.0.0.1]"


async def test_dots_are_doubled_on_the_wire_and_single_at_the_other_end() -> None:
    octets = b".Subject: x\r\n\r\n.\r\n..\r\n.a\r\nb.\r\n"
    server = LooseServer()
    async with submitting(server) as submitter:
        await submitter.submit(cleared(octets), partial=True, before_message=nothing)
    assert server.messages == [octets]


@pytest.mark.parametrize("more", [0, *range(65_536 - 25, 65_536 - 10), 2_000_000])
async def test_a_message_of_any_size_arrives_whole(more: int) -> None:
    octets = b"Subject: x\r\n\r\n" + b".0123456789abcdef\r\n" * (more // 19) + b"a" * (more % 19) + b"\r\n"
    server = LooseServer()
    async with submitting(server, seconds=20) as submitter:
        assert isinstance(await submitter.submit(cleared(octets), partial=True, before_message=nothing), Accepted)
    assert server.messages == [octets]


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        ({b"MAIL": b"550 5.7.1 no"}, Rejected("sender", 550, "5.7.1", temporary=False)),
        ({b"MAIL": b"452 4.3.1 full"}, Rejected("sender", 452, "4.3.1", temporary=True)),
        ({b"DATA": b"451 4.3.0 later"}, Rejected("data", 451, "4.3.0", temporary=True)),
        ({b".": b"552 5.3.4 Message size exceeds fixed limit"}, Rejected("message", 552, "5.3.4", temporary=False)),
        ({b".": b"451 no code"}, Rejected("message", 451, None, temporary=True)),
        ({b".": b"550 4.7.1 of another class"}, Rejected("message", 550, None, temporary=False)),
        ({b".": b"421 4.3.2 closing"}, Rejected("message", 421, "4.3.2", temporary=True)),
        ({b".": CLOSE}, Unknown("lost")),
        ({b".": b"garbage"}, Unknown("protocol")),
        ({b".": b"354 again"}, Unknown("protocol")),
        ({b".": b"999 what"}, Unknown("protocol")),
        ({b".": b"x" * 50_000}, Unknown("protocol")),
    ],
)
async def test_each_end_has_its_own_name(answers: dict[bytes, bytes | list[bytes]], outcome: Outcome) -> None:
    server = LooseServer(answers)
    async with submitting(server) as submitter:
        assert await send(submitter) == outcome
    assert server.connects == 1


async def test_silence_after_the_final_dot_is_unknown_and_nothing_is_sent_again() -> None:
    server = LooseServer({b".": SILENT})
    async with submitting(server, seconds=0.05) as submitter:
        assert await send(submitter) == Unknown("timeout")
        server.answers = {}
        assert isinstance(await send(submitter), Accepted)
    assert len(server.messages) == 2
    assert server.connects == 2


@pytest.mark.parametrize("command", [b"MAIL", b"RCPT", b"DATA"])
@pytest.mark.parametrize(
    ("answer", "reason"), [(CLOSE, "lost"), (b"garbage", "protocol"), (b"199 what", "protocol"), (SILENT, "timeout")]
)
async def test_before_the_message_a_fault_says_that_nothing_was_sent(
    command: bytes, answer: bytes, reason: str
) -> None:
    server = LooseServer({command: answer})
    noted: list[str] = []

    async def note(_: Accepted) -> None:
        noted.append("message")

    async with submitting(server, seconds=0.2 if answer == SILENT else 5) as submitter:
        with pytest.raises(SmtpFault) as told:
            await submitter.submit(cleared(), partial=True, before_message=note)
    assert told.value.reason == reason
    assert (server.messages, noted, server.connects) == ([], [], 1)


@pytest.mark.parametrize(("answer", "reason"), [(CLOSE, "lost"), (SILENT, "timeout")])
async def test_a_message_whose_end_never_left_is_not_sent_and_that_is_certain(answer: bytes, reason: str) -> None:
    octets = b"Subject: x\r\n\r\n" + b"0123456789abcdef\r\n" * 1_000_000
    server = LooseServer({MIDDLE: answer})
    async with submitting(server, seconds=0.3 if answer == SILENT else 5) as submitter:
        with pytest.raises(SmtpFault) as told:
            await submitter.submit(cleared(octets), partial=True, before_message=nothing)
    assert told.value.reason == reason


async def test_the_journal_is_asked_between_the_servers_leave_and_the_first_octet() -> None:
    server = LooseServer()
    seen: list[tuple[bytes, int]] = []

    async def note(_: Accepted) -> None:
        seen.append((server.heard[-1], len(server.messages)))

    async with submitting(server) as submitter:
        await submitter.submit(cleared(), partial=True, before_message=note)
    assert seen == [(b"DATA", 0)]


async def test_a_journal_that_fails_keeps_the_message_back() -> None:
    server = LooseServer()

    async def fail(_: Accepted) -> None:
        raise OSError("disk full")

    async with submitting(server) as submitter:
        with pytest.raises(OSError, match="disk full"):
            await submitter.submit(cleared(), partial=True, before_message=fail)
        assert isinstance(await send(submitter), Accepted)
    assert len(server.messages) == 1
    assert server.connects == 2


async def test_a_call_that_is_cancelled_leaves_no_session_in_the_middle_of_a_message() -> None:
    server = LooseServer()
    begun = asyncio.Event()

    async def wait(_: Accepted) -> None:
        begun.set()
        await asyncio.Event().wait()

    async with submitting(server) as submitter:
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(submitter.submit(cleared(), partial=True, before_message=wait))
            await begun.wait()
            task.cancel()
        assert isinstance(await send(submitter), Accepted)
    assert len(server.messages) == 1


async def test_some_recipients_may_be_refused_where_that_is_allowed() -> None:
    gone = Refusal("gone@example.org", 550, "5.1.1", temporary=False)
    server = LooseServer({b"RCPT TO:<gone": b"550-5.1.1 user\r\n550 5.1.1 unknown"})
    async with submitting(server) as submitter:
        assert await send(submitter, "bo@example.com", "gone@example.org") == Accepted(("bo@example.com",), (gone,))
        assert await send(submitter, "bo@example.com", "gone@example.org", partial=False) == Rejected(
            "recipients", 550, "5.1.1", temporary=False, refused=(gone,)
        )
        assert server.heard[-1] == b"RSET"
        assert isinstance(await send(submitter), Accepted)
    assert len(server.messages) == 2
    assert server.connects == 1


async def test_all_refused_is_temporary_only_if_every_refusal_is() -> None:
    server = LooseServer({b"RCPT TO:<later": b"451 4.7.1 greylisted", b"RCPT TO:<gone": b"550 5.1.1 unknown"})
    async with submitting(server) as submitter:
        later = await send(submitter, "later@example.org")
        both = await send(submitter, "later@example.org", "gone@example.org")
    assert isinstance(later, Rejected)
    assert isinstance(both, Rejected)
    assert (later.code, later.temporary, both.code, both.temporary) == (451, True, 550, False)
    assert server.messages == []


async def test_a_message_over_the_servers_size_is_not_begun_and_the_session_stays() -> None:
    server = LooseServer(extensions=(b"SIZE 20",))
    async with submitting(server) as submitter:
        with pytest.raises(SmtpFault, match="20 octets") as told:
            await submitter.submit(cleared(b"Subject: x\r\n\r\nlonger\r\n"), partial=True, before_message=nothing)
        assert told.value.reason == "too_large"
        assert isinstance(await send(submitter), Accepted)
    assert server.connects == 1


@pytest.mark.parametrize("size", [b"SIZE", b"SIZE 0", b"SIZE many", b"SIZE -5", b"SIZE 99999999999999999999"])
async def test_a_size_that_is_no_limit_limits_nothing(size: bytes) -> None:
    async with submitting(LooseServer(extensions=(size,))) as submitter:
        assert isinstance(await send(submitter), Accepted)


async def test_addresses_beyond_ascii_need_smtputf8() -> None:
    message = cleared(b"Subject: x\r\n\r\nHi\r\n", "用户@example.org", utf8=True)
    async with submitting(LooseServer()) as submitter:
        with pytest.raises(SmtpFault, match="SMTPUTF8"):
            await submitter.submit(message, partial=True, before_message=nothing)
    server = LooseServer(extensions=(b"8BITMIME", b"SMTPUTF8"))
    async with submitting(server) as submitter:
        assert isinstance(await submitter.submit(message, partial=True, before_message=nothing), Accepted)
    assert b"MAIL FROM:<ana@example.org> BODY=8BITMIME SMTPUTF8" in server.heard
    assert "RCPT TO:<用户@example.org>".encode() in server.heard


async def test_a_session_is_used_again_while_it_is_fresh() -> None:
    server, clock = LooseServer(), HandClock()
    async with submitting(server, clock=clock) as submitter:
        await send(submitter)
        clock.wind(KEPT_SECONDS)
        await send(submitter)
        assert server.connects == 1
        clock.wind(KEPT_SECONDS + 1)
        await send(submitter)
        assert server.connects == 2
    assert len(server.messages) == 3


@pytest.mark.parametrize("death", [CLOSE, b"421 4.4.2 idle for too long", b"garbage"])
async def test_a_session_that_died_while_idle_is_replaced_before_anything_begins(death: bytes) -> None:
    server = LooseServer({b"MAIL": [b"250 ok", death]})
    async with submitting(server) as submitter:
        await send(submitter)
        assert isinstance(await send(submitter), Accepted)
    assert (len(server.messages), server.connects) == (2, 2)


async def test_a_session_whose_connection_is_gone_is_replaced() -> None:
    server = LooseServer()
    async with submitting(server) as submitter:
        await send(submitter)
        server.hang_up()
        assert isinstance(await send(submitter), Accepted)
    assert (len(server.messages), server.connects) == (2, 2)


async def test_a_session_that_dies_later_is_not_replaced() -> None:
    server = LooseServer({b"RCPT": [b"250 ok", CLOSE]})
    async with submitting(server) as submitter:
        await send(submitter)
        with pytest.raises(SmtpFault, match="closed"):
            await send(submitter)
    assert (len(server.messages), server.connects) == (1, 1)


async def test_a_refused_login_rests_until_the_secret_is_another_one_or_a_person_asks() -> None:
    server, clock = LooseServer({b"AUTH": b"535 5.7.8 no"}), HandClock()
    async with submitting(server, clock=clock) as submitter:
        for _ in range(3):
            with pytest.raises(SmtpFault) as told:
                await send(submitter)
            assert told.value.reason == "login_refused"
        assert server.connects == 1
        clock.wind(REFUSED_REST + 1)
        server.answers = {}
        assert isinstance(await send(submitter), Accepted)
    assert server.connects == 2


async def test_a_new_secret_is_tried_at_once() -> None:
    server = LooseServer({b"AUTH PLAIN AGFuYQBvbGQ=": b"535 5.7.8 no"})
    secrets = [Secret("old"), Secret("old"), Secret("new")]

    async def secret() -> Secret:
        return secrets.pop(0)

    async with submitting(server) as ready:
        port = ready._submission.endpoint.port
        submitter = Submitter(
            Submission(Endpoint("127.0.0.1", port, "none"), "ana", "password", secret, 5, 5), HandClock()
        )
        for _ in range(2):
            with pytest.raises(SmtpFault):
                await send(submitter)
        assert isinstance(await send(submitter), Accepted)
        submitter.close()
    assert server.connects == 2


async def test_two_messages_at_once_have_a_session_each_and_a_third_waits() -> None:
    server = LooseServer()
    async with submitting(server) as submitter, asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(send(submitter, f"a{at}@example.org")) for at in range(6)]
    assert all(isinstance(task.result(), Accepted) for task in running)
    assert len(server.messages) == 6
    assert server.connects <= 2


@pytest.mark.parametrize(
    ("case", "outcome"),
    [
        ("smt-552-after-dot", Rejected("message", 552, "5.3.4", temporary=False)),
        ("smt-drop-after-data", Unknown("lost")),
        ("smt-dots-and-bare-lf", Accepted(("bo@example.com",), ())),
    ],
)
async def test_the_corpus_ends_as_it_should(case: str, outcome: Outcome) -> None:
    with SmtpPlayer(CORPUS / case) as peer:
        submission = Submission(Endpoint("127.0.0.1", peer.port, "none"), None, "password", None, 5, 5)
        submitter = Submitter(submission, HandClock())
        assert await send(submitter) == outcome
        submitter.close()
    assert len(peer.transactions) == 1


async def test_all_refused_and_greylisted_of_the_corpus_send_nothing() -> None:
    for case, code, temporary in (("smt-all-refused", 550, False), ("smt-greylisted", 451, True)):
        with SmtpPlayer(CORPUS / case) as peer:
            submission = Submission(Endpoint("127.0.0.1", peer.port, "none"), None, "password", None, 5, 5)
            submitter = Submitter(submission, HandClock())
            outcome = await send(submitter)
            submitter.close()
        assert isinstance(outcome, Rejected)
        assert (outcome.code, outcome.temporary) == (code, temporary)
        assert re.fullmatch(r"[45]\.7\.\d+", outcome.enhanced or "")
        assert peer.transactions == []
