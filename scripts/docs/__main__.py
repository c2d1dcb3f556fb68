"""Write the documents that are made from the code: `python -m scripts.docs`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from scripts.docs import configuration, tools

FOLDER = Path(__file__).parents[2] / "docs"
PAGES: Mapping[str, Callable[[], str]] = {"configuration.md": configuration.page, "tools.md": tools.page}


def main() -> None:
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
