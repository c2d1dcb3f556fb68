"""A list shows what is true now, though connections are kept and rows are remembered."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postroom.base.clock import HandClock
from postroom.base.secret import Secret
from postroom.base.tls import Endpoint
from postroom.imap.admission import Server
from postroom.imap.conversation import Deadlines
from postroom.imap.pool import REOPEN_AFTER, Pool
from postroom.mailbox.cache import RowCache
from postroom.mailbox.folders import Folder
from postroom.mailbox.reading import OpenFolder
from postroom.mailbox.session import Session
from tests.servers.dovecot import PASSWORD, Dovecot
from tests.servers.gateway import Gateway, running_gateway
from tests.servers.mail import plain


@pytest.fixture
def fresh(dovecot: Dovecot, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Gateway, str]]:
    """A gateway before a user of the test's own, with three messages."""
    user = f"fresh-{abs(hash(request.node.name))}"
    dovecot.deliver(user, [plain(f"Message {number}") for number in (1, 2, 3)])
    mailbox = (
        f"  - name: work\n    imap: {{host: 127.0.0.1, port: {dovecot.port}, tls: none, username: {user}, "
        f"password: {PASSWORD}, connections: 1}}"
    )
    with running_gateway(tmp_path, mailbox, {"all": ("read", "work")}) as gateway:
        assert subjects(gateway) == ["Message 3", "Message 2", "Message 1"]
        yield gateway, user


BOX = Folder("Box", b"Box", "/", None, selectable=True)


def rows(gateway: Gateway, **query: Any) -> list[dict[str, Any]]:
    return list(gateway.get("/mailboxes/work/messages", **query).json()["messages"])


def subjects(gateway: Gateway, **query: Any) -> list[str]:
    return [row["subject"] for row in rows(gateway, **query)]


def test_new_mail_is_in_the_very_next_list(fresh: tuple[Gateway, str], dovecot: Dovecot) -> None:
    gateway, user = fresh
    dovecot.deliver(user, [plain("Message 4")])
    assert subjects(gateway) == ["Message 4", "Message 3", "Message 2", "Message 1"]


def test_more_new_mail_than_a_page_holds_pushes_the_old_to_the_next_page(
    fresh: tuple[Gateway, str], dovecot: Dovecot
) -> None:
    gateway, user = fresh
    dovecot.deliver(user, [plain(f"Message {number}") for number in range(4, 30)])
    assert subjects(gateway, limit=2) == ["Message 29", "Message 28"]


def test_flags_that_somebody_else_set_are_shown(fresh: tuple[Gateway, str], dovecot: Dovecot) -> None:
    gateway, user = fresh
    with dovecot.login(user) as client:
        client.select("INBOX")
        client.uid("STORE", "2", "+FLAGS", r"(\Seen project-x)")
    shown = rows(gateway)[1]
    assert (shown["seen"], shown["flags"], shown["labels"]) == (True, ["\\Seen", "project-x"], ["project-x"])


def test_a_deleted_message_is_gone_from_the_list_and_from_reading(fresh: tuple[Gateway, str], dovecot: Dovecot) -> None:
    gateway, user = fresh
    gone = rows(gateway)[1]["uid"]
    with dovecot.login(user) as client:
        client.select("INBOX")
        client.uid("STORE", "2", "+FLAGS", r"(\Deleted)")
        client.expunge()
    assert subjects(gateway) == ["Message 3", "Message 1"]
    assert gateway.get(f"/mailboxes/work/messages/{gone}").json()["error"]["code"] == "not_found"


def test_a_folder_made_anew_under_an_old_name_is_met_within_a_minute(dovecot: Dovecot) -> None:
    dovecot.create("remade", "Box")
    dovecot.deliver("remade", [plain("Old"), plain("Older")], "Box")

    async def secret() -> Secret:
        return Secret(PASSWORD)

    async def exchange() -> tuple[list[str | None], list[str | None]]:
        clock, cache = HandClock(), RowCache()
        endpoint = Endpoint("127.0.0.1", dovecot.port, "none")
        pool = Pool(Server(endpoint, "remade", "password", secret, Deadlines(5, 20), 1), clock)

        async def listed() -> list[str | None]:
            async with pool.connection(b"Box") as connection:
                return [row.head.subject for row in await OpenFolder(connection, BOX, cache, Session()).newest(1)]

        before = await listed()
        await asyncio.to_thread(remake)
        clock.wind(REOPEN_AFTER)
        after = await listed()
        pool.close()
        return before, after

    def remake() -> None:
        with dovecot.login("remade") as client:
            client.delete("Box")
            client.create("Box")
        dovecot.deliver("remade", [plain("New"), plain("Newer")], "Box")

    assert asyncio.run(exchange()) == (["Older", "Old"], ["Newer", "New"])


def test_a_cursor_and_a_uid_of_an_older_numbering_are_refused(fresh: tuple[Gateway, str], dovecot: Dovecot) -> None:
    gateway, user = fresh
    dovecot.create(user, "Box")
    dovecot.deliver(user, [plain("Old"), plain("Older")], "Box")
    page = gateway.get("/mailboxes/work/messages", folder="Box", limit=1).json()
    uid, query = page["messages"][0]["uid"], {"folder": "Box", "cursor": page["next_cursor"]}
    gateway.get("/mailboxes/work/messages")  # the one connection leaves the folder
    with dovecot.login(user) as client:
        client.delete("Box")
        client.create("Box")
    stale = gateway.get(f"/mailboxes/work/messages/{uid}", folder="Box").json()["error"]
    assert stale["details"]["reason"] == "uidvalidity_changed"
    cursor = gateway.get("/mailboxes/work/messages", **query).json()["error"]
    assert (cursor["code"], cursor["details"]["argument"]) == ("validation_error", "cursor")
