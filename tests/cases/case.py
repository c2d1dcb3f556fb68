"""A case as it lies in its folder: input, call, and the answer that is right."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parent / "corpus"
SIBLINGS = Path(__file__).parent / "corpus-siblings"
"""More of the same kinds, each of which once found a fault or shows a neighbouring one."""


@dataclass(frozen=True)
class Case:
    folder: Path

    @property
    def id(self) -> str:
        return self.folder.name

    @cached_property
    def facts(self) -> dict[str, Any]:
        return dict(json.loads((self.folder / "expect.json").read_text("ascii")))

    @property
    def expect(self) -> dict[str, Any]:
        return dict(self.facts["expect"])

    @property
    def kind(self) -> str:
        return str(self.facts["kind"])

    @cached_property
    def raw_messages(self) -> list[bytes]:
        """The messages of one folder in UID order; large ones are built from their recipe."""
        recipe = self.folder / "input.gen.json"
        if recipe.exists():
            return [_built(json.loads(recipe.read_text("utf-8")))]
        if self.kind == "messages":
            return [path.read_bytes() for path in sorted((self.folder / "messages").glob("*.eml"))]
        return [(self.folder / "input.eml").read_bytes()] if self.kind == "message" else []

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The calls to make; a message case without a script is listed and read."""
        path = self.folder / "query.json"
        if not path.exists():
            return []
        query = json.loads(path.read_text("utf-8"))
        return list(query.get("steps", [query]))


def all_cases(*roots: Path) -> list[Case]:
    """The cases of these folders, or of both of ours."""
    paths = (path for root in roots or (CORPUS, SIBLINGS) for path in sorted(root.iterdir()))
    return [Case(path) for path in paths if (path / "expect.json").exists()]


def _built(recipe: dict[str, Any]) -> bytes:
    built = bytearray()
    for part in recipe["parts"]:
        if "text" in part:
            built += part["text"].encode()
        elif "repeat" in part:
            built += part["repeat"].encode() * part["count"]
        else:
            first, last = part["from"], part["to"]
            step = 1 if last >= first else -1
            for number in range(first, last + step, step):
                built += part["numbered"].replace("{i}", str(number)).encode()
    return bytes(built)
