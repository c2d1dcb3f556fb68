"""Putting mail in order: seen, labels, folders, Trash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from postroom.base.caller import Scope
from postroom.base.errors import Code, GatewayError
from postroom.mailbox.outcomes import Result, Results
from postroom.operations.access import Access
from postroom.operations.answer import Answer
from postroom.operations.ask import Boolean, FolderAsk, MailboxAsk, Uid, Uids, Words
from postroom.operations.operation import CHANGES, REMOVES, Call, Surface, operation

_ORGANIZE = Access(Scope.ORGANIZE)
_MANY = Field(min_length=1, max_length=500)
_LABELS = Field(min_length=1, max_length=50)


class OneOrMany(FolderAsk):
    """Arguments of an operation on one message or on several."""

    uid: Uid | None = None
    uids: Annotated[Uids | None, _MANY] = None

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        if (self.uid is None) == (self.uids is None):
            raise ValueError("give either uid or uids")
        return self

    @property
    def asked(self) -> list[str]:
        """Each once, in their order."""
        return list(dict.fromkeys(self.uids if self.uids is not None else [self.uid or ""]))


class Many(FolderAsk):
    """Arguments of an operation on several messages."""

    uids: Annotated[Uids, _MANY]

    @property
    def asked(self) -> list[str]:
        """Each once, in their order."""
        return list(dict.fromkeys(self.uids))


class ResultEntry(Answer):
    """`new_uid` is the message's id where it is now, if the server tells it."""

    uid: str
    ok: bool
    error: dict[str, Any] | None
    new_uid: str | None


class Changed(Answer):
    """Each message's fate, for programs."""

    results: list[ResultEntry]
    note: str = ""
    """Set only when there is something about all of them that was not asked for."""

    @property
    def entries(self) -> int:
        return self.own_entries


class Failure(Answer):
    """Messages that failed for the same reason."""

    uids: list[str]
    error: dict[str, Any]


class Count(Answer):
    """The same for models: how many are as they should be, the failures, and new ids by the old ones."""

    done: int
    failed: list[Failure]
    new_uids: dict[str, str] = Field(default_factory=dict)
    note: str = ""
    """Set only when there is something about all of them that was not asked for."""

    @property
    def entries(self) -> int:
        return self.own_entries


class MarkSeen(OneOrMany):
    seen: Boolean = True
    """false marks them as unseen."""


class SetLabels(Many):
    add: Annotated[Words | None, _LABELS] = None
    remove: Annotated[Words | None, _LABELS] = None


class MoveMessages(Many):
    destination: Annotated[str, Field(description="An existing folder")]


class DeleteMessage(OneOrMany):
    permanent: Annotated[Boolean, Field(description="Erase for good; in Trash only")] = False


class CreateFolder(MailboxAsk):
    name: Annotated[str, Field(description="Levels parted by /")]


class Created(Answer):
    """`name` is the folder's as list_folders tells it; `created` is false if it existed."""

    created: bool
    name: str

    @property
    def entries(self) -> int:
        return self.own_entries


@operation(
    "DELETE /mailboxes/{mailbox}/messages/{uid}",
    "POST /mailboxes/{mailbox}/messages/delete",
    title="Delete messages",
    effect=REMOVES,
    access=Access(Scope.ORGANIZE, also={"permanent": Scope.DELETE}),
)
async def delete_message(call: Call, ask: DeleteMessage) -> Changed | Count:
    """Move messages to Trash."""
    view = call.mailbox(ask.mailbox)
    view.check_uids(ask.asked, whole=True, several=ask.uids is not None)
    await call.spend_changes(view, len(ask.asked))
    await call.spend_moves(len(ask.asked))
    call.note(permanent=ask.permanent)
    return _told(call, ask.uids, await view.delete(ask.folder, ask.asked, permanent=ask.permanent))


