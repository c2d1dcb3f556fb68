"""What a connection was told is good for as long as it is told nothing else, in whatever answer that comes."""

from __future__ import annotations

import pytest

from postroom.mailbox.account import Account
from tests.mailbox.test_odd_servers import OK, Answer, account_at, opened, row, serving

pytestmark = pytest.mark.anyio


async def seen(account: Account) -> list[bool]:
    async with account.open("INBOX") as folder:
        return ["\\Seen" in one.flags for one in await folder.newest(3)]


@pytest.mark.parametrize(
    "news", [b"* 2 FETCH (UID 5 FLAGS (\\Seen))", b"* 2 FETCH (FLAGS (\\Seen))", b"* 1 FETCH (UID 3 FLAGS (\\Seen))"]
)
async def test_flags_that_come_with_a_file_are_news(news: bytes) -> None:
    changed = False

    def answer(command: bytes) -> Answer:
        nonlocal changed
        if command.startswith(b"EXAMINE"):
            return opened(2)
        if b"BODY.PEEK[2]" in command:
            changed = True
            return [b"* 1 FETCH (UID 3 BODY[2]<0> {2}", b"ab)", news], OK
        if command.endswith(b"(UID FLAGS)"):
            flags = b"\\Seen" if changed else b""
            return [b"* %d FETCH (UID %d FLAGS (%s))" % (uid, uid, flags) for uid in (3, 5)], OK
        return ([row(3), row(5)] if command.startswith(b"UID FETCH") else []), OK

    async with account_at(serving(answer)) as (account, _):
        before = [await seen(account), await seen(account)]
        async with account.open("INBOX") as folder:
            assert await folder.octets(3, "2", 0, 100) == b"ab"
        assert before == [[False, False], [False, False]]
        assert await seen(account) == [True, True]
