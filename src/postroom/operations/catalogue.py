"""The list of all operations, in the order callers see them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from postroom.base.caller import Toolset
from postroom.operations import (
    administering,
    auditing,
    drafting,
    files,
    following,
    inbox,
    organizing,
    overview,
    reading,
    relay,
    searching,
    sending,
    threadlists,
    threads,
    webhooks,
)
from postroom.operations.operation import Operation

_ALL: tuple[Operation[Any, Any], ...] = (
    overview.mailboxes,
    inbox.inbox,
    reading.list_folders,
    reading.list_messages,
    searching.search,
    reading.get_message,
    files.get_raw_message,
    files.get_attachment,
    threads.get_thread,
    threadlists.list_threads,
    overview.identities,
    drafting.list_drafts,
    overview.mailbox_stats,
    drafting.create_draft,
    drafting.update_draft,
    drafting.delete_draft,
    organizing.delete_message,
    organizing.mark_seen,
    organizing.set_labels,
    organizing.move_messages,
    organizing.create_folder,
    sending.reply,
    sending.send,
    sending.send_draft,
    auditing.audit_log,
    administering.health_check,
    webhooks.webhook_deliveries,
    webhooks.replay_webhook,
)

_STREAMS: tuple[Operation[Any, Any], ...] = (following.events,)
"""What no tool can be: an answer without end."""

_RELAY: tuple[Operation[Any, Any], ...] = (
    relay.listing.list_folders,
    relay.listing.list_messages,
    relay.listing.search_messages,
    relay.reading.read_message,
    relay.reading.read_messages,
    relay.sending.send_message,
    relay.changing.update_message_flags,
    relay.reading.download_attachment,
)

Catalogue: TypeAlias = Mapping[str, Operation[Any, Any]]


def _named(operations: tuple[Operation[Any, Any], ...]) -> Catalogue:
    return MappingProxyType({operation.name: operation for operation in operations})


CATALOGUE: Catalogue = _named(_ALL)
"""The tools of the toolset `mailbox`."""
CATALOGUES: Mapping[Toolset, Catalogue] = MappingProxyType(
    {Toolset.MAILBOX: _named((*_ALL, *_STREAMS)), Toolset.RELAY: _named(_RELAY)}
)
"""By toolset. Two operations of one name never meet: a caller has one toolset."""
