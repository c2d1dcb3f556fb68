"""The section of a policy on messages: which exist for a caller, and which only by their envelope."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from postroom.config.policies.matching import MatchConfig
from postroom.config.policies.values import RuleId, VerdictLevel
from postroom.config.section import Section


class MessageRule(Section):
    """A rule on messages: of all that match, the most restrictive counts. What is unknown is taken for the worse."""

    id: RuleId
    """What it is called in the audit; unique in its policy."""
    match: MatchConfig
    """What it is about."""
    except_: MatchConfig | None = Field(default=None, alias="except")
    """What it is not about all the same."""
    action: VerdictLevel
    """`hide`: the message does not exist. `withhold`: it is listed, its content is not shown. `allow`."""


class MessagePolicy(Section):
    """Which messages exist, within the folders that may be read."""

    default: Literal["hide", "withhold", "allow", "pass"] = "allow"
    """For messages that no rule matches; `pass`, in a restriction only, has no opinion."""
    rules: tuple[MessageRule, ...] = ()
    """What is known of messages."""
    withhold_subject: bool = True
    """A withheld message's subject is `[withheld]`."""
    explain_to_agent: bool = False
    """Callers are told which rule withheld a message."""
