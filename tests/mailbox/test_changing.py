"""A folder open for changes on a real server: one round trip where that is enough, and nothing remembered is wrong."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import pytest

from postroom.base.clock import HandClock
from postroom.base.errors import Code, GatewayError
from postroom.base.secret import Secret
from postroom.base.tls import Endpoint
from postroom.config import FoldersConfig
from postroom.imap.admission import Server
from postroom.imap.connection import Connection
from postroom.imap.conversation import Deadlines
from postroom.imap.pool import Pool
from postroom.mail.model import Act, Admitted, Named
from postroom.mailbox.account import Account
from postroom.mailbox.changing import ChangingFolder
from postroom.mailbox.moving import Fate
from postroom.policy.visibility import admit
from tests.mailbox.test_odd_servers import OK, Answer, account_at, opened, serving
from tests.servers.dovecot import PASSWORD, Dovecot
from tests.servers.mail import plain

pytestmark = pytest.mark.anyio
_USERS = itertools.count()


@asynccontextmanager
async def account_of(dovecot: Dovecot, messages: int = 3) -> AsyncIterator[tuple[Account, str]]:
    user = f"changing-{next(_USERS)}"
    dovecot.deliver(user, [plain(f"Message {number}") for number in range(1, messages + 1)])
    dovecot.create(user, "Archive")

    async def secret() -> Secret:
        return Secret(PASSWORD)

    endpoint = Endpoint("127.0.0.1", dovecot.port, "none")
    server = Server(endpoint, user, "password", secret, Deadlines(5.0, 5.0), 3)
    account = Account("work", Pool(server, HandClock()), FoldersConfig())
    yield account, user
    account.close()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commands that go out, from now on."""
    commands: list[str] = []
    run = Connection.run_leniently

    async def noted(self: Connection, name: str, *arguments: object, **more: object) -> object:
        commands.append(name)
        return await run(self, name, *arguments, **more)  # type: ignore[arg-type]  # as they came

    monkeypatch.setattr(Connection, "run_leniently", noted)
    return commands


def leave(folder: ChangingFolder, act: Act, *uids: int) -> list[Admitted]:
    found = [admit(Named(folder.name, uid, folder.uid_validity), act) for uid in uids]
    return [one for one in found if one is not None]


async def mark(account: Account, *uids: int, sign: str = "+") -> dict[int, bool]:
    async with account.changing("INBOX", proved=False) as folder:
        assert sign in ("+", "-")
        told = await folder.flag(leave(folder, Act.FLAG, *uids), "+" if sign == "+" else "-", ["\\Seen"])
        return {uid: "\\Seen" in marks.flags for uid, marks in told.items()}


async def seen(account: Account, folder: str = "INBOX") -> dict[int, bool]:
    async with account.open(folder) as opened:
        return {row.uid: "\\Seen" in row.flags for row in await opened.newest(1)}


async def test_a_mark_on_a_kept_connection_is_one_command(dovecot: Dovecot, sent: list[str]) -> None:
    async with account_of(dovecot) as (account, _):
        assert await seen(account) == {3: False, 2: False, 1: False}
        assert await mark(account, 2) == {2: True}
        sent.clear()
        assert await mark(account, 3) == {3: True}
        assert sent == ["UID STORE"]
        sent.clear()
        assert await mark(account, 3) == {3: True}, "what is so already is told, though the server tells nothing of it"
        assert sent == ["UID STORE"]
        sent.clear()
        assert await seen(account) == {3: True, 2: True, 1: False}
        assert "SELECT" not in sent
        assert "EXAMINE" not in sent


async def test_reads_and_changes_by_turns_do_not_open_the_folder_again(dovecot: Dovecot, sent: list[str]) -> None:
    async with account_of(dovecot) as (account, _):
        await mark(account, 1)
        await seen(account)
        sent.clear()
        for sign in "-+-":
            assert await mark(account, 1, sign=sign) == {1: sign == "+"}
            assert (await seen(account))[1] is (sign == "+")
        assert set(sent) <= {"UID STORE", "NOOP", "UID FETCH"}
        assert sent.count("UID STORE") == sent.count("NOOP") == 3
        assert sent.count("UID FETCH") == 0, "our own changes are known"


async def test_what_one_connection_changes_the_others_do_not_remember_otherwise(dovecot: Dovecot) -> None:
    async with account_of(dovecot) as (account, _):
        async with account.open("INBOX") as first, account.open("INBOX") as second:
            for folder in (first, second):
                assert [row.flags for row in await folder.newest(1)] == [frozenset()] * 3
            async with account.changing("INBOX") as changing:
                await changing.flag(leave(changing, Act.FLAG, 2), "+", ["\\Seen"])
        for _ in range(3):
            async with account.open("INBOX") as first, account.open("INBOX") as second, account.open("INBOX") as third:
                for folder in (first, second, third):
                    marks = await folder.marks([2])
                    assert "\\Seen" in marks[2].flags
                    assert [row.uid for row in await folder.newest(1) if "\\Seen" in row.flags] == [2]


