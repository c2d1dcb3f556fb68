"""What the operator is told when the gateway starts."""

from pathlib import Path

from postroom.app import passwords_written_out
from postroom.config import load


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
