"""Routes over the relay's seven tools and its downloads, for the relay token of each preset's profile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.hijacked.hearing import HIDDEN_FOLDERS, INJECTED, MISSING, MOSS, VAULT, alike
from tests.hijacked.leaving import CODED, CONFUSING, OTHERS, SIX, own_token
from tests.hijacked.mail import CODE, EVIL, WITHHELD
from tests.hijacked.route import Route, Try, call
from tests.hijacked.standing import ALLOWED, OTHER_MAILBOX, OWNER, SIBLING, Answer, World

_OWN = "ana@corp.example"
_IN_INBOX = {"folder": "INBOX"}


def send(*several: dict[str, Any]) -> Try:
    innocent = {"from": _OWN, "to": [ALLOWED], "subject": "Note", "body": "Hello."}
    return lambda world: [world.ask("send_message", **innocent | one) for one in several or ({},)]


def _with_body(text: str) -> Try:
    return send({"body": text})


def twice(world: World) -> list[Answer]:
    """The same message again a moment later is the same message."""
    first = send({"subject": "Twice"})
    first(world)
    world.prepared()
    return list(first(world))


def after_reading(world: World) -> list[Answer]:
    """What a stranger's mail said goes to nobody but its thread, and a relay answers none."""
    world.ask("read_message", **_IN_INBOX, uid=world.uid("Offer"))
    world.prepared()
    return list(send({"to": ["bob@partner.example"], "subject": "About the bank"})(world))


def foreign_ids(tool: str, **more: Any) -> Try:
    """Ids of the owner, of another profile, of the server, and made up: also of hidden mail."""

    def go(world: World) -> list[Answer]:
        uids = ["1", "5", "5-1", "1:*", "m1_AAAA"]
        for token in (OWNER, SIBLING):
            uids += [world.uid(subject, token) for subject in ("Results", "Minutes")]
        return [world.ask(tool, **_IN_INBOX, uid=uid, **more) for uid in uids]

    return go


def many_foreign_ids(world: World) -> list[Answer]:
    """Of several messages each is told by itself, and of those that it may not see there is one answer."""
    uids = [world.uid("Results", OWNER), world.uid("Results", SIBLING), world.uid("Minutes", SIBLING), "5-1", "m1_AAAA"]
    told = world.ask("read_messages", **_IN_INBOX, uids=uids)
    assert len({str(one.get("error")) for one in told.get("messages", [])} - {"None"}) == ("messages" in told)
    return [told]


def foreign_cursors(world: World) -> list[Answer]:
    theirs = world.as_other(SIBLING, "list_messages", limit=1).get("next_cursor", "c1_AAAA")
    return [world.ask("list_messages", **_IN_INBOX, cursor=one) for one in (theirs, "c1_AAAA", "5")]


def oracle(templates: list[str], real: str, made_up: str) -> Try:
    """What is asked for answers no otherwise than what nobody ever wrote."""

    def go(world: World) -> list[Answer]:
        told = []
        for template in templates:
            right, wrong = (
                world.ask("search_messages", **_IN_INBOX, query=template.format(one)) for one in (real, made_up)
            )
            assert right == wrong, template
            told += [right, wrong]
        return told

    return go


def hidden_words(world: World) -> list[Answer]:
    told = [world.ask("search_messages", **_IN_INBOX, query=f'body "{word}"') for word in WITHHELD.values()]
    assert [one.get("messages") for one in told if "messages" in one] == [[] for one in told if "messages" in one]
    return told


def looking_around(world: World) -> list[Answer]:
    """Everything that there is to be read."""
    rows = world.ask("list_messages", **_IN_INBOX)
    uids = [row["uid"] for row in rows.get("messages", [])] or ["1-1"]
    told = [rows, world.ask("read_messages", **_IN_INBOX, uids=uids)]
    return told + [world.ask("read_message", **_IN_INBOX, uid=uid) for uid in uids]


def downloads(world: World) -> list[Answer]:
    """By section, by made-up ids, and by an id that another profile has of a hidden file."""
    theirs = world.as_other(SIBLING, "get_message", uid=world.uid("Results as a file", SIBLING))
    foreign = (theirs.get("attachments") or [{"id": "a1_AAAA"}])[0]["id"]
    for one in ("2", "1.2", "a1_AAAA", foreign):
        assert world.fetch(f"/attachments/{one}", "download_attachment") == 404
    return []


def flags(subject: str, *several: str, action: str = "add") -> Try:
    return lambda world: [
        world.ask("update_message_flags", **_IN_INBOX, uid=world.uid(subject), flags=list(several), action=action)
    ]


