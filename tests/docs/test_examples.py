"""Every configuration in the documents loads without a fault and passes its own tests, so that no example rots."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from postroom.base.caller import Toolset
from postroom.config import load
from postroom.operations.catalogue import CATALOGUES
from postroom.policy.trials import faults_of
from scripts.docs.__main__ import FOLDER

_BLOCK = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MAILBOX = """\
mailboxes:
  - name: work
    address: ana@example.com
    imap: {host: imap.example.com, username: ana@example.com, password_file: work.pw}
    smtp: {host: smtp.example.com, username: ana@example.com, password_file: work.pw}
    internal_domains: [example.com]
    trusted_authserv_ids: [mx.example.com]
"""
"""Of an example that is about something else."""


def examples() -> Iterator[tuple[str, str]]:
    for page in (FOLDER.parent / "README.md", *sorted(FOLDER.glob("*.md"))):
        text = page.read_text()
        for match in _BLOCK.finditer(text):
            line = text[: match.start()].count("\n") + 1
            yield f"{page.name}:{line}", match[1]


EXAMPLES = dict(examples())
"""The text of each by the place where it stands."""


@pytest.mark.parametrize("place", EXAMPLES)
def test_an_example_is_a_good_file(place: str, tmp_path: Path) -> None:
    path, example = tmp_path / "postroom.yaml", EXAMPLES[place]
    path.write_text(example if "mailboxes:" in example else _MAILBOX + example)
    path.chmod(0o600)
    load(path, check_references=False, trials=faults_of)


def test_the_examples_that_there_are_were_found() -> None:
    pages = {place.partition(":")[0] for place in EXAMPLES}
    assert pages >= {"README.md", "configuration.md", "security.md"}


def test_the_readme_names_every_tool_of_the_relay() -> None:
    readme = (FOLDER.parent / "README.md").read_text()
    tools = [one.name for one in CATALOGUES[Toolset.RELAY].values() if one.is_tool]
    assert [name for name in tools if f"`{name}`" not in readme] == []
