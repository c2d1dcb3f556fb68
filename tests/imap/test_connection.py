"""One conversation with a server: logins, deadlines, cancellation, bounds; the peer is scripted."""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from postroom.base.secret import Secret
from postroom.base.tls import Endpoint
from postroom.imap import commands
from postroom.imap.connection import Connection
from postroom.imap.conversation import Deadlines
from postroom.imap.faults import (
    BusyFault,
    ConnectFault,
    DeadlineFault,
    ImapFault,
    LoginFault,
    LostFault,
    RefusedFault,
    TlsFault,
    WireFault,
)
from postroom.imap.login import Identity
from postroom.imap.opening import open_connection
from tests.servers.certificates import make_certificate
from tests.servers.peer import Conversation, Listening, Peer, listening
from tests.servers.ports import refusing_port

pytestmark = pytest.mark.anyio

QUICK = Deadlines(connect=2.0, command=0.4)
ANA = Identity("ana@example.org", Secret("s3cret"))


def at(port: int) -> Endpoint:
    return Endpoint("127.0.0.1", port, "none")


@asynccontextmanager
async def logged_in(
    conversation: Conversation, identity: Identity = ANA
) -> AsyncIterator[tuple[Connection, Listening]]:
    async with listening(conversation) as peer:
        connection = await open_connection(at(peer.port), identity, QUICK)
        try:
            yield connection, peer
        finally:
            connection.close()


async def test_capabilities_of_the_login_answer_replace_those_of_the_greeting() -> None:
    async def server(peer: Peer) -> None:
        await peer.says(b"* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN SASL-IR] hi")
        await peer.answers(b"* CAPABILITY IMAP4rev1 MOVE UIDPLUS")

    async with logged_in(server) as (connection, peer):
        assert connection.capabilities == {"IMAP4REV1", "MOVE", "UIDPLUS"}
        assert peer.heard == [b"P1 AUTHENTICATE PLAIN " + base64.b64encode(b"\0ana@example.org\0s3cret")]


async def test_connections_that_were_told_the_same_capabilities_have_one_set_of_them() -> None:
    def server(capabilities: bytes) -> Conversation:
        async def told(peer: Peer) -> None:
            await peer.lets_in(capabilities)

        return told

    async with (
        logged_in(server(b"IMAP4rev1 MOVE")) as (first, _),
        logged_in(server(b"IMAP4rev1 MOVE")) as (second, _),
        logged_in(server(b"IMAP4rev1")) as (third, _),
    ):
        assert first.capabilities is second.capabilities
        assert third.capabilities == {"IMAP4REV1"}


async def test_capabilities_that_nobody_announced_are_asked_for_before_and_after_the_login() -> None:
    async def server(peer: Peer) -> None:
        await peer.says(b"* OK hi")
        await peer.answers(b"* CAPABILITY IMAP4rev1")
        await peer.answers()
        await peer.answers(b"* CAPABILITY IMAP4rev1 IDLE")

    async with logged_in(server) as (connection, peer):
        assert connection.capabilities == {"IMAP4REV1", "IDLE"}
        assert peer.heard == [b"P1 CAPABILITY", b'P2 LOGIN "ana@example.org" "s3cret"', b"P3 CAPABILITY"]


async def test_no_password_goes_to_a_server_that_forbids_logins() -> None:
    async def server(peer: Peer) -> None:
        await peer.says(b"* OK [CAPABILITY IMAP4rev1 LOGINDISABLED] hi")
        await peer.hangs()

    async with listening(server) as peer:
        with pytest.raises(TlsFault, match="starttls or ssl"):
            await open_connection(at(peer.port), ANA, QUICK)
        assert peer.heard == []


async def test_without_sasl_ir_the_response_waits_for_the_server() -> None:
    async def server(peer: Peer) -> None:
        await peer.says(b"* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN] hi")
        assert await peer.hears() == b"P1 AUTHENTICATE PLAIN"
        await peer.says(b"+ ")
        assert base64.b64decode(await peer.hears()) == b"\0ana@example.org\0s3cret"
        await peer.says(b"P1 OK [CAPABILITY IMAP4rev1] in")

    async with logged_in(server) as (connection, _):
        assert connection.capabilities == {"IMAP4REV1"}


