"""What may be sent: how a policy judges a message, and the stamp without which nothing is sent."""

from postroom.policy.outbound.clearing import check_sendable, clear, permit_sender
from postroom.policy.outbound.judgement import Judgement, Reason
from postroom.policy.outbound.judging import judge

__all__ = ["Judgement", "Reason", "check_sendable", "clear", "judge", "permit_sender"]
