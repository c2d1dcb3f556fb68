"""Mail that the tests' Dovecot is filled with."""

from __future__ import annotations

from collections.abc import Iterator

CANARY = "zanzibar-canary-7319"
"""Stands in every field of every message of the mailbox `private`, and nowhere else."""
FOLDERS = ("R&-D", "with space", 'quo\\"te', "Entw&APw-rfe", "&ZeVnLIqe-", "deep/er/still")
"""As the server spells them; `FOLDER_NAMES` are the same for people."""
FOLDER_NAMES = ("R&D", "with space", 'quo"te', "Entwürfe", "日本語", "deep/er/still")


def plain(subject: str, text: str = "Hello.", sender: str = "Dana Quill <dana@example.org>") -> bytes:
    return (
        f"From: {sender}\r\nTo: agent@example.net\r\nSubject: {subject}\r\n"
        f"Date: Tue, 03 Mar 2026 09:15:00 +0100\r\nMessage-ID: <{abs(hash(subject))}@mail.example.org>\r\n"
        f"Content-Type: text/plain; charset=utf-8\r\n\r\n{text}\r\n"
    ).encode()


def many(count: int) -> Iterator[bytes]:
    """Numbered messages; every tenth has a file."""
    for number in range(1, count + 1):
        yield with_file(f"Message {number}") if number % 10 == 0 else plain(f"Message {number}", f"Text {number}.")


def with_file(subject: str, text: str = "See file.", sender: str = "Dana Quill <dana@example.org>") -> bytes:
    return (
        f"From: {sender}\r\nTo: agent@example.net\r\nSubject: {subject}\r\n"
        "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b1\r\n\r\n"
        f"--b1\r\nContent-Type: text/plain\r\n\r\n{text}\r\n"
        '--b1\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename="a.pdf"\r\n'
        "Content-Transfer-Encoding: base64\r\n\r\nJVBERi0xLjQK\r\n--b1--\r\n"
    ).encode()


def secret_messages() -> Iterator[bytes]:
    """Messages whose every field holds the canary."""
    for number in range(1, 4):
        message = with_file(f"{CANARY} {number}", f"{CANARY} in the text.", f"{CANARY} <{CANARY}@example.org>")
        yield message.replace(b"a.pdf", f"{CANARY}.pdf".encode())
