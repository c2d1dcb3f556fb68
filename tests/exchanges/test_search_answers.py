"""Answers to SEARCH and SORT in every form that servers give them: what they name is found, once and in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from tests.exchanges.stage import SURFACES, Box, staged, subjects

ALL, BY_SUBJECT = ["Three", "Two", "One"], ["One", "Three", "Two"]
PLAIN = "\n\nON UID SEARCH *\nS> * SEARCH 3 5 7\nS> {tag} OK done\n"
EXTENDED = "CAPS-AUTH IMAP4rev1 ESEARCH IDLE\nON UID SEARCH RETURN *\n"
PARTIAL = "CAPS-AUTH IMAP4rev1 ESEARCH PARTIAL IDLE\nON UID SEARCH RETURN (PARTIAL*\n"
SORT = "CAPS-AUTH IMAP4rev1 SORT IDLE\nON UID SORT *\n"


def extended(*lines: str, status: str = "OK done") -> str:
    return EXTENDED + "".join(f"S> {line}\n" for line in lines) + f"S> {{tag}} {status}" + PLAIN


def plain(*lines: str) -> str:
    return "ON UID SEARCH *\n" + "".join(f"S> {line}\n" for line in lines) + "S> {tag} OK done\n"


def sorting(*lines: str, status: str = "OK done") -> str:
    return SORT + "".join(f"S> {line}\n" for line in lines) + f"S> {{tag}} {status}" + PLAIN


TAGGED = '* ESEARCH (TAG "{tag}") UID'
FOUND = {
    "no-tag": extended("* ESEARCH UID ALL 3:5,7"),
    "count-and-ends": extended(f"{TAGGED} COUNT 3 MIN 3 MAX 7 ALL 3,5,7"),
    "count-alone": extended(f"{TAGGED} COUNT 3"),
    "ends-alone": extended(f"{TAGGED} MIN 3 MAX 7"),
    "several-lines": extended(f"{TAGGED} ALL 3", f"{TAGGED} ALL 5,7"),
    "reversed": extended(f"{TAGGED} ALL 7:5,3"),
    "lower-case": extended('* esearch (tag "{tag}") uid all 3,5,7'),
    "to-the-last": extended(f"{TAGGED} ALL 3:*"),
    "nothing-told": extended(),
    "message-numbers": extended('* ESEARCH (TAG "{tag}") ALL 1:3'),
    "of-another-command": extended('* ESEARCH (TAG "ZZ") UID ALL 4', f"{TAGGED} ALL 3,5,7"),
    "old-answer": extended("* SEARCH 3 5 7"),
    "refused": extended(status="NO no such form"),
    "cannot": extended(status="NO [CANNOT] no such form"),
    "bad": extended(status="BAD what"),
    "mod-sequence": extended(f"{TAGGED} ALL 3,5,7 MODSEQ 99"),
    "garbled": extended('* ESEARCH (TAG "{tag}" UID ALL 3'),
    "quoted-set": extended(f'{TAGGED} ALL "3,5,7"'),
    "list-for-a-set": extended(f"{TAGGED} ALL (3 5 7)"),
    "blank-in-the-set": extended(f"{TAGGED} ALL 3,5 ,7"),
    "everything": extended(f"{TAGGED} ALL 1:4294967295"),
    "zero": extended(f"{TAGGED} ALL 0"),
    "partial": f"{PARTIAL}S> {TAGGED} PARTIAL (-1:-500 3,5,7)\nS> {{tag}} OK done\n",
    "partial-not-understood": f"{PARTIAL}S> {{tag}} BAD what{PLAIN}",
    "new-answer-unasked": plain(f"{TAGGED} ALL 3,5,7"),
    "one-a-line": plain("* SEARCH 3", "* SEARCH 5", "* SEARCH 7"),
    "lower-case-old": plain("* search 3 5 7"),
    "blanks": plain("* SEARCH  3  5 7   "),
    "mod-sequence-old": plain("* SEARCH 3 5 7 (MODSEQ 917162500)"),
    "twice-and-unsorted": plain("* SEARCH 7 3 3 5 7 5"),
    "not-there": plain("* SEARCH 3 4 5 6 7 9999"),
    "ranges": plain("* SEARCH 3:5 7"),
    "commas": plain("* SEARCH 3,5,7"),
    "no-numbers": plain("* SEARCH 3 x 5 -1 0 7 99999999999999999999999"),
    "three-hundred-thousand": "ON UID SEARCH *\nSEARCHRANGE 1 300000\nS> {tag} OK done\n",
}
NOTHING = {
    "none": plain(),
    "empty": plain("* SEARCH"),
    "none-new": EXTENDED + f"S> {TAGGED}\nS> {{tag}} OK done\n",
    "count-zero": EXTENDED + f"S> {TAGGED} COUNT 0\nS> {{tag}} OK done\n",
    "partial-nil": f"{PARTIAL}S> {TAGGED} PARTIAL (-1:-500 NIL)\nS> {{tag}} OK done\n",
    "bad-charset": "ON UID SEARCH *CHARSET*\nS> {tag} NO [BADCHARSET (US-ASCII)] no\n",
    "bad-charset-bare": "ON UID SEARCH *CHARSET*\nS> {tag} NO [BADCHARSET] no\n",
    "charset-unknown": "ON UID SEARCH *CHARSET*\nS> {tag} BAD unknown argument CHARSET\n",
}
SORTED = {
    "sort": sorting("* SORT 3 7 5"),
    "sort-none": sorting(),
    "sort-bad": sorting(status="BAD no such command"),
    "sort-no": sorting(status="NO not now"),
    "sort-one-a-line": sorting("* SORT 3 7", "* SORT 5"),
    "sort-lower-case": sorting("* sort 3 7 5"),
    "sort-twice": sorting("* SORT 3 3 7 5 7"),
    "sort-not-there": sorting("* SORT 3 4 7 5 99"),
    "sort-as-search": sorting("* SEARCH 3 5 7"),
    "sort-without-heed": sorting("* SORT 3 5 7"),
    "sort-mod-sequence": sorting("* SORT 3 7 5 (MODSEQ 12)"),
}
LOW = """MAILBOX "INBOX" uidvalidity=17 uidnext=5
MSG "INBOX" uid=3 subject="One e"
MSG "INBOX" uid=5 subject="Two e"
MSG "INBOX" uid=7 subject="Three e"
"""


@pytest.fixture(scope="module")
def boxes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[tuple[str, str], Box]]:
    scripts = {**FOUND, **NOTHING, **SORTED, "uidnext-low": LOW}
    with staged(scripts, tmp_path_factory.mktemp("search")) as running:
        yield running


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("name", FOUND)
def test_what_the_server_found_is_found(boxes: Mapping[tuple[str, str], Box], name: str, surface: str) -> None:
    assert subjects(boxes[name, surface]("search", subject="o")) == ALL


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("name", NOTHING)
def test_what_finds_nothing_says_so(boxes: Mapping[tuple[str, str], Box], name: str, surface: str) -> None:
    answer = boxes[name, surface]("search", subject="é" if "char" in name else "o")
    assert (subjects(answer), answer["complete"]) == ([], True)


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("name", SORTED)
def test_a_sorted_page_is_sorted(boxes: Mapping[tuple[str, str], Box], name: str, surface: str) -> None:
    assert subjects(boxes[name, surface]("search", subject="o", sort="subject")) == BY_SUBJECT


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize(
    ("sort", "wanted"),
    [
        ("newest", ["Three e", "Two e", "One e"]),
        ("oldest", ["One e", "Two e", "Three e"]),
        ("subject", ["One e", "Three e", "Two e"]),
    ],
)
def test_uidnext_that_is_too_low_hides_nothing_from_a_search(
    boxes: Mapping[tuple[str, str], Box], sort: str, wanted: list[str], surface: str
) -> None:
    assert subjects(boxes["uidnext-low", surface]("search", subject="e", sort=sort)) == wanted
