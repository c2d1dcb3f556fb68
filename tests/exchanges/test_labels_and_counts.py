"""Labels of Gmail in every quoting, and quotas and counts in every form that servers tell them in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from tests.exchanges.stage import SURFACES, Box, staged

GMAIL = """CAPS-AUTH IMAP4rev1 X-GM-EXT-1 SPECIAL-USE IDLE
LIST () "/" "INBOX"
LIST (\\All) "/" "[Gmail]/All Mail"
LIST (\\Sent) "/" "[Gmail]/Sent Mail"
LIST () "/" "Archive"
"""
LABELS: dict[str, tuple[str, set[str]]] = {
    "nil": ("NIL", set()),
    "empty": ("()", set()),
    "atoms": ("(foo \\Important bar-baz)", {"foo", "\\Important", "bar-baz"}),
    "two-backslashes": ('(\\\\Important "\\\\Sent")', {"\\Important", "\\Sent"}),
    "quoted": ('("a b" "q\\"x" "b\\\\s" "par (x)")', {"a b", 'q"x', "b\\s", "par (x)"}),
    "literal": ("({5}%0D%0Aa%22b c plain)", {'a"b c', "plain"}),
    "line-ends": ("({4}%0D%0Aa%0D%0Ab plain)", {"a\ufffd\ufffdb", "plain"}),
    "modified-utf-7": ('("&BDYENw-" &AOk-t&AOk- "R&-D")', {"жз", "été", "R&D"}),
    "raw-utf-8": ('("%C3%A9t%C3%A9")', {"été"}),
    "broken-utf-7": ('("&AAA" "&" "&2AA-x")', {"&AAA", "&", "&2AA-x"}),
    "brackets": ('([Gmail]/Foo [a[b]c] "x]y" Work/[x])', {"[Gmail]/Foo", "[a[b]c]", "x]y", "Work/[x]"}),
    "no-list": ("Solo", {"Solo"}),
    "twice": ('("A" A "A")', {"A"}),
    "called-nil": ('("NIL" NIL x)', {"NIL", "x"}),
}
OWN = {"Archive": "Archive", "[Gmail]/Sent Mail": "\\Sent", "[Gmail]/All Mail": None}
"""What Gmail leaves out of the labels of a message in these folders."""
K = 1024
QUOTAS: dict[str, tuple[list[str], list[int | None] | None]] = {
    "one-root": (['* QUOTAROOT INBOX ""', '* QUOTA "" (STORAGE 10 512)'], [10 * K, 512 * K, None, None]),
    "one-each": (['* QUOTA "a" (MESSAGE 3 9)', '* QUOTA "b" (STORAGE 1 2)'], [K, 2 * K, 3, 9]),
    "the-tightest": (['* QUOTA "a" (STORAGE 3 900)', '* QUOTA "b" (STORAGE 1 2)'], [K, 2 * K, None, None]),
    "no-limits": (['* QUOTAROOT INBOX ""', '* QUOTA "" ()'], None),
    "no-root": (["* QUOTAROOT INBOX"], None),
    "of-something-else": (['* QUOTA "" (ANNOTATION-STORAGE 1 2)'], None),
    "no-number": ([f'* QUOTA "" (STORAGE {2**64} {2**64})', '* QUOTA "" (STORAGE -1 -1)'], None),
    "over": (['* QUOTA "" (STORAGE 600 512)'], [600 * K, 512 * K, None, None]),
    "lower-case": (['* quota "" (storage 10 512 message 1 2)'], [10 * K, 512 * K, 1, 2]),
    "garbled": (['* QUOTA "" (STORAGE 10'], None),
    "root-with-a-blank": (["* QUOTA User quota (STORAGE 10 512)"], [10 * K, 512 * K, None, None]),
}
TWO = """MAILBOX "INBOX" uidvalidity=17 uidnext=4
MSG "INBOX" uid=3 subject="One"
MAILBOX "My box" uidvalidity=2 uidnext=2
MSG "My box" uid=1 subject="x"
"""
STATUS = {
    "plain": "",
    "together-refused": "CAPS-AUTH IMAP4rev1 LIST-STATUS\nON LIST*RETURN (STATUS*\nS> {tag} BAD no\n",
    "together-for-some": "CAPS-AUTH IMAP4rev1 LIST-STATUS\nON LIST*RETURN (STATUS*\n"
    'S> * STATUS INBOX (MESSAGES 1 UNSEEN 1)\nS> * STATUS "My box" ()\nS> {tag} OK done\n',
    "together-unquoted": "CAPS-AUTH IMAP4rev1 LIST-STATUS\nON LIST*RETURN (STATUS*\n"
    "S> * STATUS My box (MESSAGES 1 UNSEEN 1)\nS> {tag} OK done\n",
    "unquoted": 'ON STATUS "My box"*\nS> * STATUS My box (MESSAGES 1 UNSEEN 1)\nS> {tag} OK done\n',
    "literal": 'ON STATUS "My box"*\nS| * STATUS {6}%0D%0AMy box (UNSEEN 1 MESSAGES 1)%0D%0A\nS> {tag} OK done\n',
    "lower-case": 'ON STATUS "INBOX"*\nS> * status Inbox (unseen 1 messages 1 x 9)\nS> {tag} OK done\n',
}


def _quota(lines: list[str]) -> str:
    told = "".join(f"S> {line}\n" for line in lines)
    return f"CAPS-AUTH IMAP4rev1 QUOTA IDLE\nON GETQUOTAROOT*\n{told}S> {{tag}} OK done\n"


@pytest.fixture(scope="module")
def boxes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[tuple[str, str], Box]]:
    folders = "".join(f'MAILBOX "{name}" uidvalidity=3 uidnext=6\nMSG "{name}" uid=5 subject="A"\n' for name in OWN)
    scripts = {
        **{f"label-{name}": f"{GMAIL}ITEM 5 X-GM-LABELS {told}\n" for name, (told, _) in LABELS.items()},
        **{f"quota-{name}": _quota(lines) for name, (lines, _) in QUOTAS.items()},
        **{f"status-{name}": TWO + script for name, script in STATUS.items()},
        "quota-refused": "CAPS-AUTH IMAP4rev1 QUOTA\nON GETQUOTAROOT*\nS> {tag} NO not you\n",
        "own-label": f'{folders}{GMAIL}ITEM 5 X-GM-LABELS ("x")\n',
    }
    with staged(scripts, tmp_path_factory.mktemp("labels")) as running:
        yield running


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("name", LABELS)
def test_labels_are_plain_names(boxes: Mapping[tuple[str, str], Box], name: str, surface: str) -> None:
    box = boxes[f"label-{name}", surface]
    wanted = sorted(LABELS[name][1] | {"\\Inbox"} if name != "nil" else {"\\Inbox"})
    assert box("get_message", uid="5", folder="INBOX")["labels"] == wanted
    assert box("list_messages", folder="INBOX")["messages"][1]["labels"] == wanted


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("folder", OWN)
def test_the_label_of_the_open_folder_is_added(boxes: Mapping[tuple[str, str], Box], folder: str, surface: str) -> None:
    labels = boxes["own-label", surface]("get_message", uid="5", folder=folder)["labels"]
    assert labels == sorted(filter(None, ("x", OWN[folder])))


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("name", [*QUOTAS, "refused"])
def test_a_quota_is_that_of_all_roots(boxes: Mapping[tuple[str, str], Box], name: str, surface: str) -> None:
    quota = boxes[f"quota-{name}", surface]("mailbox_stats")["quota"]
    told = quota and [quota[key] for key in ("used_bytes", "limit_bytes", "used_messages", "limit_messages")]
    assert told == (None if name == "refused" else QUOTAS[name][1])


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("name", STATUS)
def test_every_folder_is_counted(boxes: Mapping[tuple[str, str], Box], name: str, surface: str) -> None:
    folders = boxes[f"status-{name}", surface]("mailbox_stats")["folders"]
    assert [tuple(folder.values()) for folder in folders] == [("INBOX", 1, 1), ("My box", 1, 1)]
