"""Whatever is moved, deleted, marked and made, and wherever connections break: no message is ever in neither place."""

from __future__ import annotations

import asyncio
import imaplib
import itertools
import re
from collections.abc import Callable, Collection, Coroutine, Mapping
from contextlib import AsyncExitStack
from typing import Any, ClassVar, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from postroom.base.backoff import LONGEST_REST
from postroom.base.clock import HandClock
from postroom.base.errors import GatewayError
from postroom.mailbox.organizing import Organizer
from postroom.mailbox.outcomes import Results
from postroom.mailbox.uids import read_uid
from tests.servers.dovecot import PASSWORD, POORER, Dovecot
from tests.servers.inprocess import directory_of, reader_of
from tests.servers.mail import plain
from tests.servers.proxy import proxied

T = TypeVar("T")
Subjects = dict[str, str]
"""Subjects of a folder's messages, by uid."""
FOLDERS = ("INBOX", "One", "Two", "Trash")
FOLDER = st.sampled_from(FOLDERS)
NUMBERS = st.sets(st.integers(0, 9), min_size=1, max_size=4)
LEFT = st.none() | st.integers(0, 9) | st.integers(0, 20)
"""Pieces that pass before connections are cut."""
_users = itertools.count()


class Moves(RuleBasedStateMachine):
    """A mailbox behind a proxy, the product's door to it, and another client at its back door."""

    dovecot: ClassVar[Dovecot]

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.clock = HandClock()
        self.delivered = 0
        self.owed: set[str] = set()
        """Subjects that must be in one of the folders."""

    @initialize(host=st.sampled_from(["127.0.0.1", *POORER]), count=st.integers(3, 8))
    def opens(self, host: str, count: int) -> None:
        user = f"moves-{next(_users)}"
        self.other = imaplib.IMAP4("127.0.0.1", self.dovecot.port, timeout=20)
        self.other.login(user, PASSWORD)
        for folder in ("One", "Two"):
            assert self.other.create(folder)[0] == "OK"
        self.proxy = self.run(self.stack.enter_async_context(proxied(self.dovecot.port, host)))
        self.directory = directory_of({"work": self.proxy.port}, self.clock, users={"work": user})
        self.stack.callback(self.directory.close)
        self.can_erase = host != list(POORER)[-1]
        self.mail_arrives("INBOX", count)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    # -- what the caller does

    @rule(source=FOLDER, there=FOLDER, numbers=NUMBERS, left=LEFT)
    def the_caller_moves(self, source: str, there: str, numbers: set[int], left: int | None) -> None:
        source = self.filled(source)
        chosen = self.chosen(source, numbers)
        results = self.attempt(left, lambda organizer: organizer.move(source, asked(chosen), there))
        if source != there:
            self.judge_moved(results, chosen, there)

    @rule(source=FOLDER, numbers=NUMBERS, left=LEFT)
    def the_caller_deletes(self, source: str, numbers: set[int], left: int | None) -> None:
        source = self.filled(source)
        chosen = self.chosen(source, numbers)
        results = self.attempt(left, lambda organizer: organizer.delete(source, asked(chosen), permanent=False))
        if source != "Trash":
            self.judge_moved(results, chosen, "Trash")

    @rule(source=st.sampled_from(["Trash", "Trash", "INBOX"]), numbers=NUMBERS, left=LEFT)
    def the_caller_erases(self, source: str, numbers: set[int], left: int | None) -> None:
        """Of what may be erased nothing is owed, unless the caller was told that it is not."""
        chosen = self.chosen(source, numbers)
        others = self.subjects(source).keys() - chosen.keys()
        results = self.attempt(left, lambda organizer: organizer.delete(source, asked(chosen), permanent=True))
        if source != "Trash" or not self.can_erase:
            assert results is None or not results.results
            return
        left_over = self.subjects(source)
        assert others <= left_over.keys()
        self.owed -= set(chosen.values()) - self.found()
        for result in results.results if results else ():
            assert result.error is not None or result.uid not in left_over

    @rule(source=FOLDER, numbers=NUMBERS, theirs=FOLDER, ours=FOLDER, left=LEFT)
    def two_callers_move_the_same(
        self, source: str, numbers: set[int], theirs: str, ours: str, left: int | None
    ) -> None:
        source = self.filled(source)
        chosen = asked(self.chosen(source, numbers))

        async def both(organizer: Organizer) -> None:
            await asyncio.gather(
                organizer.move(source, chosen, theirs), organizer.move(source, chosen, ours), return_exceptions=True
            )

        self.attempt(left, both)

    @rule(folder=FOLDER, numbers=NUMBERS, add=st.booleans(), left=LEFT)
    def the_caller_labels(self, folder: str, numbers: set[int], add: bool, left: int | None) -> None:
        folder = self.filled(folder)
        chosen, label = asked(self.chosen(folder, numbers)), ["todo"]
        changes = (label, []) if add else ([], label)
        results = self.attempt(left, lambda organizer: organizer.label(folder, chosen, *changes))
        labelled = self.having(folder, "KEYWORD todo")
        for result in results.results if results else ():
            assert result.error is not None or (result.uid in labelled) is add

    @rule(folder=FOLDER, numbers=NUMBERS, seen=st.booleans(), left=LEFT)
    def the_caller_marks(self, folder: str, numbers: set[int], seen: bool, left: int | None) -> None:
        folder = self.filled(folder)
        chosen = asked(self.chosen(folder, numbers))
        results = self.attempt(left, lambda organizer: organizer.mark_seen(folder, chosen, seen=seen))
        marked = self.having(folder, "SEEN")
        for result in results.results if results else ():
            assert result.error is not None or (result.uid in marked) is seen

    @rule(name=st.sampled_from(["One", "Three", "One/Deeper"]), left=LEFT)
    def the_caller_makes_a_folder(self, name: str, left: int | None) -> None:
        view = self.directory.view(reader_of("work"), "work")
        made = self.attempt(left, lambda _: view.create_folder(name))
        if made is not None:
            assert self.other.select(f'"{name}"', readonly=True)[0] == "OK"

    # -- what others do

    @rule(folder=FOLDER, count=st.integers(1, 3))
    def mail_arrives(self, folder: str, count: int) -> None:
        for _ in range(count):
            subject = f"Message {self.delivered}"
            assert self.other.append(folder, "", "", plain(subject))[0] == "OK"
            self.delivered += 1
            self.owed.add(subject)

    @rule(folder=FOLDER, numbers=NUMBERS)
    def another_client_marks_as_deleted(self, folder: str, numbers: set[int]) -> None:
        """And does not expunge, so nobody else may."""
        folder = self.filled(folder)
        self.on_some(folder, numbers, "STORE", "+FLAGS", r"(\Deleted)")

    @rule(folder=FOLDER, there=FOLDER, numbers=NUMBERS)
    def another_client_moves(self, folder: str, there: str, numbers: set[int]) -> None:
        folder = self.filled(folder)
        if folder != there:
            self.on_some(folder, numbers, "MOVE", there)

    @rule()
    def connections_are_cut(self) -> None:
        async def cut() -> None:
            self.proxy.cut()
            await self.proxy.ended()

        self.run(cut())

    # -- what must be so

    @invariant()
    def every_message_is_somewhere(self) -> None:
        if self.delivered:
            # Of a change whose connection was cut the server may be in the middle, and we look at one folder at a time.
            assert any(self.owed <= self.found() for _ in range(20)), "no message is in neither place"

    def found(self) -> set[str]:
        return {subject for folder in FOLDERS for subject in self.subjects(folder).values()}

    def judge_moved(self, results: Results | None, chosen: Subjects, there: str) -> None:
        """What the caller was told of each is true."""
        arrived = self.subjects(there) if results else {}
        for result in results.results if results else ():
            if result.error is None:
                assert chosen[result.uid] in arrived.values()
            if result.new_uid is not None:
                assert arrived[result.new_uid] == chosen[result.uid]

    # -- how it is done

    def attempt(self, left: int | None, change: Callable[[Organizer], Coroutine[Any, Any, T]]) -> T | None:
        """What the change returns, or None if it failed as a whole."""
        self.proxy.left = left
        try:
            return self.run(change(self.directory.view(reader_of("work"), "work")._organizer))
        except GatewayError:
            return None
        finally:
            self.proxy.left = None
            self.clock.wind(LONGEST_REST * 2)

    def subjects(self, folder: str) -> Subjects:
        validity = self.select(folder)
        _, told = self.other.uid("FETCH", "1:*", "(BODY.PEEK[HEADER.FIELDS (SUBJECT)])")
        found = {}
        for one in told:
            if isinstance(one, tuple) and (uid := re.search(rb"UID (\d+)", one[0])):
                found[f"{int(uid[1])}-{validity}"] = one[1].decode().partition(":")[2].strip()
        return found

    def having(self, folder: str, what: str) -> set[str]:
        validity = self.select(folder)
        return {f"{int(uid)}-{validity}" for uid in self.other.uid("SEARCH", what)[1][0].split()}

    def select(self, folder: str) -> int:
        """The folder's numbering, with it open."""
        assert self.other.select(folder)[0] == "OK"
        return int(self.other.response("UIDVALIDITY")[1][0] or 0)

    def filled(self, folder: str) -> str:
        """This folder, or the first with mail in it."""
        return next((one for one in (folder, *FOLDERS) if self.subjects(one)), folder)

    def chosen(self, folder: str, numbers: Collection[int]) -> Subjects:
        there = list(self.subjects(folder).items())
        return dict(there[number % len(there)] for number in numbers) if there else {}

    def on_some(self, folder: str, numbers: Collection[int], *command: str) -> None:
        uids = [str(read_uid(uid)[0]) for uid in self.chosen(folder, numbers)]
        if uids:
            assert self.other.uid(command[0], ",".join(uids), *command[1:])[0] == "OK"

    def teardown(self) -> None:
        if self.delivered:
            self.other.logout()
        self.run(self.stack.aclose())
        self.runner.close()


def asked(subjects: Mapping[str, str]) -> dict[str, tuple[int, int | None]]:
    return {uid: read_uid(uid) for uid in subjects}


def test_no_message_is_ever_in_neither_place(dovecot: Dovecot) -> None:
    Moves.dovecot = dovecot
    run_state_machine_as_test(
        Moves,
        settings=settings(
            max_examples=40, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
