"""What the demonstration says once it answers: where it is, and how to connect a client to it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from postroom.base.secret import Secret

_SERVER = "postroom"
_RECOMMENDED = "triage"


def as_line(url: str, tokens: Mapping[str, Secret], mailboxes: Sequence[str]) -> str:
    """One line of JSON for programs."""
    return json.dumps(
        {
            "url": url,
            "mcp_url": mcp_url(url),
            "tokens": {name: token.reveal() for name, token in tokens.items()},
            "mailboxes": list(mailboxes),
        }
    )


def mcp_url(url: str) -> str:
    """Where the gateway at `url` speaks MCP."""
    return f"{url}/mcp"


def as_page(url: str, tokens: Mapping[str, Secret], mailboxes: Sequence[str]) -> str:
    """A page for people, with the configuration of the common clients ready to be pasted."""
    token = tokens[_RECOMMENDED].reveal()
    return "\n".join(
        [
            f"Postroom demo: {url}",
            "",
            f"  Mailboxes  {', '.join(mailboxes)}: sample mail, in memory; nothing leaves this machine",
            f"  MCP        {mcp_url(url)}",
            f"  HTTP API   {url}/docs",
            "",
            "  Tokens, new at each start",
            *(f"    {name:<8} {token.reveal()}" for name, token in tokens.items()),
            "",
            f"  The newest mail of {mailboxes[0]}:",
            "",
            f"    curl -s -H 'Authorization: Bearer {token}' '{url}/mailboxes/{mailboxes[0]}/messages?limit=5'",
            "",
            f"  Clients, with the {_RECOMMENDED} token (scopes read, draft, organize: it can neither send nor delete):",
            *(line for title, text in clients(url, token) for line in ("", f"  {title}", "", _indented(text))),
            "",
            "  Ask your agent: what needs an answer today, and which of these messages would you not trust?",
            "  Ctrl-C stops the demo and forgets everything.",
        ]
    )


def clients(url: str, token: str) -> list[tuple[str, str]]:
    """Each client's name with its command or the contents of its configuration file."""
    target, bearer = mcp_url(url), f"Authorization: Bearer {token}"
    remote = {"type": "http", "url": target, "headers": {"Authorization": f"Bearer {token}"}}
    return [
        ("Claude Code", f'claude mcp add --transport http {_SERVER} {target} --header "{bearer}"'),
        ("Codex, ~/.codex/config.toml", _codex(target, token)),
        ("Claude Desktop, claude_desktop_config.json", _pretty({"mcpServers": {_SERVER: _started(target, token)}})),
        ("VS Code, .vscode/mcp.json", _pretty({"servers": {_SERVER: remote}})),
        ("Cursor, ~/.cursor/mcp.json", _pretty({"mcpServers": {_SERVER: _without_type(remote)}})),
        ("Gemini CLI", f'gemini mcp add --transport http --header "{bearer}" --scope user {_SERVER} {target}'),
        ("Any other, .mcp.json", _pretty({"mcpServers": {_SERVER: _doubly_typed(remote)}})),
    ]


def _codex(target: str, token: str) -> str:
    headers = f'http_headers = {{ "Authorization" = "Bearer {token}" }}'
    return f'[mcp_servers.{_SERVER}]\nurl = "{target}"\n{headers}'


def _started(target: str, token: str) -> dict[str, object]:
    """For clients that only start programs: the bridge of this very installation."""
    command = str(Path(sys.executable).with_name("postroom"))
    return {"command": command, "args": ["bridge", "--url", target], "env": {"POSTROOM_TOKEN": token}}


def _without_type(remote: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in remote.items() if key != "type"}


def _doubly_typed(remote: Mapping[str, object]) -> dict[str, object]:
    """Some clients go by `type`, others by `transport`; each leaves the other's key alone."""
    return {"type": "http", "transport": "streamable-http", **_without_type(remote)}


def _pretty(value: object) -> str:
    return json.dumps(value, indent=2)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())
