"""Messages from small pools, so that hidden and visible ones collide in ids, people, words and dates."""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from random import Random

from tests.noninterference.memory import Stored

IDS = tuple(f"<{number}@x.example>" for number in range(1, 7))
WORDS = ("plan", "lunch", "river", "moon", "harbour")
FRIENDS = ("Bo <bo@friends.example>", "Cy <cy@friends.example>", "Ed <ed@corp.example>")
OWNER = ("Ana <ana@corp.example>",)
STRANGERS = ("Di <di@far.example>", "Zed <zed@far.example>")
CLINIC = ("Dr. Moss <moss@clinic.example>", "Nurse <nurse@clinic.example>")
FLAGS = ("\\Seen", "\\Flagged", "\\Answered", "agent/done")
_NAMES = ("Robert", "Bobby", "B.")
MARKER = "quetzal"
"""Stands in what is hidden, removed or redacted alone."""
_NEWEST = datetime(2026, 2, 20, 12, 0, tzinfo=UTC)
_PEM = "-----BEGIN PRIVATE KEY-----\r\n{}\r\n-----END PRIVATE KEY-----"
SECRETS = {
    "code": ("Your verification code is {}.", ("111111", "222222", "33333333", "4444")),
    "password": ("Password: {}", ("Tr0ub4dor&3", "S0-Much-Longer-Than-That-77", "hunter2!")),
    "key": (_PEM, tuple(base64.b64encode(bytes([n]) * n * 9).decode() for n in (5, 7, 12))),
    "token": ("token = {}", ("ghp_" + "a1B2c3D4e5F6" * 3, "ghp_" + "Z9y8X7w6V5u4" * 3)),
}
"""What is redacted by default: a text around it, and what may stand there."""


@dataclass(frozen=True)
class Meant:
    """A message before it is octets. What is under `vary` may differ between worlds though the message is visible."""

    sender: str
    subject: str
    words: str
    message_id: str | None
    references: tuple[str, ...]
    recipients: tuple[str, ...]
    sent: datetime
    received: datetime
    flags: frozenset[str]
    list_id: str = ""
    secret: str = ""
    secret_in_subject: bool = False
    unseen: str = ""
    """Text of a page that nobody sees."""
    files: tuple[tuple[str, bytes], ...] = ()
    is_page: bool = False

    def stored(self) -> Stored:
        return Stored(_octets(self), self.flags, self.received)


def arbitrary(rng: Random, senders: tuple[str, ...] = FRIENDS) -> Meant:
    """Any message, visible under every policy here."""
    ids, days = list(IDS), rng.randrange(8)
    message_id = rng.choice(ids) if rng.random() < 0.9 else None
    return Meant(
        sender=rng.choice(senders),
        subject=rng.choice(["", "Re: "]) + rng.choice(WORDS),
        words=" ".join(rng.choices(WORDS, k=3)),
        message_id=message_id,
        references=tuple(rng.sample([one for one in ids if one != message_id], rng.randrange(3))),
        recipients=("ana@corp.example", *rng.sample([*FRIENDS, *STRANGERS, *CLINIC], rng.randrange(2))),
        sent=_NEWEST - timedelta(days=rng.randrange(8), hours=rng.randrange(3)),
        received=_NEWEST - timedelta(days=days, hours=rng.randrange(3)),
        flags=frozenset(rng.sample(FLAGS, rng.randrange(3))),
        is_page=rng.random() < 0.3,
        files=(("notes.txt", b"x" * rng.choice((10, 400))),) if rng.random() < 0.5 else (),
    )


def hidden(rng: Random, how: str) -> Meant:
    """Any message that is hidden in this way."""
    meant = arbitrary(rng, (*FRIENDS, *STRANGERS, *CLINIC))
    meant = replace(meant, words=f"{meant.words} {MARKER}" * rng.randrange(1, 4))
    match how:
        case "clinic":
            return replace(meant, sender=rng.choice(CLINIC))
        case "private":
            return replace(meant, subject=f"[private] {meant.subject}")
        case "gala":
            return replace(meant, subject=f"{meant.subject} gala")
        case "list":
            return replace(meant, list_id="<secret.lists.example>")
        case "old":
            return replace(meant, received=meant.received - timedelta(days=300))
        case "label":
            return replace(meant, flags=meant.flags | {"Legal"})
        case "classified":
            return replace(meant, words=f"{meant.words} classified")
        case "card":
            return replace(meant, words=f"{meant.words} 4111 1111 1111 1111")
        case "iban":
            return replace(meant, words=f"{meant.words} DE89 3704 0044 0532 0130 00")
        case _:
            raise ValueError(how)


