"""Fuzz one target with atheris, from the corpus of hard cases on: `python -m fuzz message --minutes 30`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import atheris  # type: ignore[import-not-found]  # installed for a session of fuzzing alone; see fuzz/README.md

with atheris.instrument_imports(include=["postroom"]):
    from fuzz.targets import LONGEST, TARGETS, run

ROOT = Path(__file__).parent.parent
MEMORY = 1_500
"""Megabytes that the process may take."""


def seeds(target: str) -> list[bytes]:
    """Inputs to begin with: messages of the corpus, or pages of the injection cases."""
    messages = [path.read_bytes() for path in sorted((ROOT / "tests/cases").rglob("*.eml"))]
    if target == "page":
        return [octets.partition(b"\r\n\r\n")[2] for octets in messages if b"<" in octets]
    if target == "program":
        return [b'OR (SEEN NOT FROM "a") UID 1:5,9', b"SINCE 1-Jan-2020 HEADER X-A b KEYWORD c"]
    return messages


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--found", type=Path, default=Path(tempfile.gettempdir()), help="where failing inputs are kept")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as corpus:
        for number, octets in enumerate(seeds(chosen.target)):
            (Path(corpus) / str(number)).write_bytes(octets[:LONGEST])
        arguments = [
            *(sys.argv[0], corpus, f"-max_len={LONGEST}", f"-max_total_time={int(chosen.minutes * 60)}"),
            *(f"-rss_limit_mb={MEMORY}", "-timeout=30", f"-artifact_prefix={chosen.found}/{chosen.target}-"),
        ]
        atheris.Setup(arguments, lambda octets: run(chosen.target, octets))
        atheris.Fuzz()


if __name__ == "__main__":
    main()
