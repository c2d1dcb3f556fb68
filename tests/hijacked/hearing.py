"""Routes by which an agent could hear of what it may not, or change what is not its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from postroom.config.presets import MAILBOX
from tests.hijacked.mail import CODE, WITHHELD
from tests.hijacked.route import Route, Try, call
from tests.hijacked.standing import OTHER_MAILBOX, OWNER, SIBLING, Answer, World

VAULT, MOSS = WITHHELD["hidden folder"], WITHHELD["the hidden sender"]
HIDDEN_FOLDERS = [VAULT, "Sent", "Trash", "Archive", f"INBOX/{VAULT}", f"{VAULT}/"]
MISSING = "Nope-0000"
INJECTED = ['INBOX" "x', "INBOX\r\nA1 DELETE Archive", 'INBOX")\r\nA1 SELECT Sent', "INBOX{3}\r\nabc", "*", "%"]


def alike(tool: str, argument: str, hidden: str, made_up: str, **more: Any) -> Try:
    """What is hidden and what is not there have one answer."""

    def go(world: World) -> list[Answer]:
        told = [world.ask(tool, **{argument: one}, **more) for one in (hidden, made_up)]
        assert told[0] == told[1], (tool, told)
        return told

    return go


def of_mail(tool: str, subject: str = "Minutes", **more: Any) -> Try:
    return lambda world: [world.ask(tool, uid=world.uid(subject), **more)]


def of_mails(tool: str, subject: str = "Minutes", **more: Any) -> Try:
    return lambda world: [world.ask(tool, uids=[world.uid(subject)], **more)]


def foreign_ids(tool: str, **more: Any) -> Try:
    """Ids of the owner, of another profile, of the server, and made up: also of hidden mail."""

    def go(world: World) -> list[Answer]:
        uids = ["1", "5", "5-1", "1:*", "m1_AAAA"]
        for token in (OWNER, SIBLING):
            uids += [world.uid(subject, token) for subject in ("Results", "Minutes")]
        world.prepared()
        return [world.ask(tool, uid=uid, **more) for uid in uids]

    return go


def foreign_cursors(world: World) -> list[Answer]:
    """Of another profile, of another list, and one that was bent."""
    theirs = world.as_other(SIBLING, "list_messages", limit=1).get("next_cursor", "c1_AAAA")
    own = world.as_other(world.token, "list_messages", limit=1).get("next_cursor", "c1_AAAA")
    world.prepared()
    bent = own[:-2] + ("AA" if own[-2:] != "AA" else "BB")
    asked = [world.ask("list_messages", cursor=one) for one in (theirs, bent)]
    return [*asked, world.ask("search", **{"from": "bob"}, cursor=own)]


def files(world: World) -> list[Answer]:
    """By section, by its own id, of hidden mail by another's id."""
    uid, theirs = world.uid("Minutes"), world.uid("Results as a file", SIBLING)
    known = world.as_other(world.token, "get_message", uid=uid).get("attachments") or [{}]
    hidden = world.as_other(SIBLING, "get_message", uid=theirs).get("attachments") or [{}]
    world.prepared()
    own, foreign = known[0].get("id", "2"), hidden[0].get("id", "2")
    asked = [(uid, "2"), (uid, own), (uid, foreign), (theirs, foreign), (world.uid("Results as a file", OWNER), "2")]
    return [world.ask("get_attachment", uid=one, attachment_id=file) for one, file in asked]


def over_http(world: World) -> list[Answer]:
    """The same doors over the other surface."""
    mailbox, uid, hidden = f"/mailboxes/{MAILBOX}", world.uid("Minutes"), world.uid("Results", OWNER)
    for path, operation in (
        (f"{mailbox}/messages/{uid}/raw", "get_raw_message"),
        (f"{mailbox}/messages/{uid}/attachments/2", "get_attachment"),
        (f"{mailbox}/messages/{hidden}", "get_message"),
        (f"{mailbox}/messages/{hidden}/thread", "get_thread"),
        (f"{mailbox}/messages?folder={VAULT}", "list_messages"),
        (f"/mailboxes/{OTHER_MAILBOX}/messages", "list_messages"),
        ("/attachments/2", "download_attachment"),
        ("/audit", "audit_log"),
        ("/health/mailboxes", "health_check"),
        (f"{mailbox}/webhooks/deliveries", "webhook_deliveries"),
    ):
        assert world.fetch(path, operation) in (400, 403, 404), path
    return []


