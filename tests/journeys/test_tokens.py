"""Tokens from the command line, used, revoked and run out while the gateway runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from click.testing import CliRunner

from postroom.cli import main
from tests.servers import stores
from tests.servers.gateway import Gateway, gateway_thread
from tests.servers.ports import refusing_port


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    path = tmp_path / "postroom.yaml"
    path.write_text(
        f"{stores.setting_of(tmp_path / 'state')}\nserver: {{listen: '127.0.0.1:0'}}\nmailboxes:\n"
        f"  - {{name: work, imap: {{host: 127.0.0.1, port: {refusing_port()}, tls: none, username: u, password: p}}}}\n"
    )
    path.chmod(0o600)
    return path


@pytest.fixture
def gateway(config_file: Path) -> Iterator[Gateway]:
    with gateway_thread(config_file, {}) as running:
        yield running


def command(config_file: Path, *words: str) -> str:
    done = CliRunner().invoke(main, ["token", *words, "--config", str(config_file)])
    assert done.exit_code == 0, done.output
    return done.stdout.strip()


def ask(gateway: Gateway, token: str) -> httpx2.Response:
    return httpx2.get(f"{gateway.url}/mailboxes", headers={"Authorization": f"Bearer {token}"})


def test_a_token_works_from_its_creation_to_its_revocation(gateway: Gateway, config_file: Path) -> None:
    token = command(config_file, "create", "reader", "--scopes", "read", "--mailboxes", "work", "--print")
    assert [mailbox["name"] for mailbox in ask(gateway, token).json()["mailboxes"]] == ["work"]
    assert "reader" in command(config_file, "list")
    command(config_file, "revoke", "reader")
    assert ask(gateway, token).status_code == 401


def test_a_token_that_has_run_out_is_nobody(gateway: Gateway, config_file: Path) -> None:
    past, config = "2020-01-01T00:00:00Z", ("--config", str(config_file))
    done = CliRunner().invoke(
        main,
        ["token", "create", "old", "--scopes", "read", "--mailboxes", "work", "--expires", past, "--print", *config],
    )
    assert done.exit_code != 0


def test_the_token_itself_is_stored_nowhere(gateway: Gateway, config_file: Path) -> None:
    token = command(config_file, "create", "reader", "--scopes", "read", "--mailboxes", "work", "--print")
    assert ask(gateway, token).status_code == 200
    secret = token.rpartition("_")[2].encode()
    state = config_file.parent / "state"
    assert [path for path in state.rglob("*") if path.is_file() and secret in path.read_bytes()] == []
    assert {oct(path.stat().st_mode & 0o777) for path in state.iterdir()} == {"0o600"}
    assert secret.decode() not in gateway.log.getvalue()


def test_an_altered_token_is_nobody(gateway: Gateway, config_file: Path) -> None:
    token = command(config_file, "create", "reader", "--scopes", "read", "--mailboxes", "work", "--print")
    for other in (token[:-1], token + "x", token.swapcase(), token[:-1] + ("0" if token[-1] != "0" else "1")):
        assert ask(gateway, other).status_code == 401
