"""`postroom check`: what is wrong with a mailbox and what to do, as the operator reads it."""

import asyncio
import os
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from postroom.base.secret import Secret
from postroom.checkup import told
from postroom.cli import main
from postroom.config import LimitsConfig, MailboxConfig, Tls
from postroom.config.servers import ImapConfig, SmtpConfig
from postroom.mailbox.checkup import check
from tests.servers.certificates import make_certificate
from tests.servers.dovecot import STRICT_HOST, Dovecot, running_dovecot
from tests.servers.peer import Peer, listening
from tests.servers.ports import refusing_port

SOON = LimitsConfig(connect_seconds=1, command_seconds=2)
PASSWORD = "swordfish-7319"
MAKE_ONE = "make an app password in the security settings of your account on the provider's site."
TYPED = "Check imap.username (often the whole address) and imap.password."
IMAP_PORTS = "IMAP is usually at port 993 with tls: ssl, or at 143 with tls: starttls"
SMTP_PORTS = "SMTP is usually at port 465 with tls: ssl, or at 587 with tls: starttls"

Check = Callable[..., Result]


@pytest.fixture(autouse=True)
def _keep_the_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def check_text(tmp_path: Path) -> Check:
    """`postroom check` over a configuration with these lines below `mailboxes:`."""

    def run(mailboxes: str, *options: str) -> Result:
        path = tmp_path / "postroom.yaml"
        path.write_text(f"limits: {{connect_seconds: 1, command_seconds: 10}}\nmailboxes:\n{mailboxes}\n")
        path.chmod(0o600)
        return CliRunner().invoke(main, ["check", "--config", str(path), *options])

    return run


def one(side: str, **keys: object) -> str:
    told = ", ".join(f"{key}: {value}" for key, value in keys.items())
    return f"  - {{name: work, {side}: {{host: 127.0.0.1, username: work, password: correct-horse, {told}}}}}"


def test_mailboxes_that_work_are_well_and_the_status_is_zero(
    check_text: Check, dovecot: Dovecot, smtp_port: int
) -> None:
    ca = dovecot.certificate
    login = f"host: 127.0.0.1, username: work, password: correct-horse, ca_file: {ca}"
    result = check_text(
        f"  - name: work\n    imap: {{port: {dovecot.tls_port}, {login}}}\n"
        f"    smtp: {{port: {smtp_port}, tls: starttls, {login}}}\n"
        f"  - {{name: strict, imap: {{host: {STRICT_HOST}, port: {dovecot.port}, tls: starttls, username: strict, "
        f"password: correct-horse, certificate_sha256: {dovecot.pin}}}}}",
        "--verbose",
    )
    assert result.exit_code == 0
    assert result.output == (
        "Mailbox work\n"
        f"  IMAP 127.0.0.1:{dovecot.tls_port}: well\n"
        "    Offers CONDSTORE, IDLE, MOVE, SPECIAL-USE, UIDPLUS; lacks nothing of interest.\n"
        f"  SMTP 127.0.0.1:{smtp_port}: well\n"
        "    Offers 8BITMIME, SIZE, SMTPUTF8; lacks DSN, PIPELINING.\n"
        "\n"
        "Mailbox strict\n"
        f"  IMAP {STRICT_HOST}:{dovecot.port}: well\n"
        "    Offers CONDSTORE, IDLE, MOVE, SPECIAL-USE, UIDPLUS; lacks nothing of interest.\n"
        "\n"
        "All 2 mailboxes are well.\n"
    )


def fault_of(result: Result) -> str:
    """What is said of the one mailbox, its address left out."""
    assert result.exit_code == 1, result.output
    head, _, rest = result.stdout.partition("\n")
    body, _, summary = rest.rpartition("\n\n")
    assert (head, summary, result.stderr) == ("Mailbox work", "Not well, of 1: work.\n", "")
    return body.partition(": ")[2]


