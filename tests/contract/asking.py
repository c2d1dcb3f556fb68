"""Any operation asked on either surface, with arguments that are the same for both."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx2

from postroom.operations.blob import Blob
from postroom.operations.catalogue import CATALOGUE
from postroom.operations.operation import Operation

READING = [name for name, operation in CATALOGUE.items() if operation.effect.read_only]
CHANGING = [name for name in CATALOGUE if name not in READING]
"""Operations that are asked on a gateway of their own, since they change what others look at."""
NEEDED = {"mailbox", "attachment_id", "destination", "add", "name", "delivery_id"}
EITHER = (("uid", "uids"),)
"""Arguments of which a call has exactly one."""


@dataclass(frozen=True)
class Told:
    """An answer or an error; `raw` is every octet of it, headers included."""

    surface: str
    status: int
    body: dict[str, Any]
    failed: bool
    raw: str

    @property
    def code(self) -> str:
        return str(self.body["error"]["code"]) if self.failed else ""


class Asking:
    """One token's calls, over a kept connection."""

    def __init__(self, client: httpx2.Client) -> None:
        self._client = client

    def mcp(self, name: str, arguments: Mapping[str, Any]) -> Told:
        """A legacy tool call; text and structuredContent are held against each other in passing."""
        params = {"name": name, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        response = self._client.post("/mcp", json=body)
        assert response.status_code == 200, response.text
        result = json.loads(response.text.partition("data: ")[2])["result"]
        assert result.keys() == {"content", "structuredContent", "isError"}
        (content,) = result["content"]
        assert content.keys() == {"type", "text"}
        assert json.loads(content["text"]) == result["structuredContent"]
        return Told("mcp", 200, result["structuredContent"], result["isError"], _raw(response))

    def http(self, operation: Operation[Any, Any], arguments: Mapping[str, Any]) -> Iterator[Told]:
        """The same call at each route that can express it."""
        for route in operation.routes:
            method, _, path = route.partition(" ")
            names = re.findall(r"{(\w+)}", path)
            if not all(isinstance(arguments.get(name), str) for name in names):
                continue
            for name in names:
                path = path.replace(f"{{{name}}}", quote(arguments[name], safe=""))
            rest = {name: value for name, value in arguments.items() if name not in names}
            if method in ("GET", "DELETE"):
                query = {name: str(value).lower() if isinstance(value, bool) else value for name, value in rest.items()}
                response = self._client.request(method, path, params=query)
            else:
                response = self._client.request(method, path, json=rest)
            failed = response.status_code != 200
            body = response.json() if failed or operation.answer is not Blob else {"octets": response.content}
            yield Told(f"http {route}", response.status_code, body, failed, _raw(response))

    def both(self, operation: Operation[Any, Any], arguments: Mapping[str, Any]) -> Iterator[Told]:
        yield self.mcp(operation.name, arguments)
        yield from self.http(operation, arguments)


def choices(operation: Operation[Any, Any]) -> Iterator[list[str]]:
    """Every largest set of arguments that may stand together."""
    names = list(operation.ask.model_fields)
    groups = [[name for name in group if name in names] for group in EITHER]
    for chosen in itertools.product(*(group for group in groups if group)):
        dropped = {name for group in groups for name in group} - set(chosen)
        yield [name for name in names if name not in dropped]


def needed(names: list[str]) -> list[str]:
    """Of these, the arguments without which a call says too little."""
    mail = {"to"} if "body_text" in names else set()
    return [name for name in names if name in NEEDED | mail or name in itertools.chain(*EITHER)]


def _raw(response: httpx2.Response) -> str:
    told = {name: value for name, value in response.headers.items() if name != "x-request-id"}
    return f"{response.status_code} {told} {response.text}"
