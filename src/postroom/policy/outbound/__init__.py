"""What may be sent: how a policy judges a message, and the stamp without which nothing is sent."""

from postroom.policy.outbound.clearing import clear, permit_sender
from postroom.policy.outbound.judgement import Judgement, Reason
from postroom.policy.outbound.judging import judge

__all__ = ["Judgement", "Reason", "clear", "judge", "permit_sender"]