def test_a_wrong_password_is_told_from_a_wrong_server(check_text: Check) -> None:
    with running_dovecot() as dovecot:  # of its own: Dovecot makes everybody wait who comes after a wrong password
        imap = one("imap", port=dovecot.tls_port, ca_file=dovecot.certificate)
        result = check_text(imap.replace("correct-horse", "battery-staple"))
    assert fault_of(result) == (
        "the server refused the user name or the password.\n"
        '    The server says: "Authentication failed."\n'
        f"    {TYPED} If the account has two-step verification, {MAKE_ONE}"
    )


def test_a_wrong_password_for_sending_is_told(check_text: Check, dovecot: Dovecot, smtp_port: int) -> None:
    smtp = one("smtp", port=smtp_port, tls="starttls", ca_file=dovecot.certificate)
    assert fault_of(check_text(smtp.replace("correct-horse", "battery-staple"))) == (
        "the server refused the user name or the password.\n"
        '    The server says: "535 5.7.8 Authentication credentials invalid"\n'
        f"    {TYPED.replace('imap', 'smtp')} If the account has two-step verification, {MAKE_ONE}"
    )


@pytest.mark.parametrize("side", ["imap", "smtp"])
def test_an_unknown_certificate_is_told_with_the_line_that_would_accept_it(
    check_text: Check, dovecot: Dovecot, smtp_port: int, side: str
) -> None:
    port, tls = (dovecot.port, "starttls") if side == "imap" else (smtp_port, "starttls")
    assert fault_of(check_text(one(side, port=port, tls=tls))) == (
        "the certificate is not accepted: it is self-signed.\n"
        "    If the server is a provider's, change nothing: somebody may be in between. If it is your own, or a bridge "
        f"on this machine, give its authority's PEM file as {side}.ca_file, or write under {side}:\n"
        f"      certificate_sha256: {dovecot.pin}"
    )
    assert check_text(one(side, port=port, tls=tls, certificate_sha256=dovecot.pin)).exit_code == 0


@pytest.mark.parametrize("side", ["imap", "smtp"])
def test_another_certificate_than_the_pinned_one_is_told_with_the_one_seen(
    check_text: Check, dovecot: Dovecot, smtp_port: int, side: str
) -> None:
    port = dovecot.port if side == "imap" else smtp_port
    assert fault_of(check_text(one(side, port=port, tls="starttls", certificate_sha256="ab" * 32))) == (
        f"the certificate's SHA-256 is {dovecot.pin}, not the pinned one.\n"
        "    If nobody has renewed the certificate, change nothing: somebody may be in between. If whoever runs "
        f"127.0.0.1 has, write under {side}:\n"
        f"      certificate_sha256: {dovecot.pin}"
    )


def test_the_wrong_tls_for_the_port_is_told_with_the_right_one(
    check_text: Check, dovecot: Dovecot, smtp_port: int
) -> None:
    for tls in ("none", "starttls"):
        assert fault_of(check_text(one("imap", port=dovecot.tls_port, tls=tls))) == (
            "the server speaks TLS from the first byte on this port, and is asked in plain.\n    Set imap.tls to ssl."
        )
    plain = "no TLS handshake: the server speaks plain text on this port.\n    "
    assert fault_of(check_text(one("imap", port=dovecot.port))) == (
        f"{plain}Set imap.tls to starttls; or, for tls: ssl, imap.port to 993."
    )
    assert fault_of(check_text(one("smtp", port=smtp_port))) == (
        f"{plain}Set smtp.tls to starttls; or, for tls: ssl, smtp.port to 465."
    )


