"""Search finds what a plain filter over all messages finds, whatever the server can and cannot do."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import io
import random
import re
import socket
import threading
import unicodedata
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from postroom.base.clock import HandClock
from postroom.base.logs import Log
from postroom.config import LimitsConfig
from postroom.operations.operation import Surface
from postroom.operations.perform import Corridor
from tests.servers.dovecot import PASSWORD, Dovecot
from tests.servers.inprocess import directory_of, reader_of

pytestmark = pytest.mark.anyio

WORDS = ("invoice", "Rechnung", "Müller", "教育", "ÅNGSTRÖM", "Łódź", "поезд", "a(b)c", 'q"uote', "back\\slash", "50%*")
PEOPLE = (("Ana Müller", "ana@example.org"), ("教育 部", "kyoiku@example.jp"), ("Dana Quill", "dana.quill@example.net"))
FLAGS = ("\\Seen", "\\Flagged", "\\Answered", "\\Deleted", "\\Draft", "$Work", "later")
ZONES = (0, 60, -480, 840, -720, 330)
MIDNIGHTS = [datetime(2026, month, day, tzinfo=UTC) for month, day in ((2, 28), (3, 1), (3, 2), (3, 3), (3, 29))]
MOMENTS = [night + timedelta(seconds=off) for night in MIDNIGHTS for off in (-3600, -1, 0, 1, 43200)]
DAYS = [date(2026, 2, 27) + timedelta(days=number) for number in range(7)]


# -- the messages, and what is true of them


@dataclass(frozen=True)
class Mail:
    uid: int
    sender: str
    to: str
    cc: str
    subject: str
    project: str
    body: str
    received: datetime
    sent: date
    sent_at: datetime
    flags: frozenset[str]
    attachment: bool
    raw: bytes


def mail(uid: int, chance: random.Random) -> Mail:
    zone = timezone(timedelta(minutes=chance.choice(ZONES)))
    sender, to, cc = (chance.choice(PEOPLE) for _ in range(3))
    subject = " ".join(chance.sample(WORDS, chance.randint(1, 3)))
    project = chance.choice(["", *WORDS])
    body = "\r\n".join(
        chance.choice([*WORDS, "x" * chance.choice((10, 200, 900))]) for _ in range(chance.randint(1, 8))
    )
    sent = chance.choice(MOMENTS).astimezone(zone)
    attachment = chance.random() < 0.2
    head = [
        f"From: {spelled(sender)}",
        f"To: {spelled(to)}",
        *([f"Cc: {spelled(cc)}"] if uid % 2 else []),
        f"Subject: {encoded(subject)}",
        *([f"X-Project: {encoded(project)}"] if project else []),
        f"Date: {sent.day} {['Jan', 'Feb', 'Mar', 'Apr'][sent.month - 1]} {sent.year} {sent:%H:%M:%S %z}",
        f"Message-ID: <{uid}@ids.test>",
        "MIME-Version: 1.0",
    ]
    return Mail(
        uid=uid,
        sender=" ".join(sender),
        to=" ".join(to),
        cc=" ".join(cc) if uid % 2 else "",
        subject=subject,
        project=project,
        body=body,
        received=chance.choice(MOMENTS),
        sent=sent.date(),
        sent_at=sent,
        flags=frozenset(flag for flag in FLAGS if chance.random() < 0.3),
        attachment=attachment,
        raw="\r\n".join([*head, *entity(body, attachment, chance)]).encode(),
    )


def encoded(text: str) -> str:
    return text if text.isascii() else f"=?utf-8?b?{base64.b64encode(text.encode()).decode()}?="


def spelled(person: tuple[str, str]) -> str:
    return f"{encoded(person[0])} <{person[1]}>"


def entity(body: str, attachment: bool, chance: random.Random) -> list[str]:
    if chance.random() < 0.5:
        text = [
            "Content-Transfer-Encoding: base64",
            "",
            base64.encodebytes(body.encode()).decode().replace("\n", "\r\n"),
        ]
    else:
        text = ["Content-Transfer-Encoding: 8bit", "", body, ""]
    text = ["Content-Type: text/plain; charset=utf-8", *text]
    if not attachment:
        return text
    file = [
        "Content-Type: application/pdf",
        "Content-Disposition: attachment; filename=a.pdf",
        "",
        "JVBERi0=",
        "--b--",
        "",
    ]
    return ["Content-Type: multipart/mixed; boundary=b", "", "--b", *text, "--b", *file]


# -- queries: as the caller writes them, and as a filter written a second time

Test = Callable[[Mail], bool]


def holds(text: str, word: str) -> bool:
    return unicodedata.normalize("NFC", word).casefold() in unicodedata.normalize("NFC", text).casefold()


def everywhere(one: Mail) -> str:
    return "\n".join((one.sender, one.to, one.cc, one.subject, one.project, one.body))


TEXTS: dict[str, Callable[[Mail], str]] = {
    "from": lambda one: one.sender,
    "to": lambda one: one.to,
    "cc": lambda one: one.cc,
    "subject": lambda one: one.subject,
    "body": lambda one: one.body,
    "text": everywhere,
}


def some_word(chance: random.Random) -> str:
    word = chance.choice([*WORDS, "ana", "example.org", "MÜLLER", "ångström", "voice", "教", "ŁÓDŹ", "nowhere"])
    return word if chance.random() < 0.7 else word.swapcase()


def textual(chance: random.Random) -> tuple[str, str, Test]:
    name, word = chance.choice(list(TEXTS)), some_word(chance)
    return name, word, lambda one: holds(TEXTS[name](one), word)


def written(moment: datetime, chance: random.Random) -> str:
    if moment.time() == datetime.min.time() and chance.random() < 0.5:
        return chance.choice([f"{moment:%Y-%m-%d}", f"{moment.day}-{'JanFebMarApr'[3 * moment.month - 3 :][:3]}-2026"])
    local = moment.astimezone(timezone(timedelta(minutes=chance.choice(ZONES))))
    return local.isoformat() if chance.random() < 0.5 else moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def some_filters(chance: random.Random) -> tuple[dict[str, Any], Test]:
    """Filter arguments and what they mean."""
    arguments: dict[str, Any] = {}
    tests: list[Test] = []
    for _ in range(chance.randint(1, 3)):
        name, value, test = chance.choice((textual, by_time, by_size, by_flag, by_flag))(chance)
        if name not in arguments and not {name, *arguments} >= {"seen", "unseen"}:
            arguments[name] = value
            tests.append(test)
    return arguments, lambda one: all(test(one) for test in tests)


def by_time(chance: random.Random) -> tuple[str, str, Test]:
    moment = chance.choice(MOMENTS)
    if chance.random() < 0.5:
        return "since", written(moment, chance), lambda one: one.received >= moment
    return "before", written(moment, chance), lambda one: one.received < moment


def by_size(chance: random.Random) -> tuple[str, int, Test]:
    size = chance.randint(300, 3000)
    if chance.random() < 0.5:
        return "larger_than", size, lambda one: len(one.raw) > size
    return "smaller_than", size, lambda one: len(one.raw) < size


def by_flag(chance: random.Random) -> tuple[str, bool, Test]:
    wanted = chance.random() < 0.5
    name = chance.choice(("seen", "unseen", "flagged", "answered", "has_attachment"))
    truths: dict[str, Test] = {
        "seen": lambda one: "\\Seen" in one.flags,
        "unseen": lambda one: "\\Seen" not in one.flags,
        "flagged": lambda one: "\\Flagged" in one.flags,
        "answered": lambda one: "\\Answered" in one.flags,
        "has_attachment": lambda one: one.attachment,
    }
    return name, wanted, lambda one: truths[name](one) is wanted


def some_program(chance: random.Random, depth: int = 3) -> tuple[str, Test]:
    """An IMAP search key and what it means."""
    kind = chance.choice(("not", "or", "and", "key", "key")) if depth else "key"
    if kind == "key":
        return chance.choice((text_key, day_key, flag_key, size_key, uid_key))(chance)
    first, one = some_program(chance, depth - 1)
    if kind == "not":
        return f"NOT {first}", lambda mail: not one(mail)
    second, other = some_program(chance, depth - 1)
    if kind == "or":
        return f"OR {first} {second}", lambda mail: one(mail) or other(mail)
    return f"({first} {second})", lambda mail: one(mail) and other(mail)


def text_key(chance: random.Random) -> tuple[str, Test]:
    name, word, test = textual(chance)
    quoted = '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if chance.random() < 0.2:
        return f"HEADER X-Project {quoted}", lambda one: bool(one.project) and holds(one.project, word)
    bare = re.fullmatch(r"[\w.@]+", word) and chance.random() < 0.5
    return f"{name.upper()} {word if bare else quoted}", test


def day_key(chance: random.Random) -> tuple[str, Test]:
    day = chance.choice(DAYS)
    told = f"{day.day}-{'JanFebMarApr'[3 * day.month - 3 :][:3]}-{day.year}"
    key = chance.choice(("SINCE", "BEFORE", "ON", "SENTSINCE", "SENTBEFORE", "SENTON"))

    def test(one: Mail) -> bool:
        its = one.sent if key.startswith("SENT") else one.received.date()
        return {"SINCE": its >= day, "BEFORE": its < day, "ON": its == day}[key.removeprefix("SENT")]

    return f"{key} {told}", test


def flag_key(chance: random.Random) -> tuple[str, Test]:
    flag, wanted = chance.choice(FLAGS), chance.random() < 0.5
    if flag.startswith("\\"):
        return ("" if wanted else "UN") + flag[1:].upper(), lambda one: (flag in one.flags) is wanted
    return f"{'' if wanted else 'UN'}KEYWORD {flag}", lambda one: (flag in one.flags) is wanted


def size_key(chance: random.Random) -> tuple[str, Test]:
    name, size, test = by_size(chance)
    return f"{name.removesuffix('_than').upper()} {size}", test


def uid_key(chance: random.Random) -> tuple[str, Test]:
    low, high = sorted(chance.sample(range(1, 2_200), 2))
    return f"UID {low}:{high},7", lambda one: low <= one.uid <= high or one.uid == 7


# -- servers


def deliver(server: Dovecot, user: str, mails: Sequence[Mail]) -> None:
    """All in one MULTIAPPEND (RFC 3502)."""
    with socket.create_connection(("127.0.0.1", server.port)) as wire, wire.makefile("rwb") as file:
        file.readline()
        file.write(f"a LOGIN {user} {PASSWORD}\r\nb APPEND INBOX".encode())
        for one in mails:
            zone = timezone(timedelta(minutes=ZONES[one.uid % len(ZONES)]))
            local = one.received.astimezone(zone)
            months = ["Jan", "Feb", "Mar", "Apr"]
            told = f"{local.day:02}-{months[local.month - 1]}-{local:%Y %H:%M:%S %z}"
            flags = " ".join(sorted(one.flags))
            file.write(f' ({flags}) "{told}" {{{len(one.raw)}+}}\r\n'.encode() + one.raw)
        file.write(b"\r\nc LOGOUT\r\n")
        file.flush()
        assert any(line.startswith(b"b OK") for line in file), "not delivered"


@contextlib.contextmanager
def poor_server(server: Dovecot) -> Iterator[int]:
    """The same mail behind a server without extensions that knows no charset, no OR and no NOT, as Exchange."""

    def serve(client: socket.socket) -> None:
        with client, socket.create_connection(("127.0.0.1", server.port)) as upstream:
            threading.Thread(target=answers, args=(upstream, client), daemon=True).start()
            with client.makefile("rb") as lines:
                for line in lines:
                    tag, _, command = line.partition(b" ")
                    if b"CHARSET" in command:
                        client.sendall(tag + b" NO [BADCHARSET (US-ASCII)] no\r\n")
                    elif re.search(rb"SEARCH.* (OR|NOT) ", command):
                        client.sendall(tag + b" BAD too much\r\n")
                    else:
                        upstream.sendall(line)

    def answers(upstream: socket.socket, client: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while octets := upstream.recv(65536):
                client.sendall(re.sub(rb"CAPABILITY [^\]\r]*", b"CAPABILITY IMAP4rev1 SASL-IR", octets))

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


@contextlib.asynccontextmanager
async def asking_of(port: int, mailbox: str) -> AsyncIterator[Asking]:
    directory = directory_of({mailbox: port}, HandClock())
    yield Asking(Corridor(directory, HandClock(), Log(HandClock(), io.StringIO()), LimitsConfig()), mailbox)
    directory.close()
    await asyncio.sleep(0)


class Asking:
    """Calls as a program makes them, without a web server between."""

    def __init__(self, corridor: Corridor, mailbox: str) -> None:
        self._corridor = corridor
        self._mailbox = mailbox

    async def uids(self, tool: str, arguments: dict[str, Any], limit: int = 500) -> list[int]:
        """All pages."""
        found: list[int] = []
        cursor: dict[str, str] = {}
        while True:
            asked = {"mailbox": self._mailbox, "fields": "brief", "limit": limit, **arguments, **cursor}
            answer = await self._corridor.perform(tool, asked, reader_of(self._mailbox), Surface.HTTP)
            assert answer["complete"], answer.get("incomplete_reason")
            found += [int(row["uid"].partition("-")[0]) for row in answer["messages"]]
            if "next_cursor" not in answer:
                return found
            cursor = {"cursor": answer["next_cursor"]}


def expected(mails: Sequence[Mail], test: Test) -> list[int]:
    return [one.uid for one in reversed(mails) if test(one)]


async def check(asking: Asking, mails: Sequence[Mail], chance: random.Random) -> None:
    if chance.random() < 0.4:
        arguments, test = some_filters(chance)
        tool = "search"
    else:
        program, test = some_program(chance)
        tool, arguments = "list_messages", {"search": program}
    assert await asking.uids(tool, arguments) == expected(mails, test), (tool, arguments)


# -- the tests


@pytest.fixture(scope="module")
def mails(dovecot: Dovecot) -> list[Mail]:
    chance = random.Random(7)
    mails = [mail(uid, chance) for uid in range(1, 2_001)]
    deliver(dovecot, "searched", mails)
    return mails


async def test_five_hundred_searches_of_two_thousand_messages_find_what_a_filter_finds(
    dovecot: Dovecot, mails: list[Mail]
) -> None:
    chance = random.Random(11)
    async with asking_of(dovecot.port, "searched") as asking:
        for _ in range(500):
            await check(asking, mails, chance)


async def test_a_server_without_charset_or_and_not_leads_to_the_same_answers(
    dovecot: Dovecot, mails: list[Mail]
) -> None:
    chance = random.Random(13)
    with poor_server(dovecot) as port:
        async with asking_of(port, "searched") as asking:
            for _ in range(500):
                await check(asking, mails, chance)


KEYS: dict[str, Callable[[Mail], Any]] = {
    "date": lambda one: one.sent_at,
    "size": lambda one: len(one.raw),
    "from": lambda one: re.findall(r"(\S+)@", one.sender)[0],
    "subject": lambda one: unicodedata.normalize("NFKD", one.subject).upper(),
}


@pytest.mark.parametrize("sort", ["oldest", *(sign + name for name in KEYS for sign in ("", "-"))])
async def test_every_order_meets_every_message_once_whoever_sorts(
    dovecot: Dovecot, mails: list[Mail], sort: str
) -> None:
    with poor_server(dovecot) as port:
        for asked_port, is_ours in ((dovecot.port, False), (port, True)):
            async with asking_of(asked_port, "searched") as asking:
                found = await asking.uids("search", {"unseen": True, "sort": sort}, limit=29)
            wanted = [one for one in reversed(mails) if "\\Seen" not in one.flags]
            if sort == "oldest":
                assert found == [one.uid for one in reversed(wanted)]
                continue
            key = KEYS[sort.lstrip("-")]
            wanted.sort(key=key, reverse=sort.startswith("-"))
            assert [key(mails[uid - 1]) for uid in found] == [key(one) for one in wanted]
            assert sorted(found) == sorted(one.uid for one in wanted)
            assert not is_ours or found == [one.uid for one in wanted]
