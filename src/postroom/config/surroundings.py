"""What a reference in the configuration file may lead to: files, programs and environment variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Of one file, where it is read."""

    folder: Path
    """The folder of the configuration file."""
    env: Mapping[str, str]