def test_a_server_that_wants_tls_before_a_password_is_told(check_text: Check, dovecot: Dovecot, smtp_port: int) -> None:
    strict = one("imap", port=dovecot.port, tls="none").replace("127.0.0.1", STRICT_HOST)
    assert fault_of(check_text(strict)) == (
        "the server takes no password on this connection.\n    Set imap.tls to starttls; or to ssl, with imap.port 993."
    )
    assert fault_of(check_text(one("smtp", port=smtp_port, tls="none"))) == (
        "the server offers no login with a password on this connection.\n"
        "    With tls: none, set smtp.tls to starttls. A server that wants no login at all needs no smtp.username."
    )


@pytest.mark.parametrize(("side", "ports"), [("imap", IMAP_PORTS), ("smtp", SMTP_PORTS)])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_closed_port_is_told_with_the_usual_ones(check_text: Check, side: str, ports: str, host: str) -> None:
    assert fault_of(check_text(one(side, port=refusing_port()).replace("127.0.0.1", host))) == (
        "no connection: nobody accepts it on this port.\n"
        f"    Check {side}.port: {ports}. If it is right, the server is down or a firewall refuses."
    )


@pytest.mark.parametrize("side", ["imap", "smtp"])
def test_a_host_that_does_not_exist_is_told(check_text: Check, side: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)  # the resolver's own answer may take as long as it likes
    mailbox = one(side, port=993).replace("127.0.0.1", "mail.example.invalid")
    assert fault_of(check_text(mailbox)) == (
        "no connection: the host name has no address.\n"
        f"    Correct {side}.host; your provider's help pages name its {side.upper()} server. If the name is right, "
        "this machine's DNS does not work."
    )


@pytest.mark.parametrize("side", ["imap", "smtp"])
def test_a_command_that_gives_no_password_is_told_by_its_name_alone(check_text: Check, side: str) -> None:
    mailbox = one(side, port=993).replace("password: correct-horse", "password_command: ['false', s3cret]")
    assert fault_of(check_text(mailbox)) == (
        "the command false failed with status 1; run it by hand as this user to see why.\n"
        f"    Correct {side}.password_command."
    )


def test_configured_folders_that_do_not_exist_are_told_with_those_that_do(check_text: Check, dovecot: Dovecot) -> None:
    ca = dovecot.certificate
    mailbox = one("imap", port=dovecot.tls_port, ca_file=ca, default_folder="Arrivals").replace("work", "folders")
    result = check_text(mailbox.removesuffix("}") + ", folders: {sent: Snt, trash: Trash}}")
    assert result.exit_code == 1
    assert result.output == (
        "Mailbox folders\n"
        f'  IMAP 127.0.0.1:{dovecot.tls_port}: there is no folder "Arrivals".\n'
        "    Correct imap.default_folder; there are: INBOX, Drafts, Sent, Trash.\n"
        f'  IMAP 127.0.0.1:{dovecot.tls_port}: there is no folder "Snt".\n'
        '    Correct folders.sent; did you mean "Sent"? There are: INBOX, Drafts, Sent, Trash.\n'
        "\n"
        "Not well, of 1: folders.\n"
    )


def test_what_the_configuration_itself_gets_wrong_comes_first_and_all_at_once(check_text: Check) -> None:
    result = check_text(
        "  - {name: none}\n  - {name: file, imap: {host: h, username: u, password_file: nowhere}, stor: 1}"
    )
    assert (result.exit_code, result.stdout) == (2, "")
    lines = [line.partition("postroom.yaml:")[2] for line in result.stderr.splitlines()]
    assert lines == [
        "3: mailboxes[0]: a mailbox needs imap, smtp, or both",
        "4: mailboxes[1].stor: unknown key",
        "4: mailboxes[1].imap.password_file: there is no such file, or it cannot be read; check path, owner and mode",
    ]


def test_a_configuration_without_mailboxes_is_not_well(check_text: Check) -> None:
    result = check_text("")
    assert (result.exit_code, result.output) == (
        1,
        "The configuration has no mailbox, so there is nothing to try. Add one under mailboxes.\n",
    )


# -- what no Dovecot says: scripted servers


