"""Marking, labelling, moving and deleting for one caller: admitted one by one, changed together, told one by one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from postroom.base.errors import Code, GatewayError, invalid
from postroom.mail.model import Act, Admitted
from postroom.mailbox.changing import ChangingFolder, has_any, has_flags
from postroom.mailbox.folders import Folder
from postroom.mailbox.labelling import Labelling, plan_labels
from postroom.mailbox.moving import Moved
from postroom.mailbox.outcomes import LEFT_MARKED, Journey, Result, Results
from postroom.mailbox.session import Marks
from postroom.mailbox.sight import Sight
from postroom.mailbox.uids import Asked, changed, gone, numberings

T = TypeVar("T")
_SEEN, _ANSWERED, _DELETED = "\\Seen", "\\Answered", "\\Deleted"


@dataclass(slots=True)
class _Work:
    """The messages of one call: which may be acted on, and what is wrong with the others, as `told` tells it."""

    told: Callable[[GatewayError], GatewayError]
    stamps: list[Admitted] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    errors: dict[str, GatewayError] = field(default_factory=dict)

    def results(self, asked: Asked, result: Callable[[str, int], Result], note: str | None = None) -> Results:
        """Each one's, in the order they were asked for."""
        found = [
            Result(uid, self.errors[uid]) if uid in self.errors else result(uid, self.numbers[uid]) for uid in asked
        ]
        return Results(tuple(replace(one, error=self.told(one.error)) if one.error else one for one in found), note)


class Organizer:
    """Changes mail in one mailbox. Every method raises for what concerns all messages, and tells of each the rest."""

    def __init__(self, sight: Sight) -> None:
        self._sight = sight

    async def mark_seen(self, folder: str, asked: Asked, *, seen: bool) -> Results:
        """Set or clear \\Seen."""
        return await self.flag(folder, asked, [_SEEN], wanted=seen)

    async def mark_answered(self, folder: str, asked: Asked) -> Results:
        """Set \\Answered."""
        return await self.flag(folder, asked, [_ANSWERED], wanted=True)

    async def flag(self, folder: str, asked: Asked, flags: Sequence[str], *, wanted: bool) -> Results:
        """Set or clear flags of the system."""

        async def attempt(proved: bool) -> Results:
            async with self._sight.changing(folder, proved=proved) as opened:
                for flag in flags:
                    if not opened.keeps(flag):
                        raise _not_kept(flag)
                work = await self._admitted(opened, asked, Act.FLAG)
                has = has_flags if wanted else has_any
                marks = await opened.flag(work.stamps, "+" if wanted else "-", flags) if work.stamps else {}
                return work.results(
                    asked, lambda uid, number: Result(uid, _unfit(marks.get(number), has, wanted, flags))
                )

        return await _twice(attempt)

    async def label(self, folder: str, asked: Asked, add: Sequence[str], remove: Sequence[str]) -> Results:
        """Give and take labels, which are keywords, or Gmail's."""
        if not add and not remove:
            raise invalid("add", "name a label here or in remove")

        async def attempt(proved: bool) -> Results:
            async with self._sight.changing(folder, proved=proved) as opened:
                plan = plan_labels(opened, add, remove)
                work = await self._admitted(opened, asked, Act.LABEL)
                errors = await _labelled(opened, work.stamps, plan) if work.stamps else {}
                return work.results(asked, lambda uid, number: Result(uid, errors[number]))

        return await _twice(attempt)

    async def move(self, folder: str, asked: Asked, destination: str) -> Results:
        """Move to an existing folder."""
        there = await self._sight.folder(destination, argument="destination")
        async with self._sight.changing(folder) as opened:
            if opened.raw == there.raw:
                raise invalid("destination", "is the folder that the messages are in")
            return await self._moved(opened, asked, there)

    async def delete(self, folder: str, asked: Asked, *, permanent: bool) -> Results:
        """Move to Trash; or erase for good, in Trash alone."""
        trash = await self._sight.trash()
        if trash is None:
            raise _no_trash()
        async with self._sight.changing(folder) as opened:
            in_trash = opened.raw == trash.raw
            if permanent:
                _check_erasable(opened, trash, in_trash)
                return await self._erased(opened, asked)
            if in_trash:
                raise _in_trash_already(trash)
            return await self._moved(opened, asked, trash, trashes=True)

    async def erase(self, folder: str, asked: Asked) -> Results:
        """Erase for good in any folder, for what lies elsewhere by now; marked as deleted where no more can be done."""
        async with self._sight.changing(folder) as opened:
            if opened.can_erase:
                return await self._erased(opened, asked)
            work = await self._admitted(opened, asked, Act.ERASE)
            marks = await opened.mark_deleted(work.stamps) if work.stamps else {}
            note = LEFT_MARKED.format(here=repr(opened.name)) if marks else None
            return work.results(
                asked, lambda uid, number: Result(uid, _unfit(marks.get(number), has_flags, True, [_DELETED])), note
            )

    async def _moved(self, opened: ChangingFolder, asked: Asked, there: Folder, *, trashes: bool = False) -> Results:
        work = await self._admitted(opened, asked, Act.MOVE)
        moved = await opened.move(work.stamps, there) if work.stamps else Moved({})
        if trashes and moved.uid_validity is not None:
            await self._sight.note_trashed(moved.uid_validity, moved.new_uids.values())
        journey = Journey(self._sight.account.name, opened.name, there, moved, self._sight.naming)
        return work.results(asked, journey.result, journey.note)

    async def _erased(self, opened: ChangingFolder, asked: Asked) -> Results:
        work = await self._admitted(opened, asked, Act.ERASE)
        erased = await opened.erase(work.stamps) if work.stamps else Moved({})
        journey = Journey(self._sight.account.name, opened.name, None, erased, self._sight.naming)
        return work.results(asked, journey.result)

    async def _admitted(self, opened: ChangingFolder, asked: Asked, act: Act) -> _Work:
        """Those of this numbering that the caller may act on; the others with what is wrong with them."""
        for numbering in numberings(asked):
            await opened.has_numbering(numbering)
        work = _Work(self._sight.told)
        for uid, (number, validity) in asked.items():
            if validity in (None, opened.uid_validity):
                work.numbers[uid] = number
            else:
                work.errors[uid] = changed()
        strangers = await opened.strangers(work.numbers.values()) if act in (Act.MOVE, Act.ERASE) else ()
        leave = await self._sight.admit(opened, work.numbers.values(), act)
        for uid, number in work.numbers.items():
            if number not in leave:
                work.errors[uid] = gone()
            elif number in strangers:
                work.errors[uid] = changed()
            else:
                work.stamps.append(leave[number])
        return work


