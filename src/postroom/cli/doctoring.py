"""`postroom doctor`: what must be repaired before the gateway can be trusted, and what it leaves open."""

from __future__ import annotations

import asyncio
import os
import pwd
import sys
from pathlib import Path

import click

from postroom.base.clock import SystemClock
from postroom.cli.state import config_faults_told, config_option, insecure_option
from postroom.config import find, load


@click.command("doctor")
@config_option
@insecure_option
def doctor(config_path: Path | None, insecure_permissions: bool) -> None:
    """Look at policies, tokens, files, user, clock and audit trail; the status is 1 if something must be repaired."""
    from postroom import doctor as examination  # noqa: PLC0415 - what judges mail would slow every other command

    with config_faults_told():
        file = find(config_path, os.environ)
        config = load(file, insecure_permissions=insecure_permissions)
    now = SystemClock().now()
    ailments = [
        *examination.of_policies(config),
        *examination.of_secrets(config),
        *examination.of_store(config.store),
        *examination.of_files(config, file),
        *examination.of_clock(config, file, now),
        *examination.of_user(pwd.getpwuid(os.geteuid())),
        *asyncio.run(examination.of_state(config, now)),
    ]
    lines, well = examination.report(ailments)
    for line in lines:
        click.echo(line)
    sys.exit(0 if well else 1)