def imap_at(port: int, **more: object) -> MailboxConfig:
    imap = ImapConfig(
        **{"host": "127.0.0.1", "port": port, "tls": Tls.NONE, "username": "ana", "password": PASSWORD} | more
    )
    return MailboxConfig(name="work", imap=imap)


async def trouble_with(mailbox: MailboxConfig) -> str:
    """What is said of the one side, its address left out."""
    lines = list(told(await check([mailbox], SOON)))
    assert (lines[0], lines[-2:]) == ("Mailbox work", ["", "Not well, of 1: work."])
    return "\n".join(lines[1:-2]).partition(": ")[2]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("answer", "what", "remedy"),
    [
        (
            "NO [ALERT] Application-specific password required: https://support.example/185833 (Failure)",
            "the provider wants an app password here, not the account's own",
            "Make an app password in the security settings of your account on the provider's site, and give it by "
            "imap.password.",
        ),
        (
            "NO [ALERT] Your account is not enabled for IMAP use. Please visit your settings page.",
            "this kind of access is switched off for the account",
            "Switch IMAP on in the account's settings on the provider's site; for a company's account, its "
            "administrator does that.",
        ),
        (
            "NO [ALERT] Please log in via your web browser: https://support.example/78754 (Failure)",
            "the provider wants a login with a browser first",
            f"Log in to the account with a browser, confirm that it was you, and check again. If that does not help, "
            f"{MAKE_ONE}",
        ),
        (
            "NO Basic authentication is disabled.",
            "the provider lets nobody in with a password, only with an OAuth token",
            "Set imap.auth to xoauth2, and give an access token by imap.token_command in place of imap.password.",
        ),
        (
            "NO [EXPIRED] Change it",
            "the password or token has expired",
            "Renew it at the provider, and give the new one by imap.password.",
        ),
        (
            "NO [AUTHENTICATIONFAILED] Invalid credentials (Failure)",
            "the server refused the user name or the password",
            f"{TYPED} If the account has two-step verification, {MAKE_ONE}",
        ),
        (
            "NO [AUTHENTICATIONFAILED] LOGIN Invalid credentials or IMAP is disabled",
            "the server refused the user name or the password",
            f"{TYPED} If the account has two-step verification, {MAKE_ONE}",
        ),
        (
            "NO LOGIN failed.",
            "the server refused the login and does not say why",
            f"{TYPED} See that IMAP is switched on for the account. If it has two-step verification, {MAKE_ONE}",
        ),
    ],
)
async def test_what_providers_say_to_a_login_is_told_with_the_next_step(answer: str, what: str, remedy: str) -> None:
    async def server(peer: Peer) -> None:
        await peer.says(b"* OK [CAPABILITY IMAP4rev1] ready")
        await peer.answers(status=answer.encode())

    async with listening(server) as peer:
        said = answer.removeprefix("NO ").partition("] ")[2] or answer.removeprefix("NO ")
        assert await trouble_with(imap_at(peer.port)) == f'{what}.\n    The server says: "{said}"\n    {remedy}'


@pytest.mark.anyio
async def test_a_refused_token_is_no_password_too_many() -> None:
    async def server(peer: Peer) -> None:
        await peer.says(b"* OK [CAPABILITY IMAP4rev1 SASL-IR AUTH=XOAUTH2] ready")
        await peer.answers(status=b"NO [AUTHENTICATIONFAILED] Invalid OAuth token")

    async with listening(server) as peer:
        mailbox = imap_at(peer.port, auth="xoauth2", password=None, token_command=("echo", "ya29"))
        assert await trouble_with(mailbox) == (
            "the server does not accept the access token.\n"
            '    The server says: "Invalid OAuth token"\n'
            "    Get a new access token by imap.token_command: it must be for imap.username, not be expired, and have "
            "the provider's scope for IMAP."
        )


