"""What `postroom policy explain` says: each rule, and what comes of a message that is read or sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from postroom.base.kleene import Truth
from postroom.base.levels import Access, Outcome
from postroom.config import Config
from postroom.config.policies.sendfile import read_send
from postroom.mail.outgoing.address import strict_address
from postroom.mail.outgoing.model import Outgoing
from postroom.mail.outgoing.redraft import read_draft
from postroom.mail.unseen import visible_line
from postroom.mailbox.explaining import explain_file
from postroom.policy.effective import Policy
from postroom.policy.explaining import Explanation
from postroom.policy.outbound import Judgement
from postroom.policy.outbound.supposing import Supposed, suppose, told
from postroom.policy.trials import outgoing_of, supposed_of

_WRITTEN = (".yaml", ".yml", ".json")
_TRUTHS = {True: "true", False: "false", None: "unknown"}
_REFUSED = "it is refused (policy_denied), and nothing is stored"
_DRAFTED = "it is saved in Drafts, for a person to send"
_SENT = "it is sent"
_ENDINGS = {
    Outcome.DENY: (_REFUSED, _REFUSED),
    Outcome.DRAFT: (_DRAFTED, _REFUSED),
    Outcome.HOLD: (_DRAFTED, _REFUSED),
    Outcome.SEND: (_SENT, _SENT),
}
"""What an outcome means to a caller of the toolset `mailbox`, and of `relay`."""


def of_message(
    config: Config, policy: Policy, octets: bytes, folder: str, received_at: datetime, now: datetime
) -> Iterator[str]:
    """The lines on a message file (RFC 5322) as if it lay in that folder: a path, or `special:` and a use."""
    path, use = place(config, policy.mailbox, folder)
    access = policy.folders.access(path, use)
    yield _heading(policy)
    yield f"Folder {folder}: {access.name.lower()}."
    if access < Access.READABLE:
        yield "  No message in it can be read, whatever the rules on messages say of it."
    yield from _of_message(explain_file(octets, path, policy, config.mailbox(policy.mailbox), received_at, now))


def of_sending(policy: Policy, outgoing: Outgoing, supposed: Supposed) -> Iterator[str]:
    """The lines on a message that is to be sent. Raises a `GatewayError` for one that could not be written."""
    yield _heading(policy)
    yield from _of_sending(policy, suppose(policy, outgoing, supposed))
    yield from _supposed(supposed)


def sending_in(octets: bytes, file: str, own: str) -> tuple[Outgoing, Supposed]:
    """The message in a file, and what the file supposes of the time before; `own` is its sender if it names none.

    A name that ends in .yaml, .yml or .json is of keys as a test of sending has them, any other of a message (.eml).
    Raises `ConfigError` for such keys, ValueError and `GatewayError` for addresses and messages that cannot be used.
    """
    if not file.endswith(_WRITTEN):
        return read_draft(octets, strict_address(own)), Supposed()
    send = read_send(octets.decode("utf-8", "replace"), Path(file))
    return outgoing_of(send, own), supposed_of(send)


def with_more(supposed: Supposed, wrote: Iterable[str], *, has_read: bool, was_draft: bool) -> Supposed:
    """The same, and these suppositions besides. Raises ValueError for an address that is none."""
    return replace(
        supposed,
        wrote=(*supposed.wrote, *map(strict_address, wrote)),
        has_read=supposed.has_read or has_read,
        was_draft=supposed.was_draft or was_draft,
    )


def place(config: Config, mailbox: str, folder: str) -> tuple[str, str | None]:
    """A folder's path, and its special use as far as the configuration tells."""
    if folder.startswith("special:"):
        return "", folder.removeprefix("special:")
    if folder.upper() == "INBOX":
        return "INBOX", "inbox"
    named = config.mailbox(mailbox).folders
    uses = {named.sent: "sent", named.drafts: "drafts", named.trash: "trash"}
    return folder, uses.get(folder)


def _heading(policy: Policy) -> str:
    grant, *restrictions = policy.parties
    whole = f"granted by {grant}, restricted by {_list(restrictions)}"
    return f"Profile {policy.profile} in mailbox {policy.mailbox}: {whole}."


def _of_message(explained: Explanation) -> Iterator[str]:
    for rule in explained.rules:
        yield f"  {_TRUTHS[rule.truth]:<8} {rule.policy}.{rule.rule}: {rule.action.name.lower()}"
    why = _list(f"{one.policy}.{one.rule}{_doubt(one.truth)}" for one in explained.decisive)
    yield f"Verdict: {explained.verdict.name.lower()}, {f'because of {why}' if explained.decisive else 'by default'}."
    for what, names in (("Redacted", explained.redacted), ("Told as a signal", explained.flagged)):
        if names:
            yield f"{what}: {_list(names)}."
    for at, (part, level) in enumerate(explained.files, 1):
        what = f"{visible_line(part.content_type)}, {part.size} octets"
        yield f"Attachment {at} as it is described, {what}: {level.name.lower()}."
    if explained.from_outside is not False:
        yield "Reading it counts as reading mail from outside (outbound.after_untrusted_read)."


def _doubt(truth: Truth) -> str:
    return " (unknown, which counts where a rule restricts)" if truth is None else ""


def _of_sending(policy: Policy, judgement: Judgement) -> Iterator[str]:
    for reason in judgement.reasons:
        yield f"  {reason.outcome.name.lower():<5} {told(policy, reason)}: {reason.sentence}"
    yield f"Outcome: {judgement.outcome.name.lower()}{'' if judgement.decisive else ', for no rule is against it'}."
    for toolset, ending in zip(("mailbox", "relay"), _ENDINGS[judgement.outcome], strict=True):
        yield f"  toolset {toolset}: {ending}"


def _supposed(supposed: Supposed) -> Iterator[str]:
    wrote = _list(one.address for one in supposed.wrote) if supposed.wrote else "nobody"
    read = "mail from outside was just read" if supposed.has_read else "no mail from outside was read"
    draft = "it was a draft" if supposed.was_draft else "it was no draft"
    when = f"it is {supposed.now:%A %H:%M} UTC"
    yield f"Supposed: {when}; nothing was sent before; {wrote} wrote before; {read}; {draft}."


def _list(names: Iterable[str]) -> str:
    return ", ".join(names)
