"""`postroom policy`: what policies do, tried and compared before anybody is bound by them."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from postroom.cli.explaining import explain
from postroom.cli.state import config_faults_told, config_option, insecure_option, loaded
from postroom.config import load


@click.group()
def policy() -> None:
    """Try policies, and tell what they do and what a change of them opens."""


@policy.command("test")
@config_option
@insecure_option
def run_tests(config_path: Path | None, insecure_permissions: bool) -> None:
    """Run the tests of the configuration: what must come of folders, messages and sending."""
    config = loaded(config_path, insecure_permissions, check_references=False)
    from postroom.policy.trials import failures  # noqa: PLC0415 - what judges mail would slow every other command

    failed = failures(config)
    for one in failed:
        click.echo(str(one))
    click.echo(_summary(len(config.tests), len(failed)))
    sys.exit(1 if failed else 0)


def _summary(tests: int, failed: int) -> str:
    if not tests:
        return "The configuration has no tests; write some under tests, and each start runs them."
    return f"{failed} of {tests} tests failed." if failed else f"All {tests} tests passed."


@policy.command("diff")
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@insecure_option
def tell_what_widens(old: Path, new: Path, insecure_permissions: bool) -> None:
    """Tell what the configuration NEW permits that OLD does not: a line for each decision; then the status is 1.

    Decisions are compared on the folders, people, messages and files that either file speaks of. What else was changed,
    and may permit more, is told too.
    """
    with config_faults_told():
        before, after = (
            load(file, insecure_permissions=insecure_permissions, check_references=False) for file in (old, new)
        )
    from postroom.policy.widening import widened  # noqa: PLC0415 - what judges mail would slow every other command

    sentences = widened(before, after)
    for sentence in sentences:
        click.echo(sentence)
    sys.exit(1 if sentences else 0)


policy.add_command(explain)