async def test_a_moved_message_is_gone_here_and_there_under_its_new_uid(dovecot: Dovecot) -> None:
    async with account_of(dovecot) as (account, _):
        destination = {folder.name: folder for folder in await account.folders()}["Archive"]
        await seen(account)
        async with account.changing("INBOX") as folder:
            moved = await folder.move(leave(folder, Act.MOVE, 2, 99), destination)
        assert moved.fates == {2: Fate.DONE, 99: Fate.GONE}
        assert moved.new_uids == {2: 1}
        assert await seen(account) == {3: False, 1: False}
        assert await seen(account, "Archive") == {1: False}
        async with account.open("Archive") as archive:
            assert archive.uid_validity == moved.uid_validity


async def test_only_the_message_that_is_meant_is_erased(dovecot: Dovecot) -> None:
    async with account_of(dovecot) as (account, user):
        with dovecot.login(user) as other:
            other.select("INBOX")
            other.uid("STORE", "1", "+FLAGS", "(\\Deleted)")
        async with account.changing("INBOX") as folder:
            assert folder.can_erase
            erased = await folder.erase(leave(folder, Act.ERASE, 3, 7))
        assert erased.fates == {3: Fate.DONE, 7: Fate.GONE}
        assert set(await seen(account)) == {1, 2}


@pytest.mark.parametrize("act", [Act.MOVE, Act.ERASE, Act.LABEL])
async def test_leave_for_one_act_is_none_for_another(dovecot: Dovecot, act: Act) -> None:
    async with account_of(dovecot) as (account, _), account.changing("INBOX") as folder:
        with pytest.raises(ValueError, match="something else"):
            await folder.flag(leave(folder, act, 1), "+", ["\\Seen"])
        with pytest.raises(ValueError, match="something else"):
            await folder.flag([Admitted("Sent", 1, folder.uid_validity, Act.FLAG)], "+", ["\\Seen"])


async def test_special_folders_are_found_and_filed_into(dovecot: Dovecot) -> None:
    async with account_of(dovecot) as (account, _):
        drafts, none = await account.special("drafts"), await account.special("junk")
        assert drafts is not None
        assert drafts.name == "Drafts"
        assert none is None
        filed = await account.append(drafts, plain("A draft"), ["\\Draft", "\\Seen"])
        async with account.open("Drafts") as folder:
            (row,) = await folder.newest(1)
            assert filed == (folder.uid_validity, row.uid)
            assert row.flags == {"\\Draft", "\\Seen"}


def told(commands: Iterable[bytes]) -> list[bytes]:
    return [command.partition(b" ")[2] for command in commands]


async def test_a_folder_that_opens_for_reading_alone_is_a_conflict() -> None:
    def answer(command: bytes) -> Answer:
        lines, _ = opened(1)
        return (lines, b"OK [READ-ONLY] opened") if command.startswith(b"SELECT") else ([], OK)

    async with account_at(serving(answer)) as (account, _):
        with pytest.raises(GatewayError, match="read-only") as refused:
            async with account.changing("INBOX"):
                pass
        assert refused.value.code is Code.CONFLICT


@pytest.mark.parametrize("code", ["READ-ONLY", "NOPERM", "OVERQUOTA"])
async def test_a_refusal_with_a_reason_is_a_conflict_that_tells_it(code: str) -> None:
    def answer(command: bytes) -> Answer:
        if command.startswith(b"SELECT"):
            return opened(1)
        return [], b"NO [%s] foreign words" % code.encode() if command.startswith(b"UID STORE") else OK

    async with account_at(serving(answer)) as (account, _):
        with pytest.raises(GatewayError) as refused:
            await mark(account, 3)
        assert refused.value.code is Code.CONFLICT
        assert "foreign words" not in refused.value.message


async def test_flags_that_a_server_does_not_tell_after_a_change_are_asked_for() -> None:
    """It is one that tells others of changes (IDLE), but answers a STORE with nothing."""
    flags = b""

    def answer(command: bytes) -> Answer:
        nonlocal flags
        if command.startswith((b"SELECT", b"EXAMINE")):
            return opened(1)
        if command.startswith(b"UID STORE"):
            flags = b"\\Seen"
        if command.startswith(b"UID FETCH"):
            return [b"* 1 FETCH (UID 3 FLAGS (%s))" % flags], OK
        return [], OK

    async with account_at(serving(answer, b"IMAP4rev1 IDLE")) as (account, peer):
        async with account.changing("INBOX") as folder:
            assert (await folder.marks([3]))[3].flags == frozenset()
        assert await mark(account, 3) == {3: True}
        async with account.open("INBOX") as reading:
            assert (await reading.marks([3]))[3].flags == {"\\Seen"}
        assert told(peer.heard)[-1] == b"NOOP", "and then they are known"
