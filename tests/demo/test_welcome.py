"""What the demonstration prints, and the configuration it runs with."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

from postroom.base.secret import Secret
from postroom.base.token import token_hash
from postroom.demo.configuration import MAILBOXES, configuration
from postroom.demo.configuration import TOKENS as NAMES_OF_TOKENS
from postroom.demo.samples import samples
from postroom.demo.servers import MailServers
from postroom.demo.welcome import as_line, as_page, clients

URL = "http://127.0.0.1:8123"
TOKENS = {name: Secret(f"token-that-may-{name}") for name in NAMES_OF_TOKENS}
NAMES = [mailbox.name for mailbox in MAILBOXES]


def test_programs_get_exactly_one_line_with_everything_they_need() -> None:
    line = as_line(URL, TOKENS, NAMES)

    assert "\n" not in line
    assert json.loads(line) == {
        "url": "http://127.0.0.1:8123",
        "mcp_url": "http://127.0.0.1:8123/mcp",
        "tokens": {
            "all": "token-that-may-all",
            "read": "token-that-may-read",
            "triage": "token-that-may-triage",
            "relay": "token-that-may-relay",
        },
        "mailboxes": ["work", "personal"],
    }


def test_people_get_every_token_and_a_curl_line_that_can_be_pasted() -> None:
    page = as_page(URL, TOKENS, NAMES)

    assert all(token.reveal() in page for token in TOKENS.values())
    assert (
        "curl -s -H 'Authorization: Bearer token-that-may-triage' "
        "'http://127.0.0.1:8123/mailboxes/work/messages?limit=5'" in page
    )


def test_each_client_is_given_the_address_and_the_token() -> None:
    shown = clients(URL, "secret-1")

    assert len(shown) == 7
    for name, text in shown:
        assert "http://127.0.0.1:8123/mcp" in text
        assert ("secret-1" if name.startswith("Claude Desktop") else "Bearer secret-1") in text


def test_the_files_of_clients_are_what_their_names_say() -> None:
    shown = dict(clients(URL, "secret-1"))
    headers = {"Authorization": "Bearer secret-1"}
    url = "http://127.0.0.1:8123/mcp"

    assert json.loads(shown["VS Code, .vscode/mcp.json"]) == {
        "servers": {"postroom": {"type": "http", "url": url, "headers": headers}}
    }
    assert json.loads(shown["Cursor, ~/.cursor/mcp.json"]) == {
        "mcpServers": {"postroom": {"url": url, "headers": headers}}
    }
    assert json.loads(shown["Claude Desktop, claude_desktop_config.json"]) == {
        "mcpServers": {
            "postroom": {
                "command": str(Path(sys.executable).with_name("postroom")),
                "args": ["bridge", "--url", url],
                "env": {"POSTROOM_TOKEN": "secret-1"},
            }
        }
    }
    assert json.loads(shown["Any other, .mcp.json"]) == {
        "mcpServers": {"postroom": {"type": "http", "transport": "streamable-http", "url": url, "headers": headers}}
    }
    assert tomllib.loads(shown["Codex, ~/.codex/config.toml"]) == {
        "mcp_servers": {"postroom": {"url": url, "http_headers": headers}}
    }


def test_the_gateway_is_told_of_both_mailboxes_and_of_the_hashes_of_the_tokens(tmp_path: Path) -> None:
    config = configuration(8123, MailServers(1143, 1125), password=Secret("pw"), tokens=TOKENS, state=tmp_path)

    assert [mailbox.name for mailbox in config.mailboxes] == ["work", "personal"]
    assert {token.token_hash for token in config.tokens} == {token_hash(token.reveal()) for token in TOKENS.values()}
    triage = next(token for token in config.tokens if token.name == "triage")
    assert triage.scopes == {"read", "draft", "organize"}
    assert triage.mailboxes == {"work", "personal"}
    relay = next(token for token in config.tokens if token.name == "relay")
    assert (relay.toolset, relay.mailbox, relay.profile, relay.scopes) == ("relay", "personal", "assistant", set())
    assert config.server.listen.loopback


def test_the_trusted_server_of_a_mailbox_is_the_one_that_judged_its_sample_mail() -> None:
    judged: dict[str, set[str]] = {mailbox.name: set() for mailbox in MAILBOXES}
    for sample in samples(datetime(2026, 3, 3, tzinfo=UTC)):
        found = re.findall(rb"^Authentication-Results: ([a-z.]+);", sample.message, re.MULTILINE)
        judged[sample.mailbox] |= {name.decode() for name in found}

    assert judged == {mailbox.name: {mailbox.authserv_id} for mailbox in MAILBOXES}
