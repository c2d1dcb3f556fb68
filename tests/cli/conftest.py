"""The command line over a configuration in a fresh folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from postroom.cli import main
from tests.servers import stores

Run = Callable[..., Result]


@pytest.fixture
def over(tmp_path: Path) -> Run:
    """Runs a command over a configuration that has nothing in it."""
    path = tmp_path / "postroom.yaml"
    path.write_text(f"{stores.setting_of(tmp_path / 'state')}\n")
    path.chmod(0o600)

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(main, arguments, env={"POSTROOM_CONFIG": str(path)})

    return invoke
