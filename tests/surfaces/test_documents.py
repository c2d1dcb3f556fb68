"""The open documents: an OpenAPI description that holds together, and a page of it that is nothing but text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it has no types of its own

from postroom.base.caller import Toolset
from postroom.operations.catalogue import CATALOGUES
from postroom.surfaces.documents import page
from postroom.surfaces.openapi import openapi
from tests.servers.gateway import Gateway

CATALOGUE = CATALOGUES[Toolset.MAILBOX]
URL = "https://mail.example.org"
LOADS = {"src", "srcset", "href", "action", "formaction", "data", "poster", "background", "ping", "style"}
VOID = {"meta", "br"}


def every(node: Any, key: str) -> Iterator[Any]:
    """All values of `key` anywhere in a document."""
    if isinstance(node, dict):
        yield from (value for name, value in node.items() if name == key)
        yield from (found for value in node.values() for found in every(value, key))
    elif isinstance(node, list):
        yield from (found for value in node for found in every(value, key))


def items(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, item in methods.items():
            yield path, method, item


def test_the_document_served_is_the_one_of_the_catalogue(gateway: Gateway) -> None:
    assert gateway.get("/openapi.json", None).json() == openapi("http://localhost:8000")


def test_every_route_of_the_catalogue_is_described_once() -> None:
    described = sorted(f"{method.upper()} {path}" for path, method, _ in items(openapi(URL)))
    assert described == sorted(route for operation in CATALOGUE.values() for route in operation.routes)


def test_operation_ids_are_unique_and_begin_with_the_tool_s_name() -> None:
    ids = [item["operationId"] for _, _, item in items(openapi(URL))]
    assert len(ids) == len(set(ids))
    assert set(CATALOGUE) <= set(ids)
    assert {name.removesuffix("_many") for name in ids} == set(CATALOGUE)


def test_every_reference_leads_somewhere_inside() -> None:
    document = openapi(URL)
    references = list(every(document, "$ref"))
    assert references
    for reference in references:
        node: Any = document
        for step in reference.removeprefix("#/").split("/"):
            node = node[step]
        assert isinstance(node, dict)


def test_every_schema_is_a_schema() -> None:
    document = openapi(URL)
    for schema in [*every(document, "schema"), *document["components"]["schemas"].values()]:
        Draft202012Validator.check_schema(schema)


def test_arguments_stand_in_the_path_the_query_or_the_body_and_in_one_of_them_only() -> None:
    for path, method, item in items(openapi(URL)):
        in_path = [one["name"] for one in item["parameters"] if one["in"] == "path"]
        assert sorted(in_path) == sorted(re.findall(r"{(\w+)}", path))
        assert all(one["required"] for one in item["parameters"] if one["in"] == "path")
        names = [one["name"] for one in item["parameters"]]
        assert ("requestBody" in item) == (method in ("post", "put", "patch"))
        body = item.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
        names += body.get("properties", {})
        assert len(names) == len(set(names))
        ask = CATALOGUE[item["operationId"].removesuffix("_many")].ask
        assert set(names) | {"uid", "uids"} == set(ask.model_fields) | {"uid", "uids"}


def test_every_answer_and_every_status_of_an_error_is_described() -> None:
    for _, _, item in items(openapi(URL)):
        assert item["responses"].keys() == {"200", "401", "403", "404", "409", "413", "422", "429", "500", "502", "503"}
        assert item["description"]
        assert item["summary"]
    assert openapi(URL)["servers"] == [{"url": URL}]
    assert openapi(URL)["security"] == [{"bearer": []}]


def test_real_answers_are_as_described(gateway: Gateway) -> None:
    document = openapi(URL)
    uid = gateway.get("/mailboxes/work/messages", limit=1).json()["messages"][0]["uid"]
    for name, path in {
        "mailboxes": "/mailboxes",
        "list_folders": "/mailboxes/work/folders",
        "list_messages": "/mailboxes/work/messages?limit=3",
        "get_message": f"/mailboxes/work/messages/{uid}?headers=true",
        "health_check": "/health/mailboxes",
        "Error": "/nothing",
    }.items():
        schema = {"$ref": f"#/components/schemas/{name if name == 'Error' else f'{name}_answer'}"}
        Draft202012Validator(schema | {"components": document["components"]}).validate(gateway.get(path).json())


class Seen(HTMLParser):
    """What a browser would act on."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_the_page_is_static_and_needs_nothing_from_elsewhere(gateway: Gateway) -> None:
    response = gateway.get("/docs", None)
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["content-security-policy"].startswith("default-src 'none'; style-src 'unsafe-inline';")
    seen = Seen(response.text)
    assert seen.tags <= {"html", "meta", "title", "style", "h1", "h2", "p", "a", "b", "code", "table", "tr", "th", "td"}
    assert [value for name, value in seen.attributes if name in LOADS] == ["/openapi.json"]
    assert not [name for name, _ in seen.attributes if name.startswith("on")]
    assert not re.search(r"https?:|//|url\(|@import", response.text)


def test_the_page_tells_every_operation_and_argument(gateway: Gateway) -> None:
    words = " ".join(Seen(gateway.get("/docs", None).text).words)
    for operation in CATALOGUE.values():
        assert operation.description in words
        assert all(route in words for route in operation.routes)
        assert all(argument in words for argument in operation.ask.model_fields)


def test_the_page_escapes_everything() -> None:
    evil = "<script src=//evil.example onload=x>&\"'"
    kind = {"type": evil, "items": {"type": evil}}
    argument = {"name": evil, "in": evil, "schema": kind}
    body = {"properties": {evil: {"enum": [evil, evil]}, "list": {"type": "array", "items": {"type": evil}}}}
    item = {
        "operationId": evil,
        "description": evil,
        "summary": evil,
        "parameters": [argument],
        "requestBody": {"content": {"application/json": {"schema": body}}},
    }
    info = {"title": evil, "version": evil, "description": evil}
    text = page({"info": info, "paths": {f"/{evil}": {evil: item}}})
    seen = Seen(text)
    assert "script" not in seen.tags
    assert "<script" not in text.lower()
    assert not [value for _, value in seen.attributes if value and "evil" in value]
    assert " ".join(seen.words).count(evil) >= 12
