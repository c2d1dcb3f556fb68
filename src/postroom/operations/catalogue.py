"""The list of all operations, in the order callers see them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from postroom.operations import (
    administering,
    auditing,
    drafting,
    files,
    inbox,
    organizing,
    overview,
    reading,
    searching,
    sending,
    threadlists,
    threads,
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
)

CATALOGUE: Mapping[str, Operation[Any, Any]] = MappingProxyType({operation.name: operation for operation in _ALL})