@pytest.mark.anyio
async def test_a_server_with_no_room_is_waited_for() -> None:
    async def server(peer: Peer) -> None:
        await peer.says(b"* OK [CAPABILITY IMAP4rev1] ready")
        await peer.answers(status=b"NO [LIMIT] Too many connections")

    async with listening(server) as peer:
        assert await trouble_with(imap_at(peer.port)) == (
            "the server has no room for another connection now.\n"
            "    Wait some minutes and check again. If other programs use the account, lower imap.connections."
        )


@pytest.mark.anyio
@pytest.mark.parametrize(
    "echo",
    [
        f"wrong password {PASSWORD}",
        f"wrong password {PASSWORD.upper()}",
        "wrong password sword fish-7319",
        "not AGFuYQBzd29yZGZpc2gtNzMxOQ==",  # \0ana\0swordfish-7319
        "not c3dvcmRmaXNoLTczMTk=",
        "wrong password swordfish\u200b-7319",
    ],
)
async def test_a_server_that_repeats_the_password_is_not_quoted(echo: str) -> None:
    async def server(peer: Peer) -> None:
        await peer.says(b"* OK [CAPABILITY IMAP4rev1] ready")
        await peer.answers(status=b"NO [AUTHENTICATIONFAILED] " + echo.encode())

    async with listening(server) as peer:
        assert await trouble_with(imap_at(peer.port)) == (
            "the server refused the user name or the password.\n"
            f"    {TYPED} If the account has two-step verification, {MAKE_ONE}"
        )


@pytest.mark.anyio
async def test_a_servers_words_are_one_short_printable_line() -> None:
    async def server(peer: Peer) -> None:
        await peer.says(b"* OK [CAPABILITY IMAP4rev1] ready")
        await peer.answers(status=b"NO \x1b[31mfailed\t" + "\u202edlrow ".encode() + b"x" * 500)

    async with listening(server) as peer:
        said = (await trouble_with(imap_at(peer.port))).splitlines()[1]
    assert said == f'    The server says: "[31mfailed dlrow {"x" * 182}…"'


@pytest.mark.anyio
async def test_a_server_that_accepts_and_never_greets_is_told() -> None:
    async with listening(Peer.hangs) as peer:
        assert await trouble_with(imap_at(peer.port)) == (
            f"the server did not greet in time.\n    Check imap.port: {IMAP_PORTS}."
        )
        assert not peer.heard


@pytest.mark.anyio
@pytest.mark.parametrize(("side", "ports"), [("imap", IMAP_PORTS), ("smtp", SMTP_PORTS)])
async def test_a_port_whose_packets_are_dropped_is_told(side: str, ports: str) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]  # the queue is full, so the system drops what comes after
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        login = {"host": "127.0.0.1", "port": port, "username": "ana", "password": Secret(PASSWORD), "tls": Tls.NONE}
        told = await trouble_with(MailboxConfig.model_validate({"name": "work", side: login}))
        for one in waiting:
            one.close()
    assert told.splitlines()[1] == (
        f"    Check {side}.host and {side}.port: {ports}. If they are right, a firewall drops what this machine sends."
    )


@pytest.mark.anyio
async def test_a_server_without_starttls_is_never_sent_the_password() -> None:
    async def server(peer: Peer) -> None:
        await peer.says(b"* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN] ready")
        await peer.hangs()

    async with listening(server) as peer:
        assert await trouble_with(imap_at(peer.port, tls=Tls.STARTTLS)) == (
            "the server offers no STARTTLS.\n    Set imap.tls to none: the connection does not leave this machine."
        )


@pytest.mark.anyio
async def test_special_folders_that_nobody_has_named_are_a_warning() -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in()
        await peer.answers(b'* LIST () "/" INBOX', b'* LIST () "/" Sent')

    async with listening(server) as peer:
        lines = list(told(await check([imap_at(peer.port)], SOON)))
        where = f"  IMAP 127.0.0.1:{peer.port}: "
    assert lines == [
        "Mailbox work",
        f"{where}well",
        f"{where}warning: no folder is marked or named as drafts.",
        "    Name one as folders.drafts; there are: INBOX, Sent.",
        f"{where}warning: no folder is marked or named as trash.",
        "    Name one as folders.trash; there are: INBOX, Sent.",
        "",
        "All is well.",
    ]


