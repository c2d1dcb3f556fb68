"""Which files may go with a message: each must pass, and one of which nothing is known does not."""

from __future__ import annotations

import pytest

from postroom.base.levels import Outcome
from postroom.mail.outgoing.model import OutgoingFile
from postroom.policy.attachmentrules import PartFacts
from postroom.policy.outbound.supposing import Supposed, suppose
from tests.policy.declaring import granted
from tests.policy.outbound.sending import CAROL, PDF, judged, opened, plan, rules

ALLOWED = "mode: send, recipients: {allow: [internal]}, attachments: {mode: allow"


@pytest.mark.parametrize(
    ("changes", "facts", "outcome"),
    [
        ("mode: deny", PDF, Outcome.DENY),
        ("mode: hold", PDF, Outcome.HOLD),
        ('types: {allow: ["application/pdf"]}', PDF, Outcome.SEND),
        ('types: {allow: ["image/*"]}', PDF, Outcome.DENY),
        ("max_bytes: 1000", PDF, Outcome.SEND),
        ("max_bytes: 999", PDF, Outcome.DENY),
        ("max_bytes: 1000", PartFacts("a.pdf", "application/pdf", None, scannable=True), Outcome.DENY),
        ("max_count: 0", PDF, Outcome.DENY),
        ("extensions: {deny: [pdf]}", PDF, Outcome.DENY),
        ("encrypted: deny", PartFacts("a.pdf", "application/pdf", 9, encrypted=None, scannable=True), Outcome.DENY),
    ],
)
def test_a_file_must_pass(changes: str, facts: PartFacts, outcome: Outcome) -> None:
    assert judged(plan(CAROL, files=(facts,)), opened(f"attachments: {{{changes}}}")).outcome is outcome


@pytest.mark.parametrize(
    ("facts", "outcome"),
    [
        (PDF, Outcome.SEND),
        (PartFacts("a.exe", "application/pdf", 9, scannable=True), Outcome.DENY),
        (PartFacts("a.zip", "application/zip", 9, is_archive=True, scannable=True), Outcome.DENY),
        (PartFacts("a.pdf", "application/pdf", 9, scannable=False), Outcome.DENY),
        (PartFacts("a.pdf", "application/pdf", 6 << 20, scannable=True), Outcome.DENY),
    ],
)
def test_a_grant_that_allows_files_is_careful(facts: PartFacts, outcome: Outcome) -> None:
    assert judged(plan(CAROL, files=(facts,)), rules(f"{ALLOWED}}}")).outcome is outcome


def test_files_are_counted() -> None:
    files = tuple(PartFacts(f"{at}.pdf", "application/pdf", 9, at, scannable=True) for at in range(4))
    assert judged(plan(CAROL, files=files[:3]), rules(f"{ALLOWED}}}")).outcome is Outcome.SEND
    assert judged(plan(CAROL, files=files), rules(f"{ALLOWED}}}")).outcome is Outcome.DENY


def test_a_file_of_which_nothing_is_known_is_not_sent() -> None:
    file = OutgoingFile("a.pdf", "application/pdf", b"%PDF-1.7")
    wanted = plan(CAROL, octets_of_files=(file, file), files=(PDF,))
    assert judged(wanted, opened("mode: send")).outcome is Outcome.DENY
    known = plan(CAROL, octets_of_files=(file, file), files=(PDF, PDF))
    assert judged(known, opened("mode: send")).outcome is Outcome.SEND


def test_what_is_supposed_to_be_sent_is_looked_through_with_its_files() -> None:
    policy = granted("{outbound: {mode: send, recipients: {allow: [anyone]}, attachments: {mode: allow}}}")
    code = OutgoingFile("a.txt", "text/plain", b"Your verification code is 482913")
    found = suppose(policy, plan(CAROL, octets_of_files=(code,)).outgoing, Supposed())
    assert "outbound.content.detectors.otp" in [one.rule for one in found.reasons]