def code_oracle(world: World) -> list[Answer]:
    """A code that stands there is found no more than one that does not, however it is asked for."""
    told = []
    for argument in ("text", "body", "subject"):
        right, wrong = (world.ask("search", **{argument: code}) for code in (CODE, "111111"))
        assert right == wrong
        told += [right, wrong]
    for program in ("BODY {}", "NOT BODY {}", "TEXT {}", "OR FROM bob NOT TEXT {}"):
        right, wrong = (world.ask("list_messages", search=program.format(code)) for code in (CODE, "111111"))
        assert right == wrong
        told += [right, wrong]
    return told


def sender_oracle(world: World) -> list[Answer]:
    """A hidden sender is one who never wrote, in either polarity."""
    told = []
    for program in ("FROM {}", "NOT FROM {}", "OR FROM {} FROM bob", "NOT (FROM {} UNSEEN)"):
        hidden, nobody = (world.ask("list_messages", search=program.format(one)) for one in (MOSS, "no@body.example"))
        assert hidden == nobody
        told += [hidden, nobody]
    return told


def head_oracle(world: World) -> list[Answer]:
    """Header fields that are not shown are not searched: they may name hidden mail."""
    told = []
    for field, word in (
        ("In-Reply-To", WITHHELD["hidden conversation"]),
        ("References", WITHHELD["hidden conversation"]),
        ("Message-ID", "mail.example"),
        ("Auto-Submitted", "auto-generated"),
    ):
        real, made_up = (world.ask("list_messages", search=f"HEADER {field} {one}") for one in (word, "nope-0000"))
        assert real == made_up, field
        told += [real, made_up]
    return told


def hidden_words(world: World) -> list[Answer]:
    told = [world.ask("search", text=word) for word in WITHHELD.values()]
    assert [len(one.get("messages", [])) for one in told] == [0] * len(told)
    return told


def counts(world: World) -> list[Answer]:
    told = world.ask("mailbox_stats")
    assert told.get("quota") is None
    assert {value for one in told.get("folders", []) for value in (one["messages"], one["unseen"])} <= {None}
    return [told]


def thread(world: World) -> list[Answer]:
    """A conversation that begins with hidden mail begins with what is seen of it."""
    told = world.ask("get_thread", uid=world.uid("About it"))
    assert told.get("count", 1) == 1
    return [told, world.ask("list_threads")]


def looking_around(world: World) -> list[Answer]:
    """Everything that there is to be read, in every form."""
    rows = world.ask("list_messages", limit=50, fields="full")
    uids = [row["uid"] for row in rows.get("messages", [])] or ["1-1"]
    told = [rows, world.ask("inbox"), world.ask("list_folders"), world.ask("identities"), world.ask("list_drafts")]
    told += [world.ask("get_message", uid=uid, view="full", headers=True, links=True, quotes=True) for uid in uids]
    return [*told, world.ask("get_message", uids=uids[:20], safe_html=True)]