@pytest.mark.anyio
async def test_a_server_that_does_not_list_its_folders_is_told() -> None:
    async def server(peer: Peer) -> None:
        await peer.lets_in()
        await peer.answers(status=b"NO [SERVERBUG] swordfish-7319")

    async with listening(server) as peer:
        assert await trouble_with(imap_at(peer.port)) == (
            "the server does not list its folders.\n    Check again; if it stays, ask whoever runs it."
        )


@dataclass
class Shown:
    """A server that greets over TLS and says no more: what it shows, and every octet that it hears."""

    port: int
    certificate: Path
    pin: str
    heard: bytearray


@asynccontextmanager
async def showing(
    folder: Path, names: tuple[str, ...], days: int = 2, greeting: bytes = b"* OK [CAPABILITY IMAP4rev1] ready\r\n"
) -> AsyncIterator[Shown]:
    certificate, key, pin = make_certificate(folder, names, days)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    shown = Shown(0, certificate, pin, bytearray())

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            writer.write(greeting)
            shown.heard += await reader.read(1000)
        writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=context)
    shown.port = server.sockets[0].getsockname()[1]
    yield shown
    server.close()


@pytest.mark.anyio
@pytest.mark.parametrize(("host", "other"), [("127.0.0.1", "address"), ("localhost", "host name")])
async def test_a_certificate_for_another_host_is_told_with_the_names_it_is_for(
    tmp_path: Path, host: str, other: str
) -> None:
    names = ("mail.example.org", "192.0.2.7", *(f"www{number}.example.org" for number in range(9)))
    async with showing(tmp_path, names) as peer:
        mailbox = imap_at(peer.port, host=host, tls=Tls.SSL, ca_file=peer.certificate)
        assert await trouble_with(mailbox) == (
            f"the certificate is not accepted: it is for another {other}.\n"
            "    It is for: mail.example.org, www0.example.org, www1.example.org, www2.example.org, www3.example.org, "
            "www4.example.org and 5 more. Set imap.host to the name of these that your server has. If it has none of "
            "them, and the server is your own, write under imap:\n"
            f"      certificate_sha256: {peer.pin}"
        )
        assert not peer.heard


@pytest.mark.anyio
async def test_a_certificate_is_looked_at_without_a_word(tmp_path: Path) -> None:
    async with showing(tmp_path, ("127.0.0.1",)) as peer:
        for mailbox in (
            imap_at(peer.port, tls=Tls.SSL),
            imap_at(peer.port, tls=Tls.SSL, certificate_sha256="ab" * 32),
            imap_at(peer.port, tls=Tls.STARTTLS),
        ):
            await trouble_with(mailbox)
        assert not peer.heard


@pytest.mark.anyio
async def test_an_expired_certificate_is_told_with_its_last_day(tmp_path: Path) -> None:
    day = (datetime.now(UTC) - timedelta(days=3)).date()
    async with showing(tmp_path, ("127.0.0.1",), -3) as peer:
        assert await trouble_with(imap_at(peer.port, tls=Tls.SSL, ca_file=peer.certificate)) == (
            "the certificate is not accepted: it has expired.\n"
            f"    It ended on {day}. Whoever runs 127.0.0.1 must renew it; if that day is still to come, set this "
            "machine's clock."
        )


