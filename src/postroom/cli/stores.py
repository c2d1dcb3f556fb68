"""`postroom store`: the schema brought up to date, and a SQLite file moved into PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import click

from postroom.cli.state import config_option, fail, failures_told, insecure_option, loaded, with_store
from postroom.config import Config
from postroom.store.copying import copy
from postroom.store.database import FILE_NAME, Database
from postroom.store.lock import one_gateway


@click.group("store")
def store() -> None:
    """Look after the database that everything is kept in."""


@store.command("migrate")
@click.option(
    "--from",
    "source",
    type=click.Choice(["sqlite"]),
    help="Also copy everything of the SQLite file in state_dir into the store, a PostgreSQL database that is empty.",
)
@config_option
@insecure_option
def migrate(source: str | None, config_path: Path | None, insecure_permissions: bool) -> None:
    """Bring the store up to date without starting a gateway."""
    config = loaded(config_path, insecure_permissions, check_references=False)
    if source is None:
        with_store(config, _nothing)
        click.echo(f"The store ({config.store}) is up to date.")
        return
    file = _file(config)
    with failures_told(), one_gateway(config.state_dir, checked=not insecure_permissions):
        counts = with_store(config, lambda database: copy(file, database, insecure_permissions=insecure_permissions))
    for table, count in counts.items():
        if count:
            click.echo(f"{table}: {count:,}")
    click.echo(
        f"All of {file} is in {config.store} now. Remove the file once all is well: it holds keys that are in use."
    )


async def _nothing(_: Database) -> None:
    return None


def _file(config: Config) -> Path:
    if config.store == "sqlite":
        fail(
            "the configuration says store: sqlite; write the URL of the PostgreSQL database there, then run this again"
        )
    file = config.state_dir / FILE_NAME
    if not file.exists():
        fail(f"there is no {file} to copy")
    return file
