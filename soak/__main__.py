"""`python -m soak`: run it, print the table, and fail if something was lost, told twice, or told in two wordings."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
import tempfile
from pathlib import Path

from soak.arrivals import Plan, Soak
from tests.servers.dovecot import running_dovecot
from tests.servers.postgresql import running_postgresql


def main() -> None:
    asked = _arguments().parse_args()
    plan = Plan(asked.arrivals, asked.gateways, asked.users, (asked.calm / 4, asked.calm), asked.patience, asked.seed)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        dovecot = stack.enter_context(running_dovecot())
        postgresql = stack.enter_context(running_postgresql()) if asked.store == "postgresql" else None
        report = asyncio.run(Soak(plan, folder, dovecot, postgresql).run())
    print(report.table())
    for what in (report.missing, report.twice, report.reworded):
        for one in what[:20]:
            print(one, file=sys.stderr)
    raise SystemExit(0 if report.good else 1)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("--arrivals", type=int, default=10_000, help="messages in all")
    parser.add_argument("--store", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--gateways", type=int, default=1, help="processes; more than one need PostgreSQL")
    parser.add_argument("--users", type=int, default=4, help="mailboxes")
    parser.add_argument("--calm", type=float, default=6.0, help="seconds between two deaths, at the most")
    parser.add_argument("--patience", type=float, default=900.0, help="seconds that the last events may take")
    parser.add_argument("--seed", type=int, default=0)
    return parser


if __name__ == "__main__":
    main()
