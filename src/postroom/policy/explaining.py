"""Why a message is shown as it is: what each rule makes of it, for the operator, without a word of what it says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from postroom.base.kleene import Truth
from postroom.base.levels import Files, Finding, Verdict
from postroom.mail.model import Fetched, Part
from postroom.policy.content import Projected
from postroom.policy.filefacts import facts_of
from postroom.policy.messagerules import Explained
from postroom.policy.visibility import Gaze, judge_head, whole_evidence


@dataclass(frozen=True, slots=True)
class Explanation:
    """Of one message under one policy."""

    rules: tuple[Explained, ...]
    """Every rule of every policy that has a say."""
    verdict: Verdict
    redacted: tuple[str, ...]
    """Names of detectors and patterns that put a marker somewhere in it."""
    flagged: tuple[str, ...]
    """Names of those whose finding is told as a signal and shown all the same."""
    files: tuple[tuple[Part, Files], ...]
    """How much of each attachment may be had."""
    from_outside: Truth
    """Having read it counts as having read mail from outside; None if it is not certain, which counts too."""

    @property
    def decisive(self) -> tuple[Explained, ...]:
        """The rules that make the verdict; none where it is the default."""
        return tuple(one for one in self.rules if one.action is self.verdict and counts(one))


def counts(rule: Explained) -> bool:
    """Whether a rule is taken to be about a message: an unknown counts where the rule restricts."""
    return rule.truth is True or (rule.truth is None and rule.action is not Verdict.ALLOW)


def explain(fetched: Fetched, projected: Projected, gaze: Gaze) -> Explanation:
    """What comes of a message with its content at hand, in a folder that may be read."""
    policy = gaze.policy
    judged = judge_head(fetched.head, gaze.setting, policy.content)
    evidence = whole_evidence(fetched, judged, projected, gaze)
    internal = policy.internal.test(evidence)
    return Explanation(
        rules=policy.messages.explain(evidence),
        verdict=min(policy.messages.verdict(evidence), projected.verdict),
        redacted=tuple(_found(projected, gaze, Finding.REDACT)),
        flagged=tuple(_found(projected, gaze, Finding.FLAG)),
        files=tuple(
            (part, policy.attachments.level(facts_of(part, place=at)))
            for at, part in enumerate(projected.reading.attachments)
        ),
        from_outside=None if internal is None else not internal,
    )


def _found(projected: Projected, gaze: Gaze, action: Finding) -> Iterator[str]:
    """Names of what found something and does this about it, in the order of the policy."""
    rules = gaze.policy.content
    yield from (name for name, one in rules.detectors.items() if one is action and name in projected.detections)
    for pattern in rules.patterns:
        inside = (
            *(projected.found_in_subject if pattern.in_subject else ()),
            *(projected.found_in_body if pattern.in_body else ()),
        )
        if pattern.action is action and pattern.name in inside:
            yield pattern.name
