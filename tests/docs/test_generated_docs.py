"""The documents made from the code are what the code says, and every key, argument and field has its words."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from postroom.base.errors import Code
from postroom.config import load
from postroom.operations.answer import Answer
from postroom.operations.catalogue import CATALOGUE
from postroom.surfaces.responses import STATUS
from scripts.docs import configuration, tools
from scripts.docs.__main__ import FOLDER, PAGES
from scripts.docs.glossary import ARGUMENTS, FIELDS
from scripts.docs.words import field_words


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_document_is_what_the_code_says(name: str) -> None:
    if (FOLDER / name).read_text(encoding="utf-8") != PAGES[name]():
        pytest.fail(f"docs/{name} is not what the code says; run: python -m scripts.docs")


def test_the_example_of_the_configuration_is_a_good_file(tmp_path: Path) -> None:
    (tmp_path / "work.password").write_text("swordfish")
    path = tmp_path / "postroom.yaml"
    path.write_text(configuration.EXAMPLE)
    path.chmod(0o600)
    assert [mailbox.name for mailbox in load(path).mailboxes] == ["work"]


def test_every_key_is_in_the_document_with_its_default_and_what_is_refused() -> None:
    page = configuration.page()
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    for row in (
        "| `port` | port | 993 with `tls: ssl`, else 143 | Where the server listens. |",
        "| `connect_seconds` | seconds | `10` | How long a mail server may take to accept a connection and greet. |",
        "| `profiles` | table of tables | none | Profiles by name. |",
        "| `toolset` | `mailbox`, `relay` | `mailbox` | Which set of tools it is offered. |",
    ):
        assert row in rows
    refused = {row.split("`")[1] for row in rows if "**Not built yet" in row}
    assert not refused & {"store", "watch", "webhooks", "lists", "ceiling", "policies", "profiles", "toolset", "user"}


def test_every_argument_has_words_and_none_are_left_over() -> None:
    bare = {name for _, name, words in tools.arguments() if not words}
    assert bare == set(ARGUMENTS)


def test_the_scopes_are_told_that_an_argument_asks_for_or_makes_do_with() -> None:
    page = tools.page()
    assert "| `organize`, and `delete` with `permanent: true` | destructive |" in page
    assert "| `send`, or `draft` with `draft: true` | destructive, open world |" in page


def test_every_error_code_is_told_with_its_status() -> None:
    told = re.findall(r"^\| `(\w+)` \| (\d{3}) \| \S", tools.page(), re.MULTILINE)
    assert told == [(code.value, str(STATUS[code])) for code in Code]


def test_every_field_of_an_answer_has_words_and_none_are_left_over() -> None:
    used = set()
    for model in shapes():
        for name, (_, words) in tools.described(model).items():
            assert words, f"{model.__name__}.{name} has no words: write them below the field, or into the glossary"
            used |= {name, f"{model.__name__}.{name}"}
    assert set(FIELDS) <= used


def shapes() -> Iterator[type[BaseModel]]:
    waiting: list[type[BaseModel]] = Answer.__subclasses__()
    seen: set[type[BaseModel]] = set()
    while waiting:
        model = waiting.pop()
        if model not in seen and model.__module__.startswith("postroom.operations."):
            seen.add(model)
            waiting += model.__subclasses__()
            yield model


def test_the_words_below_a_field_are_its_own_and_its_bases() -> None:
    class Base(BaseModel):
        first: int
        """One
        line."""
        bare: int

    class Derived(Base):
        second: int = 2
        """Two."""

    assert field_words(Derived) == {"first": "One line.", "second": "Two."}


def test_the_readme_has_every_tool_with_its_routes() -> None:
    rows = [line.split(" | ")[:2] for line in (FOLDER.parent / "README.md").read_text().splitlines() if "| `" in line]
    told = [[f"| `{name}`", ", ".join(f"`{route}`" for route in one.routes)] for name, one in CATALOGUE.items()]
    assert rows == told
