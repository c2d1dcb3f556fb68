"""Values for every argument by its name, such as somebody would try who suspects hidden mail."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Any

from postroom.base.caller import Caller
from postroom.mailbox.sealeduids import FilePlace, SealedFiles, SealedNaming
from tests.noninterference import mail
from tests.noninterference.history import History, validity
from tests.noninterference.standing import MAILBOX, SEAL
from tests.noninterference.worlds import HIDDEN, STANDING

_LIKELY = ("INBOX",) * 6 + ("Archive", "Archive", "Sent", "Sent")


@dataclass
class Choosing:
    """One call in the making: what it is about is chosen first, so that its arguments belong together."""

    rng: Random
    who: Caller
    history: History
    now: datetime
    tops: Mapping[str, int]
    """The highest UID that a folder ever had in one of the worlds."""
    forges: bool = True
    """It can make ids that nobody was given, as if it had the keys."""
    number: int = 0
    """The UID of the last id that was forged."""
    folder: str = "INBOX"
    uid: str = ""
    file: str = ""

    def __post_init__(self) -> None:
        chance, known = self.rng.random(), self.history.uids
        if chance < 0.1 and self.history.files:
            self.about_files()
        elif known and chance < 0.75:
            self.folder, self.uid = self.rng.choice(known)
        else:
            self.folder = self.rng.choice((*_LIKELY, *STANDING, *HIDDEN))
        self.uid = self.uid or self.forged(self.folder)
        self.file = self.file or self.forged_file()

    def knows_drafts(self) -> list[str]:
        return [uid for folder, uid in self.history.uids if folder == "Drafts"]

    def about_drafts(self) -> None:
        """It is a draft that the call is about, if any is known."""
        known = self.knows_drafts()
        self.uid = self.rng.choice([*known, *known[-1:] * len(known)]) if known else self.forged("Drafts")

    def forged(self, folder: str) -> str:
        """The id of any UID there may be, as only the holder of the keys can write it; or one that means nothing."""
        if self.rng.random() < 0.1 or not self.forges:
            return self.rng.choice(("m1_" + "A" * 34, "3-77", "", "7", f"m1_{'é' * 5}"))
        who = self.who.identity if self.rng.random() < 0.95 else "eve/other"
        self.number = self._any_uid(folder)
        return SealedNaming(SEAL, who, MAILBOX).write(folder, self.number, validity(folder))

    def _any_uid(self, folder: str) -> int:
        return self.rng.randint(1, self.tops.get(folder, 0) + 1)

    def forged_file(self) -> str:
        if self.rng.random() < 0.1 or not self.forges:
            return self.rng.choice(("2", "1", "a1_AAAA", "2.1"))
        section = self.rng.choice(("2", "2", "2", "2", "1", "3", "1.2"))
        number = self.number if self.number and self.rng.random() < 0.8 else self._any_uid(self.folder)
        place = FilePlace(self.folder, number, validity(self.folder), section)
        return SealedFiles(SEAL, self.who.identity, MAILBOX).write(place, self.now)

    def about_files(self) -> None:
        """It is a file that the call is about: one that is known, or that a message might have."""
        if self.history.files:
            self.folder, self.uid, self.file = self.rng.choice(self.history.files)
        else:
            self.folder = self.rng.choice(_LIKELY)
            self.uid, self.file = self.forged(self.folder), self.forged_file()

    def some(self, *values: Any) -> Any:
        return self.rng.choice(values)


Make = Callable[[Choosing], Any]
_WRITTEN = (*mail.FRIENDS * 3, *mail.STRANGERS, *mail.CLINIC)
_SECRETS = tuple(value.splitlines()[0][:40] for _, values in mail.SECRETS.values() for value in values)
_TEXTS = (
    *mail.WORDS,
    mail.MARKER,
    "classified",
    "invoice",
    "moss",
    "zed",
    "bo",
    "redacted",
    "withheld",
    "private",
    "bobby",
)
_FILE = {"filename": "a.txt", "content_type": "text/plain", "data_base64": base64.b64encode(b"hello").decode()}


def _text(one: Choosing) -> str:
    return str(one.rng.choice(_SECRETS if one.rng.random() < 0.3 else _TEXTS))


def _day(one: Choosing) -> str:
    return f"2026-02-{one.rng.randint(11, 21)}"


def _folder(one: Choosing) -> Any:
    return one.folder if one.rng.random() < 0.85 else one.some(*STANDING, *HIDDEN, "Nope", "inbox", None)


def _uids(one: Choosing) -> list[str]:
    known = [uid for folder, uid in one.history.uids if folder == one.folder]
    others = one.rng.sample(known, min(len(known), one.rng.randrange(4)))
    return [one.uid, *others, *([one.forged(one.folder)] if one.rng.random() < 0.5 else [])]


def _person(one: Choosing) -> str:
    return str(one.rng.choice(_WRITTEN))


def _people(one: Choosing) -> list[str]:
    return [_person(one) for _ in range(one.rng.randint(1, 2))]


def _himalaya_condition(one: Choosing) -> str:
    word = _text(one).replace('"', "")
    simple = (
        f'{one.some("from", "to", "subject", "body")} "{word}"',
        f"flag {one.some('seen', 'flagged', 'answered')}",
        f"{one.some('before', 'after', 'date')} {_day(one)}",
    )
    return one.some("", "not ") + str(one.rng.choice(simple))


def _himalaya(one: Choosing) -> str:
    first = _himalaya_condition(one)
    if one.rng.random() < 0.4:
        first += f" {one.some('and', 'or')} {_himalaya_condition(one)}"
    if one.rng.random() < 0.3:
        first += f" order by {one.some('date', 'from', 'subject')} {one.some('asc', 'desc')}"
    return first


def _key(one: Choosing) -> str:
    word = _text(one).replace('"', "")
    simple = (
        f'{one.some("FROM", "TO", "SUBJECT", "BODY", "TEXT", "CC")} "{word}"',
        f'HEADER {one.some("List-Id", "References", "Message-ID", "X-None")} "{one.some("", "x.example", word)}"',
        one.some("SEEN", "UNSEEN", "FLAGGED", "ANSWERED", "DELETED", "KEYWORD Legal", "ALL"),
        f"{one.some('SINCE', 'BEFORE', 'SENTSINCE', 'SENTBEFORE', 'ON')} {one.rng.randint(11, 21)}-Feb-2026",
        f"{one.some('LARGER', 'SMALLER')} {one.rng.choice((1, 20, 40, 300, 400, 600))}",
        one.some("UID 1:*", "1:3", "NEW", "RECENT"),
    )
    return one.some("", "", "NOT ") + str(one.rng.choice(simple))


def _program(one: Choosing) -> str:
    keys = " ".join(_key(one) for _ in range(one.rng.randint(1, 2)))
    return f"OR {_key(one)} ({keys})" if one.rng.random() < 0.3 else keys


def _files(one: Choosing) -> list[Any]:
    source = {"folder": one.folder, "uid": one.uid}
    return [one.some(_FILE, {"from_message": {**source, "attachment_id": one.file}}, {"from_message": source})]


def _new_folder(one: Choosing) -> str:
    return str(one.some(*HIDDEN, *STANDING, "Agent/new", "Agent/x", "Agent/y", "Elsewhere", "legal"))


def _cursor(one: Choosing) -> Any:
    known = [cursor for _, _, cursor in one.history.pages]
    return one.rng.choice(known) if known and one.rng.random() < 0.8 else one.some("c1_AAAA", "")


def _flag(one: Choosing) -> bool:
    return bool(one.rng.random() < 0.5)


def _limit(one: Choosing) -> int:
    return int(one.rng.choice((1, 1, 2, 3, 20)))


def _labels(one: Choosing) -> list[str]:
    return [one.some("agent/done", "agent/done", "agent/later", "Legal")]


def _own(one: Choosing) -> str:
    return str(one.some("ana@corp.example", "ana@corp.example", "ana@corp.example", "bo@friends.example"))


ARGUMENTS: Mapping[str, Make] = {
    "mailbox": lambda one: one.some(*[MAILBOX] * 9, "other"),
    "folder": _folder,
    "uid": lambda one: one.uid,
    "uids": _uids,
    "attachment_id": lambda one: one.file,
    "cursor": _cursor,
    "since_cursor": _cursor,
    "wait_seconds": lambda one: one.some(0, 4),
    "checkpoint": _flag,
    "limit": _limit,
    "fields": lambda one: one.some("full", "brief"),
    "preview": lambda one: one.some(10, 80),
    "search": _program,
    "query": _himalaya,
    "sort": lambda one: one.some("newest", "oldest", "date", "-date", "from", "-subject", "size", "-size"),
    **dict.fromkeys(("subject", "body", "text"), _text),
    **dict.fromkeys(("since", "before"), _day),
    **dict.fromkeys(("unseen", "seen", "flagged", "answered", "has_attachment"), _flag),
    **dict.fromkeys(("larger_than", "smaller_than"), lambda one: one.some(1, 20, 30, 60, 300, 500)),
    **dict.fromkeys(("reader", "safe_html", "headers", "links", "quotes", "permanent", "draft", "reply_all"), _flag),
    "view": lambda one: one.some("reader", "text", "html", "full", "transcript", "messages"),
    "max_chars": lambda one: one.some(5, 60, 500),
    "add": _labels,
    "remove": _labels,
    "destination": lambda one: one.some("Archive", "Archive", "INBOX", "Shown", *HIDDEN, "Nope"),
    "name": _new_folder,
    "from": lambda one: _text(one),
    **dict.fromkeys(("to", "cc"), lambda one: _text(one)),
    "bcc": _people,
    "reply_to": _people,
    "reply_to_uid": lambda one: one.uid,
    "body_text": lambda one: f"Hello {one.some(*mail.WORDS)}.",
    "body_html": lambda one: f"<p>Hello {one.some(*mail.WORDS)}.</p>",
    "attachments": _files,
    "idempotency_key": lambda one: one.some("k1", "k2"),
    "flags": lambda one: one.some(["seen"], ["flagged", "answered"], "seen"),
    "action": lambda one: one.some("add", "remove"),
}
"""A value for each argument, by its name."""
OF_MAIL: Mapping[str, Make] = {
    "from": _own,
    "to": _people,
    "cc": _people,
    "subject": lambda one: f"Re: {one.some(*mail.WORDS)}",
    "body": lambda one: f"Hello {one.some(*mail.WORDS)}.",
    "seen": _flag,
}
"""Arguments of mail that leaves, where a filter has the same name."""
RARE = frozenset({"body_html", "attachments", "bcc", "reply_to", "cc", "wait_seconds", "has_attachment", "larger_than"})
OFTEN = frozenset({"to", "subject", "body_text", "folder", "checkpoint", "add", "reply_to_uid"})
"""Arguments without which little of a call is left, though they need not be given."""
