"""`python -m bench`: make the mail once, start the servers, measure, print the table."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench import report
from bench.arrivals import ARRIVALS, Delay, delays
from bench.corpus import Places
from bench.jobs import JOBS, Job
from bench.memory import Growth, growths
from bench.rounds import Effort, Outcome, measure
from bench.servers import MailServer, gateway, mail_server


def main(arguments: Sequence[str] | None = None) -> None:
    asked = _arguments().parse_args(arguments)
    jobs = [job for job in JOBS if not asked.jobs or job.name in asked.jobs.split(",")]
    effort = Effort(asked.rounds, asked.seconds)
    with mail_server(asked.folder / "mail", asked.large, asked.small) as server:
        outcomes = run(jobs, server, effort)
        late = arrivals(server) if not asked.jobs or "J9" in asked.jobs.split(",") else []
        grown = [] if asked.jobs else memory(server)
    shown, told = report.table(outcomes, grown), report.delay_table(late)
    print(shown, *([told] if late else []), sep="\n\n")
    if asked.write:
        machine = asked.machine or report.machine()
        whole = {} if asked.jobs else {report.CALLS: report.calls(shown, machine, asked.large, asked.small)}
        report.write(whole | ({report.NEW_MAIL: report.new_mail(told, machine, ARRIVALS)} if late else {}))


def run(jobs: Sequence[Job], server: MailServer, effort: Effort) -> list[Outcome]:
    """Measure these jobs, those without caches before a gateway of their own."""
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder)
        with gateway(state / "warm", server) as warm, gateway(state / "cold", server, caches=False) as cold:
            return [measure(_told(job), server, warm if job.caches else cold, effort) for job in jobs]


def memory(server: MailServer) -> list[Growth]:
    """What downloads cost a gateway of their own."""
    print("measuring memory ...", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder, gateway(Path(folder), server) as running:
        return growths(running, Places(server.large))


def arrivals(server: MailServer) -> list[Delay]:
    """How late new mail is told, by a gateway of its own."""
    print("measuring J9: new mail ...", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        return delays(server, Path(folder))


def _told(job: Job) -> Job:
    print(f"measuring {job.name}: {job.what} ...", file=sys.stderr)
    return job


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--jobs", default="", help="some only, by name: J1,J2")
    parser.add_argument("--rounds", type=int, default=Effort().rounds, help="of each job")
    parser.add_argument("--seconds", type=float, default=Effort().seconds, help="for each side in a round")
    parser.add_argument("--large", type=int, default=100_000, help="messages of the large mailbox")
    parser.add_argument("--small", type=int, default=2_000, help="messages of each small one")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "postroom-bench", help="the mail")
    parser.add_argument("--write", action="store_true", help="write what was measured whole to docs/performance.md")
    parser.add_argument("--machine", default="", help="the machine in words, for --write")
    return parser


if __name__ == "__main__":
    main()
