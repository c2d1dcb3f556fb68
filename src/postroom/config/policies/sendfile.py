"""A message to be sent, in a YAML or JSON file of its own: as a test of sending has it."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from postroom.config.faults import ConfigError, Fault, spell
from postroom.config.nodes import compose, line_at, plain
from postroom.config.policies.trials import TrialSend
from postroom.config.wording import findings


def read_send(text: str, file: Path) -> TrialSend:
    """The message in a text; ConfigError, under the file's name, with everything that is wrong with it."""
    root, faults = compose(text)
    if root is None or faults:
        raise ConfigError(file, faults)
    try:
        return TrialSend.model_validate(plain(root), context={})
    except ValidationError as error:
        found = findings(error, TrialSend)
        raise ConfigError(
            file, [Fault(line_at(root, one.where), spell(one.where), one.problem, one.suggestion) for one in found]
        ) from None