async def _labelled(
    opened: ChangingFolder, stamps: Sequence[Admitted], plan: Labelling
) -> Mapping[int, GatewayError | None]:
    """What went wrong, by UID; None for messages that are as they should be."""
    uids = {stamp.uid for stamp in stamps}
    if not plan.gmail:
        return await _with_keywords(opened, stamps, plan)
    # Whoever loses the label of the open folder leaves it, so that afterwards nobody can tell.
    there = await opened.marks(uids)
    await _with_keywords(opened, stamps, plan)
    for sign, labels in plan.gmail:
        await opened.label_at_gmail(stamps, sign, labels)
    return {uid: None if uid in there else gone() for uid in uids}


async def _with_keywords(
    opened: ChangingFolder, stamps: Sequence[Admitted], plan: Labelling
) -> Mapping[int, GatewayError | None]:
    marks: Mapping[int, Marks] = {}
    for sign, keywords in plan.keywords:
        marks = await opened.label(stamps, sign, keywords)
    if not plan.keywords:
        marks = await opened.marks({stamp.uid for stamp in stamps})
    wanted = dict(plan.keywords)

    def error(uid: int) -> GatewayError | None:
        return _unfit(marks.get(uid), has_flags, True, wanted.get("+", ())) or (
            _unfit(marks.get(uid), has_any, False, wanted.get("-", ())) if "-" in wanted else None
        )

    return {stamp.uid: error(stamp.uid) for stamp in stamps}


def _unfit(
    marks: Marks | None, have: Callable[[Marks, Sequence[str]], bool], wanted: bool, flags: Sequence[str]
) -> GatewayError | None:
    """What is wrong with a message after a change that should have led to this."""
    if marks is None:
        return gone()
    return None if have(marks, flags) is wanted else _otherwise(flags[0])


async def _twice(attempt: Callable[[bool], Awaitable[T]]) -> T:
    """First over whatever connection is kept; if that turns out to be lost, over one that is known to be there.

    Only for what may be done twice.
    """
    try:
        return await attempt(False)
    except GatewayError as error:
        if error.details.get("reason") != "lost":
            raise
    return await attempt(True)


def _otherwise(flag: str) -> GatewayError:
    message = (
        f"{flag} is not as it was asked for: the server does not keep it, or another client changed it at the same "
        "time. List the message before you try again."
    )
    return GatewayError(Code.CONFLICT, message, reason="not_kept")


def _not_kept(flag: str) -> GatewayError:
    message = f"The server does not keep {flag} in this folder; it stays as it was."
    return GatewayError(Code.CONFLICT, message, reason="not_kept")


def _no_trash() -> GatewayError:
    return GatewayError(
        Code.CONFLICT,
        "This mailbox has no Trash, and nothing is erased without one. Make a folder named Trash with create_folder, "
        "or have the operator name one in folders.trash.",
        reason="no_trash",
    )


def _in_trash_already(trash: Folder) -> GatewayError:
    return GatewayError(
        Code.CONFLICT,
        f"{trash.name!r} is the Trash: these messages are deleted already. permanent: true erases them for good "
        "(scope delete); move_messages brings them back.",
        argument="folder",
        reason="in_trash",
    )


def _check_erasable(opened: ChangingFolder, trash: Folder, in_trash: bool) -> None:
    if not in_trash:
        raise GatewayError(
            Code.CONFLICT,
            f"Only what lies in Trash ({trash.name!r}) can be erased. Delete without permanent first, then erase there "
            "by the new uid.",
            argument="permanent",
            reason="not_in_trash",
        )
    if not opened.can_erase:
        raise GatewayError(
            Code.CONFLICT,
            "This server cannot erase single messages (it lacks UIDPLUS), only all that anybody has marked; so nothing "
            "is erased. Empty Trash with another client.",
            argument="permanent",
            reason="no_uidplus",
        )
