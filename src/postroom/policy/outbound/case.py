"""One message that is judged: what its rules ask of it, found out once for all policies."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property

from postroom.base.kleene import Truth
from postroom.mail.outgoing.model import StrictAddress
from postroom.mail.unseen import without_unseen
from postroom.policy.outbound.decoding import decoded
from postroom.policy.outbound.hosts import hosts_of_page, hosts_of_text
from postroom.policy.outbound.plan import Plan, SendEvidence
from postroom.policy.pagewords import readings, run_together


class Case:
    """A plan and its evidence, and what follows from them."""

    def __init__(self, plan: Plan, evidence: SendEvidence) -> None:
        self.plan = plan
        self.evidence = evidence
        self._found: dict[str, bool] = {}

    @property
    def recipients(self) -> tuple[StrictAddress, ...]:
        """To, Cc and Bcc, each address once."""
        return self.plan.outgoing.recipients

    def beyond(self, *, thread: bool, internal: bool) -> tuple[StrictAddress, ...]:
        """Recipients that are neither internal nor participants of the thread, where these are left out."""
        answered = self.plan.answered
        inside = answered.participants if thread and answered else frozenset[str]()
        outside = [one for one in self.recipients if one.key not in inside]
        return tuple(one for one in outside if not (internal and self.evidence.internal.holds(one)))

    @cached_property
    def new_recipients(self) -> int | None:
        """Recipients that this profile never wrote to and that are no contacts; None if that cannot be told."""
        known, contacts = self.evidence.written_to, self.evidence.contacts
        if known is None:
            return None
        return sum(one.key not in known and not contacts.holds(one) for one in self.recipients)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Everything that is said to the recipients, as it reads: subject, bodies, names, and texts of files."""
        outgoing = self.plan.outgoing
        people = (outgoing.from_, *outgoing.to, *outgoing.cc, *outgoing.bcc, *outgoing.reply_to)
        names = [one.name for one in people if one.name]
        files = [*(file.filename for file in outgoing.files), *(facts.name or "" for facts in self.plan.files)]
        pages = [text for page in self.pages for text in readings(page)]
        return _pieces(outgoing.subject, outgoing.text or "", *pages, *names, *files, *self.plan.file_texts)

    @cached_property
    def pages(self) -> tuple[str, ...]:
        """All HTML, its own and that of files."""
        outgoing = self.plan.outgoing
        return tuple(filter(None, (outgoing.html, *self.plan.file_pages)))

    @cached_property
    def scanned(self) -> tuple[str, ...]:
        """The words, also with all tags taken out, and what stands in them under one layer of an encoding."""
        plain = tuple(dict.fromkeys((*self.words, *_pieces(*map(run_together, self.pages)))))
        return (*plain, *(text for piece in plain for text in decoded(piece)))

    @cached_property
    def holds_own_secret(self) -> bool:
        """Whether a secret of the gateway stands anywhere in it, also in addresses and in the octets of files."""
        secrets, outgoing = self.evidence.secrets, self.plan.outgoing
        people = (outgoing.from_, *outgoing.to, *outgoing.cc, *outgoing.bcc, *outgoing.reply_to)
        if any(secrets.found_in(text) for text in (*self.scanned, *(one.address for one in people))):
            return True
        return any(secrets.holds_token(file.octets.decode("latin-1")) for file in outgoing.files)

    @cached_property
    def hosts(self) -> frozenset[str]:
        """Hosts of all links; "" for one whose host cannot be told."""
        written = (host for piece in self.words for host in hosts_of_text(piece))
        return frozenset(written).union(*map(hosts_of_page, self.pages))

    def found(self, names: Collection[str], scan_chars: int) -> dict[str, Truth]:
        """Which of these detectors find something; unknown where not all can be looked through."""
        missing = [name for name in names if name not in self._found]
        if missing:
            self._found |= dict.fromkeys(missing, False) | dict.fromkeys(self._names(missing), True)
        missed = None if self.longest > scan_chars or self.plan.files_unread else False
        return {name: self._found[name] or missed for name in names}

    @cached_property
    def longest(self) -> int:
        """Characters of its longest text."""
        return max(map(len, self.words), default=0)

    def _names(self, names: Collection[str]) -> Iterator[str]:
        subject = self.plan.outgoing.subject
        for piece in self.scanned:
            yield from (one.name for one in self.evidence.detect(piece, names, "" if piece == subject else subject))


def _pieces(*texts: str) -> tuple[str, ...]:
    """Texts without what nobody sees, each once."""
    return tuple(dict.fromkeys(filter(None, map(without_unseen, texts))))