async def test_a_refused_oauth_token_is_acknowledged_and_told_as_a_refused_login() -> None:
    async def server(peer: Peer) -> None:
        await peer.says(b"* OK [CAPABILITY IMAP4rev1 AUTH=XOAUTH2 SASL-IR] hi")
        line = await peer.hears()
        assert base64.b64decode(line.split()[3]) == b"user=ana@example.org\x01auth=Bearer tok\x01\x01"
        await peer.says(b"+ eyJzdGF0dXMiOiI0MDAifQ==")
        assert await peer.hears() == b""
        await peer.says(b"P1 NO [AUTHENTICATIONFAILED] Invalid credentials")

    async with listening(server) as peer:
        with pytest.raises(LoginFault):
            await open_connection(at(peer.port), Identity("ana@example.org", Secret("tok"), "xoauth2"), QUICK)


async def test_oauthbearer_names_user_host_and_port() -> None:
    async def server(peer: Peer) -> None:
        await peer.says(b"* OK [CAPABILITY IMAP4rev1 AUTH=OAUTHBEARER SASL-IR] hi")
        line = await peer.hears()
        message = base64.b64decode(line.split()[3])
        assert message.startswith(b"n,a=a=3Db=2Cc@example.org,\x01host=127.0.0.1\x01port=")
        assert message.endswith(b"\x01auth=Bearer tok\x01\x01")
        await peer.says(b"P1 OK [CAPABILITY IMAP4rev1] in")

    async with logged_in(server, Identity("a=b,c@example.org", Secret("tok"), "oauthbearer")):
        pass


@pytest.mark.parametrize(
    "refusal", [b"NO [UNAVAILABLE] later", b"NO Too many simultaneous connections. (Failure)", b"NO [LIMIT] full"]
)
async def test_a_server_without_room_is_busy_and_not_a_wrong_password(refusal: bytes) -> None:
    async def server(peer: Peer) -> None:
        await peer.says(b"* OK [CAPABILITY IMAP4rev1] hi")
        await peer.answers(status=refusal)

    async with listening(server) as peer:
        with pytest.raises(BusyFault):
            await open_connection(at(peer.port), ANA, QUICK)


async def test_id_is_said_where_it_is_understood_and_a_refusal_costs_nothing() -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in(b"IMAP4rev1 ID")
        assert await peer.answers(status=b"NO no") == b'ID ("name" "postroom")'

    async with logged_in(server) as (connection, _):
        assert not connection.closed


@pytest.mark.parametrize(
    ("greeting", "fault"),
    [(b"* BYE full", BusyFault), (b"220 smtp.example.org ESMTP", WireFault), (b"* FLAGS ()", WireFault)],
)
async def test_a_greeting_that_is_none_is_told_as_what_it_is(greeting: bytes, fault: type[ImapFault]) -> None:
    async def server(peer: Peer) -> None:
        await peer.says(greeting)
        await peer.hangs()

    async with listening(server) as peer:
        with pytest.raises(fault):
            await open_connection(at(peer.port), ANA, QUICK)


async def test_nobody_at_the_port_is_a_refused_connection() -> None:
    with pytest.raises(ConnectFault):
        await open_connection(at(refusing_port()), ANA, QUICK)


async def test_a_server_that_never_greets_costs_the_connect_deadline() -> None:
    async with listening(Peer.hangs) as peer:
        with pytest.raises(DeadlineFault):
            await open_connection(at(peer.port), ANA, Deadlines(connect=0.2, command=5))


async def test_a_command_that_is_never_answered_costs_its_deadline_and_the_connection() -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in()
        await peer.hangs()

    async with logged_in(server) as (connection, _):
        with pytest.raises(DeadlineFault):
            await connection.run("NOOP")
        assert connection.closed


async def test_a_cancelled_command_closes_the_connection_so_that_nobody_reads_its_answer() -> None:
    arrived = asyncio.Event()

    async def server(peer: Peer) -> None:
        await peer.lets_in()
        assert await peer.hears() == b"P2 NOOP"
        arrived.set()
        await peer.hangs()

    async with logged_in(server) as (connection, _):
        running = asyncio.ensure_future(connection.run("NOOP"))
        await arrived.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert connection.closed


async def test_a_connection_that_breaks_inside_a_literal_is_lost() -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in()
        await peer.hears()
        peer.writer.write(b"* 1 FETCH (UID 5 BODY[] {100}\r\nonly this")
        await peer.writer.drain()

    async with logged_in(server) as (connection, _):
        with pytest.raises(LostFault):
            await commands.uid_fetch(connection, [5], "UID BODY.PEEK[]")
        assert connection.closed


async def test_a_bye_in_the_middle_of_a_command_ends_the_connection() -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in()
        await peer.hears()
        await peer.says(b"* BYE idle too long")
        await peer.hangs()

    async with logged_in(server) as (connection, _):
        with pytest.raises(LostFault):
            await connection.run("NOOP")
        assert connection.closed


