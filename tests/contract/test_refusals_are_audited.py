"""Every operation that changes something, at every door: a refused call is in the trail before its answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postroom.operations.catalogue import CATALOGUE
from tests.conftest import ALL_SCOPES
from tests.contract.asking import CHANGING, Asking, Told
from tests.servers import stores
from tests.servers.gateway import running_gateway
from tests.servers.ports import refusing_port

PATH = {"mailbox": "work", "uid": "1-1", "delivery_id": "d", "attachment_id": "2"}
"""What a route needs to be found."""


class Refusing:
    """A gateway whose mailbox nobody serves, and the records of its trail as they come."""

    def __init__(self, state: Path, asking: dict[str, Asking]) -> None:
        self.asking = asking
        self._state = state
        self._seen = 0

    def recorded(self) -> list[dict[str, Any]]:
        """The outcomes that are on the disk since the last look."""
        every = stores.sql(self._state, "SELECT seq, line FROM audit ORDER BY seq")
        rows = [(seq, line) for seq, line in every if seq > self._seen]
        self._seen = rows[-1][0] if rows else self._seen
        records = [json.loads(line) for _, line in rows]
        return [one for one in records if one["phase"] == "outcome"]


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Refusing]:
    folder = tmp_path_factory.mktemp("refusing")
    closed = f"{{host: 127.0.0.1, port: {refusing_port()}, tls: none, username: a, password: b}}"
    mailboxes = f"  - {{name: work, address: a@example.org, imap: {closed}, smtp: {closed}}}"
    tokens = {"nobody": ("", "work"), "all": (ALL_SCOPES, "work"), "elsewhere": (ALL_SCOPES, "")}
    with running_gateway(folder, mailboxes, tokens) as gateway:
        clients = {name: gateway.http(name) for name in tokens}
        yield Refusing(folder / "state", {name: Asking(client) for name, client in clients.items()})
        for client in clients.values():
            client.close()


@pytest.mark.parametrize("name", CHANGING)
@pytest.mark.parametrize(
    ("token", "more", "code", "mailbox"),
    [
        ("nobody", {}, "permission_denied", "work"),
        ("all", {"swordfish": "zanzibar"}, "validation_error", "work"),
        ("elsewhere", {"swordfish": "zanzibar"}, "validation_error", None),
    ],
)
def test_a_refused_change_is_one_record(
    refusing: Refusing, name: str, token: str, more: dict[str, str], code: str, mailbox: str | None
) -> None:
    operation, asking = CATALOGUE[name], refusing.asking[token]
    refusing.recorded()
    told: list[Told] = [asking.mcp(name, PATH | more)]
    assert_recorded(refusing, told[0], f"mcp.{name}", token, code, mailbox)
    for answer in asking.http(operation, PATH | more):
        told.append(answer)
        assert_recorded(refusing, answer, f"http.{name}", token, code, mailbox)
    assert len(told) == 1 + len(operation.routes)


def assert_recorded(refusing: Refusing, told: Told, action: str, token: str, code: str, mailbox: str | None) -> None:
    assert told.code == code, told
    (record,) = refusing.recorded()
    assert (record["action"], record["token"], record["outcome"], record["code"]) == (action, token, "refused", code)
    assert record.get("mailbox") == mailbox
    assert "swordfish" not in str(record)
    assert "zanzibar" not in str(record)
