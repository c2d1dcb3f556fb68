"""The mail that is measured: message by message from one seed, and where in it each job finds what it needs."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.header import Header
from email.utils import format_datetime
from functools import cached_property

VERSION = 2
"""Mail made by an older version is thrown away."""
_SEED = 20_261_130
_NEWEST = datetime(2026, 11, 30, tzinfo=UTC)
_SPAN = timedelta(days=3 * 365)
FILE_SIZE = 5 * 1024 * 1024
LARGE_FILE_SIZE = 20 * 1024 * 1024
_SAMPLE_FILE_SIZE = 120 * 1024
_SAMPLE_PAGE = (40_000, 40_500)

SAMPLE_SUBJECT = "Text, a page and a file"
FOUND_FROM, FOUND_SUBJECT, FOUND_SINCE = "ilse.brandt@nordlicht.example", "Quarterly invoice", "2026-01-01"
MARKED, MARKED_BY_FLOOR = 20, 30
"""Messages that are marked as seen and unseen, in a small mailbox."""
SENT_TO, SENT_TEXT = "sink@bench.example", "A plain line of a plain message.\n" * 15
_FOUND_EVERY = 211
_THREAD_SUBJECT = "Project Halcyon kickoff"

_FIRST = ("Ilse", "Jan", "Amara", "Bo", "Chen", "Dmitri", "Elena", "Farid", "Hana", "Igor", "Kemal", "Mira", "Noor")
_LAST = ("Kowalski", "Okafor", "Larsen", "Wei", "Petrov", "Rossi", "Haddad", "Kim", "Tanaka", "Silva", "Novak", "Berg")
_DOMAINS = ("nordlicht.example", "acme.example", "mail.example.org", "kyoto.example", "shop.example.com")
_WORDS = (
    "the invoice meeting project budget delivery attached review schedule question regarding please confirm shipment "
    "order number customer contract draft final version update status report weekly quarter team release server error "
    "request change approval deadline tomorrow office travel hotel flight ticket payment received account renew"
)
_SUBJECTS = ("Weekly status report", "Re: contract draft", "Lunch on Friday?", "Your order has shipped", "Build failed")
_FOREIGN_SUBJECTS = ("Rechnung für März – Überweisung nötig", "会議の日程について", "Отчёт за квартал", "إشعار الدفع")
_CHARSETS = (("utf-8", "Zażółć gęślą jaźń"), ("iso-8859-1", "Grüße aus Köln"), ("koi8-r", "Привет, отчёт готов"))


@dataclass(frozen=True, slots=True)
class Places:
    """UIDs of messages in a folder of `count`: it is filled once and in order, so they follow from that."""

    count: int

    @property
    def large_file(self) -> int:
        return self.count - 139

    @property
    def file(self) -> int:
        return self.count - 129

    @property
    def sample(self) -> int:
        """Text, 40 kB of HTML, and a file of 120 kB."""
        return self.count - 119

    @property
    def thread(self) -> list[int]:
        """A conversation of twenty, oldest first."""
        return [uid for uid in range(self.count - 789, self.count - 199, 31) if uid > 0]


@dataclass(frozen=True, slots=True)
class Sent:
    """A message as it is put into a folder."""

    octets: bytes
    received: datetime
    seen: bool


class Corpus:
    """The messages of one user, oldest first."""

    def __init__(self, user: str, count: int) -> None:
        self._user = user
        self._places = Places(count)
        self._random = random.Random(f"{_SEED} {user}")
        self._words = _WORDS.split()
        self._paragraphs = [self._paragraph() for _ in range(400)]

    def messages(self) -> Iterator[Sent]:
        count = self._places.count
        for uid in range(1, count + 1):
            received = _NEWEST - _SPAN + _SPAN * uid / count
            yield Sent(self._message(uid, received), received, seen=uid < count - 200 or uid % 3 != 0)

    def _message(self, uid: int, sent: datetime) -> bytes:
        places, chance = self._places, self._random.random()
        if uid in places.thread:
            return self._plain(uid, sent, _THREAD_SUBJECT, references=places.thread[: places.thread.index(uid)])
        if uid == places.large_file:
            return self._with_file(uid, sent, "Twenty megabytes attached", LARGE_FILE_SIZE)
        if uid == places.file:
            return self._with_file(uid, sent, "Five megabytes attached", FILE_SIZE)
        if uid == places.sample:
            return self._with_file(uid, sent, SAMPLE_SUBJECT, _SAMPLE_FILE_SIZE, _SAMPLE_PAGE)
        if uid % _FOUND_EVERY == 7:
            return self._plain(uid, sent, f"{FOUND_SUBJECT} {uid}", sender=f"Ilse Brandt <{FOUND_FROM}>")
        if chance < 0.8:
            return self._plain(uid, sent, self._subject(uid))
        if chance < 0.98:
            return self._page(uid, sent, (20_000, 80_000) if chance > 0.955 else (1_500, 5_000))
        return self._with_file(uid, sent, self._subject(uid), int(10_240 * 30 ** self._random.random()))

    def _plain(
        self, uid: int, sent: datetime, subject: str, sender: str | None = None, references: list[int] | None = None
    ) -> bytes:
        answered = [self._message_id(one) for one in references or ()]
        more = [f"In-Reply-To: {answered[-1]}", "References: " + "\r\n ".join(answered)] if answered else []
        head = self._head(uid, sent, subject, sender) + more
        if self._random.random() < 0.1:
            charset, text = self._random.choice(_CHARSETS)
            body = _base64((text + "\r\n").encode(charset) * 5)
            head += [f"Content-Type: text/plain; charset={charset}", "Content-Transfer-Encoding: base64"]
        else:
            body = self._text(200, 2_200).encode()
            head += ["Content-Type: text/plain; charset=utf-8"]
        return _joined(head, body)

    def _page(self, uid: int, sent: datetime, sizes: tuple[int, int]) -> bytes:
        head = [*self._head(uid, sent, self._subject(uid)), "List-Id: news <news.example.com>"]
        return _joined([*head, 'Content-Type: multipart/alternative; boundary="=_a"'], self._alternative(*sizes))

    def _with_file(
        self, uid: int, sent: datetime, subject: str, size: int, page: tuple[int, int] = (1_500, 5_000)
    ) -> bytes:
        head = [*self._head(uid, sent, subject), 'Content-Type: multipart/mixed; boundary="=_m"']
        alternative = b'--=_m\r\nContent-Type: multipart/alternative; boundary="=_a"\r\n\r\n' + self._alternative(*page)
        file = (
            b'--=_m\r\nContent-Type: application/octet-stream; name="report.bin"\r\n'
            b'Content-Disposition: attachment; filename="report.bin"\r\nContent-Transfer-Encoding: base64\r\n\r\n'
        )
        return _joined(head, alternative + file + _base64(self._octets[:size]) + b"--=_m--\r\n")

    @cached_property
    def _octets(self) -> bytes:
        return self._random.randbytes(LARGE_FILE_SIZE)

    def _alternative(self, least: int, most: int) -> bytes:
        return (
            f"--=_a\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{self._text(300, 1_500)}\r\n"
            "--=_a\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"
            f"{self._html(least, most)}\r\n--=_a--\r\n"
        ).encode()

    def _head(self, uid: int, sent: datetime, subject: str, sender: str | None = None) -> list[str]:
        date, chance = format_datetime(sent), self._random.random()
        return [
            f"Return-Path: <bounce-{uid}@bench.example>",
            f"Received: from mx.example.net (mx.example.net [192.0.2.{uid % 250}]) by mx.bench.test; {date}",
            f"From: {sender or self._person()}",
            f"To: <{self._user}@bench.test>" + (', "Team, Core" <team@bench.test>' if chance > 0.7 else ""),
            f"Subject: {subject}",
            f"Date: {date}",
            f"Message-ID: {self._message_id(uid)}",
            "MIME-Version: 1.0",
            *(["Cc: Grace Kim <grace.kim@acme.example>"] if chance > 0.9 else []),
        ]

    def _message_id(self, uid: int) -> str:
        return f"<{self._user}.{uid}@bench.example>"

    def _person(self) -> str:
        first, last = self._random.choice(_FIRST), self._random.choice(_LAST)
        return f'"{first} {last}" <{first}.{last}@{self._random.choice(_DOMAINS)}>'

    def _subject(self, uid: int) -> str:
        if self._random.random() < 0.1:
            return Header(self._random.choice(_FOREIGN_SUBJECTS), "utf-8", maxlinelen=60).encode(linesep="\r\n")
        return f"{self._random.choice(_SUBJECTS)} #{uid}"

    def _paragraph(self) -> str:
        return " ".join(self._random.choices(self._words, k=self._random.randint(12, 60))).capitalize() + "."

    def _text(self, least: int, most: int) -> str:
        return "\r\n\r\n".join(self._filled(self._paragraphs, self._random.randint(least, most)))

    def _html(self, least: int, most: int) -> str:
        rows = [f'<tr><td style="padding:4px"><a href="https://news.example.com/t">{one}</a></td></tr>\r\n'
                for one in self._paragraphs]  # fmt: skip
        return f"<html><body><table>{''.join(self._filled(rows, self._random.randint(least, most)))}</table>"

    def _filled(self, choices: list[str], size: int) -> Iterator[str]:
        while size > 0:
            choice = self._random.choice(choices)
            size -= len(choice)
            yield choice


def sent_by_floor() -> bytes:
    """A message that says what the product is asked to send."""
    head = [
        "From: u02@bench.example",
        f"To: {SENT_TO}",
        "Subject: A plain message",
        f"Date: {format_datetime(_NEWEST)}",
    ]
    head += ["Message-ID: <floor@bench.example>", "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8"]
    return _joined(head, SENT_TEXT.replace("\n", "\r\n").encode())


def _base64(octets: bytes) -> bytes:
    return base64.encodebytes(octets).replace(b"\n", b"\r\n")


def _joined(head: list[str], body: bytes) -> bytes:
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body
