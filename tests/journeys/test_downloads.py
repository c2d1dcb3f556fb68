"""Files and sources come whole, from real servers and from broken ones, without holding anybody up."""

from __future__ import annotations

import base64
import hashlib
import random
import socket
from email.message import EmailMessage
from pathlib import Path

import pytest

from tests.servers.dovecot import PASSWORD, Dovecot
from tests.servers.gateway import Gateway, running_gateway
from tests.servers.player import ImapPlayer

OCTETS = random.Random(7).randbytes(3_000_001)


@pytest.fixture(scope="module")
def box(dovecot: Dovecot, tmp_path_factory: pytest.TempPathFactory) -> Gateway:
    """One gateway with a single connection to a mailbox of a few files."""
    dovecot.deliver("files", [with_files().replace(b"\n", b"\r\n"), nameless()])
    folder = tmp_path_factory.mktemp("files")
    mailboxes = (
        f"  - name: files\n    imap: {{host: 127.0.0.1, port: {dovecot.port}, tls: none, username: files, "
        f"password: {PASSWORD}, connections: 1}}\n"
    )
    with running_gateway(folder, mailboxes, {"all": ("read", "files")}) as gateway:
        yield gateway  # type: ignore[misc]  # a fixture that yields


def with_files() -> bytes:
    built = EmailMessage()
    built["Subject"], built["From"] = "Files", "dana@example.org"
    built.set_content("See files.")
    built.add_attachment(OCTETS, "application", "pdf", filename="große Datei.pdf")
    built.add_attachment("a,b\n1,2\n", "csv", filename="t.csv")
    built.add_attachment("<script>alert(1)</script>", "html", filename="page.html")
    return built.as_bytes()


def nameless() -> bytes:
    parts = b"--b\r\n\r\nText.\r\n--b\r\nContent-Type: x\r\n\r\nx\r\n--b--\r\n"
    return b"Subject: Odd type\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" + parts


def attachments(gateway: Gateway, uid: int = 1) -> dict[str, str]:
    message = gateway.get(f"/mailboxes/files/messages/{uid}").json()
    return {one["filename"]: one["id"] for one in message["attachments"]}


def test_a_large_file_comes_whole_under_headers_that_let_no_browser_run_it(box: Gateway) -> None:
    response = box.get(f"/mailboxes/files/messages/1/attachments/{attachments(box)['große Datei.pdf']}")
    assert response.content == OCTETS
    own = ("date", "server", "x-request-id")
    assert {name: response.headers[name] for name in sorted(response.headers) if name not in own} == {
        "cache-control": "no-store",
        "content-disposition": "attachment; filename=\"gro_e Datei.pdf\"; filename*=UTF-8''gro%C3%9Fe%20Datei.pdf",
        "content-length": "3000001",
        "content-security-policy": "sandbox; default-src 'none'",
        "content-type": "application/pdf",
        "vary": "Authorization",
        "x-content-type-options": "nosniff",
        "x-sniffed-content-type": "application/octet-stream",
    }


def test_a_small_file_comes_over_mcp_and_a_large_one_says_how_to_have_it(box: Gateway) -> None:
    ids = attachments(box)
    small = box.call("get_attachment", {"uid": "1", "attachment_id": ids["t.csv"]})
    assert base64.b64decode(small["data_base64"]).replace(b"\r\n", b"\n") == b"a,b\n1,2\n"
    assert (small["filename"], small["content_type"], small["sniffed_type"]) == ("t.csv", "text/csv", "text/plain")
    large = box.call("get_attachment", {"uid": "1", "attachment_id": ids["große Datei.pdf"]})["error"]
    assert (large["code"], large["details"]["size"]) == ("too_large", 3_000_001)
    assert "Download it over HTTP: GET /mailboxes/files/messages/1-" in large["message"]
    page = box.call("get_attachment", {"uid": "1", "attachment_id": ids["page.html"]})
    assert page["sniffed_type"] == "text/html"


