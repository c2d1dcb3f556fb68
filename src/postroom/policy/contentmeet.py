"""The rules by which content is shown, put together: of a grant and what restricts it, key by key the stricter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from postroom.base.expression import compile_expression
from postroom.base.levels import Finding
from postroom.config.policies.content import ContentPolicy, DetectorsConfig, LinksConfig, PatternConfig
from postroom.policy.contentrules import BodyRule, ContentPattern, ContentRules, HistoryRule, LinkRule, Spotlight
from postroom.policy.textpatterns import ScannedExpression


def common_domains(ours: Iterable[str], theirs: Iterable[str]) -> frozenset[str]:
    """The domains, with what lies below them, that both sets of domains cover."""
    one, other = frozenset(ours), frozenset(theirs)
    return frozenset(
        {domain for domain in one if _covers(other, domain)} | {domain for domain in other if _covers(one, domain)}
    )


def _covers(domains: frozenset[str], domain: str) -> bool:
    return domain in domains or any(domain.endswith(f".{one}") for one in domains)


_BODIES = {"none": BodyRule.NONE, "text": BodyRule.TEXT, "text+html": BodyRule.TEXT_AND_HTML}

_READ: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "body": ("body", _BODIES.__getitem__),
    "max_chars": ("max_chars", int),
    "headers": ("headers", frozenset),
    "raw": ("raw", bool),
    "hidden_text": ("mark_hidden", lambda value: value == "mark"),
    "quoted_history": ("history", lambda value: HistoryRule[value.upper()]),
    "images": ("image_alt", lambda value: value == "alt"),
    "calendar": ("calendar", lambda value: value == "fields"),
    "unicode": ("keep_joiners", lambda value: value == "keep-joiners"),
    "markup": ("neutralise", lambda value: value == "neutralise"),
    "spotlight": ("spotlight", lambda value: Spotlight[value.upper()]),
}
"""By the key of the file: the field of `ContentRules`, and how its value is read."""
_STRICTER: Mapping[str, Callable[[Any, Any], Any]] = {
    "headers": frozenset.intersection,
    "full_link_domains": common_domains,
    "neutralise": max,
    "unwrap": max,
    "spotlight": max,
}
"""How two values of a field are put together; of all others the smaller is stricter."""


def compile_content(grant: ContentPolicy, restrictions: Iterable[ContentPolicy], scan_chars: int) -> ContentRules:
    """The content rules of a grant, restricted."""
    policies = (grant, *restrictions)
    fields: dict[str, Any] = {}
    for at, policy in enumerate(policies):
        for key, (field, read) in _READ.items():
            if at == 0 or policy.said(key):
                _tighten(fields, field, read(getattr(policy, key)))
    for at, policy in enumerate(policies):
        _tighten_links(fields, policy.links, granting=at == 0)
    return replace(
        ContentRules(**fields),
        detectors=MappingProxyType(_detectors(grant.detectors, [one.detectors for one in policies[1:]])),
        patterns=tuple(_pattern(one, scan_chars) for policy in policies for one in policy.patterns),
    )


def stricter(field: str, one: Any, other: Any) -> Any:
    """Two values of a field of `ContentRules` put together."""
    return _STRICTER.get(field, min)(one, other)


def _tighten(fields: dict[str, Any], field: str, value: Any) -> None:
    fields[field] = stricter(field, fields[field], value) if field in fields else value


def _tighten_links(fields: dict[str, Any], links: LinksConfig, *, granting: bool) -> None:
    if granting or links.said("mode"):
        _tighten(fields, "links", LinkRule[links.mode.upper()])
    if granting or links.said("unwrap"):
        _tighten(fields, "unwrap", links.unwrap)
    # Where all links are shown in full no list says which.
    speaks = granting or links.said("mode") or links.said("allow_domains") or links.said("show_full_for")
    if speaks and not (links.mode == "full" and (granting or links.said("mode"))):
        _tighten(fields, "full_link_domains", frozenset((*links.allow_domains, *links.show_full_for)))


def _detectors(grant: DetectorsConfig, restrictions: Iterable[DetectorsConfig]) -> dict[str, Finding]:
    found = {name: Finding[getattr(grant, name).upper()] for name in DetectorsConfig.model_fields}
    for restriction in restrictions:
        for name in sorted(restriction.model_fields_set):
            found[name] = min(found[name], Finding[getattr(restriction, name).upper()])
    return {name: finding for name, finding in found.items() if finding is not Finding.OFF}


def _pattern(pattern: PatternConfig, scan_chars: int) -> ContentPattern:
    return ContentPattern(
        name=pattern.name,
        pattern=ScannedExpression(compile_expression(pattern.re2, case=pattern.case), scan_chars),
        action=Finding[pattern.action.upper()],
        in_subject=pattern.where != "body",
        in_body=pattern.where != "subject",
    )
