"""What the search for differences has found in the product once, each on one screen."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from random import Random
from typing import Any

from postroom.base.caller import Toolset
from postroom.operations.operation import Surface
from tests.noninterference import mail
from tests.noninterference.memory import MemoryServer
from tests.noninterference.running import Loop
from tests.noninterference.standing import House, caller
from tests.noninterference.worlds import SPECIAL, STANDING

Ask = Callable[..., Awaitable[Any]]
PLAIN = replace(mail.arbitrary(Random(1)), sender=mail.FRIENDS[0], files=(), references=(), subject="plan")


def server() -> MemoryServer:
    made = MemoryServer()
    for name in STANDING:
        made.create(name, SPECIAL.get(name, ""))
    return made


def asking(loop: Loop, profile: str, there: MemoryServer, script: Callable[[House, Ask], Awaitable[None]]) -> None:
    """Run a script against a gateway before this server, as a caller under that profile's policy."""

    async def run() -> None:
        who = caller(profile, Toolset.MAILBOX)
        async with asyncio.TaskGroup() as tasks, loop.grounds[0].house(there, tasks) as house:

            async def ask(tool: str, **arguments: Any) -> Any:
                return (await house.ask(tool, arguments, who, Surface.HTTP)).values

            await script(house, ask)

    loop.run(run())


def test_names_of_people_of_withheld_mail_are_in_no_answer_to_it(loop: Loop) -> None:
    there = server()
    there.folder("INBOX").put(replace(PLAIN, subject="[board] plan").stored())

    async def script(house: House, ask: Ask) -> None:
        (row,) = (await ask("list_messages"))["messages"]
        assert row["from"] == [{"name": None, "address": "bo@friends.example"}]
        told = await ask("create_draft", reply_to_uid=row["uid"], body_text="Yes.")
        assert told["to"] == ["bo@friends.example"]

    asking(loop, "heads", there, script)


def test_an_answer_is_of_its_thread_though_the_caller_is_not_told_of_ids(loop: Loop) -> None:
    there = server()
    there.folder("INBOX").put(replace(PLAIN, message_id="<2@x.example>", references=("<1@x.example>",)).stored())

    async def script(house: House, ask: Ask) -> None:
        (row,) = (await ask("list_messages"))["messages"]
        assert row["message_id"] is None
        assert (await ask("reply", uid=row["uid"], body_text="Yes."))["outcome"] == "accepted"
        ((_, octets),) = house.outbox.sent
        assert b"In-Reply-To: <2@x.example>\r\nReferences: <1@x.example> <2@x.example>\r\n" in octets

    asking(loop, "heads", there, script)


def test_the_source_of_withheld_mail_is_withheld_too(loop: Loop) -> None:
    there = server()
    there.folder("INBOX").put(replace(PLAIN, subject="[board] plan").stored())
    there.folder("INBOX").put(replace(PLAIN, message_id="<2@x.example>").stored())

    async def script(house: House, ask: Ask) -> None:
        seen, withheld = (row["uid"] for row in (await ask("list_messages"))["messages"])
        assert (await ask("get_raw_message", uid=seen))["size"] is None
        assert (await ask("get_raw_message", uid=withheld))["error"]["code"] == "policy_denied"
        whole = [{"from_message": {"uid": withheld}}]
        told = await ask("send", to=["bo@friends.example"], subject="x", body_text="x", attachments=whole)
        assert told["error"]["code"] == "policy_denied"
        assert house.outbox.sent == []

    asking(loop, "raw", there, script)


def test_pages_of_drafts_tell_nothing_of_the_drafts_of_others(loop: Loop) -> None:
    there = server()

    def others(count: int) -> None:
        for _ in range(count):
            there.folder("Drafts").put(PLAIN.stored())

    async def script(house: House, ask: Ask) -> None:
        others(3)
        assert await ask("list_drafts", limit=1) == {"folder": "Drafts", "drafts": [], "complete": True}
        made = []
        for subject in ("one", "two", "three"):
            made.append((await ask("create_draft", to=["bo@friends.example"], subject=subject, body_text="x"))["uid"])
            others(2)
        pages = [await ask("list_drafts", limit=2)]
        pages.append(await ask("list_drafts", limit=2, cursor=pages[0]["next_cursor"]))
        assert [[row["uid"] for row in page["drafts"]] for page in pages] == [made[:0:-1], made[:1]]
        assert "next_cursor" not in pages[1]

    asking(loop, "heads", there, script)


def test_a_draft_of_others_leaves_only_for_who_may_have_its_source(loop: Loop) -> None:
    there = server()
    there.folder("Drafts").put(replace(PLAIN, secret="Password: Tr0ub4dor&3").stored())
    there.folder("Drafts").put(replace(PLAIN, words="invoice", message_id="<2@x.example>").stored())
    there.folder("INBOX").put(replace(PLAIN, message_id="<3@x.example>").stored())

    async def script(house: House, ask: Ask) -> None:
        withheld, seen = (row["uid"] for row in (await ask("list_drafts"))["drafts"])
        for tool in ("send_draft", "update_draft"):
            assert (await ask(tool, uid=seen))["error"]["code"] == "policy_denied"
            assert (await ask(tool, uid=withheld))["error"]["code"] == "not_found"
        own = await ask("create_draft", to=["bo@friends.example"], subject="Mine", body_text="x")
        assert (await ask("update_draft", uid=own["uid"], subject="Still mine"))["folder"] == "Drafts"
        assert house.outbox.sent == []

    asking(loop, "texts", there, script)


def test_a_file_goes_by_the_id_that_was_told_and_not_by_where_it_lies(loop: Loop) -> None:
    there = server()
    there.folder("INBOX").put(replace(PLAIN, files=(("notes.txt", b"Agreed."),)).stored())

    async def script(house: House, ask: Ask) -> None:
        (row,) = (await ask("list_messages"))["messages"]
        (file,) = (await ask("get_message", uid=row["uid"]))["attachments"]
        got = await ask("get_attachment", uid=row["uid"], attachment_id=file["id"])
        assert (got["id"], got["octets"]) == (file["id"], "Agreed.")

    asking(loop, "heads", there, script)
