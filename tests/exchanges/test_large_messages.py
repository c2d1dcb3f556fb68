"""Large messages whose server draws them wrongly: the text is read, and each file is had whole, whatever was told."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.exchanges.stage import SURFACES, Box, staged

FILE = b"q" * 300_000
HEAD = "From: ana@example.org\r\nSubject: Big\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
PDF = "Content-Type: application/pdf; name=x.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n"
TEXT = '("text" "plain" NIL NIL NIL "7bit" {} 1 NIL NIL NIL NIL)'
OTHER = '("application" "pdf" NIL NIL NIL "base64" {} NIL NIL NIL NIL)'
LENGTH = len(base64.encodebytes(FILE).replace(b"\n", b"\r\n"))
DRAWN = {
    "nil": "NIL",
    "flat": '("text" "plain" NIL NIL NIL "7bit" 400000 5 NIL NIL NIL NIL)',
    "swapped": f'({OTHER.format(LENGTH)}{TEXT.format(12)} "mixed" NIL NIL NIL NIL)',
    "too-short": f'({TEXT.format(12)}{OTHER.format(1000)} "mixed" NIL NIL NIL NIL)',
    "too-long": f'({TEXT.format(5000)}{OTHER.format(LENGTH + 9000)} "mixed" NIL NIL NIL NIL)',
    "text-too-short": f'({TEXT.format(3)}{OTHER.format(LENGTH)} "mixed" NIL NIL NIL NIL)',
    "zero": f'({TEXT.format(0)}{OTHER.format(0)} "mixed" NIL NIL NIL NIL)',
    "one-left-out": f'({TEXT.format(12)} "mixed" NIL NIL NIL NIL)',
    "one-too-many": f'({TEXT.format(12)}{OTHER.format(LENGTH)}{TEXT.format(12)} "mixed" NIL NIL NIL NIL)',
}
UNREADABLE = {
    "nil": "ITEM 5 BODY[] NIL\n",
    "garbled": 'ITEM 5 BODY[] "abc\n',
    "refused": "ON UID FETCH*BODY.PEEK[]*\nS> {tag} NO no\n",
}


@pytest.fixture(scope="module")
def boxes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[tuple[str, str], Box]]:
    folder = tmp_path_factory.mktemp("large")
    message = _written(folder / "large.eml")
    scripts = {
        **{f"drawn-{name}": f"{message}ITEM 1 BODYSTRUCTURE {drawn}\n" for name, drawn in DRAWN.items()},
        **{f"unreadable-{name}": script for name, script in UNREADABLE.items()},
    }
    with staged(scripts, folder) as running:
        yield running


def _written(path: Path) -> str:
    encoded = base64.encodebytes(FILE).decode().replace("\n", "\r\n")
    path.write_bytes(
        f"{HEAD}--b\r\nContent-Type: text/plain\r\n\r\nHello there\r\n--b\r\n{PDF}{encoded}--b--\r\n".encode()
    )
    return f'MAILBOX "INBOX" uidvalidity=17 uidnext=2\nMSG "INBOX" uid=1 subject="x" file={path}\n'


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("name", DRAWN)
def test_the_text_and_the_file_are_those_of_the_message(
    boxes: Mapping[tuple[str, str], Box], name: str, surface: str
) -> None:
    box = boxes[f"drawn-{name}", surface]
    message = box("get_message", uid="1", view="text", fields="full")
    (attachment,) = [one for one in message["attachments"] if one["filename"]]
    assert ("Hello there" in message["text"], message["truncated"]) == (True, name == "too-long")
    file = box.gateway.get(f"/mailboxes/{box.name}/messages/{message['uid']}/attachments/{attachment['id']}")
    assert (file.status_code, file.content == FILE) == (200, True)
    assert attachment["size"] in (len(FILE), None)


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("name", UNREADABLE)
def test_a_row_without_a_preview_says_why(boxes: Mapping[tuple[str, str], Box], name: str, surface: str) -> None:
    rows = boxes[f"unreadable-{name}", surface]("list_messages", preview=50)["messages"]
    assert [row["subject"] for row in rows] == ["Three", "Two", "One"]
    assert rows[1]["error"].startswith("no preview: ")
