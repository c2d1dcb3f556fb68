"""What kind of sending is allowed at all."""

from __future__ import annotations

import pytest

from postroom.base.levels import Outcome
from postroom.policy.outbound.plan import Operation
from tests.policy.outbound.sending import CAROL, judged, opened, plan


@pytest.mark.parametrize(
    ("changes", "operation", "outcome"),
    [
        ("mode: hold", Operation.SEND, Outcome.HOLD),
        ("mode: draft", Operation.SEND, Outcome.DRAFT),
        ("mode: deny", Operation.SEND, Outcome.DENY),
        ("mode: hold", Operation.SAVE, Outcome.DRAFT),
        ("reply_all: deny", Operation.REPLY_ALL, Outcome.DENY),
        ("reply_all: hold", Operation.REPLY_ALL, Outcome.HOLD),
        ("reply_all: deny", Operation.REPLY, Outcome.SEND),
        ("forward: deny", Operation.FORWARD, Outcome.DENY),
        ("forward: deny", Operation.FORWARD_RAW, Outcome.DENY),
        ("forward: sanitized", Operation.FORWARD, Outcome.SEND),
        ("forward: sanitized", Operation.FORWARD_RAW, Outcome.DENY),
        ("forward: raw", Operation.FORWARD_RAW, Outcome.SEND),
        ("require_draft: true", Operation.SEND, Outcome.DENY),
        ("require_draft: true", Operation.REPLY, Outcome.DENY),
        ("require_draft: true", Operation.SAVE, Outcome.DRAFT),
    ],
)
def test_a_kind_of_sending(changes: str, operation: Operation, outcome: Outcome) -> None:
    assert judged(plan(CAROL, operation=operation), opened(changes)).outcome is outcome


def test_a_draft_that_was_saved_before_may_be_sent_where_only_drafts_may() -> None:
    wanted = plan(CAROL, operation=Operation.SEND_DRAFT, own_draft=True)
    assert judged(wanted, opened("require_draft: true")).outcome is Outcome.SEND
