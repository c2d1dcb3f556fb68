"""What a token is told under its policy, and under the same policy with restrictions: never more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from postroom.base.caller import Caller, Toolset
from postroom.base.levels import Access, Outcome
from postroom.operations.operation import Surface
from tests.noninterference.relations import the_same_twice
from tests.noninterference.running import Loop, houses
from tests.noninterference.standing import House, caller, numbered_ids

Answers = dict[str, Any]
_WORD = re.compile(r"\w+")
_MARK = re.compile(r"\[(?:redacted|withheld)[^\]]*\]|<<<MAIL-\w+|MAIL-\w+>>>")
_OURS = frozenset(
    {"signals", "truncated", "truncated_hint", "left_out", "withheld", "quoted_left_out", "error", "complete"}
)
"""Fields by which the gateway says that it keeps something back, which it may well say more often."""
_SENT_TO = ("bo@friends.example", "ed@corp.example", "moss@clinic.example")


@dataclass(frozen=True)
class Views:
    """Everything that one caller can be told of one world, call by call."""

    answers: Answers

    def beyond(self, other: Views) -> Iterator[str]:
        """What is told here and not there."""
        for asked, answer in self.answers.items():
            if "error" in answer:
                continue
            if "error" in other.answers.get(asked, {"error": None}):
                yield f"{asked} is answered, and was not: {answer}"
            else:
                yield from _beyond(answer, other.answers[asked], asked)


def both_views(loop: Loop, profile: str, restrict: tuple[str, ...], slots: tuple[int, ...]) -> tuple[Views, Views]:
    """What is told without these restrictions, and with them."""

    async def run(begin: Any) -> tuple[Views, Views]:
        pair = the_same_twice(profile, slots)
        async with houses(loop.grounds, pair) as (free, bound):
            begin(0)
            wide = await _asked(free, profile, ())
            begin(0)
            return wide, await _asked(bound, profile, restrict)

    with numbered_ids() as begin:
        return loop.run(run(begin))


async def _asked(house: House, profile: str, restrict: tuple[str, ...]) -> Views:
    """First all that can be read, so that what is done changes none of it."""
    asking = _Asking(house, caller(profile, Toolset.MAILBOX, restrict=restrict), {})
    relay = replace(asking, who=caller(profile, Toolset.RELAY, restrict=restrict))
    folders = [folder["name"] for folder in (await relay.ask("list_folders"))["folders"]]
    await asking.ask("mailbox_stats")
    await asking.ask("list_drafts", limit=100)
    rows = {folder: await _read(asking, folder) for folder in folders}
    for folder, uids in rows.items():
        for uid in uids:
            await asking.act("mark_seen", folder=folder, uid=uid)
            await asking.act("set_labels", folder=folder, uids=[uid], add=["agent/done"])
            await asking.act("reply", folder=folder, uid=uid, body_text="Yes.")
    for address in _SENT_TO:
        await asking.act("send", to=[address], subject="plan", body_text=f"Hello {address[:2]}.")
        await asking.act("create_draft", to=[address], subject="plan", body_text="Hello.")
    await asking.act("create_folder", name="Agent/new")
    for folder, uids in rows.items():
        for uid in uids[:1]:
            await asking.act("move_messages", folder=folder, uids=[uid], destination="Archive")
        for uid in uids[1:2]:
            await asking.act("delete_message", folder=folder, uid=uid)
    return Views(asking.answers)


async def _read(asking: _Asking, folder: str) -> list[str]:
    listed = await asking.ask("list_messages", folder=folder, limit=100)
    uids = [row["uid"] for row in listed.get("messages", ())]
    for uid in uids:
        told = await asking.ask("get_message", folder=folder, uid=uid, headers=True, reader=True, links=True)
        for file in told.get("attachments", ()):
            await asking.ask("get_attachment", folder=folder, uid=uid, attachment_id=file["id"])
        await asking.ask("get_thread", folder=folder, uid=uid, view="messages")
        await asking.ask("get_raw_message", folder=folder, uid=uid)
    return uids


@dataclass(frozen=True)
class _Asking:
    house: House
    who: Caller
    answers: Answers

    async def ask(self, tool: str, **arguments: Any) -> Any:
        told = (await self.house.ask(tool, arguments, self.who, Surface.HTTP)).values
        self.answers[f"{tool} {arguments}"] = told
        return told

    async def act(self, tool: str, **arguments: Any) -> None:
        """Of what is done counts how it ended: ids depend on what was done before."""
        told = (await self.house.ask(tool, arguments, self.who, Surface.HTTP)).values
        failed = "error" in told or any(not one["ok"] for one in told.get("results", ()))
        ended = {"error": None} if failed else {"outcome": told.get("outcome", "accepted")}
        self.answers[f"{tool} {arguments}"] = ended


def _beyond(small: Any, large: Any, where: str) -> Iterator[str]:
    """What of a value is not in another: of texts words or beginnings of them, of lists entries, of numbers more."""
    if small in (None, "", [], {}, False) or small == large:
        return
    if isinstance(small, dict) and isinstance(large, dict):
        for name, value in small.items():
            yield from _field(name, value, large.get(name), f"{where}.{name}")
    elif isinstance(small, list) and isinstance(large, list):
        yield from _entries(small, large, where)
    elif isinstance(small, str) and isinstance(large, str):
        words = _WORD.findall(_MARK.sub("", small))
        yield from (f"{where}: {word}" for word in words if not re.search(rf"\b{word}", large))
    elif not (isinstance(small, int) and isinstance(large, int) and small < large):
        yield f"{where}: {small!r} is not of {large!r}"


_ENDS = {"accepted": Outcome.SEND, "drafted": Outcome.DRAFT}


def _field(name: str, small: Any, large: Any, where: str) -> Iterator[str]:
    if name == "access":
        yield from _ranked(Access[small.upper()], Access[large.upper()], where)
    elif name == "outcome":
        yield from _ranked(_ENDS[small], _ENDS[large], where)
    elif name not in _OURS:
        yield from _beyond(small, large, where)


def _ranked(small: int, large: int, where: str) -> Iterator[str]:
    if small > large:
        yield f"{where}: {small!r} is above {large!r}"


def _entries(small: list[Any], large: list[Any], where: str) -> Iterator[str]:
    """Entries with a uid or name are compared with theirs, any others with those in which nothing of them is new."""
    named = {_name(one): one for one in large if _name(one)}
    for place, one in enumerate(small):
        candidates = [named[_name(one)]] if _name(one) in named else ([] if _name(one) else large)
        if not any(not list(_beyond(one, other, "")) for other in candidates):
            why = [line for other in candidates for line in _beyond(one, other, f"{where}[{place}]")]
            yield f"{where}[{place}] is new: {one!r}" if not why else why[0]


def _name(one: Any) -> Any:
    return (one.get("uid") or one.get("id") or one.get("name")) if isinstance(one, dict) else None
