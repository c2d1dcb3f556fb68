"""From a bearer token to a message: the whole process in front of a real Dovecot."""

from tests.servers.gateway import Gateway
from tests.servers.mail import FOLDER_NAMES


def test_folders_are_named_for_people_inbox_first(gateway: Gateway) -> None:
    folders = gateway.get("/mailboxes/work/folders").json()["folders"]
    assert folders[0] == {"name": "INBOX", "delimiter": "/", "special_use": "inbox", "selectable": True}
    names = {folder["name"]: folder for folder in folders}
    assert set(FOLDER_NAMES) <= names.keys()
    assert names["Sent"]["special_use"] == "sent"
    assert names["Trash"]["special_use"] == "trash"


def test_the_newest_messages_come_first_and_the_cursor_walks_to_the_oldest(gateway: Gateway) -> None:
    first = gateway.get("/mailboxes/work/messages").json()
    assert [row["subject"] for row in first["messages"]] == [f"Message {number}" for number in range(2000, 1980, -1)]
    assert first["complete"] is True
    seen, cursor = [], None
    while True:
        query = {"limit": 500} | ({"cursor": cursor} if cursor else {})
        page = gateway.get("/mailboxes/work/messages", **query).json()
        seen.extend(row["uid"] for row in page["messages"])
        cursor = page.get("next_cursor")
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 2000


def test_a_message_is_read_without_being_marked_as_seen(gateway: Gateway) -> None:
    (row,) = gateway.get("/mailboxes/work/messages", limit=1).json()["messages"]
    message = gateway.get(f"/mailboxes/work/messages/{row['uid']}").json()
    assert message["text"] == "See file.\n" or message["text"] == "See file."
    assert message["attachments"][0]["filename"] == "a.pdf"
    assert message["attachments"][0]["size"] == 9
    assert gateway.get(f"/mailboxes/work/messages/{row['uid']}").json()["seen"] is False