def withheld(rng: Random, how: str) -> tuple[Meant, Meant]:
    """A message of which the envelope alone is seen, as it is in two worlds."""
    meant = arbitrary(rng, STRANGERS if how == "stranger" else FRIENDS)
    return _withheld(rng, how, meant), _withheld(rng, how, meant)


def _withheld(rng: Random, how: str, meant: Meant) -> Meant:
    other = arbitrary(rng)
    said = replace(
        meant,
        subject={"board": f"[board] {other.subject}"}.get(how, other.subject),
        words=f"{other.words} invoice {MARKER * rng.randrange(3)}",
        files=other.files,
        is_page=other.is_page,
        sender=f"{rng.choice(_NAMES)} {meant.sender.partition(' ')[2]}",
    )
    return replace(said, words=said.words if how == "invoice" else other.words)


def visible(rng: Random, senders: tuple[str, ...], *, files_differ: bool) -> tuple[Meant, Meant]:
    """One message in two worlds: they differ at most in what is redacted, removed, or never told."""
    meant = arbitrary(rng, senders)
    first = second = meant
    if rng.random() < 0.5:
        around, values = SECRETS[rng.choice(sorted(SECRETS))]
        in_subject = rng.random() < 0.3 and "\r\n" not in around
        texts = [around.format(rng.choice(values)) for _ in range(2)]
        first, second = (replace(meant, secret=text, secret_in_subject=in_subject) for text in texts)
    if rng.random() < 0.3:
        first, second = (
            replace(one, is_page=True, unseen=" ".join([MARKER, *rng.choices(WORDS, k=rng.randrange(1, 9))]))
            for one in (first, second)
        )
    if files_differ:
        first, second = (replace(one, files=_files(rng)) for one in (first, second))
    return first, second


def _files(rng: Random) -> tuple[tuple[str, bytes], ...]:
    return tuple(
        (f"{rng.choice(WORDS)}.txt", rng.choice(WORDS).encode() * rng.randrange(1, 40)) for _ in range(rng.randrange(3))
    )


def _octets(meant: Meant) -> bytes:
    subject = f"{meant.subject} {meant.secret}" if meant.secret_in_subject else meant.subject
    head = [
        f"From: {meant.sender}",
        f"To: {', '.join(meant.recipients)}",
        f"Subject: {subject}",
        f"Date: {meant.sent:%a, %d %b %Y %H:%M:%S} +0000",
        *([f"Message-ID: {meant.message_id}"] if meant.message_id else []),
        *([f"References: {' '.join(meant.references)}"] if meant.references else []),
        *([f"List-Id: {meant.list_id}"] if meant.list_id else []),
        "MIME-Version: 1.0",
    ]
    kind, body = _words(meant)
    if meant.files:
        parts = [f"Content-Type: {kind}\r\n\r\n{body}", *(_file(name, octets) for name, octets in meant.files)]
        kind, body = "multipart/mixed; boundary=outer", _joined("outer", parts)
    return "\r\n".join([*head, f"Content-Type: {kind}", "", body, ""]).encode()


def _words(meant: Meant) -> tuple[str, str]:
    said = meant.words if meant.secret_in_subject or not meant.secret else f"{meant.words}\r\n\r\n{meant.secret}"
    plain = f"{said}\r\n"
    if not meant.is_page:
        return "text/plain; charset=utf-8", plain
    unseen = f'<div style="display:none">{meant.unseen}</div>' if meant.unseen else ""
    paragraphs = "".join(f"<p>{one}</p>" for one in said.split("\r\n\r\n"))
    page = f"<html><body>{paragraphs}{unseen}</body></html>\r\n"
    parts = [f"Content-Type: text/plain; charset=utf-8\r\n\r\n{plain}", f"Content-Type: text/html\r\n\r\n{page}"]
    return "multipart/alternative; boundary=inner", _joined("inner", parts)


def _file(name: str, octets: bytes) -> str:
    head = f'Content-Type: text/plain; name="{name}"\r\nContent-Disposition: attachment; filename="{name}"\r\n'
    return f"{head}Content-Transfer-Encoding: base64\r\n\r\n{base64.encodebytes(octets).decode()}".replace(
        "\n", "\r\n"
    ).replace("\r\r", "\r")


def _joined(boundary: str, parts: list[str]) -> str:
    return "".join(f"--{boundary}\r\n{part}\r\n" for part in parts) + f"--{boundary}--\r\n"