def hearing() -> Iterator[Route]:
    """Each with what becomes of it for reader, triage, drafter, replier and notifier."""
    yield Route("everything that can be read", "r r r r -", looking_around)
    yield Route("hidden folders", "x x x x -", call("list_messages", *({"folder": one} for one in HIDDEN_FOLDERS)))
    yield Route("a hidden folder or none", "x x x x -", alike("list_messages", "folder", VAULT, MISSING))
    yield Route("a hidden folder searched", "x x x x -", alike("search", "folder", VAULT, MISSING, text="plan"))
    yield Route("a hidden folder's threads", "x x x x -", alike("list_threads", "folder", VAULT, MISSING))
    yield Route("IMAP in a folder's name", "x x x x -", call("list_messages", *({"folder": one} for one in INJECTED)))
    yield Route("another mailbox", "x x x x -", call("list_messages", mailbox=OTHER_MAILBOX))
    yield Route("another mailbox by its login", "x x x x -", lambda world: [
        world.ask("list_messages", mailbox=f"{world.user}-{OTHER_MAILBOX}")
    ])  # fmt: skip
    yield Route("another mailbox searched", "x x x x -", call("search", mailbox=OTHER_MAILBOX, text="elsewhere"))
    yield Route("ids that are not its own", "x x x x -", foreign_ids("get_message"))
    yield Route("conversations by ids of others", "x x x x -", foreign_ids("get_thread"))
    yield Route("cursors that are not its own", "x x x x -", foreign_cursors)
    yield Route("a message's source", "x x x x -", of_mail("get_raw_message"))
    yield Route("a file's octets", "x x x x -", files)
    yield Route("the same over HTTP", "x x x x -", over_http)
    yield Route("UIDs as search keys", "x x x x -", call("list_messages", *({"search": one} for one in _PROGRAMS)))
    yield Route("a search as an oracle for a code", "r r r r -", code_oracle)
    yield Route("a search as an oracle for a sender", "r r r r -", sender_oracle)
    yield Route("a search as an oracle for headers", "r r r r -", head_oracle)
    yield Route("a search for what is withheld", "r r r r -", hidden_words)
    yield Route("counts", "r r r r -", counts)
    yield Route("who is in a conversation", "r r r r -", thread)
    yield Route("the audit", "- - - - -", call("audit_log"))
    yield Route("servers' health", "- - - - -", call("health_check"))
    yield Route("what webhooks were told", "- - - - -", call("webhook_deliveries"))
    yield Route("what webhooks are told again", "- - - - -", call("replay_webhook", delivery_id=f"evt_{0:032x}"))
    yield Route("tools that there are not", "- - - - -", call("approve_hold", hold_id="h1"))
    yield from _damage()


_PROGRAMS = [
    "UID 1:*",
    "1:*",
    "NOT UID 5",
    "HEADER X-Secret x\r\nA1 DELETE Archive",
    "SUBJECT {3}\r\nfoo",
    "X-GM-RAW x",
]


def _damage() -> Iterator[Route]:
    yield Route("seen, to conceal", "- c - - -", of_mail("mark_seen", "Offer"))
    yield Route("unseen again", "- c - - -", of_mail("mark_seen", "Offer", seen=False))
    yield Route("a label of its own", "- c - - -", of_mails("set_labels", add=["agent/done"]))
    yield Route("other labels", "- x - - -", lambda world: [
        world.ask("set_labels", uids=[world.uid("Minutes")], add=[label]) for label in _LABELS
    ])  # fmt: skip
    yield Route("flags on mail of others' ids", "- x - - -", foreign_ids("mark_seen"))
    yield Route("a move into a hidden folder", "- x - - -", lambda world: alike(
        "move_messages", "destination", VAULT, MISSING, uids=[world.uid("Minutes")]
    )(world))  # fmt: skip
    yield Route("a move out of a hidden folder", "- x - - -", alike(
        "move_messages", "folder", VAULT, MISSING, uids=["1-1"], destination="INBOX"
    ))  # fmt: skip
    yield Route("a move", "- x - - -", lambda world: [
        world.ask("move_messages", uids=[world.uid("Minutes")], destination=one) for one in _TARGETS
    ])  # fmt: skip
    yield Route("a deletion", "- x - - -", of_mail("delete_message"))
    yield Route("an erasure", "- x - - -", of_mail("delete_message", permanent=True))
    yield Route("a folder made", "- x - - -", call("create_folder", *({"name": one} for one in _NEW)))
    yield Route("a change in another mailbox", "- x - - -", call("mark_seen", uid="1-1", mailbox=OTHER_MAILBOX))


_TARGETS = (*HIDDEN_FOLDERS, *INJECTED)
_LABELS = [
    CODE,
    "work",
    "Agent/x",
    "\\Deleted",
    "\\Seen",
    "agent/x\r\nA1 DELETE Archive",
    "agent/x) (\\Deleted",
]
_NEW = [CODE, f"{VAULT}/below", VAULT, "Archive", "Agent/new", "INBOX/new", 'x"\r\nA1 DELETE Archive', ""]