def test_a_head_request_tells_the_headers_alone(box: Gateway) -> None:
    with box.http() as client:
        response = client.head(f"/mailboxes/files/messages/1/attachments/{attachments(box)['große Datei.pdf']}")
    assert (response.status_code, response.content, response.headers["content-length"]) == (200, b"", "3000001")


def test_the_source_is_the_octets_of_the_message(box: Gateway, dovecot: Dovecot) -> None:
    with dovecot.login("files") as client:
        client.select("INBOX", readonly=True)
        octets = client.fetch("1", "(BODY.PEEK[])")[1][0][1]  # type: ignore[index]  # bytes, by its own account
    response = box.get("/mailboxes/files/messages/1/raw")
    assert hashlib.sha256(response.content).digest() == hashlib.sha256(octets).digest()
    assert response.headers["content-type"] == "message/rfc822"
    told = box.call("get_raw_message", {"uid": "1"})
    assert (told["size"], told["truncated"], len(told["raw"])) == (len(octets), True, 1_000_000)
    small = box.call("get_raw_message", {"uid": "2"})
    assert (small["truncated"], small["raw"]) == (False, nameless().decode())


def test_a_slow_reader_holds_no_connection(box: Gateway) -> None:
    """The mailbox has one connection; a reader that stops in the middle of a file leaves it to the others."""
    path = f"/mailboxes/files/messages/1/attachments/{attachments(box)['große Datei.pdf']}"
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {box.tokens['all']}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", box.port)) as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.sendall(request.encode())
        reader.recv(1000)
        assert [row["subject"] for row in box.get("/mailboxes/files/messages").json()["messages"]] == [
            "Odd type",
            "Files",
        ]


@pytest.mark.parametrize("wrong", ["99", "1", "x", "2]<0.9> BODY[1"])
def test_an_id_that_names_no_file_is_not_found_and_the_right_ones_are_told(box: Gateway, wrong: str) -> None:
    error = box.call("get_attachment", {"uid": "1", "attachment_id": wrong})["error"]
    assert (error["code"], error["details"]["attachment_ids"]) == ("not_found", list(attachments(box).values()))


def test_a_file_that_shrinks_under_way_breaks_off_instead_of_passing_for_whole(tmp_path: Path) -> None:
    """Its server tells a length and then has less: what was sent is not the file, and nobody may think so."""
    head = b"Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
    file = base64.encodebytes(bytes(300_000)).replace(b"\n", b"\r\n")
    part = (
        b"Content-Type: application/pdf\r\nContent-Disposition: attachment\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    )
    (tmp_path / "m.eml").write_bytes(head + b"--b\r\n\r\nText\r\n--b\r\n" + part + file + b"--b--\r\n")
    (tmp_path / "imap.txt").write_text(
        'MAILBOX "INBOX" uidvalidity=17 uidnext=2\nMSG "INBOX" uid=1 subject="x" file=m.eml\n'
        "ON UID FETCH 1 *<262144.262144>*\nS> * 1 FETCH (UID 1 BODY[2]<262144> {4}\nS| AAAA\nS> )\n"
        "S> {tag} OK done\n\n"
    )
    with ImapPlayer(str(tmp_path)) as player:
        mailboxes = (
            f"  - name: shrinking\n    imap: {{host: 127.0.0.1, port: {player.port}, tls: none, username: u, "
            "password: p}\n"
        )
        with running_gateway(tmp_path, mailboxes, {"all": ("read", "shrinking")}) as gateway:
            (file_id,) = [one["id"] for one in gateway.get("/mailboxes/shrinking/messages/1").json()["attachments"]]
            with socket.create_connection(("127.0.0.1", gateway.port)) as client:
                path = f"/mailboxes/shrinking/messages/1/attachments/{file_id}"
                token = gateway.tokens["all"]
                client.sendall(
                    f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
                )
                received = b""
                while chunk := client.recv(65_536):
                    received += chunk
            head, _, body = received.partition(b"\r\n\r\n")
            assert b"content-length: 300000" in head
            assert len(body) < 300_000
            assert "download.cut" in gateway.log.getvalue()