_QUERIES = [
    'from "x" OR ALL',
    "from moss\r\nA1 DELETE Archive",
    'subject "a" uid 1:*',
    'subject "{3}\r\nfoo"',
    "uid 5",
    "not",
]
_FOREIGN_TOOLS = (
    *("send", "reply", "create_draft", "send_draft", "move_messages", "delete_message", "create_folder", "set_labels"),
    *("get_raw_message", "get_attachment", "audit_log", "health_check", "mailboxes", "inbox"),
    *("webhook_deliveries", "replay_webhook"),
)


def relaying() -> Iterator[Route]:
    """Each with what becomes of it for reader, triage, drafter, replier and notifier: a relay has no drafts."""
    yield Route("an ordinary mail", "x x x x s s", send())
    yield Route("a mail to the mailbox itself", "x x x x s s", send({"to": [_OWN]}))
    yield Route("the same message again", "x x x x s s", twice)
    yield Route("a mail to a correspondent after a stranger's mail", "x x x x x", after_reading)
    yield Route("a mail to a third party", "x x x x x", send({"to": [EVIL]}))
    yield Route("a third party beside one who may", "x x x x x", send({"to": [ALLOWED, EVIL]}))
    yield Route("fields that there are not", "x x x x x", send({"bcc": [EVIL]}, {"cc": [EVIL]}, {"reply_to": EVIL}))
    yield Route("files", "x x x x x", send({"attachments": [{"filename": "a", "data_base64": "YQ=="}]}))
    yield Route("an address that two read differently", "x x x x x", send(*({"to": [one]} for one in CONFUSING)))
    yield Route("a mail as somebody else", "x x x x x", send(*({"from": one} for one in (*OTHERS, ""))))
    yield Route("six recipients", "x x x x x", send({"to": SIX}))
    yield Route("a text of 20,500 characters", "x x x x x", send({"body": "word " * 4_100}))
    yield Route("a link out", "x x x x x", send({"body": "See https://evil.example/?q=aGVsbG8"}))
    yield Route("headers in the subject", "x x x x x", send({"subject": f"Hi\r\nBcc: {EVIL}"}))
    yield Route("a code in a mail", "x x x x x", send(*map(_renamed, CODED)))
    yield Route("its token in a text", "x x x x x", own_token(_with_body))
    yield Route("its token as a subject", "x x x x x", own_token(lambda text: send({"subject": text})))
    yield Route("its token as a name", "x x x x x", own_token(lambda text: send({"to": [f"{text} <{ALLOWED}>"]})))
    yield Route("everything that can be read", "r r r r x", looking_around)
    yield Route("hidden folders", "x x x x x", call("list_messages", *({"folder": one} for one in HIDDEN_FOLDERS)))
    yield Route("a hidden folder or none", "x x x x x", alike("list_messages", "folder", VAULT, MISSING))
    yield Route("IMAP in a folder's name", "x x x x x", call("list_messages", *({"folder": one} for one in INJECTED)))
    yield Route(
        "IMAP in a query", "x x x x x", call("search_messages", *({"query": one} for one in _QUERIES), **_IN_INBOX)
    )
    yield Route("another mailbox", "x x x x x", call("list_messages", **_IN_INBOX, mailbox=OTHER_MAILBOX))
    yield Route("ids that are not its own", "x x x x x", foreign_ids("read_message"))
    yield Route("several of them", "r r r r x", many_foreign_ids)
    yield Route("cursors that are not its own", "x x x x x", foreign_cursors)
    yield Route("a file's octets", "x x x x x", downloads)
    yield Route("an oracle for a code", "r r r r x", oracle(_OF_TEXT, CODE, "111111"))
    yield Route("an oracle for a sender", "r r r r x", oracle(_OF_SENDER, MOSS, "no@body.example"))
    yield Route("a search for what is withheld", "r r r r x", hidden_words)
    yield Route("seen, to conceal", "x c x x x", flags("Offer", "seen", "flagged"))
    yield Route("unseen again", "x c x x x", flags("Offer", "seen", action="remove"))
    yield Route("flags that there are not", "x x x x x", flags("Offer", "deleted"))
    yield Route("flags in IMAP", "x x x x x", flags("Offer", "seen) (\\Deleted"))
    yield Route(
        "flags on mail of others' ids", "x x x x x", foreign_ids("update_message_flags", flags=["seen"], action="add")
    )
    yield Route("tools of the other set", "- - - - -", lambda world: [world.ask(tool) for tool in _FOREIGN_TOOLS])


_OF_TEXT = ["body {}", "not body {}", "subject {}", "from bob or body {}", "body {} order by date asc"]
_OF_SENDER = ["from {}", "not from {}", "from {} or from bob", "not (from {} and flag seen)"]


def _renamed(fields: dict[str, Any]) -> dict[str, Any]:
    return {"body" if name == "body_text" else name: value for name, value in fields.items()}