async def submission(answers: dict[bytes, bytes], greeting: bytes = b"220 mx ESMTP\r\n", **more: object) -> str:
    """What is said of a submission server that answers each command by the first fitting prefix."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(greeting)
        while line := await reader.readline():
            fitting = (text for start, text in answers.items() if line.upper().startswith(start))
            writer.write(next(fitting, b"250 ok") + b"\r\n")
        writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    smtp = SmtpConfig(
        **{"host": "127.0.0.1", "port": port, "tls": Tls.NONE, "username": "ana", "password": Secret(PASSWORD)} | more
    )
    try:
        return await trouble_with(MailboxConfig(name="work", smtp=smtp))
    finally:
        listener.close()


EHLO = {b"EHLO": b"250-mx\r\n250 AUTH PLAIN"}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("answer", "what", "remedy"),
    [
        (
            "534 5.7.9 Application-specific password required.",
            "the provider wants an app password here, not the account's own",
            "Make an app password in the security settings of your account on the provider's site, and give it by "
            "smtp.password.",
        ),
        (
            "535 5.7.139 Authentication unsuccessful, basic authentication is disabled.",
            "the provider lets nobody in with a password, only with an OAuth token",
            "Set smtp.auth to xoauth2, and give an access token by smtp.token_command in place of smtp.password.",
        ),
        (
            "535 5.7.139 Authentication unsuccessful, SmtpClientAuthentication is disabled for the Tenant.",
            "this kind of access is switched off for the account",
            "Switch SMTP on in the account's settings on the provider's site; for a company's account, its "
            "administrator does that.",
        ),
    ],
)
async def test_what_providers_say_to_a_submission_login_is_told(answer: str, what: str, remedy: str) -> None:
    told = await submission({**EHLO, b"AUTH": answer.encode()})
    assert told == f'{what}.\n    The server says: "{answer}"\n    {remedy}'


@pytest.mark.anyio
async def test_a_submission_server_that_repeats_the_password_is_not_quoted() -> None:
    told = await submission({**EHLO, b"AUTH": f"535 no {PASSWORD}".encode()})
    assert PASSWORD not in told
    assert "The server says" not in told


@pytest.mark.anyio
async def test_a_submission_server_that_speaks_tls_from_the_first_byte_is_told(tmp_path: Path) -> None:
    async with showing(tmp_path, ("127.0.0.1",), greeting=b"220 mx ESMTP\r\n") as peer:
        smtp = SmtpConfig(host="127.0.0.1", port=peer.port, tls=Tls.STARTTLS, username="ana", password=Secret(PASSWORD))
        assert await trouble_with(MailboxConfig(name="work", smtp=smtp)) == (
            "the server speaks TLS from the first byte on this port, and is asked in plain.\n    Set smtp.tls to ssl."
        )


@pytest.mark.anyio
async def test_a_submission_server_that_says_nothing_is_told() -> None:
    assert await submission({}, greeting=b"") == (
        f"the server did not answer in time.\n    Check smtp.port: {SMTP_PORTS}."
    )


@pytest.mark.anyio
async def test_a_submission_server_without_starttls_is_told() -> None:
    assert await submission(EHLO, tls=Tls.STARTTLS) == (
        "the server offers no STARTTLS.\n    Set smtp.tls to none: the connection does not leave this machine."
    )


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_a_password_file_that_others_can_read_is_warned_of(
    check_text: Check, dovecot: Dovecot, tmp_path: Path, mode: int
) -> None:
    (tmp_path / "work.pw").write_text("correct-horse\n")
    (tmp_path / "work.pw").chmod(mode)
    imap = f"host: 127.0.0.1, port: {dovecot.tls_port}, ca_file: {dovecot.certificate}, username: work"
    result = check_text(f"  - {{name: work, imap: {{{imap}, password_file: work.pw}}}}")
    warning = (
        f"  IMAP 127.0.0.1:{dovecot.tls_port}: warning: other users of this machine can read imap.password_file.\n"
        f"    Run: chmod 600 {tmp_path / 'work.pw'}\n"
    )
    assert result.exit_code == 0
    assert (warning in result.output) is (mode == 0o644)
