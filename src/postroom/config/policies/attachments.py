"""The section of a policy on attachments: which files may leave, and in which form."""

from __future__ import annotations

from typing import Literal

from postroom.config.policies.values import Extension, MediaGlob, Size
from postroom.config.section import Section
from postroom.config.values import NotNegative

RISKY_EXTENSIONS = (
    *("exe", "js", "vbs", "scr", "lnk", "iso", "hta", "bat", "cmd", "ps1", "jar", "msi", "one", "svg", "html", "htm"),
)


class TypesConfig(Section):
    """Types of files, by what they are and not by what they are called."""

    allow: tuple[MediaGlob, ...] = ()
    """Those that pass; none listed means all."""
    deny: tuple[MediaGlob, ...] = ()
    """Those that do not; it beats `allow`."""


class ExtensionsConfig(Section):
    """Endings of file names, each of them: `a.pdf.exe` has two."""

    allow: tuple[Extension, ...] = ()
    """Those that pass; none listed means all."""
    deny: tuple[Extension, ...] = RISKY_EXTENSIONS
    """Those that do not; it beats `allow`."""


class FileRules(Section):
    """Which files pass."""

    types: TypesConfig = TypesConfig()
    """By their type."""
    extensions: ExtensionsConfig = ExtensionsConfig()
    """By their name."""
    max_bytes: Size = 10 << 20
    """Octets of a file at most."""
    max_count: NotNegative = 20
    """Files of a message at most."""
    archives: Literal["deny", "list", "inspect"] = "deny"
    """Archives: not at all, the names in them, or if every file in them passes."""
    encrypted: Literal["deny", "allow"] = "deny"
    """Files that nobody can look into."""
    macros: Literal["deny", "allow"] = "deny"
    """Files with programs in them."""
    unscanned: Literal["deny", "allow"] = "deny"
    """Files whose text the detectors cannot see."""


class AttachmentPolicy(FileRules):
    """Which files may leave, and in which form."""

    mode: Literal["none", "metadata", "text", "download"] = "metadata"
    """Not mentioned; name, type and size; the text in them too; their octets too."""
