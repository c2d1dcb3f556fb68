"""The command line: run the gateway, look after it, and connect to it."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

import click

from postroom.base.files import PRIVATE_UMASK
from postroom.cli.audit import audit_trail
from postroom.cli.beginning import init
from postroom.cli.bridging import bridge
from postroom.cli.doctoring import doctor
from postroom.cli.keys import sealing_keys
from postroom.cli.policies import policy
from postroom.cli.state import config_faults_told, config_option, fail, failures_told, insecure_option, loaded
from postroom.cli.stopping import resume, stop
from postroom.cli.stores import store
from postroom.cli.tokens import token
from postroom.cli.webhooks import webhook
from postroom.config import find, load
from postroom.version import VERSION


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, message="postroom %(version)s")
def main() -> None:
    """Postroom, a mail gateway for agents."""
    os.umask(PRIVATE_UMASK)


@main.command("serve")
@config_option
@insecure_option
def serve_gateway(config_path: Path | None, insecure_permissions: bool) -> None:
    """Run the gateway until it is told to stop; SIGHUP makes it read who may do what again."""
    from postroom.app import serve  # noqa: PLC0415 - the server's libraries would slow every other command
    from postroom.policy.trials import faults_of  # noqa: PLC0415 - nor do they need what judges mail

    with config_faults_told():
        file = find(config_path, os.environ)
        read = partial(load, file, insecure_permissions=insecure_permissions, trials=faults_of)
        config = read()
    with failures_told():
        serve(config, read)


@main.command("check")
@click.option("--verbose", is_flag=True, help="Tell also what each server offers.")
@config_option
@insecure_option
def check_mailboxes(verbose: bool, config_path: Path | None, insecure_permissions: bool) -> None:
    """Try every mailbox's servers and say what is wrong and what to do."""
    config = loaded(config_path, insecure_permissions)
    from postroom.checkup import run  # noqa: PLC0415 - the mail clients would slow every other command

    lines, well = run(config, verbose=verbose)
    for line in lines:
        click.echo(line)
    sys.exit(0 if well else 1)


@main.command("demo")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes a free one.")
@click.option("--json", "as_json", is_flag=True, help="Tell address and tokens as one line of JSON.")
def run_demo(port: int, as_json: bool) -> None:
    """Run the gateway with a mail server and sample mail, for a first look."""
    try:
        from postroom.demo import run  # noqa: PLC0415 - needs libraries that only the extra "demo" installs
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith("postroom"):
            raise
        fail(f"the demo needs {missing.name}, which is not installed; run: pip install 'postroom[demo]'")
    with failures_told():
        run(port, as_json)


for command in (init, token, policy, doctor, audit_trail, stop, resume, bridge, sealing_keys, store, webhook):
    main.add_command(command)
