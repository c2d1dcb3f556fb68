"""A query cut in two: what a mail server can be asked, and what is left to be matched here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import Enum

from postroom.mail.query.tree import (
    All,
    And,
    Before,
    Body,
    Condition,
    Flag,
    HasAttachment,
    Header,
    Larger,
    Not,
    Or,
    Query,
    SentBefore,
    SentSince,
    Since,
    Smaller,
    Text,
    Uids,
    both,
)

_MAX_NUMBER = 2**32 - 1
"""A number of IMAP4rev1 has 32 bits."""
_FIRST_DAY = date(1970, 1, 2)
_LAST_DAY = date(2900, 1, 1)
"""Days that any server can be trusted to know."""
NONE: Query = Or(())
"""No message."""


class Trust(Enum):
    """What a server's answer about a condition is worth."""

    WORD = "word"
    """It is asked and believed."""
    HINT = "hint"
    """It is asked, but finds too much or too little: what it finds is matched again, and there may be more."""
    NOTHING = "nothing"
    """It is not asked."""


Trusting = Callable[[Condition], Trust]


def wholly(_condition: Condition) -> Trust:
    """Of a server that does what RFC 9051 says."""
    return Trust.WORD


def but_for_text(condition: Condition) -> Trust:
    """Of a server that is asked for flags, UIDs and INTERNALDATE alone."""
    return Trust.WORD if isinstance(condition, Flag | Uids | Since | Before) else Trust.NOTHING


def by_words(condition: Condition) -> Trust:
    """Of a server that finds words where RFC 9051 wants substrings."""
    return Trust.HINT if isinstance(condition, Header | Body | Text) else Trust.WORD


def not_at_all(_condition: Condition) -> Trust:
    """Of a server that cannot be asked anything."""
    return Trust.NOTHING


@dataclass(frozen=True, slots=True)
class Split:
    """`asked` fits every message that the query fits, perhaps more; of those, `left` settles which ones do.

    In `asked`, a `Since` or `Before` stands for the whole day that its moment lies in, in the server's zone, and
    `left` is `All` if the server's answer needs no second look. After a hint `asked` may miss some.
    """

    asked: Query
    left: Query
    hinted: bool


def split(query: Query, trusting: Trusting) -> Split:
    """For a server whose answers about conditions are worth what `trusting` says."""
    terms = query.terms if isinstance(query, And) else (query,)
    bounds = [_bounds(term, trusting) for term in terms]
    left = [term for term, bound in zip(terms, bounds, strict=True) if not bound.exact]
    asked = _conjunction([bound.over for bound in bounds])
    hinted = mentions(asked, lambda condition: trusting(condition) is Trust.HINT)
    return Split(asked, both(*left), hinted)


@dataclass(frozen=True, slots=True)
class _Bounds:
    """A query between two that a server can be asked: `over` fits at least what it fits, `under` at most that."""

    over: Query
    under: Query

    @property
    def exact(self) -> bool:
        return self.over == self.under


_UNKNOWN = _Bounds(All(), NONE)


def _bounds(query: Query, trusting: Trusting) -> _Bounds:
    match query:
        case All():
            return _Bounds(query, query)
        case Not(term):
            inner = _bounds(term, trusting)
            return _Bounds(_negated(inner.under), _negated(inner.over))
        case And(terms):
            inners = [_bounds(term, trusting) for term in terms]
            return _Bounds(_conjunction([one.over for one in inners]), _conjunction([one.under for one in inners]))
        case Or(terms):
            inners = [_bounds(term, trusting) for term in terms]
            return _Bounds(_disjunction([one.over for one in inners]), _disjunction([one.under for one in inners]))
        case _:
            return _condition_bounds(query, trusting)


def _condition_bounds(condition: Condition, trusting: Trusting) -> _Bounds:
    trust = trusting(condition)
    if trust is not Trust.WORD:
        return _Bounds(condition, NONE) if trust is Trust.HINT else _UNKNOWN
    match condition:
        case HasAttachment():
            return _UNKNOWN
        case Since(moment):
            return _Bounds(_since(moment, -1), _since(moment, 2))
        case Before(moment):
            return _Bounds(_before(moment, 2), _before(moment, -1))
        case Larger(octets):
            return _Bounds(condition, condition) if octets < _MAX_NUMBER else _UNKNOWN
        case Smaller(octets):
            return _Bounds(condition, condition) if octets < _MAX_NUMBER else _UNKNOWN
        case _:
            return _Bounds(condition, condition)


def _since(moment: datetime, days: int) -> Query:
    """A message's day in the server's zone is its day in UTC or a neighbour of that."""
    shifted = _shifted(moment, days)
    return Since(shifted) if shifted else (All() if days < 0 else NONE)


def _before(moment: datetime, days: int) -> Query:
    shifted = _shifted(moment, days)
    return Before(shifted) if shifted else (All() if days > 0 else NONE)


def _shifted(moment: datetime, days: int) -> datetime | None:
    if not _FIRST_DAY <= moment.date() <= _LAST_DAY:
        return None
    return moment.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=days)


def _negated(query: Query) -> Query:
    """With NOT at single conditions only, and at none that has an opposite.

    Simple servers understand no more, and Dovecot 2.3 answers `NOT SMALLER 9 NOT SMALLER 5` as if it were one of them.
    """
    match query:
        case All():
            return NONE
        case Not(term):
            return term
        case And(terms):
            return _disjunction([_negated(term) for term in terms])
        case Or(terms):
            return _conjunction([_negated(term) for term in terms])
        case _:
            return _opposite(query)


def _opposite(condition: Condition) -> Query:
    match condition:
        case Since(moment):
            return Before(moment)
        case Before(moment):
            return Since(moment)
        case SentSince(day):
            return SentBefore(day)
        case SentBefore(day):
            return SentSince(day)
        case Larger(octets):
            return Smaller(octets + 1)
        case Smaller(octets):
            return Larger(octets - 1) if octets else All()
        case _:
            return Not(condition)


def _conjunction(terms: list[Query]) -> Query:
    return NONE if NONE in terms else both(*terms)


def _disjunction(terms: list[Query]) -> Query:
    kept = tuple(dict.fromkeys(term for term in terms if term != NONE))
    if any(isinstance(term, All) for term in kept):
        return All()
    return kept[0] if len(kept) == 1 else Or(kept)


def mentions(query: Query, kind: Callable[[Condition], bool]) -> bool:
    """Whether a condition of that kind stands in it."""
    match query:
        case All():
            return False
        case Not(term):
            return mentions(term, kind)
        case And(terms) | Or(terms):
            return any(mentions(term, kind) for term in terms)
        case _:
            return kind(query)
