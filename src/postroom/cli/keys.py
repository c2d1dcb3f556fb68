"""`postroom keys`: the sealing keys of ids and cursors."""

from __future__ import annotations

from pathlib import Path

import click

from postroom.base.clock import SystemClock
from postroom.base.seal import KeyRing
from postroom.cli.state import changing_store, config_option, insecure_option, loaded
from postroom.store import keys
from postroom.store.database import Database

_KEPT_DAYS = 30


@click.group("keys")
def sealing_keys() -> None:
    """Look after the keys that seal ids and cursors."""


@sealing_keys.command("rotate")
@click.option("--drop-old", is_flag=True, help="Old ids and cursors open no longer, as after a key was stolen.")
@config_option
@insecure_option
def rotate(drop_old: bool, config_path: Path | None, insecure_permissions: bool) -> None:
    """Make a new key. New answers have new ids; old ones open for 30 days more. Restart the gateway afterwards."""
    config = loaded(config_path, insecure_permissions, check_references=False)
    kept = 0 if drop_old else _KEPT_DAYS

    async def rotated(database: Database) -> KeyRing:
        return await keys.rotate(database, SystemClock().now(), kept)

    ring = changing_store(config, rotated)
    until = "open no longer" if drop_old else f"open for {_KEPT_DAYS} days"
    click.echo(f"Key {ring.current} seals from the next start of the gateway on; what older ones sealed: {until}.")