async def test_a_literal_announced_as_four_gigabytes_is_refused_before_a_byte_of_it_is_kept() -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in()
        await peer.hears()
        await peer.says(b"* 1 FETCH (UID 5 BODY[] {4294967295}")
        await peer.hangs()

    async with logged_in(server) as (connection, _):
        with pytest.raises(WireFault, match="4,294,967,295"):
            await commands.uid_fetch(connection, [5], "UID BODY.PEEK[]")


async def test_an_endless_line_is_refused() -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in()
        await peer.hears()
        for _ in range(200):
            peer.writer.write(b"x" * 65536)
            await peer.writer.drain()

    async with logged_in(server) as (connection, _):
        with pytest.raises((WireFault, LostFault), match="line"):
            await connection.run("NOOP")


async def test_endless_untagged_responses_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postroom.imap.conversation.MAX_UNTAGGED", 1_000)

    async def server(peer: Peer) -> None:
        await peer.lets_in()
        await peer.hears()
        await peer.says(*[b"* 1 EXISTS"] * 2_000)
        await peer.hangs()

    async with logged_in(server) as (connection, _):
        with pytest.raises(WireFault, match="1,000 responses"):
            await connection.run("NOOP")


async def test_a_streamed_literal_reaches_the_sink_in_chunks_and_is_not_held() -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in()
        await peer.hears()
        await peer.says(b"* 1 FETCH (UID 5 BODY[] {300000}", b"x" * 300_000 + b")", b"P2 OK done")

    chunks: list[bytes] = []

    async def sink(chunk: bytes) -> None:
        chunks.append(chunk)

    async with logged_in(server) as (connection, _):
        await commands.uid_fetch(connection, [5], "UID BODY.PEEK[]", sink)
    assert len(b"".join(chunks)) == 300_000
    assert max(map(len, chunks)) <= 65536


async def test_a_refused_command_keeps_the_connection() -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in()
        await peer.answers(status=b"NO [NONEXISTENT] no such folder")
        await peer.answers()

    async with logged_in(server) as (connection, _):
        with pytest.raises(RefusedFault) as refused:
            await connection.select(b"gone", read_only=True)
        assert refused.value.code == "NONEXISTENT"
        await connection.run("NOOP")


async def test_two_callers_do_not_interleave_their_commands() -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in()
        for _ in range(20):
            await peer.answers()

    async with logged_in(server) as (connection, peer):
        await asyncio.gather(*[connection.run("NOOP") for _ in range(20)])
        assert peer.heard[1:] == [b"P%d NOOP" % number for number in range(2, 22)]


async def test_octets_sent_ahead_of_the_tls_handshake_are_an_attack() -> None:
    async def server(peer: Peer) -> None:
        await peer.says(b"* OK [CAPABILITY IMAP4rev1 STARTTLS] hi")
        await peer.hears()
        await peer.says(b"P1 OK begin", b"* CAPABILITY IMAP4rev1 AUTH=PLAIN")
        await peer.hangs()

    async with listening(server) as peer:
        with pytest.raises(TlsFault):
            await open_connection(Endpoint("127.0.0.1", peer.port, "starttls"), ANA, QUICK)
        assert peer.heard == [b"P1 STARTTLS"]


@pytest.mark.parametrize(
    "greeting", [b"* OK [CAPABILITY IMAP4rev1] hi", b"* PREAUTH [CAPABILITY IMAP4rev1 STARTTLS] hi"]
)
async def test_without_starttls_nothing_is_said_in_the_clear(greeting: bytes) -> None:
    async def server(peer: Peer) -> None:
        await peer.says(greeting)
        await peer.hangs()

    async with listening(server) as peer:
        with pytest.raises(TlsFault):
            await open_connection(Endpoint("127.0.0.1", peer.port, "starttls"), ANA, QUICK)
        assert peer.heard == []


@asynccontextmanager
async def tls_peer(folder: Path) -> AsyncIterator[tuple[int, Path, str]]:
    certificate, key, pin = make_certificate(folder)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await Peer(reader, writer, 0, []).lets_in()
        writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=context)
    yield server.sockets[0].getsockname()[1], certificate, pin
    server.close()


