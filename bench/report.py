"""The table, as it is printed and as docs/performance.md has it."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench import arrivals
from bench.arrivals import Delay
from bench.memory import AT_MOST, Growth
from bench.rounds import Outcome

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
CALLS, NEW_MAIL, WATCHED = "# Performance", "## New mail", "## A thousand watched mailboxes"
"""The headings of its sections, in their order."""


def write(sections: Mapping[str, str]) -> None:
    """Put these sections, by their headings, in the place of what docs/performance.md has there."""
    PAGE.write_text(renewed(PAGE.read_text(), sections))


def renewed(page: str, sections: Mapping[str, str]) -> str:
    """The page with these sections, and the others as they were."""
    all_sections = dict(_sections(page)) | sections
    told = [
        f"{heading}\n\n{all_sections[heading]}" for heading in (CALLS, NEW_MAIL, WATCHED) if heading in all_sections
    ]
    return "\n\n".join(told) + "\n"


def _sections(page: str) -> Iterator[tuple[str, str]]:
    for section in re.split(r"^(?=##? )", page, flags=re.MULTILINE)[1:]:
        heading, _, body = section.partition("\n")
        yield heading, body.strip()


def table(outcomes: Sequence[Outcome], growths: Sequence[Growth]) -> str:
    """Markdown: one line for each job, then one for each growth."""
    lines = ["| job | floor | Postroom | 95 % under | as a ratio | target |", "| --- | --: | --: | --: | --: | --: |"]
    lines += [_line(outcome) for outcome in outcomes]
    lines += _least(outcomes)
    if growths:
        lines += ["", "| memory | growth | target |", "| --- | --: | --: |"]
        lines += [f"| {one.what} | {one.megabytes:.1f} MB{_mark(one.good)} | {AT_MOST:g} MB |" for one in growths]
    return "\n".join(lines)


def delay_table(delays: Sequence[Delay]) -> str:
    """Markdown: one line for each who is told of new mail."""
    lines = ["| J9: new mail, after the raw IDLE line | median | 95 % under | target |", "| --- | --: | --: | --: |"]
    lines += [
        f"| {one.what} | {one.median:.1f} ms | {one.slow:.1f} ms{_mark(one.good)} | {arrivals.AT_MOST:g} ms |"
        for one in delays
    ]
    return "\n".join(lines)


def _line(outcome: Outcome) -> str:
    job, mark = outcome.job, _mark(outcome.good)
    times = f"{outcome.postroom:.2f} ms | {outcome.slow:.2f} ms"
    if outcome.floor is None:
        at_most = "" if job.at_most is None else f"{job.at_most:g} ms"
        return f"| {job.name}: {job.what} | | {times} | {mark.strip()} | {at_most} |"
    at_most = "" if job.at_most is None else f"{job.at_most:g}x"
    return f"| {job.name}: {job.what} | {outcome.floor:.2f} ms | {times} | {outcome.value:.2f}x{mark} | {at_most} |"


def _least(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """What is left where nothing is done for the job itself."""
    rows = [_parts(outcome, outcome.floor) for outcome in outcomes if outcome.job.commits is not None and outcome.floor]
    if rows:
        yield from ("", "| at least | a call without mail | commits | floor | together | as a ratio | target |")
        yield "| --- | --: | --: | --: | --: | --: | --: |"
        yield from rows


def _parts(one: Outcome, floor: float) -> str:
    commits = f"{one.job.commits} of {one.commit:.2f} ms"
    together = f"{one.least:.2f} ms | {one.least / floor:.2f}x | {one.job.at_most:g}x"
    return f"| {one.job.name} | {one.call:.2f} ms | {commits} | {floor:.2f} ms | {together} |"


def _mark(good: bool) -> str:
    return "" if good else " (above)"


def calls(shown: str, machine: str, large: int, small: int) -> str:
    """The section of what calls cost, around their table."""
    return f"""\
What a call costs, as a ratio to a floor that nothing can beat: raw IMAP over a connection that stays open, exactly the
commands that the job needs, octets read to the last line and nothing parsed. Floor and product take turns in shuffled
rounds, both on the same machine as the mail server, so keep the ratios and not the milliseconds, which are medians.
The large inbox holds {large:,} messages and each of the small ones {small:,}.

{shown}

The floor of J2 fetches the two texts and the header, that of J7 the file as base64. A list that is warm is answered
from memory after a NOOP has told that nothing changed, and is never older than that. "Uncached" has no such memory: it
fetches and parses the heads of all fifty messages for each call.

What changes anything waits until the audit's intent is on the disk, and a message besides until the journal has it
three times: commits with an fsync each, which no floor makes. The floors of J6 and J8 are single commands, and shorter
than a request over HTTP. The second table says what is left where nothing is done for the job itself: a call that asks
no mail server, the disk's own time for those commits, and the floor.

{_measured("python -m bench --write", machine)}"""


def new_mail(shown: str, machine: str, count: int) -> str:
    """The section of how late new mail is told, around its table."""
    return f"""\
How long after a raw socket in IDLE reads the EXISTS line, which Dovecot itself holds back for half a second; {count}
arrivals. Where inotify tells it nothing, Dovecot looks by itself after half a minute: the bench waits.

{shown}

{_measured("python -m bench --jobs J9 --write", machine)}"""


def watched(shown: str, machine: str, more: str) -> str:
    """The section of what many watched mailboxes cost, around its table; `more` says how they were run."""
    return f"""\
In one process, over TLS, each with a webhook, after two idle minutes. {more}

{shown}

{_measured("python -m bench.watching --write", machine)}"""


def _measured(command: str, machine: str) -> str:
    return f"Measured on {datetime.now(UTC):%Y-%m-%d} with `{command}` on {machine}."


def machine() -> str:
    """Where this runs, in words."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    told = subprocess.run(["dovecot", "--version"], capture_output=True, text=True, check=False).stdout
    return (
        f"{os.cpu_count()} cores and {memory:.0f} GB of memory, {platform.system()} on {platform.machine()}, "
        f"Python {platform.python_version()}, Dovecot {told.partition(' ')[0].strip()}"
    )
