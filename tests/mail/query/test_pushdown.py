"""What a server is asked fits at least what the query fits, in any time zone; what it settles is not matched again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.mail.query.pushdown import NONE, Trust, but_for_text, by_words, not_at_all, split, wholly
from postroom.mail.query.tree import (
    All,
    And,
    Before,
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
    Uids,
)

SEEN, FROM = Flag("\\Seen"), Header("from", "ana")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def day(number: int) -> datetime:
    return datetime(2026, 3, number, tzinfo=UTC)


@dataclass(frozen=True)
class Message:
    """Just enough for conditions to differ."""

    uid: int
    flags: frozenset[str]
    received: datetime
    size: int
    sent: date
    named: bool
    attached: bool


def fits(query: Query, message: Message, zone: timezone | None = None) -> bool:  # noqa: C901 - one case a line
    """With a zone, as a server there answers: INTERNALDATE by whole days."""
    match query:
        case All():
            return True
        case And(terms):
            return all(fits(term, message, zone) for term in terms)
        case Or(terms):
            return any(fits(term, message, zone) for term in terms)
        case Not(term):
            return not fits(term, message, zone)
        case Since(moment) | Before(moment):
            its = message.received.astimezone(zone).date() if zone else message.received
            border = moment.date() if zone else moment
            return bool(its >= border if isinstance(query, Since) else its < border)  # type: ignore[operator]
        case Flag(name):
            return name in message.flags
        case Larger(octets):
            return message.size > octets
        case Smaller(octets):
            return message.size < octets
        case SentSince(its_day):
            return message.sent >= its_day
        case SentBefore(its_day):
            return message.sent < its_day
        case Uids(ranges):
            return any(low <= message.uid <= high for low, high in ranges)
        case HasAttachment():
            return message.attached
        case _:
            return message.named


moments = st.datetimes(datetime(2026, 2, 27), datetime(2026, 3, 4), timezones=st.just(UTC)) | st.sampled_from(
    [day(2), day(2) - timedelta(seconds=1), day(2) + timedelta(seconds=1)]
)
days = st.dates(date(2026, 2, 28), date(2026, 3, 3))
conditions: st.SearchStrategy[Query] = st.one_of(
    st.sampled_from([SEEN, FROM, HasAttachment(), All(), Uids(((2, 3),))]),
    moments.map(Since),
    moments.map(Before),
    st.integers(0, 5).map(Larger),
    st.integers(0, 5).map(Smaller),
    days.map(SentSince),
    days.map(SentBefore),
)


def nested(inner: st.SearchStrategy[Query]) -> st.SearchStrategy[Query]:
    several = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return inner.map(Not) | several.map(And) | several.map(Or)


queries = st.recursive(conditions, nested, max_leaves=8)
messages = st.builds(
    Message,
    uid=st.integers(1, 4),
    flags=st.sampled_from([frozenset[str](), frozenset({"\\Seen"})]),
    received=moments,
    size=st.integers(0, 5),
    sent=days,
    named=st.booleans(),
    attached=st.booleans(),
)
zones = st.integers(-12 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(queries, messages, zones, st.sampled_from([wholly, but_for_text, not_at_all]))
def test_asking_and_matching_the_rest_is_the_query_in_any_zone(query, message, zone, trusting) -> None:  # type: ignore[no-untyped-def]
    both = split(query, trusting)
    assert (fits(both.asked, message, zone) and fits(both.left, message)) is fits(query, message)


@given(queries, messages)
def test_a_server_that_finds_words_is_at_most_wrong_by_missing_some(query: Query, message: Message) -> None:
    both = split(query, by_words)
    if fits(both.asked, message, UTC) and fits(both.left, message):
        assert fits(query, message)


@given(queries)
def test_not_stands_only_before_conditions_without_an_opposite(query: Query) -> None:
    """Dovecot 2.3 takes `NOT SMALLER 9 NOT SMALLER 5` for one of the two."""
    assert nots(split(query, wholly).asked) <= {Flag, Header, Uids}


def nots(query: Query) -> set[type]:
    match query:
        case And(terms) | Or(terms):
            return {kind for term in terms for kind in nots(term)}
        case Not(term):
            return {type(term)}
        case _:
            return set()


@pytest.mark.parametrize(
    ("query", "asked", "left"),
    [
        (And((SEEN, FROM)), And((SEEN, FROM)), All()),
        (Since(NOON), Since(day(1) - timedelta(days=1)), Since(NOON)),
        (Before(NOON), Before(day(3)), Before(NOON)),
        (Not(Since(NOON)), Before(day(3)), Not(Since(NOON))),
        (And((SEEN, HasAttachment())), SEEN, HasAttachment()),
        (Or((SEEN, HasAttachment())), All(), Or((SEEN, HasAttachment()))),
        (Not(Smaller(9)), Larger(8), All()),
        (Not(Or((FROM, SEEN))), And((Not(FROM), Not(SEEN))), All()),
        (Not(All()), NONE, All()),
        (Larger(2**32), All(), Larger(2**32)),
        (Since(datetime(1, 1, 1, tzinfo=UTC)), All(), Since(datetime(1, 1, 1, tzinfo=UTC))),
        (Before(datetime(9999, 12, 31, tzinfo=UTC)), All(), Before(datetime(9999, 12, 31, tzinfo=UTC))),
    ],
)
def test_what_is_asked_and_what_is_left(query: Query, asked: Query, left: Query) -> None:
    both = split(query, wholly)
    assert (both.asked, both.left) == (asked, left)


def test_text_never_leaves_for_a_caller_whose_text_is_policy() -> None:
    both = split(And((FROM, SEEN, Not(FROM), Larger(5), SentSince(date(2026, 3, 1)), Uids(((1, 5),)))), but_for_text)
    assert both.asked == And((SEEN, Uids(((1, 5),))))
    assert both.left == And((FROM, Not(FROM), Larger(5), SentSince(date(2026, 3, 1))))


def test_a_hint_is_told_and_a_negated_one_is_not_asked() -> None:
    assert split(FROM, by_words).hinted
    assert split(FROM, by_words).left == FROM
    assert split(Not(FROM), by_words).asked == All()
    assert not split(Not(FROM), by_words).hinted


def test_conditions_are_asked_one_by_one() -> None:
    met: list[Condition] = []

    def trusting(condition: Condition) -> Trust:
        met.append(condition)
        return Trust.NOTHING

    assert split(And((SEEN, Not(FROM))), trusting).asked == All()
    assert met == [SEEN, FROM]
