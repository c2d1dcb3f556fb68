"""What cannot be beaten: logged-in sockets, exactly the commands a job needs, octets read and nothing parsed."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator, Sequence
from datetime import datetime
from types import TracebackType
from typing import Self

from bench import corpus
from bench.corpus import Places, Sent

PASSWORD = "bench-password"
_CHUNK = 256 * 1024
_TAIL = 4 * 1024
"""Octets in which a tagged line is looked for."""
_ENVELOPES = b"(UID FLAGS INTERNALDATE RFC822.SIZE ENVELOPE)"


class Imap:
    """One connection with a folder open."""

    def __init__(self, port: int, user: str, folder: str = "INBOX") -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._tags = 0
        self._socket.recv(_CHUNK)
        self.run(f"LOGIN {user} {PASSWORD}".encode())
        self.opened = self.run(f"SELECT {folder}".encode())

    def send(self, command: bytes) -> bytes:
        """Send a command; its tag is what `wait` needs."""
        self._tags += 1
        tag = b"t%d" % self._tags
        self._socket.sendall(tag + b" " + command + b"\r\n")
        return tag

    def wait(self, tag: bytes) -> bytes:
        """Everything up to the tagged OK. Raises `RuntimeError` if it is another status."""
        chunks, tail = [], b""
        while True:
            chunk = self._socket.recv(_CHUNK)
            if not chunk:
                raise EOFError("the server closed the connection")
            chunks.append(chunk)
            tail = (tail + chunk[-_TAIL:])[-_TAIL:]
            last = tail[:-2].rpartition(b"\r\n")[2]
            if tail.endswith(b"\r\n") and last.startswith(tag + b" "):
                if not last.startswith(tag + b" OK"):
                    raise RuntimeError(last.decode("utf-8", "replace"))
                return b"".join(chunks)

    def run(self, command: bytes) -> bytes:
        return self.wait(self.send(command))

    def append(self, messages: Sequence[Sent]) -> None:
        """Put messages into INBOX by one command (RFC 3502, RFC 7888)."""
        parts = [b"APPEND INBOX"]
        for message in messages:
            flags = b"(\\Seen)" if message.seen else b"()"
            date = message.received.strftime("%d-%b-%Y %H:%M:%S +0000").encode()
            parts.append(b' %s "%s" {%d+}\r\n%s' % (flags, date, len(message.octets), message.octets))
        self.run(b"".join(parts))

    def lines(self) -> Iterator[bytes]:
        """Lines as they come, until somebody hangs up."""
        rest = b""
        while chunk := self._socket.recv(_CHUNK):
            *whole, rest = (rest + chunk).split(b"\r\n")
            yield from whole

    def hang_up(self) -> None:
        """End it without a word, also under a reader in another thread."""
        self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        with contextlib.suppress(OSError, EOFError):
            self.run(b"LOGOUT")
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class Smtp:
    """One session that messages are handed over on."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._wait()
        self._run(b"EHLO bench.example")

    def send(self, sender: bytes, recipient: bytes, message: bytes) -> None:
        """A message whose lines begin with no dot."""
        for line in (b"MAIL FROM:<%s>" % sender, b"RCPT TO:<%s>" % recipient, b"DATA", message + b"\r\n."):
            self._run(line)

    def close(self) -> None:
        self._socket.close()

    def _run(self, line: bytes) -> None:
        self._socket.sendall(line + b"\r\n")
        self._wait()

    def _wait(self) -> None:
        """Up to the last line of an answer. Raises `RuntimeError` for a refusal."""
        answer = b""
        while not answer.endswith(b"\r\n") or answer[:-2].rpartition(b"\r\n")[2][3:4] == b"-":
            answer += self._socket.recv(_CHUNK)
        if answer[:1] > b"3":
            raise RuntimeError(answer.decode("utf-8", "replace"))


class Floor:
    """Each job as raw IMAP, or SMTP. Connections are opened once and kept."""

    def __init__(self, port: int, smtp_port: int, large: int, small: int, small_users: Sequence[str]) -> None:
        self._port = port
        self._smtp_port = smtp_port
        self._smtp: Smtp | None = None
        self._small_users = small_users
        self._places = Places(large)
        self._newest = {"big": large - 49} | dict.fromkeys(small_users, small - 49)
        self._open: dict[str, Imap] = {}
        self._marked = False

    def close(self) -> None:
        while self._open:
            self._open.popitem()[1].close()
        if self._smtp is not None:
            self._smtp.close()

    def newest(self, user: str = "big") -> None:
        """The newest 50 envelopes."""
        self._imap(user).run(self._list(user))

    def newest_of_each(self) -> None:
        """The newest 50 envelopes of each small mailbox, all asked at once."""
        connections = [(self._imap(user), user) for user in self._small_users]
        sent = [(imap, imap.send(self._list(user))) for imap, user in connections]
        for imap, tag in sent:
            imap.wait(tag)

    def read(self) -> None:
        """The sample's header and texts, without its file."""
        items = b"UID FLAGS RFC822.SIZE ENVELOPE BODYSTRUCTURE BODY.PEEK[HEADER] BODY.PEEK[1.1] BODY.PEEK[1.2]"
        self._imap("big").run(b"UID FETCH %d (%s)" % (self._places.sample, items))

    def search(self) -> None:
        """The newest 50 envelopes of what a sender wrote about something since a day."""
        since = datetime.fromisoformat(corpus.FOUND_SINCE).strftime("%d-%b-%Y")
        imap = self._imap("big")
        keys = f'SINCE {since} FROM "{corpus.FOUND_FROM}" SUBJECT "{corpus.FOUND_SUBJECT}"'
        answer = imap.run(f"UID SEARCH {keys}".encode())
        found = answer.partition(b"\r\n")[0].split()[2:]
        imap.run(b"UID FETCH %s %s" % (b",".join(found[-50:]), _ENVELOPES))

    def thread(self) -> None:
        """The envelopes of a conversation of twenty whose UIDs are known."""
        self._imap("big").run(b"UID FETCH %s %s" % (",".join(map(str, self._places.thread)).encode(), _ENVELOPES))

    def download(self) -> None:
        """A file of 5 MB, as base64."""
        self._imap("big").run(b"UID FETCH %d (BODY.PEEK[2])" % self._places.file)

    def send(self) -> None:
        """A message handed over, and its copy put into Sent (RFC 7888)."""
        if self._smtp is None:
            self._smtp = Smtp(self._smtp_port)
        self._smtp.send(b"u02@bench.example", corpus.SENT_TO.encode(), corpus.sent_by_floor())
        octets = corpus.sent_by_floor()
        self._imap("u02").run(b"APPEND Sent (\\Seen) {%d+}\r\n%s" % (len(octets), octets))

    def mark(self) -> None:
        """A message seen, or unseen, by turns; the answer tells nothing of it."""
        self._marked = not self._marked
        sign = b"+" if self._marked else b"-"
        self._imap("u02").run(b"UID STORE %d %sFLAGS.SILENT (\\Seen)" % (corpus.MARKED_BY_FLOOR, sign))

    def nothing(self) -> None:
        """A round trip and no more."""
        self._imap("big").run(b"NOOP")

    def _list(self, user: str) -> bytes:
        return b"FETCH %d:* %s" % (self._newest[user], _ENVELOPES)

    def _imap(self, user: str) -> Imap:
        if user not in self._open:
            self._open[user] = Imap(self._port, user)
        return self._open[user]
