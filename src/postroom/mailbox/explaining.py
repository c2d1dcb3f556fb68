"""A message file judged as if it lay in a mailbox: read by the parser that reads the mailbox's own mail."""

from __future__ import annotations

from datetime import datetime

from postroom.config import MailboxConfig
from postroom.mail.model import Fetched
from postroom.mail.parse import assemble, parse_head, split, split_message
from postroom.mailbox.setting import setting_of
from postroom.policy.content import project
from postroom.policy.effective import Policy
from postroom.policy.evidence import NobodyAsked
from postroom.policy.explaining import Explanation, explain
from postroom.policy.visibility import Gaze


def explain_file(
    octets: bytes, folder: str, policy: Policy, mailbox: MailboxConfig, received_at: datetime, now: datetime
) -> Explanation:
    """What the policy makes of these octets (RFC 5322) if they arrived in that folder then; times are aware."""
    content = assemble(split_message(octets))
    fetched = Fetched(
        folder=folder,
        uid=1,
        uid_validity=1,
        head=parse_head(split(octets)[0]),
        received_at=received_at,
        size=len(octets),
        flags=frozenset(),
        has_attachments=bool(content.attachments),
        content=content,
    )
    setting = setting_of(mailbox)
    projected = project(content, fetched.head, setting, policy.content)
    return explain(fetched, projected, Gaze(policy, setting, now, NobodyAsked()))
