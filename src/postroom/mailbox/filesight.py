"""What one caller may have of the files of messages that it sees."""

from __future__ import annotations

from typing import Protocol

from postroom.base.errors import not_found
from postroom.mail.model import Part, Released, Shown
from postroom.mailbox.downloads import Download
from postroom.mailbox.filetexts import FileText
from postroom.mailbox.sealeduids import FilePlace
from postroom.mailbox.uids import gone
from postroom.policy.attachments import release


class FileSight(Protocol):
    """Made anew for each call, with the sight that it belongs to."""

    def released(self, shown: Shown, attachment_id: str) -> Released:
        """A file of a message that the caller sees. Raises `not_found`, or `policy_denied`."""
        ...

    def file_place(self, attachment_id: str) -> FilePlace:
        """Where the file of a sealed id lies. Raises `not_found`."""
        ...

    def offers(self, part: Part) -> bool:
        """Whether a file may be had, as far as its description tells."""
        ...

    def readable(self, shown: Shown, part: Part) -> Released | None:
        """A file whose text alone the caller may have; None for any other."""
        ...

    async def text_of(self, download: Download) -> FileText | None:
        """The text of such a file."""
        ...

    async def checked(self, released: Released, download: Download) -> Download:
        """The file, once it was looked at what it is. Raises `not_found` if it may not leave after all."""
        ...


class WholeFiles:
    """Of a caller whose mailboxes are whole: all of every file, under the ids of its parts."""

    def released(self, shown: Shown, attachment_id: str) -> Released:
        parts = {part.section: part for part in shown.reading.attachments} if shown.reading else {}
        if attachment_id not in parts:
            raise not_found(
                "This message has no such attachment. Use an id that get_message lists.",
                argument="attachment_id",
                attachment_ids=list(parts)[:100],
            )
        return release(parts[attachment_id])

    def file_place(self, attachment_id: str) -> FilePlace:
        raise gone()

    def offers(self, part: Part) -> bool:
        return True

    def readable(self, shown: Shown, part: Part) -> Released | None:
        return None

    async def text_of(self, download: Download) -> FileText | None:
        return None

    async def checked(self, released: Released, download: Download) -> Download:
        return download
