"""From what a rule says of messages to a condition on them: every key by its meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from postroom.config.policies.matching import MatchConfig
from postroom.policy import messagekeys, personkeys
from postroom.policy.condition import Condition, Terms, every, opposite, some

_KEYS: dict[str, Callable[[Any, Terms], Condition]] = {
    "from_": personkeys.from_,
    "sender_domain": personkeys.sender_domain,
    "recipient": personkeys.recipient,
    "recipient_all": personkeys.recipient_all,
    "reply_to": personkeys.reply_to,
    "auth": personkeys.auth,
    "internal": personkeys.internal,
    "in_reply_to_own": personkeys.in_reply_to_own,
    "known_correspondent": personkeys.known_correspondent,
    "subject": messagekeys.subject,
    "header": messagekeys.header,
    "list_id": messagekeys.list_id,
    "older_than": messagekeys.older_than,
    "newer_than": messagekeys.newer_than,
    "size_over": messagekeys.size_over,
    "size_under": messagekeys.size_under,
    "flags": messagekeys.flags,
    "anomaly": messagekeys.anomaly,
    "attachment": messagekeys.attachment,
    "contains": messagekeys.contains,
}


def compile_match(match: MatchConfig, terms: Terms) -> Condition:
    """The condition that all keys of a match make together."""
    return every(_conditions(match, terms))


def _conditions(match: MatchConfig, terms: Terms) -> Iterator[Condition]:
    for key, compile_key in _KEYS.items():
        value = getattr(match, key)
        if value is not None:
            yield compile_key(value, terms)
    if match.any is not None:
        yield some(compile_match(one, terms) for one in match.any)
    if match.all is not None:
        yield every(compile_match(one, terms) for one in match.all)
    if match.not_ is not None:
        # What is excepted from a restriction permits, and the other way round.
        yield opposite(compile_match(match.not_, replace(terms, tags=not terms.tags)))
