"""The files that a bound caller may have: under sealed ids, by its policy, and looked at before they leave."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from postroom.base.kleene import Truth
from postroom.base.levels import Files
from postroom.mail.filewords import FileWords
from postroom.mail.inside import look_inside
from postroom.mail.model import MimeType, Part, Released, Shown
from postroom.mailbox.downloads import Download
from postroom.mailbox.filetexts import FileText, text_of_file
from postroom.mailbox.parsing import assembled
from postroom.mailbox.sealeduids import FilePlace, SealedFiles
from postroom.mailbox.uids import gone
from postroom.policy.attachmentrules import PartFacts
from postroom.policy.attachments import release_text, release_under
from postroom.policy.content import Setting
from postroom.policy.effective import Policy
from postroom.policy.filefacts import facts_of, may_hold_more
from postroom.policy.filefindings import may_leave

_LARGEST_INSIDE = 50 * 1024 * 1024
"""Octets of a file that is looked into; a larger one is not had."""
_MESSAGE = "message/rfc822"


class BoundFiles:
    """Of one caller in one mailbox."""

    def __init__(self, policy: Policy, setting: Setting, ids: SealedFiles, now: Callable[[], datetime]) -> None:
        self._policy = policy
        self._setting = setting
        self._ids = ids
        self._now = now

    def named(self, place: FilePlace) -> str:
        """The id of a file, good for a while."""
        return self._ids.write(place, self._now())

    def released(self, shown: Shown, attachment_id: str) -> Released:
        place = self._ids.read(attachment_id, self._now())
        for part in shown.reading.attachments if shown.reading else ():
            if (there := self._ids.read(part.section, self._now())) == place:
                return self._released(replace(part, section=there.section))
        raise gone()

    def file_place(self, attachment_id: str) -> FilePlace:
        """Where the file of a sealed id lies. Raises `not_found`."""
        return self._ids.read(attachment_id, self._now())

    def offers(self, part: Part) -> bool:
        return self._policy.attachments.level(facts_of(part)) >= Files.DOWNLOAD

    def readable(self, shown: Shown, part: Part) -> Released | None:
        there = self._ids.read(part.section, self._now())
        return release_text(replace(part, section=there.section), self._policy.attachments)

    async def text_of(self, download: Download) -> FileText | None:
        return await text_of_file(download, self._setting, self._policy.content)

    async def checked(self, released: Released, download: Download) -> Download:
        """What may hold other files, or programs, is looked into whole before any of it leaves."""
        inside, sniffed = None, download.sniffed
        if may_hold_more(sniffed):
            download = await download.whole(_LARGEST_INSIDE)
            inside = await asyncio.to_thread(look_inside, download.first, sniffed)
        facts = facts_of(released.part, sniffed, inside=inside)
        if facts.type == _MESSAGE:
            download = await download.whole(_LARGEST_INSIDE)
            within = (await asyncio.to_thread(assembled, download.first)).attachments
            self._check(*map(facts_of, within))
            facts = replace(facts, scannable=not within)  # of its files the words alone are looked through
        self._check(facts)
        has_words = facts.scannable or facts.type == _MESSAGE
        return await self._without_findings(facts, download) if has_words else download

    def _check(self, *files: PartFacts) -> None:
        if any(self._policy.attachments.level(facts) < Files.DOWNLOAD for facts in files):
            raise gone()

    async def _without_findings(self, facts: PartFacts, download: Download) -> Download:
        """What would be redacted in a message leaves in no file either, nor do texts that nobody has looked through."""
        if not self._policy.content.removes_anything:
            return download
        download = await download.whole(_LARGEST_INSIDE)
        leaves = await asyncio.to_thread(self._may_leave, download)
        if leaves is False:
            raise gone()
        if leaves is None:
            self._check(replace(facts, scannable=False))
        return download

    def _may_leave(self, download: Download) -> Truth:
        part, words = download.part, FileWords()
        words.add(MimeType(part.content_type, {"charset": part.charset} if part.charset else {}), download.first)
        return may_leave(words, self._policy.content)

    def _released(self, part: Part) -> Released:
        released = release_under(part, self._policy.attachments)
        if released is None:
            raise gone()
        return released
