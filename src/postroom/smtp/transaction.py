"""One message handed over, phase by phase (RFC 5321 3.3), so that it is always known whether the server may have it."""

from __future__ import annotations

from postroom.mail.outgoing.model import Cleared
from postroom.smtp.faults import SmtpFault
from postroom.smtp.outcome import Accepted, Answer, BeforeMessage, Outcome, Refusal, Rejected, Unknown
from postroom.smtp.session import Session


async def begin(session: Session, cleared: Cleared) -> Answer:
    """MAIL, after a look at what the server takes. Raises `SmtpFault`, also for a message that it cannot take."""
    limit = session.size_limit
    if limit is not None and len(cleared.octets) > limit:
        told = f"the server takes messages of {limit} octets at most, this one has {len(cleared.octets)}"
        raise SmtpFault("too_large", told)
    options = [f"SIZE={len(cleared.octets)}"] if session.offers("size") else []
    if cleared.needs_utf8:
        if not (session.offers("smtputf8") and session.offers("8bitmime")):
            raise SmtpFault("not_offered", "the server takes no addresses beyond ASCII (SMTPUTF8)")
        options += ["BODY=8BITMIME", "SMTPUTF8"]
    return await session.mail(cleared.sender, options)


async def finish(session: Session, cleared: Cleared, *, partial: bool, before_message: BeforeMessage) -> Outcome:
    """Everything after MAIL was taken. Raises `SmtpFault` as long as the server cannot have the message.

    Without `partial` one refused recipient refuses all. `before_message` is awaited when the server waits for the
    message; if it raises, the connection is closed and nothing was sent.
    """
    answers = {recipient: await session.rcpt(recipient) for recipient in cleared.recipients}
    refused = tuple(
        Refusal(address, answer.code, answer.enhanced, answer.is_temporary)
        for address, answer in answers.items()
        if not answer.is_positive
    )
    taken = tuple(address for address, answer in answers.items() if answer.is_positive)
    if not taken or (refused and not partial):
        await session.reset()
        return _all_refused(refused)
    if (answer := await session.data()) is not None:
        await session.reset()
        return _rejected("data", answer)
    await before_message(Accepted(taken, refused))
    await session.message(cleared.octets)
    try:
        answer = await session.verdict()
    except SmtpFault as fault:
        return Unknown(fault.reason)
    return Accepted(taken, refused) if answer.is_positive else _rejected("message", answer)


def _rejected(stage: str, answer: Answer) -> Rejected:
    return Rejected(stage, answer.code, answer.enhanced, answer.is_temporary)


def _all_refused(refused: tuple[Refusal, ...]) -> Rejected:
    """Told by the first that is for good, if there is one: only then is trying again of no use."""
    worst = next((one for one in refused if not one.temporary), refused[0])
    return Rejected("recipients", worst.code, worst.enhanced, worst.temporary, refused)
