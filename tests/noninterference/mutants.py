"""Leaks planted on purpose, to measure the oracle: each is a patch of the product that some property must kill."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from postroom.base.caller import Toolset
from postroom.events.arrivals import Arrivals
from postroom.mailbox import bound, following, messages, view, visibleconversations
from postroom.mailbox.bound import Bound
from postroom.mailbox.drafts import Drafts
from postroom.mailbox.sealeduids import SealedNaming
from postroom.mailbox.sights import Sights
from postroom.policy import visibility
from postroom.policy.actionrules import Actions
from tests.noninterference import leaks
from tests.noninterference.relations import alone_and_in_company, under_other_numbers
from tests.noninterference.running import Example, Loop, Run

Patch = tuple[object, str, Any]


@dataclass(frozen=True)
class Mutant:
    """`what` is told then; `profiles`, `toolset` and `tools` narrow the examples to those that can show it."""

    name: str
    what: str
    patches: tuple[Patch, ...]
    profiles: tuple[str, ...] = ()
    toolset: Toolset | None = None
    tools: tuple[str, ...] = ()
    runs: Callable[[Loop, Example], Run] = Loop.both
    """The property that kills it."""

    @contextmanager
    def planted(self) -> Iterator[None]:
        with ExitStack() as stack:
            for owner, name, value in self.patches:
                stack.enter_context(mock.patch.object(owner, name, value))
            yield


def _mutant(name: str, what: str, *patches: Patch, **where: Any) -> Mutant:
    return Mutant(name, what, patches, **where)


_MAILBOX = Toolset.MAILBOX
_COUNTED = ("heads", "texts")
_PAGED = {"toolset": _MAILBOX, "tools": ("list_messages",)}
MUTANTS: tuple[Mutant, ...] = (
    _mutant(
        "errtext", "names of hidden folders in the error about a missing one", (Bound, "_named", leaks.told_by_account)
    ),
    _mutant(
        "forbidden", "another error for a hidden message than for a missing one", (Bound, "ready", leaks.forbidding)
    ),
    _mutant("folders", "hidden folders in the list", (Bound, "folders", leaks.all_folders)),
    _mutant(
        "total",
        "how many messages there are, hidden ones too",
        (Bound, "_counts", leaks.total),
        toolset=_MAILBOX,
        profiles=_COUNTED,
    ),
    _mutant(
        "unseen",
        "how many are not seen, hidden ones too",
        (Bound, "_counts", leaks.unseen),
        toolset=_MAILBOX,
        profiles=_COUNTED,
    ),
    _mutant(
        "pagefill", "pages filled before hidden rows are taken out", (view, "read_page", leaks.filled_before), **_PAGED
    ),
    _mutant("cursor", "a cursor because hidden mail follows", (view, "read_page", leaks.cursor_to_hidden), **_PAGED),
    _mutant(
        "since",
        "a checkpoint that moves over hidden mail",
        (following, "_newest_uid", leaks.newest_of_all),
        toolset=_MAILBOX,
        tools=("inbox",),
    ),
    _mutant(
        "uid",
        "UIDs as they are",
        (SealedNaming, "write", lambda self, folder, uid, validity: f"{uid}-{validity}"),
        runs=under_other_numbers,
    ),
    _mutant("sequence", "sequence numbers", (Bound, "rows", leaks.numbered)),
    _mutant(
        "size",
        "RFC822.SIZE",
        (bound, "show_message", leaks.sized),
        toolset=_MAILBOX,
        profiles=_COUNTED,
        tools=("get_message", "search"),
    ),
    _mutant(
        "rawsearch",
        "what the server finds in text that is not shown",
        (Bound, "means", leaks.raw_means),
        tools=("search_messages", "search"),
    ),
    _mutant("snippet", "text from before the detectors", (messages, "project", leaks.unredacted)),
    _mutant(
        "rank", "an order by how often a subject occurs, hidden mail too", (view, "read_page", leaks.ranked), **_PAGED
    ),
    _mutant(
        "thread",
        "ties through hidden messages",
        (visibleconversations, "newest_seen", leaks.all_kin),
        toolset=_MAILBOX,
        tools=("list_threads", "get_thread"),
    ),
    _mutant(
        "partnum",
        "files that the policy does not mention",
        (visibility, "_with_files", leaks.all_files),
        profiles=("bare",),
        tools=("get_message", "read_message", "read_messages"),
    ),
    _mutant(
        "replyoracle",
        "who wrote in hidden mail",
        (Bound, "seen", leaks.seen_of_all),
        profiles=("heads",),
        tools=("send", "send_message"),
    ),
    _mutant(
        "etag",
        "a cursor that changes with the folder (there is no ETag below the surfaces)",
        (view.MailboxView, "_listing", leaks.etag),
        **_PAGED,
    ),
    _mutant(
        "validation_order",
        "whether a folder exists by which of two faults is told",
        (view.MailboxView, "page", leaks.cursor_first),
        **_PAGED,
    ),
    _mutant(
        "webhook",
        "an event for each arrival, hidden ones too",
        (Arrivals, "_found", leaks.told_of_all),
        tools=("webhook", "list_messages"),
    ),
    _mutant(
        "create_exists",
        "that a folder exists by creating it",
        (Actions, "may_create", lambda self, path: all(one.holds(path, None) for one in self.create_under)),
        toolset=_MAILBOX,
        profiles=("heads",),
        tools=("create_folder",),
    ),
    _mutant("label_copy", "mail that a label puts into a hidden folder", (visibility, "_is_tainted", lambda *_: False)),
    _mutant(
        "cache",
        "what was made of messages for another policy",
        (Sights, "_memory", leaks.one_memory),
        runs=alone_and_in_company,
    ),
    _mutant(
        "withheld_names",
        "names of people of withheld mail",
        (visibility, "_reduced", leaks.unreduced),
        toolset=_MAILBOX,
        profiles=("heads",),
        tools=("reply", "create_draft", "list_messages"),
    ),
    _mutant(
        "withheld_source",
        "the source of withheld mail",
        (view.MailboxView, "source", leaks.any_source),
        toolset=_MAILBOX,
        profiles=("raw",),
        tools=("get_raw_message", "send"),
    ),
    _mutant(
        "draft_pages",
        "how many drafts of others there are",
        (view.MailboxView, "draft_page", leaks.filtered_after),
        toolset=_MAILBOX,
        profiles=("heads", "narrowed"),
        tools=("list_drafts", "create_draft"),
    ),
    _mutant(
        "draft_source",
        "another's draft by sending it",
        (Drafts, "_check_own", leaks.any_draft),
        toolset=_MAILBOX,
        profiles=("texts",),
        tools=("send_draft", "update_draft"),
    ),
)
"""First the channels that any such gateway has, then leaks that were found in this one once, and closed."""
