"""What gets somebody back in who has lost everything else: seeds of wallets, lists of recovery codes."""

from __future__ import annotations

from collections.abc import Iterator

from postroom.policy.detectors.pattern import Span, pattern
from postroom.policy.detectors.seedwords import SEED_WORDS

_WORD = pattern(r"[A-Z]+")
_LONG_RUN = pattern(r"(?:\b[A-Z]{3,8}\b[\s,.;:|\d)(-]{1,12}){11}[A-Z]{3,8}\b")
_BETWEEN = pattern(r"^[\s,.;:|\d)(-]{1,12}$")
_LEAST_WORDS = 12
_CODE_LINE = pattern(r"(?m)^[ \t>*•-]{0,6}(?:\d{1,2}[.)] ?)?([A-Z0-9]{3,12}(?:[ -][A-Z0-9]{3,12}){0,4})[ \t]*$")
_LEAST_CODES = 4


def seeds(text: str, context: str = "") -> list[Span]:
    """Runs of at least twelve words of BIP-39, numbered or not."""
    if not _LONG_RUN.search(text):
        return []
    return [Span(run[0].start, run[-1].end) for run in _runs(text) if len(run) >= _LEAST_WORDS]


def _runs(text: str) -> Iterator[list[Span]]:
    run: list[Span] = []
    for match in _WORD.finditer(text):
        span = Span(*match.span())
        is_next = run and span.start - run[-1].end <= 12 and _BETWEEN.search(text[run[-1].end : span.start])
        if run and not is_next:
            yield run
            run = []
        if 3 <= span.end - span.start <= 8 and text[span.start : span.end].lower()[:4] in SEED_WORDS:
            run.append(span)
        elif run:
            yield run
            run = []
    if run:
        yield run


def recovery_codes(text: str, context: str = "") -> list[Span]:
    """Four or more lines, one below the other, that are codes and nothing else."""
    found: list[Span] = []
    block: list[Span] = []
    for match in _CODE_LINE.finditer(text):
        if not _is_code(match.group(1) or ""):
            continue
        if block and text[block[-1].end : match.start(1)].strip(" \t\n>*•-.)0123456789"):
            found += _whole(block)
            block = []
        block.append(Span(*match.span(1)))
    return found + _whole(block)


def _whole(block: list[Span]) -> list[Span]:
    return [Span(block[0].start, block[-1].end)] if len(block) >= _LEAST_CODES else []


def _is_code(line: str) -> bool:
    """Figures in it, and not only a few."""
    return sum(one.isdigit() for one in line) >= 2 and len(line) >= 6
