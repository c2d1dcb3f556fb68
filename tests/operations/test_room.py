"""What a model is shown stays small, whatever a message holds, and says what it leaves out."""

from __future__ import annotations

from collections.abc import Iterator

import orjson
import pytest

from postroom.mail.model import Address, Authentication, Field, Head, Link, Part, Reading, Shown
from postroom.operations.messages import Form, message_of
from postroom.operations.operation import MODEL_BUDGET
from postroom.operations.room import Room, for_model
from postroom.operations.rows import row_of
from tests.servers.dovecot import Dovecot
from tests.servers.gateway import Gateway

PEOPLE = tuple(Address(f"Name {number} " + "n" * 2_000, f"p{number}@example.org") for number in range(5_000))
PART = Part("2", "application/pdf", None, "base64", "f" * 250 + ".pdf", False, None, 9, False)


def enormous() -> Shown:
    head = Head(
        fields=tuple(Field("X-Field", b"v" * 5_000) for _ in range(1_000)),
        subject="s" * 1_000_000,
        from_=PEOPLE,
        to=PEOPLE,
        cc=PEOPLE,
        reply_to=PEOPLE,
        date=None,
        message_id="<" + "i" * 100_000 + ">",
        in_reply_to=None,
        references=tuple(f"<{number}@example.org>" for number in range(10_000)),
    )
    reading = Reading(
        parts=(PART,) * 1_000,
        text="t" * 1_000_000,
        html="h" * 1_000_000,
        reader="r" * 1_000_000,
        reader_quoted="r" * 1_000_000,
        safe_html=None,
        links=tuple(Link("l" * 500, "https://example.org/" + "p" * 9_000, "example.org", False) for _ in range(2_000)),
        invitation=None,
        authentication=Authentication(),
        headers=tuple(("X-Field", "v" * 5_000) for _ in range(1_000)),
        signals=(),
        truncated=False,
    )
    return Shown("5-17", "INBOX", head, None, 5, frozenset(), True, (), reading, None, head)


def size(answer: object) -> int:
    return len(orjson.dumps(answer))


def test_an_ordinary_message_is_shown_whole_and_says_nothing_of_room() -> None:
    people = (Address("Dana Quill", "dana@example.org"), Address(None, "bo@example.org"))
    head = Head((), "Hello", people[:1], people, (), (), None, "<a@example.org>", None, ())
    shown = Shown("5-17", "INBOX", head, None, 5, frozenset(), False, (), None, None, head)
    assert row_of(shown, "work", for_model(1)) == row_of(shown, "work", Room())


@pytest.mark.parametrize("messages", [1, 20])
@pytest.mark.parametrize("brief", [True, False])
def test_an_enormous_message_leaves_room_for_the_others_and_says_what_is_missing(messages: int, brief: bool) -> None:
    form = Form(("reader",), brief, headers=True, links=True)
    answer = message_of(enormous(), "work", form, for_model(messages), 0).json_ready()
    assert size(answer) < 2 * MODEL_BUDGET // messages + 10_000
    assert answer["left_out"]["to"] == 5_000 - len(answer["to"])
    assert answer["left_out"]["attachments"] == 1_000 - len(answer["attachments"])
    assert answer["left_out"]["subject"] == 1_000_000 - len(answer["subject"])


def test_a_program_gets_all_of_it() -> None:
    form = Form(("text", "html"), brief=False, headers=True, links=True)
    answer = message_of(enormous(), "work", form, Room(), 2_000_000).json_ready()
    assert (len(answer["to"]), len(answer["headers"]), len(answer["attachments"])) == (5_000, 1_000, 1_000)
    assert len(answer["html"]) == 1_000_000
    assert "left_out" not in answer


@pytest.fixture
def long_folder(dovecot: Dovecot) -> Iterator[str]:
    """Twenty long messages, in a folder that is gone afterwards: the mailbox is everybody's."""
    letters = [
        f"Subject: Long {number}\r\nFrom: d@example.org\r\n\r\n".encode() + b"Some words of text.\r\n" * 5_000
        for number in range(20)
    ]
    dovecot.create("work", "Long")
    dovecot.deliver("work", letters, "Long")
    yield "Long"
    with dovecot.login("work") as client:
        client.delete("Long")


def test_twenty_long_messages_stay_within_the_budget_and_none_disappears(gateway: Gateway, long_folder: str) -> None:
    rows = gateway.get("/mailboxes/work/messages", folder=long_folder).json()["messages"]
    uids = [row["uid"] for row in rows]
    answer = gateway.call("get_message", {"mailbox": "work", "folder": long_folder, "uids": uids})
    assert [message["uid"] for message in answer["messages"]] == uids
    assert all(message["truncated"] and len(message["reader"]) >= 200 for message in answer["messages"])
    assert size(answer) <= MODEL_BUDGET
    one = gateway.call("get_message", {"mailbox": "work", "folder": long_folder, "uid": uids[0]})
    assert (len(one["reader"]), size(one) <= MODEL_BUDGET) == (20_000, True)
    asked = gateway.call("get_message", {"mailbox": "work", "folder": long_folder, "uid": uids[0], "max_chars": 90_000})
    assert len(asked["reader"]) == 90_000