@operation(
    "POST /mailboxes/{mailbox}/messages/{uid}/seen",
    "POST /mailboxes/{mailbox}/messages/seen",
    title="Mark as seen",
    effect=CHANGES,
    access=_ORGANIZE,
)
async def mark_seen(call: Call, ask: MarkSeen) -> Changed | Count:
    """Mark messages as seen, or with seen: false as unseen."""
    view = call.mailbox(ask.mailbox)
    view.check_uids(ask.asked, whole=False, several=ask.uids is not None)
    await call.spend_changes(view, len(ask.asked))
    return _told(call, ask.uids, await view.mark_seen(ask.folder, ask.asked, seen=ask.seen))


@operation("POST /mailboxes/{mailbox}/messages/labels", title="Set labels", effect=CHANGES, access=_ORGANIZE)
async def set_labels(call: Call, ask: SetLabels) -> Changed | Count:
    """Add or remove labels (IMAP keywords; at Gmail its labels)."""
    view = call.mailbox(ask.mailbox)
    view.check_uids(ask.asked, whole=False)
    await call.spend_changes(view, len(ask.asked))
    return _told(call, ask.uids, await view.label(ask.folder, ask.asked, ask.add or (), ask.remove or ()))


@operation("POST /mailboxes/{mailbox}/messages/move", title="Move messages", effect=CHANGES, access=_ORGANIZE)
async def move_messages(call: Call, ask: MoveMessages) -> Changed | Count:
    """Move messages to another folder; they get new uids there."""
    view = call.mailbox(ask.mailbox)
    view.check_uids(ask.asked, whole=True)
    await call.spend_changes(view, len(ask.asked))
    await call.spend_moves(len(ask.asked))
    return _told(call, ask.uids, await view.move(ask.folder, ask.asked, ask.destination))


@operation("POST /mailboxes/{mailbox}/folders", title="Create a folder", effect=CHANGES, access=_ORGANIZE)
async def create_folder(call: Call, ask: CreateFolder) -> Created:
    """Create a folder; created is false if it existed."""
    name, created = await call.mailbox(ask.mailbox).create_folder(ask.name)
    return Created(created=created, name=name)


def _told(call: Call, uids: Sequence[str] | None, results: Results) -> Changed | Count:
    """The answer, or the failure that is the whole call's. Mail servers' failures are logged."""
    errors = [result.error for result in results.results if result.error is not None]
    if errors and (uids is None or _is_of_all(errors, len(results.results))):
        raise errors[0]
    call.note(done=len(results.results) - len(errors), failed=len(errors))
    for error in {error.message: error for error in errors}.values():
        call.failed(error)
    note = {"note": results.note} if results.note else {}
    if call.surface is Surface.HTTP:
        return Changed(results=[_entry(result) for result in results.results], **note)
    return _counted(results.results, note)


def _is_of_all(errors: Sequence[GatewayError], messages: int) -> bool:
    """Whether all failed in one way that lies in none of them, such as a server that refuses the whole command."""
    told = {error.message for error in errors}
    return len(errors) == messages and len(told) == 1 and errors[0].details.get("argument") != "uid"


def _entry(result: Result) -> ResultEntry:
    error = result.error.body()["error"] if result.error else None
    return ResultEntry(uid=result.uid, ok=error is None, error=error, new_uid=result.new_uid)


def _counted(results: Sequence[Result], note: Mapping[str, str]) -> Count:
    failures: dict[tuple[Code, str], tuple[GatewayError, list[str]]] = {}
    for result in results:
        if result.error is not None:
            key = result.error.code, result.error.message
            failures.setdefault(key, (result.error, []))[1].append(result.uid)
    failed = [Failure(uids=uids, error=error.body()["error"]) for error, uids in failures.values()]
    new_uids = {result.uid: result.new_uid for result in results if result.new_uid}
    return Count(
        done=sum(result.error is None for result in results),
        failed=failed,
        **({"new_uids": new_uids} if new_uids else {}),
        **note,
    )
