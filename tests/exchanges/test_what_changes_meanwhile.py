"""What other clients do between two calls and during one is never told wrongly: flags, mail, numbering, cursors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest

from tests.exchanges.stage import SURFACES, THREE, Box, seen, staged, uids

Boxes = Mapping[tuple[str, str], Box]
UNSEEN = {7: False, 5: False, 3: False}
FIVE_SEEN = {7: False, 5: True, 3: False}
NEWS: dict[str, tuple[bytes, Callable[[Box], None], dict[int, bool]]] = {
    "without-uid": (b"* 2 FETCH (FLAGS (\\Seen))", lambda box: box.mark_seen(5), FIVE_SEEN),
    "with-uid": (b"* 2 FETCH (UID 5 FLAGS (\\Seen))", lambda box: box.mark_seen(5), FIVE_SEEN),
    "mod-sequence": (b"* 2 FETCH (MODSEQ (9))", lambda box: box.mark_seen(5), FIVE_SEEN),
    "garbled": (b"* 2 FETCH (FLAGS (\\Seen)", lambda box: box.mark_seen(5), FIVE_SEEN),
    "lower-case": (b"* 2 fetch (flags (\\Seen))", lambda box: box.mark_seen(5), FIVE_SEEN),
    "beyond-the-last": (b"* 99 FETCH (FLAGS ())", lambda box: box.mark_seen(5), FIVE_SEEN),
    "expunge": (b"* 2 EXPUNGE", lambda box: box.remove(5), {7: False, 3: False}),
    "vanished": (b"* VANISHED 5", lambda box: box.remove(5), {7: False, 3: False}),
    "fewer": (b"* 2 EXISTS", lambda box: box.remove(7), {5: False, 3: False}),
    "exists-twice": (b"* 4 EXISTS\r\n* 4 EXISTS", lambda box: box.add(9), {9: False, **UNSEEN}),
}
WITHIN: dict[str, tuple[bytes, Callable[[Box], None], dict[int, bool]]] = {
    "in-fetch": (b"* 2 FETCH (UID 5 FLAGS (\\Seen))", lambda box: box.mark_seen(5), FIVE_SEEN),
    "in-fetch-without-uid": (b"* 2 FETCH (FLAGS (\\Seen))", lambda box: box.mark_seen(5), FIVE_SEEN),
    "in-fetch-mod-sequence": (b"* 2 FETCH (UID 5 MODSEQ (8))", lambda box: box.mark_seen(5), FIVE_SEEN),
    "in-fetch-expunge": (b"* 3 EXPUNGE", lambda box: box.remove(7), {5: False, 3: False}),
    "in-fetch-exists": (b"* 4 EXISTS", lambda box: box.add(9), {9: False, **UNSEEN}),
}
SCRIPTS = {
    **dict.fromkeys((*NEWS, *WITHIN), ""),
    "silent": "CAPS-AUTH IMAP4rev1\n",
    "gmail": "CAPS-AUTH IMAP4rev1 IDLE X-GM-EXT-1\n",
    "noop-refused": "ON NOOP\nS> {tag} BAD unknown\n",
    "other-folder": THREE + 'MAILBOX "Other" uidvalidity=3 uidnext=1\n',
    **dict.fromkeys(("renumbered-between", "renumbered-in-list", "renumbered-in-feed", "one-at-a-time"), ""),
    **dict.fromkeys(("expunged-between", "uidnext-lies", "filters"), ""),
}


@pytest.fixture(scope="module")
def boxes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Boxes]:
    with staged(SCRIPTS, tmp_path_factory.mktemp("meanwhile")) as running:
        yield running


def listed(box: Box) -> dict[int, bool]:
    return seen(box("list_messages"))


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("name", NEWS)
def test_what_the_server_tells_between_two_lists_is_in_the_second(boxes: Boxes, name: str, surface: str) -> None:
    box, (line, change, wanted) = boxes[name, surface], NEWS[name]
    assert [listed(box), listed(box)] == [UNSEEN, UNSEEN]
    change(box)
    with box.telling(line):
        assert listed(box) == wanted
    assert listed(box) == wanted


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("name", WITHIN)
def test_what_it_tells_while_another_message_is_read_is_in_the_next_list(boxes: Boxes, name: str, surface: str) -> None:
    box, (line, change, wanted) = boxes[name, surface], WITHIN[name]
    assert [listed(box), listed(box)] == [UNSEEN, UNSEEN]
    with box.telling(line, before="UID FETCH 3 .*", times=1):
        change(box)
        box("get_message", uid="3")
    assert listed(box) == wanted


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("name", ["silent", "gmail", "noop-refused"])
def test_a_server_that_tells_nobody_of_changes_is_asked(boxes: Boxes, name: str, surface: str) -> None:
    box = boxes[name, surface]
    assert [listed(box), listed(box)] == [UNSEEN, UNSEEN]
    box.mark_seen(5)
    assert listed(box) == FIVE_SEEN


@pytest.mark.parametrize("surface", SURFACES)
def test_a_folder_that_was_left_is_asked_when_it_is_opened_again(boxes: Boxes, surface: str) -> None:
    box = boxes["other-folder", surface]
    listed(box)
    assert uids(box("list_messages", folder="Other")) == []
    box.mark_seen(5)
    assert listed(box) == FIVE_SEEN


@pytest.mark.parametrize("surface", SURFACES)
def test_a_uid_newer_than_the_session_is_looked_for_in_the_numbering_of_now(boxes: Boxes, surface: str) -> None:
    box = boxes["renumbered-between", surface]
    listed(box)
    box.number_anew(99)
    assert box("get_message", uid="5-99")["subject"] == "Two"
    assert box("get_message", uid="5-17")["error"]["details"]["reason"] == "uidvalidity_changed"


@pytest.mark.parametrize("surface", SURFACES)
def test_rows_of_two_numberings_are_never_one_list(boxes: Boxes, surface: str) -> None:
    box = boxes["renumbered-in-list", surface]
    with box.telling(b"* OK [UIDVALIDITY 99] anew", before="UID FETCH.*", times=1):
        assert box("list_messages")["error"]["code"] == "imap_error"
    box.number_anew(99)
    assert [row["uid"] for row in box("list_messages")["messages"]] == ["7-99", "5-99", "3-99"]


@pytest.mark.parametrize("surface", SURFACES)
def test_a_feed_that_is_renumbered_on_the_way_keeps_its_place_and_then_tells_all_afresh(
    boxes: Boxes, surface: str
) -> None:
    box = boxes["renumbered-in-feed", surface]
    cursor = box("inbox", checkpoint=True)["cursor"]
    box.add(8, 9)
    with box.telling(b"* OK [UIDVALIDITY 99] anew", before="UID FETCH.*", times=1):
        failed = box("inbox", since_cursor=cursor)
    assert (failed["messages"], [one["mailbox"] for one in failed["errors"]]) == ([], [box.name])
    box.number_anew(99)
    afresh = box("inbox", since_cursor=failed["cursor"])
    assert (afresh["reset"], uids(afresh)) == ([box.name], [3, 5, 7, 8, 9])


@pytest.mark.parametrize("surface", SURFACES)
def test_a_feed_of_one_at_a_time_tells_each_once_though_noop_is_silent(boxes: Boxes, surface: str) -> None:
    box = boxes["one-at-a-time", surface]
    cursor, met = box("inbox", checkpoint=True)["cursor"], []
    box.add(*range(8, 15))
    while (page := box("inbox", since_cursor=cursor, limit=1))["messages"]:
        cursor = page["cursor"]
        met += uids(page)
        assert page["more"] is (len(met) < 7)
    assert met == list(range(8, 15))


@pytest.mark.parametrize("surface", SURFACES)
def test_expunges_between_two_looks_cost_nobody_else(boxes: Boxes, surface: str) -> None:
    box = boxes["expunged-between", surface]
    cursor = box("inbox", checkpoint=True)["cursor"]
    box.add(8, 9, 10)
    first = box("inbox", since_cursor=cursor, limit=1)
    box.remove(8, 9)
    assert [uids(first), uids(box("inbox", since_cursor=first["cursor"], limit=1))] == [[8], [10]]


@pytest.mark.parametrize("surface", SURFACES)
def test_uidnext_that_lies_neither_repeats_nor_loses(boxes: Boxes, surface: str) -> None:
    box = boxes["uidnext-lies", surface]
    box.player.script.boxes["INBOX"]["uidnext"] = 2
    cursor = box("inbox", checkpoint=True)["cursor"]
    assert uids(box("inbox", since_cursor=cursor)) == []
    box.add(9)
    box.player.script.boxes["INBOX"]["uidnext"] = 3
    assert uids(box("inbox", since_cursor=cursor)) == [9]


@pytest.mark.parametrize("surface", SURFACES)
def test_a_cursor_is_good_for_its_own_filters_and_lists_alone(boxes: Boxes, surface: str) -> None:
    box = boxes["filters", surface]
    cursor = box("inbox", checkpoint=True, unseen=True)["cursor"]
    assert uids(box("inbox", since_cursor=cursor, unseen=True)) == []
    for wrong in ({"since_cursor": cursor}, {"since_cursor": cursor[:-2], "unseen": True}):
        error = box("inbox", **wrong)["error"]
        assert (error["code"], error["details"]["argument"]) == ("validation_error", "since_cursor")
    assert box("list_messages", cursor=cursor)["error"]["details"]["argument"] == "cursor"