async def test_an_unknown_certificate_is_refused_and_a_named_authority_or_pin_accepts_it(tmp_path: Path) -> None:
    async with tls_peer(tmp_path) as (port, certificate, pin):
        with pytest.raises(TlsFault, match="certificate"):
            await open_connection(Endpoint("127.0.0.1", port, "ssl"), ANA, QUICK)
        for endpoint in (
            Endpoint("127.0.0.1", port, "ssl", ca_file=str(certificate)),
            Endpoint("127.0.0.1", port, "ssl", pin=pin),
        ):
            (await open_connection(endpoint, ANA, QUICK)).close()


async def test_another_certificate_than_the_pinned_one_is_refused_and_its_print_is_told(tmp_path: Path) -> None:
    async with tls_peer(tmp_path) as (port, _, pin):
        with pytest.raises(TlsFault, match=pin):
            await open_connection(Endpoint("127.0.0.1", port, "ssl", pin="0" * 64), ANA, QUICK)


async def test_news_of_more_mail_makes_the_old_uidnext_forgotten() -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in()
        await peer.opens(exists=3, uid_next=8)
        await peer.answers(b"* 2 EXPUNGE", b"* 5 EXISTS")

    async with logged_in(server) as (connection, _):
        await connection.select(b"INBOX", read_only=True)
        await connection.run("NOOP")
        assert connection.selected is not None
        assert (connection.selected.exists, connection.selected.uid_next) == (5, None)


async def test_empty_lines_between_responses_are_passed_over() -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in()
        await peer.answers(b"", b"* 3 EXISTS", b"  ", b"")

    async with logged_in(server) as (connection, _):
        reply = await connection.run("NOOP")
    assert [response.number for response in reply.of("EXISTS")] == [3]


async def test_the_rest_of_a_string_with_a_line_end_spoils_only_its_response() -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in()
        await peer.answers(
            b'* 1 FETCH (UID 3 BODYSTRUCTURE ("text" "plain" ("name" "a', b' b.txt")))', b"* 2 FETCH (UID 5)"
        )

    async with logged_in(server) as (connection, _):
        answer = await commands.uid_fetch(connection, [3, 5], "UID BODYSTRUCTURE")
    assert answer.garbled == {3}
    assert set(answer.messages) == {5}


async def test_many_small_literals_count_as_what_they_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postroom.imap.incoming.MAX_ANSWER", 100_000)

    async def server(peer: Peer) -> None:
        await peer.lets_in()
        await peer.hears()
        await peer.says(b"* 1 FETCH (" + b"{0}\r\n" * 2_000)
        await peer.hangs()

    async with logged_in(server) as (connection, _):
        with pytest.raises(WireFault, match="100,000"):
            await connection.run("NOOP")


async def test_a_folder_whose_size_is_told_late_is_not_empty() -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in()
        await peer.answers(b"* OK [UIDVALIDITY 17] ok", b"* OK [UIDNEXT 8] ok")
        await peer.answers(b"* 3 EXISTS")

    async with logged_in(server) as (connection, _):
        selected = await connection.select(b"INBOX", read_only=True)
    assert (selected.exists, selected.uid_next) == (3, None)


async def test_a_server_without_examine_is_read_with_select() -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in()
        await peer.answers(status=b"BAD unknown command")
        await peer.opens()

    async with logged_in(server) as (connection, peer):
        assert (await connection.select(b"INBOX", read_only=True)).exists == 3
        assert peer.heard[-1].endswith(b'SELECT "INBOX"')


async def test_a_folder_that_cannot_be_examined_is_not_selected_instead() -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in()
        await peer.answers(status=b"NO [NOPERM] no")

    async with logged_in(server) as (connection, peer):
        with pytest.raises(RefusedFault):
            await connection.select(b"INBOX", read_only=True)
        assert b"SELECT" not in b"".join(peer.heard)


async def test_a_folder_made_anew_under_an_open_session_is_noticed() -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in()
        await peer.opens(uid_validity=17)
        await peer.answers(b"* OK [UIDVALIDITY 18] made anew")

    async with logged_in(server) as (connection, _):
        await connection.select(b"INBOX", read_only=True)
        await connection.run("NOOP")
        assert connection.selected is not None
        assert connection.selected.uid_validity == 18


async def test_capabilities_refused_after_the_login_leave_those_of_before() -> None:
    async def server(peer: Peer) -> None:
        await peer.says(b"* OK [CAPABILITY IMAP4rev1 NAMESPACE] hi")
        await peer.answers()
        await peer.answers(status=b"BAD no")

    async with logged_in(server) as (connection, _):
        assert "NAMESPACE" in connection.capabilities


