"""`postroom audit`: prove that the trail is whole, and take out what proves it from elsewhere."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

import click

from postroom.base.files import FileFault, read_guarded
from postroom.cli.state import config_option, fail, failures_told, insecure_option, loaded, with_store
from postroom.config import Config
from postroom.store.audit import Tip
from postroom.store.auditcheck import Verdict, verify
from postroom.store.audithead import FILE_NAME, missing_head, read_anchor, read_head
from postroom.store.auditkeys import DayKey, present_key

_LARGEST_KEY = 200


@click.group("audit")
def audit_trail() -> None:
    """Prove that the audit trail is whole."""


@audit_trail.command("verify")
@click.option("--anchor", type=click.Path(path_type=Path), help="A copy of audit.head, or a log that tells of it.")
@click.option("--key", type=click.Path(path_type=Path), help="A file with what `postroom audit key` printed once.")
@config_option
@insecure_option
def verify_trail(anchor: Path | None, key: Path | None, config_path: Path | None, insecure_permissions: bool) -> None:
    """Read every record and name each place where something was changed, removed, added or cut off."""
    config = loaded(config_path, insecure_permissions, check_references=False)
    with failures_told():
        head = read_head(config.state_dir)  # before the records: more may be added meanwhile, never fewer
        anchored = _anchored(anchor)
    known = [*([head] if head else []), *anchored]
    verdict = with_store(config, lambda database: verify(database, known, _key(key)))
    for finding in verdict.findings:
        click.echo(str(finding))
    if head is None and verdict.records:
        click.echo(missing_head(shared=config.store != "sqlite"))
    _conclude(verdict, config, whole=not verdict.findings and (head is not None or not verdict.records))


@audit_trail.command("key")
@config_option
@insecure_option
def print_key(config_path: Path | None, insecure_permissions: bool) -> None:
    """Print today's key. Kept elsewhere, it proves every record from today on; whoever has it could forge them."""
    config = loaded(config_path, insecure_permissions, check_references=False)
    key = with_store(config, present_key)
    if key is None:
        fail("nothing is recorded yet, so there is no key; start the gateway first")
    click.echo(f"{key.number} {key.day.isoformat()} {key.secret.hex()}")


def _anchored(path: Path | None) -> list[Tip]:
    """The records that an anchor names; one that names none would prove nothing in silence."""
    if path is None:
        return []
    tips = read_anchor(path)
    if not tips:
        fail(f"{path} names no record; give a copy of {FILE_NAME}, or the gateway's log")
    return tips


def _key(path: Path | None) -> DayKey | None:
    if path is None:
        return None
    try:
        number, day, secret = read_guarded(path, _LARGEST_KEY).data.decode().split()
        return DayKey(int(number), date.fromisoformat(day), bytes.fromhex(secret))
    except FileFault as failure:
        fail(str(failure))
    except ValueError:
        fail(f"{path} does not hold what `postroom audit key` printed")


def _conclude(verdict: Verdict, config: Config, *, whole: bool) -> None:
    told = f"{verdict.records:,} records, {verdict.sealed:,} of them with a seal that the keys at hand could check"
    click.echo(f"{'The trail is whole' if whole else 'The trail is not whole'}: {told}.")
    if not whole:
        click.echo(f"Keep a copy of {config.state_dir} before anything else is done to it.", err=True)
        sys.exit(1)
