"""A folder to write configurations into, and the smallest one that is whole."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from postroom.config import Config, ConfigError, load

SMALLEST = """\
mailboxes:
  - name: work
    imap: {host: imap.example.com, username: ana@example.com, password_env: WORK_PASSWORD}
"""

Load = Callable[..., Config]
Faults = Callable[..., list[str]]


@pytest.fixture
def load_text(tmp_path: Path) -> Load:
    """Load a text as `postroom.yaml` of a fresh folder."""

    def loaded(text: str, *, mode: int = 0o600, insecure_permissions: bool = False, **env: str) -> Config:
        path = tmp_path / "postroom.yaml"
        path.write_text(text)
        path.chmod(mode)
        known: Mapping[str, str] = {"WORK_PASSWORD": "swordfish", "PATH": "/usr/bin:/bin", **env}
        return load(path, env=known, insecure_permissions=insecure_permissions)

    return loaded


@pytest.fixture
def faults_of(load_text: Load) -> Faults:
    """The rendered faults of a text, each from its line number on."""

    def told(text: str, **options: object) -> list[str]:
        with pytest.raises(ConfigError) as raised:
            load_text(text, **options)
        return [fault.render(Path("f")).removeprefix("f:").strip() for fault in raised.value.faults]

    return told
