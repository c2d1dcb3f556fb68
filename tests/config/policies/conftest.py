"""The faults of policies in a text, without those of what the rest of the gateway does not heed yet."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from postroom.config.faults import Finding, spell
from postroom.config.nodes import compose, line_at, plain
from postroom.config.plain import table
from postroom.config.policies.rules import broken_policies
from postroom.config.schema import ConfigFile
from postroom.config.wording import findings

HASH = "sha256:" + "0" * 64
MAILBOXES = "mailboxes: [{name: work, imap: {host: h, username: a, password_env: P}}]\n"
Faults = Callable[[str], list[str]]


@pytest.fixture
def faults_of() -> Faults:
    """Every fault of sections that follow those of one mailbox, rendered, with lines from 1 on."""

    def told(text: str) -> list[str]:
        root, faults = compose(MAILBOXES + text)
        assert root is not None
        value = plain(root)
        found: list[Finding] = [*_of_shape(value), *broken_policies(table(value))]
        rendered = [(line_at(root, one.where) - 1, spell(one.where), one.problem, one.suggestion) for one in found]
        rendered += [(one.line - 1, one.where, one.problem, one.suggestion) for one in faults]
        return [
            f"{line}: {where}: {problem}" + (f"; {suggestion}" if suggestion else "")
            for line, where, problem, suggestion in sorted(rendered, key=lambda one: one[0])
        ]

    return told


def _of_shape(value: object) -> list[Finding]:
    try:
        ConfigFile.model_validate(value, context={})
    except ValidationError as error:
        return list(findings(error, ConfigFile))
    return []
