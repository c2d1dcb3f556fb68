"""Which messages exist for a caller, and which only by their envelope."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from postroom.base.kleene import Truth, all_of, any_of, negation
from postroom.base.levels import Finding, Verdict
from postroom.config.policies.messages import MessagePolicy, MessageRule
from postroom.policy.condition import Condition, Terms
from postroom.policy.contentrules import ContentRules
from postroom.policy.evidence import Evidence
from postroom.policy.matchrules import compile_match

LISTED_FIELDS = frozenset(
    (
        *("from", "sender", "to", "cc", "reply-to", "subject", "date", "message-id", "in-reply-to", "references"),
        "content-type",
    )
)
"""Header fields that a list fetches in any case."""
Report = Callable[[Exception], None]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule on messages, compiled."""

    policy: str
    """The policy it stands in."""
    id: str
    action: Verdict
    match: Condition
    exempt: Condition | None = None

    @property
    def needs_body(self) -> bool:
        return self.match.needs_body or (self.exempt is not None and self.exempt.needs_body)

    def truth(self, evidence: Evidence) -> Truth:
        """Whether it is about the message: it matches, and is not excepted."""
        truth = self.match.test(evidence)
        if truth is False or self.exempt is None:
            return truth
        return all_of((truth, negation(self.exempt.test(evidence))))

    def applies(self, truth: Truth) -> bool:
        """What is unknown counts against the message: a match in a rule that restricts, none in one that allows."""
        return truth is True or (truth is None and self.action is not Verdict.ALLOW)


@dataclass(frozen=True, slots=True)
class Explained:
    """A rule, whether it is about a message, and what it does then."""

    policy: str
    rule: str
    truth: Truth
    action: Verdict


@dataclass(frozen=True, slots=True)
class Rules:
    """What one policy says of messages; without an opinion on the others its default is to allow them."""

    default: Verdict
    rules: tuple[Rule, ...]

    def verdict(self, evidence: Evidence) -> Verdict:
        matched = [rule.action for rule in self.rules if rule.applies(rule.truth(evidence))]
        return min(matched, default=self.default)

    def ceiling(self, evidence: Evidence) -> Verdict:
        """The most that may come of a message whatever its content: rules that wait for it may still match or not."""
        truths = [(rule, rule.truth(evidence)) for rule in self.rules]
        waiting = {rule.action for rule, truth in truths if truth is None and rule.needs_body}
        decided = [
            rule.action for rule, truth in truths if not (truth is None and rule.needs_body) and rule.applies(truth)
        ]
        return min(decided) if decided else max({self.default, *waiting})


@dataclass(frozen=True, slots=True)
class Messages:
    """What all policies together say of messages: each decides, and the least counts."""

    policies: tuple[Rules, ...]
    withhold_subject: bool
    """A withheld message's subject is not shown."""
    explain_to_agent: bool
    """A caller may be told which rule withheld a message."""
    fields: frozenset[str]
    """Header fields, lower case, that a head must have been fetched with beside `LISTED_FIELDS`."""
    needs_body: bool
    """A verdict needs the content."""
    detectors: frozenset[str]
    """Names of detectors that must have looked, also those that redact nothing."""
    asks_records: bool
    """A verdict rests on the gateway's records, or on other mail."""
    report: Report

    def verdict(self, evidence: Evidence) -> Verdict:
        """What becomes of the message. An error in a rule hides it."""
        return self._restrictively(lambda: min(policy.verdict(evidence) for policy in self.policies))

    def ceiling(self, evidence: Evidence) -> Verdict:
        """An upper bound for `verdict` that needs no content: of a message it hides, none need be fetched."""
        bare = evidence.without_content()
        return self._restrictively(lambda: min(policy.ceiling(bare) for policy in self.policies))

    def explain(self, evidence: Evidence) -> tuple[Explained, ...]:
        """Every rule of every policy, and what it makes of the message."""
        rules = (rule for policy in self.policies for rule in policy.rules)
        return tuple(Explained(rule.policy, rule.id, rule.truth(evidence), rule.action) for rule in rules)

    def _restrictively(self, decide: Callable[[], Verdict]) -> Verdict:
        try:
            return decide()
        except Exception as fault:  # noqa: BLE001 - whatever a message does to a rule, it must not show by that
            self.report(fault)
            return Verdict.HIDE


def compile_message_rules(
    grant: tuple[str, MessagePolicy],
    restrictions: Iterable[tuple[str, MessagePolicy]],
    terms: Terms,
    content: ContentRules,
    report: Report,
) -> Messages:
    """The messages of a grant, restricted; the policies come with their names. `content` is that of all together."""
    restricting = tuple(restrictions)
    policies = [_rules(*grant, terms, granting=True)]
    policies += [_rules(name, policy, terms, granting=False) for name, policy in restricting]
    policies.append(Rules(Verdict.ALLOW, tuple(_detecting(content))))
    rules = [rule for policy in policies for rule in policy.rules]
    conditions = [one for rule in rules for one in (rule.match, rule.exempt) if one is not None]
    said = [policy for _, policy in restricting]
    return Messages(
        policies=tuple(policies),
        withhold_subject=grant[1].withhold_subject
        or any(one.withhold_subject for one in said if one.said("withhold_subject")),
        explain_to_agent=grant[1].explain_to_agent
        and all(one.explain_to_agent for one in said if one.said("explain_to_agent")),
        fields=frozenset[str]().union(*(one.fields for one in conditions)) - LISTED_FIELDS,
        needs_body=any(rule.needs_body for rule in rules),
        detectors=frozenset[str]().union(*(one.detectors for one in conditions)),
        asks_records=any(one.asks_records for one in conditions),
        report=report,
    )


def _rules(name: str, policy: MessagePolicy, terms: Terms, *, granting: bool) -> Rules:
    has_opinion = policy.default != "pass" and (granting or policy.said("default"))
    default = Verdict[policy.default.upper()] if has_opinion else Verdict.ALLOW
    return Rules(default, tuple(_rule(name, rule, terms) for rule in policy.rules))


def _rule(policy: str, rule: MessageRule, terms: Terms) -> Rule:
    action = Verdict[rule.action.upper()]
    restricts = action is not Verdict.ALLOW
    match = compile_match(rule.match, replace(terms, tags=restricts))
    exempt = None if rule.except_ is None else compile_match(rule.except_, replace(terms, tags=not restricts))
    return Rule(policy, rule.id, action, match, exempt)


_ON_FINDING: Mapping[Finding, Verdict] = {Finding.HIDE: Verdict.HIDE, Finding.WITHHOLD: Verdict.WITHHOLD}


def _detecting(content: ContentRules) -> Iterator[Rule]:
    """Detectors whose finding hides or withholds the whole message, as rules."""
    for name, finding in content.detectors.items():
        if finding in _ON_FINDING:
            yield Rule("content", name, _ON_FINDING[finding], _found(name, in_subject=True, in_body=True))
    for pattern in content.patterns:
        if pattern.action in _ON_FINDING:
            found = _found(pattern.name, in_subject=pattern.in_subject, in_body=pattern.in_body)
            yield Rule("content", pattern.name, _ON_FINDING[pattern.action], found)


def _found(name: str, *, in_subject: bool, in_body: bool) -> Condition:
    def test(evidence: Evidence) -> Truth:
        looked = ((in_subject, evidence.found_in_subject), (in_body, evidence.found_in_body))
        return any_of(None if found is None else name in found for wanted, found in looked if wanted)

    return Condition(test, needs_body=True, detectors=frozenset({name}))
