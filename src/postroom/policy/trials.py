"""The tests that a file has for its own policies, run: what came of each that was not meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from postroom.base.levels import Access, Verdict
from postroom.config.policies.trials import TrialConfig, TrialFile, TrialMessage
from postroom.config.schema import ConfigFile
from postroom.mail.head import parse_head
from postroom.mail.model import Authentication, Part
from postroom.policy.effective import Policy, compile_policy
from postroom.policy.evidence import Evidence

_NOW = datetime(2000, 1, 1, tzinfo=UTC)
"""Any moment will do: a message of a test only has an age."""
_USUAL_SIZE = 1_024


@dataclass(frozen=True, slots=True)
class Failure:
    """A test that did not come out as its file says."""

    index: int
    """Its place in `tests`."""
    name: str
    wanted: str
    got: str
    because: tuple[str, ...] = ()
    """Rules that made it so, each as `policy.rule`; one that is only feared to match has a question mark."""

    def __str__(self) -> str:
        reason = f" because of {', '.join(self.because)}" if self.because else ""
        return f'tests[{self.index}] "{self.name}": {self.wanted} was expected, {self.got} came of it{reason}'


def failures(file: ConfigFile) -> list[Failure]:
    """Every test of a sound file that fails, in order. Tests of sending are not run here."""
    found = (_failure(file, index, trial) for index, trial in enumerate(file.tests))
    return [one for one in found if one is not None]


def _failure(file: ConfigFile, index: int, trial: TrialConfig) -> Failure | None:
    policy = compile_policy(file, trial.profile, trial.mailbox or file.mailboxes[0].name)
    if trial.folder is not None and trial.expect.access is not None:
        access = policy.folders.access(trial.folder, trial.special_use)
        wanted = Access[trial.expect.access.upper()]
        return None if access is wanted else Failure(index, trial.name, trial.expect.access, access.name.lower())
    if trial.message is not None and trial.expect.verdict is not None:
        evidence = evidence_of(trial.message)
        verdict = policy.messages.verdict(evidence)
        if verdict is not Verdict[trial.expect.verdict.upper()]:
            reasons = tuple(_reasons(policy, evidence, verdict))
            return Failure(index, trial.name, trial.expect.verdict, verdict.name.lower(), reasons)
    return None


def evidence_of(message: TrialMessage) -> Evidence:
    """A message as a test describes it: just arrived and small unless it says otherwise, nobody proven."""
    whole = message.text is not None
    found = frozenset(message.detections or ())
    looked = whole or message.detections is not None
    return Evidence(
        head=parse_head("".join(f"{name}: {value}\r\n" for name, value in _lines(message)).encode() + b"\r\n"),
        now=_NOW,
        received_at=_NOW - (message.age or timedelta()),
        size=_USUAL_SIZE if message.size is None else message.size,
        flags=frozenset(f"\\{flag.capitalize()}" for flag in message.flags),
        authentication=Authentication(message.auth.spf, message.auth.dkim, message.auth.dmarc),
        signals=frozenset(message.signals or ()) if whole or message.signals is not None else None,
        parts=_parts(message.attachments or ()) if whole or message.attachments is not None else None,
        subject=(message.subject or "") if whole else None,
        text=message.text,
        found_in_subject=frozenset[str]() if looked else None,
        found_in_body=found if looked else None,
    )


def _lines(message: TrialMessage) -> Iterator[tuple[str, str]]:
    people = {"From": message.from_, "To": message.to, "Cc": message.cc, "Reply-To": message.reply_to}
    yield from ((name, ", ".join(addresses)) for name, addresses in people.items() if addresses)
    if message.subject is not None:
        yield "Subject", message.subject
    yield from message.headers.items()


def _parts(files: tuple[TrialFile, ...]) -> tuple[Part, ...]:
    return tuple(
        Part(str(at), one.type.lower(), None, "base64", one.name, False, None, one.size, False)
        for at, one in enumerate(files, 2)
    )


def _reasons(policy: Policy, evidence: Evidence, verdict: Verdict) -> Iterator[str]:
    for rule in policy.messages.explain(evidence):
        restricts = rule.action is not Verdict.ALLOW
        if rule.action is verdict and (rule.truth is True or (rule.truth is None and restricts)):
            yield f"{rule.policy}.{rule.rule}" + ("?" if rule.truth is None else "")