async def test_a_server_that_leaves_at_id_is_met_again_without_it() -> None:
    async def leaves(peer: Peer) -> None:
        await peer.lets_in(b"IMAP4rev1 ID")
        await peer.hears()

    async def server(peer: Peer) -> None:
        await peer.lets_in(b"IMAP4rev1 ID")
        await peer.answers()

    async with listening(leaves, server) as peer:
        connection = await open_connection(at(peer.port), ANA, QUICK)
        await connection.run("NOOP")
        connection.close()
        assert sum(b" ID " in line for line in peer.heard) == 1


async def test_a_login_that_needs_tls_is_no_wrong_password() -> None:
    async def server(peer: Peer) -> None:
        await peer.says(b"* OK [CAPABILITY IMAP4rev1] hi")
        await peer.answers(status=b"NO [PRIVACYREQUIRED] Plaintext authentication disallowed")

    async with listening(server) as peer:
        with pytest.raises(TlsFault, match="starttls"):
            await open_connection(at(peer.port), ANA, QUICK)


async def test_a_login_drawn_out_step_by_step_ends_all_the_same() -> None:
    async def drips(peer: Peer) -> None:
        await peer.says(b"* OK hi")
        for _ in range(3):
            await asyncio.sleep(0.25)  # the server's slowness: each step is within its deadline, all are not
            await peer.answers()
        await peer.hangs()

    async with listening(drips) as peer:
        with pytest.raises(DeadlineFault, match="let us in"):
            await open_connection(at(peer.port), ANA, Deadlines(connect=0.3, command=0.3))


@pytest.mark.parametrize(
    ("told", "uids"),
    [
        (b"UID 5 FLAGS \\Seen \\Answered BODY[] {2}\r\nhi", {5}),
        (b"BODY[] {2}\r\nhi", {5}),
        (b"UID 5 BODY[] <0> {2}\r\nhi", {5}),
        (b"UID 5 BODY[]<\xc2\xb2> {2}\r\nhi", {5}),
        (b"UID 0 BODY[] {2}\r\nhi", {5}),
        (b"FLAGS (\\Seen)", set()),
    ],
)
async def test_one_message_asked_for_is_found_in_an_answer_that_is_not_quite_right(told: bytes, uids: set[int]) -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in()
        await peer.answers(b"* 2 FETCH (" + told + b")")

    async with logged_in(server) as (connection, _):
        answer = await commands.uid_fetch(connection, [5], "UID BODY.PEEK[]")
    assert set(answer.messages) == uids
    assert all(items.sections == {("", 0): b"hi"} for items in answer.messages.values())


async def test_what_came_before_a_refusal_counts() -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in()
        await peer.answers(b"* 1 FETCH (UID 3)", status=b"NO some messages no longer exist")

    async with logged_in(server) as (connection, _):
        answer = await commands.uid_fetch(connection, [3, 5], "UID")
    assert set(answer.messages) == {3}
    assert answer.partial
    assert answer.refused is not None


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (b'* LIST () "/" Sent Items', b"Sent Items"),
        (b'* LIST () "/" "box "urgent" x"', b'box "urgent" x'),
        (b'* LIST NIL "" "Flat"', b"Flat"),
        (b'* LIST () "/" "Old" ("OLDNAME" ("Older"))', b"Old"),
    ],
)
async def test_a_folder_is_listed_though_its_line_is_not_quite_right(line: bytes, name: bytes) -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in()
        await peer.answers(line, b'* LIST (\\Noselect) "/" ""')

    async with logged_in(server) as (connection, _):
        (folder,) = await commands.list_folders(connection)
    assert folder.name == name
    assert folder.delimiter == (None if name == b"Flat" else "/")


async def test_a_list_that_may_not_tell_special_uses_is_asked_for_without() -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in(b"IMAP4rev1 LIST-EXTENDED SPECIAL-USE")
        await peer.answers(status=b"BAD arguments")
        await peer.answers(b'* LIST (\\Sent) "/" S')

    async with logged_in(server) as (connection, _):
        (folder,) = await commands.list_folders(connection)
    assert folder.attributes == {"\\sent"}


async def test_refused_namespaces_are_unknown_ones() -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in(b"IMAP4rev1 NAMESPACE")
        await peer.answers(status=b"BAD unknown")
        await peer.answers(b'* NAMESPACE (("" "/")) (("Users/" "/")) (("Shared/" "/")("#news." "."))')

    async with logged_in(server) as (connection, _):
        assert await commands.namespaces(connection) == commands.Namespaces()
        assert (await commands.namespaces(connection)).foreign == (b"Users/", b"Shared/", b"#news.")
