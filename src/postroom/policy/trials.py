"""The tests that a file has for its own policies, run: what came of each that was not meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from postroom.base.errors import GatewayError
from postroom.base.levels import Verdict
from postroom.config.faults import Finding
from postroom.config.policies.trials import TrialConfig, TrialFile, TrialMessage, TrialSend
from postroom.config.schema import ConfigFile
from postroom.mail.head import parse_head
from postroom.mail.model import Authentication, Part
from postroom.mail.outgoing.address import strict_address
from postroom.mail.outgoing.model import Outgoing
from postroom.policy.effective import Policy, compile_policy
from postroom.policy.evidence import Evidence
from postroom.policy.explaining import counts
from postroom.policy.outbound.supposing import Supposed, suppose, told

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

    @property
    def reason(self) -> str:
        return f" because of {', '.join(self.because)}" if self.because else ""

    def __str__(self) -> str:
        return f'tests[{self.index}] "{self.name}": {self.wanted} was expected, {self.got} came of it{self.reason}'


def failures(file: ConfigFile) -> list[Failure]:
    """Every test of a sound file that fails, in order."""
    found = (_failure(file, index, trial) for index, trial in enumerate(file.tests))
    return [one for one in found if one is not None]


def faults_of(file: ConfigFile) -> list[Finding]:
    """The same as faults of the file: a configuration that fails its own tests is not used."""
    problem = '"{0.name}" fails: {0.wanted} was expected, {0.got} came of it{0.reason}'
    return [
        Finding(("tests", one.index), problem.format(one), "repair the policy, or the test") for one in failures(file)
    ]


def _failure(file: ConfigFile, index: int, trial: TrialConfig) -> Failure | None:
    policy = compile_policy(file, trial.profile, trial.mailbox or file.mailboxes[0].name)
    wanted = trial.expect.access or trial.expect.verdict or trial.expect.outcome or ""
    got, reasons = _came(policy, file, trial)
    return None if got == wanted else Failure(index, trial.name, wanted, got, reasons)


def _came(policy: Policy, file: ConfigFile, trial: TrialConfig) -> tuple[str, tuple[str, ...]]:
    """What comes of a test's subject, and the rules that make it so."""
    if trial.message is not None:
        evidence = evidence_of(trial.message)
        verdict = policy.messages.verdict(evidence)
        return verdict.name.lower(), tuple(_reasons(policy, evidence, verdict))
    if trial.send is not None:
        return _ending(policy, file, trial.send)
    return policy.folders.access(trial.folder or "", trial.special_use).name.lower(), ()


def _ending(policy: Policy, file: ConfigFile, send: TrialSend) -> tuple[str, tuple[str, ...]]:
    """How a message ends, and by which rules; for one that could not be written why not."""
    own = next(one for one in file.mailboxes if one.name == policy.mailbox).own_address
    try:
        judgement = suppose(policy, outgoing_of(send, own), supposed_of(send))
    except (ValueError, GatewayError) as error:
        return f"no message ({error})", ()
    return judgement.outcome.name.lower(), tuple(told(policy, one) for one in judgement.decisive)


def outgoing_of(send: TrialSend, own: str) -> Outgoing:
    """The message that a test describes, from the address `own` unless it says another. Raises ValueError."""
    return Outgoing(
        from_=strict_address(send.from_ or own),
        to=tuple(map(strict_address, send.to)),
        cc=tuple(map(strict_address, send.cc)),
        bcc=tuple(map(strict_address, send.bcc)),
        subject=send.subject,
        text=send.text,
    )


def supposed_of(send: TrialSend) -> Supposed:
    """What a test says of the time before. Raises ValueError for an address that is none."""
    return Supposed(tuple(map(strict_address, send.wrote)), send.has_read, send.was_draft)


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
        if rule.action is verdict and counts(rule):
            yield f"{rule.policy}.{rule.rule}" + ("?" if rule.truth is None else "")
