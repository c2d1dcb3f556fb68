"""The version of this distribution, in the one place where both the package and its answers look."""

from __future__ import annotations

from importlib.metadata import version

VERSION = version("postroom")
