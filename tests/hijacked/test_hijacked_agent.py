"""Whatever a hijacked agent tries, no more comes of it than its preset's policy allows, and the audit tells of it."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from email import message_from_bytes
from email.utils import getaddresses
from pathlib import Path

import pytest

from tests.hijacked.hearing import hearing
from tests.hijacked.leaving import leaving
from tests.hijacked.mail import EVIL, OWNERS_DRAFT, WITHHELD
from tests.hijacked.relaying import relaying
from tests.hijacked.route import COLUMNS, ENDS, Route
from tests.hijacked.standing import AGENT, RELAY, Answer, Letter, World, world
from tests.servers.dovecot import Dovecot

MAY_GET = {"ana@corp.example", "ops@corp.example"}
MAY_BE_ANSWERED = {"bob@partner.example", "mal@partner.example"}
"""Whom anything may go to at all; the latter from one who reads, in their own threads."""
REFUSALS = {
    *("permission_denied", "policy_denied", "not_found", "validation_error", "invalid_identity", "invalid_cursor"),
    *("conflict", "too_large", "rate_limited"),
}
"""Whatever else is answered is a failure of the gateway's."""


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("token", [AGENT, RELAY])
def test_no_route_leads_further_than_the_preset_allows(
    dovecot: Dovecot, tmp_path: Path, column: str, token: str
) -> None:
    routes = [*leaving(), *hearing()] if token == AGENT else list(relaying())
    with world(tmp_path, dovecot, column) as at:
        at.token = token
        for folder, whose in (("INBOX", token), ("Drafts", token), ("INBOX", "owner"), ("INBOX", "sibling")):
            at.uid("", whose, folder)
        wrong = [fault for route in routes for fault in tried(at, route)]
        told = "".join(f"\n  {route.name:48} {ENDS[route.end(at.column)]}" for route in routes)
        print(f"\n{at.column}, token {token}:{told}")
    assert not wrong, "\n".join(wrong)


def tried(at: World, route: Route) -> list[str]:
    """Everything by which a route came out otherwise than the table says."""
    end = route.end(at.column)
    at.heard.clear()
    at.prepared()
    answers = route.go(at)
    at.after = after = at.letters()
    faults = [
        *_answered(answers, end),
        *_left(at, answers, end),
        *_changed(at.before, after, answers, end),
        *_said(at),
        *_audited(at),
    ]
    return [f"{route.name}: {fault}" for fault in faults]


def _answered(answers: Sequence[Answer], end: str) -> Iterable[str]:
    for answer in answers:
        code = answer.get("error", {}).get("code")
        if (code is None) is (end in "-x"):
            yield f"should be {ENDS[end]}, but is {answer}"
        if code is not None and code not in REFUSALS:
            yield f"failed: {answer}"
        if end == "-" and code != "permission_denied" and "tools" not in answer.get("error", {}).get("details", {}):
            yield f"is offered: {answer}"
        if end in "sd" and answer.get("outcome") not in ({"accepted"} if end == "s" else {"drafted", None}):
            yield f"ends as {answer}"


def _left(at: World, answers: Sequence[Answer], end: str) -> Iterable[str]:
    """Nothing but what the table says, to nobody but whom the policy names, and to all that the headers name."""
    left = at.left()
    expected = sum(not answer["repeated"] for answer in answers) if end == "s" else 0
    if len(left) != expected:
        yield f"{len(left)} messages left, not {expected}"
    for envelope in left:
        assert isinstance(envelope.content, bytes)
        to = set(envelope.rcpt_tos)
        answers_them = at.column == "sender" and b"In-Reply-To" in envelope.content and to <= MAY_BE_ANSWERED
        if (
            not (to <= MAY_GET or answers_them)
            or to != recipients(envelope.content)
            or envelope.mail_from != "ana@corp.example"
        ):
            yield f"left for {to}"
        if held := [name for name, word in WITHHELD.items() if word.encode() in envelope.content]:
            yield f"{held} left"


def _changed(
    before: dict[bytes, Letter], after: dict[bytes, Letter], answers: Sequence[Answer], end: str
) -> Iterable[str]:
    """On the server: new drafts, copies in Sent, and flags, where the table says so."""
    new = [after[name] for name in after.keys() - before.keys()]
    gone = [before[name] for name in before.keys() - after.keys()]
    may_be_new = {"d": "Drafts", "D": "Drafts", "s": "Sent"}.get(end)
    if [one for one in new if one.folder != may_be_new] or len(new) > len(answers):
        yield f"{[(one.folder, one.octets[:200]) for one in new]} is new"
    if [one for one in gone if one.folder != may_be_new or OWNERS_DRAFT.encode() in one.octets]:
        yield f"{[(one.folder, one.octets[:200]) for one in gone]} is gone"
    for one in new:
        if end == "d" and EVIL in recipients(one.octets):
            yield f"a draft goes to {recipients(one.octets)}"
        if held := [name for name, word in WITHHELD.items() if word.encode() in one.octets]:
            yield f"{held} in {one.folder}"
    for name in before.keys() & after.keys():
        if before[name] != after[name] and not (end == "c" and _only_flags(before[name], after[name])):
            yield f"{before[name]} became {after[name]}"


def _only_flags(before: Letter, after: Letter) -> bool:
    changed = before.flags ^ after.flags
    return (
        before.octets == after.octets
        and before.folder == "INBOX"
        and changed <= {"\\Seen", "agent/done", "\\Flagged", "\\Answered"}
    )


def _said(at: World) -> Iterable[str]:
    """No answer holds a word that is withheld."""
    for name, word in WITHHELD.items():
        if found := [answer for answer in at.heard if word in answer]:
            yield f"{name} is told: {found[0][:300]}"


def _audited(at: World) -> Iterable[str]:
    """Each refused change, and each read without leave, is a record that the operator reads."""
    records = [one for one in at.records() if one["seq"] > at.audited and one["token"] == at.token]
    written = Counter(one["action"] for one in records if one["outcome"] == "refused")
    if written != Counter(at.refused):
        yield f"refused were {Counter(at.refused)}, audited are {written}"


def recipients(octets: bytes) -> set[str]:
    """To, Cc and Bcc, as another parser reads them."""
    parsed = message_from_bytes(octets)
    return {address for name in ("To", "Cc", "Bcc") for _, address in getaddresses(parsed.get_all(name, []))}


@pytest.mark.parametrize("token", [AGENT, RELAY])
def test_many_small_messages_are_few_messages(dovecot: Dovecot, tmp_path: Path, token: str) -> None:
    """A notifier's policy lets two go in a minute, and thirty calls at once."""
    with world(tmp_path, dovecot, "notifier", bounded=True) as at:
        at.token = token
        at.prepared()
        tool, text = ("send", "body_text") if token == AGENT else ("send_message", "body")
        author = {} if token == AGENT else {"from": "ana@corp.example"}
        to = itertools.cycle(["ops@corp.example", "ana@corp.example"])
        answers = [
            at.ask(tool, to=[next(to)], subject=f"Piece {number}", **{text: "x"}, **author) for number in range(29)
        ]
        assert [answer.get("outcome") for answer in answers] == ["accepted"] * 2 + [None] * 27
        assert {answer["error"]["code"] for answer in answers[2:]} == {"policy_denied"}
        assert len(at.left()) == 2
        assert list(_audited(at)) == []
