"""An answer can hold what policy has shown, and nothing that was only fetched."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field, ValidationError, create_model

from postroom.mail.model import Content, Entity, Fetched, Head, Part
from postroom.operations.answer import Answer
from postroom.operations.blob import Blob
from postroom.operations.catalogue import CATALOGUE


@pytest.mark.parametrize("fetched", [Fetched, Head, Content, Part, Entity])
def test_an_answer_with_a_fetched_field_cannot_be_declared(fetched: type) -> None:
    annotations: tuple[Any, ...] = (
        fetched,
        fetched | None,
        list[fetched],  # type: ignore[valid-type]  # a type that is a value here
        dict[str, tuple[int, fetched]],  # type: ignore[valid-type]  # likewise
        Annotated[list[fetched | str], Field(max_length=3)],  # type: ignore[valid-type]  # likewise
    )
    for annotation in annotations:
        with pytest.raises(TypeError, match=r"Leak\.message: an answer holds what policy has shown, nothing fetched"):
            create_model("Leak", __base__=Answer, message=(annotation, ...))


def test_a_class_statement_is_refused_too() -> None:
    with pytest.raises(TypeError, match="nothing fetched"):

        class Leak(Answer):
            messages: list[Fetched]


def test_words_and_numbers_may_be_answered() -> None:
    class Fine(Answer):
        words: list[str]

    assert Fine(words=["a"]).json_ready() == {"words": ["a"]}


def test_a_field_that_was_not_set_is_left_out_and_one_set_to_none_is_null() -> None:
    class Fruit(Answer):
        name: str | None = None
        from_: str | None = Field(default=None, alias="from")

    assert Fruit().json_ready() == {}
    assert Fruit(**{"from": None}).json_ready() == {"from": None}
    assert Fruit(name="pear", from_="x").json_ready() == {"name": "pear", "from": "x"}


def test_an_answer_takes_no_unknown_field_and_never_changes() -> None:
    class Fruit(Answer):
        name: str

    unknown: dict[str, Any] = {"name": "pear", "nam": "plum"}
    with pytest.raises(ValidationError):
        Fruit(**unknown)
    with pytest.raises(ValidationError):
        Fruit(name="pear").name = "plum"  # type: ignore[misc]  # what is tried here


def test_every_operation_answers_with_answers_or_octets() -> None:
    for operation in CATALOGUE.values():
        variants = getattr(operation.answer, "__args__", (operation.answer,))
        assert all(issubclass(variant, Answer | Blob) for variant in variants)
