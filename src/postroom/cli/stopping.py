"""`postroom stop` and `postroom resume`: the switch that a running gateway obeys from its next call on."""

from __future__ import annotations

from pathlib import Path

import click

from postroom.base.clock import SystemClock
from postroom.cli.state import changing_store, config_option, insecure_option, loaded
from postroom.store import switch
from postroom.store.switch import Stopped

_TOLD = {
    Stopped.SENDS: "Nothing is sent any more",
    Stopped.CHANGES: "Nothing is sent or changed any more; reading goes on",
    Stopped.ALL: "No call is answered any more",
}


@click.command(short_help="Stop the gateway from sending, or more.")
@click.option("--sends", "what", flag_value=Stopped.SENDS.value, default=True, help="Send nothing (the default).")
@click.option("--changes", "what", flag_value=Stopped.CHANGES.value, help="Send and change nothing.")
@click.option("--all", "what", flag_value=Stopped.ALL.value, help="Refuse every call.")
@config_option
@insecure_option
def stop(what: str, config_path: Path | None, insecure_permissions: bool) -> None:
    """Stop the running gateway from sending, or more, at once and until `postroom resume`."""
    config = loaded(config_path, insecure_permissions, check_references=False)
    changing_store(config, lambda database: switch.turn(database, Stopped(what), SystemClock().now()))
    click.echo(f"{_TOLD[Stopped(what)]}, until: postroom resume")


@click.command()
@config_option
@insecure_option
def resume(config_path: Path | None, insecure_permissions: bool) -> None:
    """Let the gateway do again what `postroom stop` stopped."""
    config = loaded(config_path, insecure_permissions, check_references=False)
    before = changing_store(config, lambda database: switch.turn(database, None, SystemClock().now()))
    click.echo("Nothing was stopped." if before is None else f"What was stopped ({before}) goes on.")
