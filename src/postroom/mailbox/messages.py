"""Messages of an open folder with their content, read once and kept: a later look asks for their flags alone."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import replace

from postroom.mail.model import Fetched
from postroom.mailbox.cache import MessageCache, Read
from postroom.mailbox.reading import OpenFolder
from postroom.mailbox.session import Marks, marked
from postroom.policy.content import Setting, project, read
from postroom.policy.contentrules import ContentRules

_AT_ONCE = 16 * 1024
"""Characters of text that are made ready in passing; more of it is another thread's work."""
_LITTLE_TO_LOOK_THROUGH = 4 * 1024
"""The same where every text is looked through for what must not be shown."""


async def fetch_messages(folder: OpenFolder, uids: Collection[int], cache: MessageCache) -> dict[int, Read]:
    """Those of these messages that exist, newly fetched ones without a reading yet."""
    found = await kept_messages(folder, uids, cache)
    missing = [uid for uid in uids if uid not in found]
    told = await folder.messages(missing) if missing else {}
    return {uid: one for uid, one in found.items() if one} | {uid: Read(one, None) for uid, one in told.items()}


async def kept_messages(folder: OpenFolder, uids: Collection[int], cache: MessageCache) -> dict[int, Read | None]:
    """Those of these messages that were read before, with their marks of now; None for one that is gone."""
    names = {uid: (folder.name, folder.uid_validity, uid) for uid in uids} if folder.uids_stay else {}
    kept = {uid: known for uid, name in names.items() if (known := cache.find(name))}
    marks = await folder.marks(kept.keys()) if kept else {}
    return {uid: _with_marks(one, marks[uid]) if uid in marks else None for uid, one in kept.items()}


async def with_readings(found: Mapping[int, Read], cache: MessageCache, setting: Setting) -> dict[int, Read]:
    """The same messages, all with their reading; the connection is not needed for that."""
    ready = dict(found)
    for uid, one in found.items():
        if one.reading is None:
            ready[uid] = await _read(one.fetched, setting)
            cache.keep(ready[uid])
    return ready


async def with_projections(
    found: Mapping[int, Read], cache: MessageCache, setting: Setting, rules: ContentRules
) -> dict[int, Read]:
    """The same for a bound caller: with what its rules leave of them."""
    ready = dict(found)
    for uid, one in found.items():
        if one.projected is None:
            ready[uid] = await _projected(one.fetched, setting, rules)
            cache.keep(ready[uid])
    return ready


async def _projected(fetched: Fetched, setting: Setting, rules: ContentRules) -> Read:
    content = fetched.content
    if content is None:
        return Read(fetched, None)
    if sum(len(body.text) for body in content.bodies) <= _LITTLE_TO_LOOK_THROUGH:
        projected = project(content, fetched.head, setting, rules)
    else:
        projected = await asyncio.to_thread(project, content, fetched.head, setting, rules)
    return Read(replace(fetched, content=None), projected.reading, projected)


async def _read(fetched: Fetched, setting: Setting) -> Read:
    content = fetched.content
    if content is None:
        return Read(fetched, None)
    small = sum(len(body.text) for body in content.bodies) <= _AT_ONCE
    reading = (
        read(content, fetched.head, setting) if small else await asyncio.to_thread(read, content, fetched.head, setting)
    )
    return Read(replace(fetched, content=None), reading)


def _with_marks(kept: Read, marks: Marks) -> Read:
    if (kept.fetched.flags, kept.fetched.labels) == marks:
        return kept
    return replace(kept, fetched=marked(kept.fetched, marks))
