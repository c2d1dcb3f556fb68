"""What the operator is told when the gateway starts."""

from pathlib import Path

import pytest

from postroom.app import running
from postroom.config import load
from postroom.precautions import passwords_written_out
from postroom.store.database import FILE_NAME
from postroom.store.lock import one_gateway
from postroom.store.worker import StoreError
from tests.servers.gateway import running_gateway


def test_a_password_in_the_file_is_told_of_and_a_reference_is_not(tmp_path: Path) -> None:
    (tmp_path / "pw").write_text("s3cret\n")
    path = tmp_path / "postroom.yaml"
    path.write_text(
        "mailboxes:\n"
        "  - {name: inline, imap: {host: imap.example.com, username: u, password: s3cret}}\n"
        "  - {name: outgoing, smtp: {host: smtp.example.com, username: u, password: s3cret}}\n"
        "  - {name: referred, imap: {host: imap.example.com, username: u, password_file: pw}}\n"
    )
    path.chmod(0o600)
    assert passwords_written_out(load(path)) == ["inline", "outgoing"]


def test_a_second_gateway_over_the_same_state_does_not_start_until_the_first_has_ended(tmp_path: Path) -> None:
    with running_gateway(tmp_path, "  []", {}) as first:
        with (
            pytest.raises(StoreError, match="in use by another gateway; stop that one"),
            running_gateway(tmp_path, "  []", {}),
        ):
            raise AssertionError("both run")
        assert first.get("/health", None).status_code == 200
    with running_gateway(tmp_path, "  []", {}) as after:
        assert after.get("/health", None).status_code == 200


@pytest.mark.anyio
async def test_a_second_gateway_does_not_even_open_the_database_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "postroom.yaml"
    path.write_text(f"state_dir: {tmp_path / 'state'}\nmailboxes: []\n")
    path.chmod(0o600)
    with one_gateway(tmp_path / "state"), pytest.raises(StoreError, match="in use by another gateway"):
        async with running(load(path)):
            raise AssertionError("both run")
    assert not (tmp_path / "state" / FILE_NAME).exists()
