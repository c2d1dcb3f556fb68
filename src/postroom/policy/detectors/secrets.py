"""Credentials of machines: by the prefixes that their issuers gave them, and by the names they are assigned to."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import log2

from postroom.policy.detectors.pattern import Span, is_letter_or_digit, pattern

_PREFIXED = pattern(
    # clouds
    r"(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{16}",
    r"AIza[\w-]{30,}",
    r"ya29\.[\w-]{20,}",
    r"GOCSPX-[\w-]{20,}",
    r"LTAI[A-Za-z0-9]{12,24}",
    r"AKID[A-Za-z0-9]{13,40}",
    r"do[opr]_v1_[0-9a-f]{40,}",
    r"dapi[0-9a-f]{32}",
    r"hv[sb]\.[\w-]{20,}",
    r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,}",
    r"pul-[0-9a-f]{40}",
    r"AccountKey=[A-Za-z0-9+/=]{40,}",
    r"CFPAT-[\w-]{30,}",
    # code hosting and package registries
    r"gh[pousr]_[A-Za-z0-9]{30,}",
    r"github_pat_\w{22,}",
    r"gl(?:pat|dt|rt|ptt|ft|soat|cbt|agent|imt|oas)-[\w.-]{20,}",
    r"ATATT3[\w=-]{30,}",
    r"ATBB[A-Za-z0-9]{24,}",
    r"npm_[A-Za-z0-9]{30,}",
    r"pypi-[\w-]{16,}",
    r"rubygems_[0-9a-f]{40,}",
    r"cio[A-Za-z0-9]{32}",
    r"oy2[a-z0-9]{43}",
    r"dckr_(?:pat|oat)_[\w-]{20,}",
    # chat
    r"xox[abceoprs]-[\w-]{10,}",
    r"xapp-[\w-]{10,}",
    r"\d{8,10}:AA[\w-]{32,}",
    r"[MNO][A-Za-z0-9_-]{23,25}\.[\w-]{6}\.[\w-]{27,}",
    # payment
    r"[srp]k_(?:live|test|prod)_[A-Za-z0-9]{10,}",
    r"whsec_[A-Za-z0-9+/=]{20,}",
    r"sq0(?:atp|csp|idp)-[\w-]{20,}",
    r"EAAA[\w-]{50,}",
    r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}",
    # mail, models, monitoring and others
    r"SG\.[\w-]{16,}\.[\w-]{16,}",
    r"key-[0-9a-f]{32}",
    r"xkeysib-[0-9a-f]{40,}[\w-]*",
    r"(?:AC|SK)[0-9a-f]{32}",
    r"sk-[A-Za-z0-9_-]{20,}",
    r"hf_[A-Za-z0-9]{30,}",
    r"gsk_[A-Za-z0-9]{30,}",
    r"r8_[A-Za-z0-9]{30,}",
    r"glsa_[A-Za-z0-9]{20,}_[0-9a-f]{8}",
    r"NRAK-[A-Z0-9]{20,}",
    r"shp(?:at|ss|ca|pa)_[0-9a-fA-F]{32}",
    r"(?:lin_api|figd|ntn|secret|rnd|sbp|PMAK|dp\.pt|tskey)[_.-][\w-]{24,}",
    r"AGE-SECRET-KEY-1[A-Z0-9]{50,}",
    r"psr_[aop]_[0-9A-Za-z]{10}_[0-9A-Za-z]{20,}",
    any_case=False,
)
_ASSIGNED = pattern(
    r"[\w.-]{0,40}(?:key|token|secret|schlüssel|clé|clave|chiave|chave|sleutel|klucz|ключ|токен|密钥|キー)"
    r"(?:[\w-]{0,20}| id)[\"'`\]]{0,2}(?: ?(?::=|=>|=|:|：)| is| lautet| est| es| ist)\s{0,3}[\"'`<“]?"
    r"([A-Za-z0-9+/_=.~-]{20,512})"
)
_CARRIED = pattern(r"\b(?:bearer|basic|x-api-key:?|authorization:) ([A-Za-z0-9+/_=.~-]{20,512})")
_LEAST_BITS = 3.5
_LEAST_CHANGES = 4


def secrets(text: str, context: str = "") -> list[Span]:
    """Tokens with a known prefix, and what is assigned to a key, token or secret and looks like chance."""
    prefixed = [Span(*match.span()) for match in _PREFIXED.finditer(text) if _begins_word(text, match.start())]
    given = [match for one in (_ASSIGNED, _CARRIED) for match in one.finditer(text)]
    assigned = [Span(*match.span(1)) for match in given if is_random(match.group(1) or "")]
    return sorted(prefixed + assigned)


def _begins_word(text: str, start: int) -> bool:
    return not start or not is_letter_or_digit(text[start - 1])


def is_random(run: str, least: float = _LEAST_BITS) -> bool:
    """Whether a run of characters looks like chance rather than words: by its entropy, its figures and its cases."""
    if entropy(run) < least:
        return False
    changes = sum(one.isupper() != other.isupper() for one, other in pairwise(run))
    return any(one.isdigit() for one in run) or changes >= _LEAST_CHANGES


def entropy(run: str) -> float:
    """Bits per character, by how often each occurs (Shannon)."""
    return -sum(count / len(run) * log2(count / len(run)) for count in Counter(run).values())
