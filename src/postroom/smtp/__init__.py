"""Mail submission (RFC 6409): a few logged-in sessions with the mailbox's server, and how each message ended."""

from postroom.smtp.faults import SmtpFault
from postroom.smtp.outcome import Accepted, Outcome, Refusal, Rejected, Unknown
from postroom.smtp.submission import Submission
from postroom.smtp.submitter import Submitter

__all__ = [
    "Accepted",
    "Outcome",
    "Refusal",
    "Rejected",
    "SmtpFault",
    "Submission",
    "Submitter",
    "Unknown",
]
